// SPDX-License-Identifier: GPL-2.0
#include "sampler/config.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "event.h"
#include "sampler/aux_series.h"
#include "sampler/bus_speed.h"
#include "sampler/sampler.h"
#include "sensors/chip.h"

/*
 * Protects all that is here and is the only place from which the sampler is
 * told what to do. Taken before jetwatt_board.lock, never by the sampler.
 */
static struct {
	struct mutex lock;
	struct jetwatt_config set;
	bool pinned;		/* a rate was asked for: runs without a subscriber too */
	bool closed;
	/* Not under the lock, because their writers hold locks of their own. */
	unsigned int subscribers;
	atomic_t counters;	/* open perf events */
} config = {
	.lock = __MUTEX_INITIALIZER(config.lock),
	.set = {
		.batch = 32,
		.batch_age_ms = 100,
		.bus_share_pct = 50,
		.box_ms = 10000,
		.cpu = JETWATT_CPU_ANY,
	},
};

static void follow_buses(struct work_struct *work);
static DECLARE_DELAYED_WORK(follow_work, follow_buses);

static u32 wanted_hz(const struct jetwatt_limit *limit)
{
	/* Whoever asks for the highest rate asks for all shunts in every tick. */
	return config.set.rate_hz ? min(config.set.rate_hz, limit->hz) : limit->all_hz;
}

static void apply_rate(u32 hz)
{
	u32 before = jetwatt_sampler_hz();

	/* What the buses can do may change at the same rate. */
	if (hz)
		jetwatt_plan_choose(hz, config.set.bus_share_pct);
	if (hz == before)
		return;
	if (hz && !before)
		jetwatt_aux_start();
	jetwatt_sampler_rate(hz);
	if (!hz)
		jetwatt_aux_stop();
	jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, hz);
}

static bool wanted(void)
{
	return !config.closed &&
	       (READ_ONCE(config.subscribers) || config.pinned || atomic_read(&config.counters));
}

static void update_sampler(const struct jetwatt_limit *limit)
{
	bool run = wanted();

	apply_rate(run ? wanted_hz(limit) : 0);
	if (run)
		queue_delayed_work(system_freezable_wq, &follow_work, HZ);
}

/*
 * While the sampler runs, the bus or the chips may become slower or faster:
 * somebody sets another averaging or bus clock, a chip comes. A change of less
 * than a sixteenth is not worth a new grid of deadlines. With no chip left the
 * rate stays: the chip may come back.
 */
static void follow_buses(struct work_struct *work)
{
	struct jetwatt_limit limit;
	u32 hz, now;

	mutex_lock(&config.lock);
	now = jetwatt_sampler_hz();
	if (now && !config.closed) {
		limit = jetwatt_plan_limit(config.set.bus_share_pct);
		hz = wanted_hz(&limit);
		if (hz && (hz > now + now / 16 || hz < now - now / 16 ||
			   hz == config.set.rate_hz))
			apply_rate(hz);
		/* It left its CPU when that went offline; without one, taskset may place it. */
		if (config.set.cpu != JETWATT_CPU_ANY)
			jetwatt_sampler_cpu(config.set.cpu);
		queue_delayed_work(system_freezable_wq, &follow_work, HZ);
	} else if (wanted()) {
		/* The last chip had gone before the sampler could start. */
		limit = jetwatt_plan_limit(config.set.bus_share_pct);
		update_sampler(&limit);
	}
	mutex_unlock(&config.lock);
}

/**
 * jetwatt_config_update() - start, park or set the sampler as is wanted now
 *
 * Context: sleeps, for transfers and firmware calls.
 */
void jetwatt_config_update(void)
{
	struct jetwatt_limit limit;

	mutex_lock(&config.lock);
	if (!jetwatt_sampler_hz() && wanted())
		jetwatt_bus_speed_measure();
	limit = jetwatt_plan_limit(config.set.bus_share_pct);
	update_sampler(&limit);
	mutex_unlock(&config.lock);
}

static void update_fn(struct work_struct *unused)
{
	jetwatt_config_update();
}

static DECLARE_WORK(update_work, update_fn);

/**
 * jetwatt_config_update_soon() - the same, by a work item
 *
 * Context: any, but not once jetwatt_config_exit() has begun.
 */
void jetwatt_config_update_soon(void)
{
	queue_work(system_freezable_wq, &update_work);
}

/**
 * jetwatt_config_counters() - more or fewer counters of perf are open now
 * @n: how many more
 *
 * Their resolution is the sampler's, so it runs for them as for a subscriber:
 * a moment later, because perf holds locks of its own here.
 *
 * Context: any.
 */
void jetwatt_config_counters(int n)
{
	atomic_add(n, &config.counters);
	jetwatt_config_update_soon();
}

/**
 * jetwatt_config_counters_open() - how many counters of perf are open
 *
 * Context: any. Return: the number.
 */
int jetwatt_config_counters_open(void)
{
	return atomic_read(&config.counters);
}

/**
 * jetwatt_config_subscribers() - note the number of subscribers
 * @n: the number
 *
 * Takes effect with the next update.
 *
 * Context: any; callers exclude each other, so that the last call has the last
 * number.
 */
void jetwatt_config_subscribers(unsigned int n)
{
	WRITE_ONCE(config.subscribers, n);
}

/**
 * jetwatt_config_get() - what was asked for
 *
 * Return: the configuration.
 */
struct jetwatt_config jetwatt_config_get(void)
{
	struct jetwatt_config copy;

	mutex_lock(&config.lock);
	copy = config.set;
	mutex_unlock(&config.lock);
	return copy;
}

/**
 * jetwatt_config_set() - ask for something else
 * @new: all of it, in range each for itself
 * @rate_given: the caller has asked for @new's rate, which decides whether the
 *	sampler also runs without a subscriber
 * @limit: gets the limit of the rate under @new
 *
 * Return: 0; -EINVAL: no such CPU, or it is offline; -ENODEV: no chip, so no
 * rate; -ERANGE: rate above @limit.
 */
int jetwatt_config_set(const struct jetwatt_config *new, bool rate_given,
		       struct jetwatt_limit *limit)
{
	bool new_rate = rate_given && new->rate_hz;
	int err = 0;

	mutex_lock(&config.lock);
	if (new_rate)
		jetwatt_bus_speed_measure();
	*limit = jetwatt_plan_limit(new->bus_share_pct);
	if (new_rate && !limit->hz)
		err = -ENODEV;
	else if (new_rate && new->rate_hz > limit->hz)
		err = -ERANGE;
	/* Last, because it takes effect at once: what is refused changes nothing. */
	else if (new->cpu != config.set.cpu)
		err = jetwatt_sampler_cpu(new->cpu);
	if (!err) {
		WRITE_ONCE(config.set.rate_hz, new->rate_hz);
		WRITE_ONCE(config.set.batch, new->batch);
		WRITE_ONCE(config.set.batch_age_ms, new->batch_age_ms);
		WRITE_ONCE(config.set.bus_share_pct, new->bus_share_pct);
		WRITE_ONCE(config.set.box_ms, new->box_ms);
		WRITE_ONCE(config.set.cpu, new->cpu);
		if (rate_given)
			config.pinned = new->rate_hz;
		update_sampler(limit);
	}
	mutex_unlock(&config.lock);
	return err;
}

/**
 * jetwatt_config_batch() - samples in a batch
 *
 * Context: any. Return: 1 to JETWATT_BATCH_MAX.
 */
u32 jetwatt_config_batch(void)
{
	return READ_ONCE(config.set.batch);
}

/**
 * jetwatt_config_age_ms() - how old a batch's oldest sample may get
 *
 * Context: any. Return: milliseconds.
 */
u32 jetwatt_config_age_ms(void)
{
	return READ_ONCE(config.set.batch_age_ms);
}

/**
 * jetwatt_config_box_ms() - how much the black box keeps
 *
 * Context: any. Return: milliseconds, 0: nothing on an alarm.
 */
u32 jetwatt_config_box_ms(void)
{
	return READ_ONCE(config.set.box_ms);
}

/**
 * jetwatt_config_exit() - park the sampler for good
 */
void jetwatt_config_exit(void)
{
	struct jetwatt_limit none = {};

	mutex_lock(&config.lock);
	config.closed = true;
	update_sampler(&none);
	mutex_unlock(&config.lock);
	cancel_delayed_work_sync(&follow_work);
	cancel_work_sync(&update_work);
}
