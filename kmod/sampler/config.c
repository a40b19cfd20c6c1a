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
 * told what to do. Taken before jetwatt_chip_lock, never by the sampler.
 */
static DEFINE_MUTEX(lock);
static struct jetwatt_config config = {
	.batch = 32,
	.batch_age_ms = 100,
	.bus_share_pct = 50,
	.box_ms = 10000,
	.cpu = JETWATT_CPU_ANY,
};

/* Not under the lock: those who count hold locks of their own. */
static unsigned int subscribers;
static atomic_t counters = ATOMIC_INIT(0);	/* of perf */
static bool pinned;	/* runs without a subscriber too */
static bool closed;

static void follow_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(follow, follow_fn);

static u32 wanted_hz(const struct jetwatt_limit *limit)
{
	/* Whoever asks for the highest rate asks for all shunts in every tick. */
	return config.rate_hz ? min(config.rate_hz, limit->hz) : limit->all_hz;
}

static void apply(u32 hz)
{
	u32 before = jetwatt_sampler_hz();

	/* What the buses can do may change at the same rate. */
	if (hz)
		jetwatt_plan_choose(hz, config.bus_share_pct);
	if (hz == before)
		return;
	if (hz && !before)
		jetwatt_clock_start();
	jetwatt_sampler_rate(hz);
	if (!hz)
		jetwatt_clock_stop();
	jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, hz);
}

static bool wanted(void)
{
	return (READ_ONCE(subscribers) || pinned || atomic_read(&counters)) && !closed;
}

static void update(const struct jetwatt_limit *limit)
{
	bool run = wanted();

	apply(run ? wanted_hz(limit) : 0);
	if (run)
		queue_delayed_work(system_freezable_wq, &follow, HZ);
}

/*
 * While the sampler runs, the bus or the chips may become slower or faster:
 * somebody sets another averaging or bus clock, a chip comes. A change of less
 * than a sixteenth is not worth a new grid of deadlines. With no chip left the
 * rate stays: the chip may come back.
 */
static void follow_fn(struct work_struct *work)
{
	struct jetwatt_limit limit;
	u32 hz, now;

	mutex_lock(&lock);
	now = jetwatt_sampler_hz();
	if (now && !closed) {
		limit = jetwatt_plan_limit(config.bus_share_pct);
		hz = wanted_hz(&limit);
		if (hz && (hz > now + now / 16 || hz < now - now / 16 ||
			   hz == config.rate_hz))
			apply(hz);
		/* It left its CPU when that went offline; without one, taskset may place it. */
		if (config.cpu != JETWATT_CPU_ANY)
			jetwatt_sampler_cpu(config.cpu);
		queue_delayed_work(system_freezable_wq, &follow, HZ);
	} else if (wanted()) {
		/* The last chip had gone before the sampler could start. */
		limit = jetwatt_plan_limit(config.bus_share_pct);
		update(&limit);
	}
	mutex_unlock(&lock);
}

/**
 * jetwatt_config_update() - start, park or set the sampler as is wanted now
 *
 * Context: sleeps, for transfers and firmware calls.
 */
void jetwatt_config_update(void)
{
	struct jetwatt_limit limit;

	mutex_lock(&lock);
	if (!jetwatt_sampler_hz() && wanted())
		jetwatt_measure();
	limit = jetwatt_plan_limit(config.bus_share_pct);
	update(&limit);
	mutex_unlock(&lock);
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
	atomic_add(n, &counters);
	jetwatt_config_update_soon();
}

/**
 * jetwatt_config_counters_open() - how many counters of perf are open
 *
 * Context: any. Return: the number.
 */
int jetwatt_config_counters_open(void)
{
	return atomic_read(&counters);
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
	WRITE_ONCE(subscribers, n);
}

/**
 * jetwatt_config_get() - what was asked for
 *
 * Return: the configuration.
 */
struct jetwatt_config jetwatt_config_get(void)
{
	struct jetwatt_config copy;

	mutex_lock(&lock);
	copy = config;
	mutex_unlock(&lock);
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

	mutex_lock(&lock);
	if (new_rate)
		jetwatt_measure();
	*limit = jetwatt_plan_limit(new->bus_share_pct);
	if (new_rate && !limit->hz)
		err = -ENODEV;
	else if (new_rate && new->rate_hz > limit->hz)
		err = -ERANGE;
	/* Last, because it takes effect at once: what is refused changes nothing. */
	else if (new->cpu != config.cpu)
		err = jetwatt_sampler_cpu(new->cpu);
	if (!err) {
		WRITE_ONCE(config.rate_hz, new->rate_hz);
		WRITE_ONCE(config.batch, new->batch);
		WRITE_ONCE(config.batch_age_ms, new->batch_age_ms);
		WRITE_ONCE(config.bus_share_pct, new->bus_share_pct);
		WRITE_ONCE(config.box_ms, new->box_ms);
		WRITE_ONCE(config.cpu, new->cpu);
		if (rate_given)
			pinned = new->rate_hz;
		update(limit);
	}
	mutex_unlock(&lock);
	return err;
}

/**
 * jetwatt_config_batch() - samples in a batch
 *
 * Context: any. Return: 1 to JETWATT_BATCH_MAX.
 */
u32 jetwatt_config_batch(void)
{
	return READ_ONCE(config.batch);
}

/**
 * jetwatt_config_age_ms() - how old a batch's oldest sample may get
 *
 * Context: any. Return: milliseconds.
 */
u32 jetwatt_config_age_ms(void)
{
	return READ_ONCE(config.batch_age_ms);
}

/**
 * jetwatt_config_box_ms() - how much the black box keeps
 *
 * Context: any. Return: milliseconds, 0: nothing on an alarm.
 */
u32 jetwatt_config_box_ms(void)
{
	return READ_ONCE(config.box_ms);
}

/**
 * jetwatt_config_exit() - park the sampler for good
 */
void jetwatt_config_exit(void)
{
	struct jetwatt_limit none = {};

	mutex_lock(&lock);
	closed = true;
	update(&none);
	mutex_unlock(&lock);
	cancel_delayed_work_sync(&follow);
	cancel_work_sync(&update_work);
}
