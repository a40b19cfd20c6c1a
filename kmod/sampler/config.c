// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration that clients set, and what follows from it: whether the sampler runs, at which
 * rate, and what its ticks read.
 */
#include "sampler/config.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "event.h"
#include "sampler/aux_series.h"
#include "sampler/blackbox.h"
#include "sampler/bus_speed.h"
#include "sampler/ring.h"
#include "sampler/sampler.h"
#include "sensors/chip.h"

/*
 * config.lock protects this struct. The sampler is started, stopped and configured only under
 * config.lock. Lock order: config.lock before jetwatt_board.lock. The sampler thread never takes
 * config.lock.
 */
static struct {
	struct mutex lock;
	struct jetwatt_sampler_config set;
	bool forced;		/* a rate other than 0 was set: run even without a subscriber */
	bool closed;
	/*
	 * The next two fields are written without config.lock, because their writers already hold
	 * other locks (subs.lock, locks of perf).
	 */
	unsigned int subscribers;
	atomic_t counters;	/* number of open perf events */
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

static void adapt_rate(struct work_struct *work);
static DECLARE_DELAYED_WORK(adapt_work, adapt_rate);

static u32 wanted_hz(const struct jetwatt_limit *limit)
{
	/*
	 * If no client has requested a rate, use the highest rate at which every tick reads all
	 * shunts.
	 */
	return config.set.rate_hz ? min(config.set.rate_hz, limit->hz) : limit->all_hz;
}

static void apply_rate(u32 hz)
{
	u32 before = jetwatt_sampler_hz();

	/*
	 * The read modes are chosen again even if the rate is the same, because the speed of a bus
	 * or the chips on it may have changed.
	 */
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

static bool sampler_wanted(void)
{
	return !config.closed &&
	       (READ_ONCE(config.subscribers) || config.forced || atomic_read(&config.counters));
}

static void update_sampler(const struct jetwatt_limit *limit)
{
	bool run = sampler_wanted();
	u32 hz = run ? wanted_hz(limit) : 0;

	/* First, so that an alarm of the first tick fills the black box. */
	jetwatt_blackbox_configure(config.set.box_ms, hz);
	apply_rate(hz);
	if (run)
		queue_delayed_work(system_freezable_wq, &adapt_work, HZ);
}

/* Before the sampler starts, measure the buses: their clocks may have changed meanwhile. */
static void start_or_update(void)
{
	struct jetwatt_limit limit;

	if (!jetwatt_sampler_hz() && sampler_wanted())
		jetwatt_bus_speed_measure();
	limit = jetwatt_plan_limit(config.set.bus_share_pct);
	update_sampler(&limit);
}

/*
 * Once a second, adapt the rate to the buses and chips: the averaging or the bus clock may have
 * been changed, or a chip attached. If the new rate differs from the present rate by at most a
 * sixteenth and is not the requested rate, the present rate is kept, because every change restarts
 * the deadlines of the sampler. If no chip is attached any more, the rate is kept too, because a
 * chip may return.
 */
static void adapt_rate(struct work_struct *work)
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
		/*
		 * If the configured CPU went offline, the scheduler has moved the sampler thread to
		 * another CPU: move the thread back if the CPU is online again.
		 */
		if (config.set.cpu != JETWATT_CPU_ANY)
			jetwatt_sampler_cpu(config.set.cpu);
		queue_delayed_work(system_freezable_wq, &adapt_work, HZ);
	} else if (sampler_wanted()) {
		/* The sampler should run but is parked, because no chip was attached before. */
		start_or_update();
	}
	mutex_unlock(&config.lock);
}

/**
 * jetwatt_config_update() - start, park or configure the sampler as required now
 *
 * Context: takes config.lock; sleeps for transfers and firmware calls.
 */
void jetwatt_config_update(void)
{
	mutex_lock(&config.lock);
	start_or_update();
	mutex_unlock(&config.lock);
}

static void update_fn(struct work_struct *unused)
{
	jetwatt_config_update();
}

static DECLARE_WORK(update_work, update_fn);

/**
 * jetwatt_config_update_soon() - call jetwatt_config_update() from a work item
 *
 * Context: any; not after jetwatt_config_exit() has begun.
 */
void jetwatt_config_update_soon(void)
{
	queue_work(system_freezable_wq, &update_work);
}

/**
 * jetwatt_config_counters() - change the number of open perf events
 * @n: change of the number; negative if events were closed
 *
 * perf events show energy at the resolution of the samples, so the sampler runs while a perf event
 * is open, as for a subscriber. A work item starts the sampler, because perf calls this function
 * with locks held.
 *
 * Context: any.
 */
void jetwatt_config_counters(int n)
{
	atomic_add(n, &config.counters);
	jetwatt_config_update_soon();
}

/**
 * jetwatt_config_counters_open() - return the number of open perf events
 *
 * Context: any. Return: the number.
 */
int jetwatt_config_counters_open(void)
{
	return atomic_read(&config.counters);
}

/**
 * jetwatt_config_subscribers() - store the number of subscribers
 * @n: the number
 *
 * Takes effect at the next jetwatt_config_update().
 *
 * Context: any; callers must exclude each other, so that the last call stores the latest number.
 */
void jetwatt_config_subscribers(unsigned int n)
{
	WRITE_ONCE(config.subscribers, n);
}

/**
 * jetwatt_config_get() - return the configuration that clients have set
 *
 * Context: takes config.lock; sleeps. Return: the configuration.
 */
struct jetwatt_sampler_config jetwatt_config_get(void)
{
	struct jetwatt_sampler_config copy;

	mutex_lock(&config.lock);
	copy = config.set;
	mutex_unlock(&config.lock);
	return copy;
}

/**
 * jetwatt_config_set() - set the configuration
 * @new: the configuration; each field must be in range
 * @rate_given: true if the client has set the rate. With a rate other than 0, the sampler then runs
 *	even without a subscriber; with a rate of 0, it runs only while there is a subscriber or an
 *	open perf event.
 * @limit: gets the highest possible rate with the configuration @new
 *
 * Context: takes config.lock; sleeps. Return: 0; -EINVAL if the CPU does not exist or is offline;
 * -ENODEV if a rate is set and no chip is attached; -ERANGE if the rate is above @limit.
 */
int jetwatt_config_set(const struct jetwatt_sampler_config *new, bool rate_given,
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
	/*
	 * The CPU is changed after all other checks: the change takes effect at once, but a refused
	 * request must change nothing.
	 */
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
			config.forced = new->rate_hz;
		update_sampler(limit);
	}
	mutex_unlock(&config.lock);
	return err;
}

/**
 * jetwatt_config_batch() - return the number of samples per batch
 *
 * A batch has at most half of the samples of the ring, so that the ring still holds all of them when
 * the batch is sent.
 *
 * Context: any. Return: 1 to JETWATT_BATCH_MAX.
 */
u32 jetwatt_config_batch(void)
{
	return min(READ_ONCE(config.set.batch), jetwatt_ring_size() / 2);
}

/**
 * jetwatt_config_age_ms() - return the maximum age of a batch before it is sent
 *
 * Context: any. Return: milliseconds.
 */
u32 jetwatt_config_age_ms(void)
{
	return READ_ONCE(config.set.batch_age_ms);
}

/**
 * jetwatt_config_box_ms() - return the length of the black box's window
 *
 * Context: any. Return: milliseconds; 0 if alarms do not fill the black box.
 */
u32 jetwatt_config_box_ms(void)
{
	return READ_ONCE(config.set.box_ms);
}

/**
 * jetwatt_config_exit() - park the sampler permanently
 */
void jetwatt_config_exit(void)
{
	struct jetwatt_limit none = {};

	mutex_lock(&config.lock);
	config.closed = true;
	update_sampler(&none);
	mutex_unlock(&config.lock);
	cancel_delayed_work_sync(&adapt_work);
	cancel_work_sync(&update_work);
}
