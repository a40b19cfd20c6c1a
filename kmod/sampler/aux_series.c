// SPDX-License-Identifier: GPL-2.0
#include "sampler/aux_series.h"

#include <linux/cpufreq.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "event.h"
#include "fault_inject.h"
#include "sampler/ring.h"
#include "sensors/series.h"

#define SLOW_EVERY	(HZ / 10)	/* firmware calls: at most ten a second */
#define SLOW_TURNS	10		/* temperatures and new devices: once a second */

/* For those who add; a clock is complete before the count covers it. */
static DEFINE_MUTEX(add_lock);
static struct jetwatt_clock clocks[JETWATT_CLOCKS_MAX];
static unsigned int nr_clocks;

/* When the slow ones were last read, in jiffies. */
static unsigned long slow_last;

static const u8 reader_of[] = {
#define READER(ID, reader, ...) \
	[JETWATT_SERIES_##ID] = JETWATT_SERIES_READER_##reader,
	JETWATT_SERIES_ROWS(READER)
#undef READER
};

/* Only the firmware or another driver knows it. */
static bool slow(const struct jetwatt_clock *clock)
{
	return reader_of[clock->kind] == JETWATT_SERIES_READER_SLOW;
}

/**
 * jetwatt_clock_add() - find a clock, or add it
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_CLOCK_INDEX
 * @label: for people
 *
 * Context: sleeps. Return: the clock, NULL if there is no room.
 */
struct jetwatt_clock *jetwatt_clock_add(u32 kind, u32 index, const char *label)
{
	struct jetwatt_clock *clock = NULL;
	unsigned int i;
	int slot;

	mutex_lock(&add_lock);
	for (i = 0; i < nr_clocks && !clock; i++)
		if (clocks[i].kind == kind && clocks[i].index == index)
			clock = &clocks[i];
	if (clock || nr_clocks == JETWATT_CLOCKS_MAX)
		goto unlock;
	slot = jetwatt_series_slot(kind, index);
	if (slot < 0)
		goto unlock;
	clock = &clocks[nr_clocks];
	clock->kind = kind;
	clock->index = index;
	clock->slot = slot;
	clock->value = JETWATT_VALUE_NONE;
	strscpy(clock->label, label, sizeof(clock->label));
	/* Pairs with jetwatt_clock_count(). */
	smp_store_release(&nr_clocks, nr_clocks + 1);
	jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, 0);
unlock:
	mutex_unlock(&add_lock);
	return clock;
}

/**
 * jetwatt_clock_count() - how many clocks there are
 *
 * Context: any. Return: the number; it only grows.
 */
unsigned int jetwatt_clock_count(void)
{
	/* Pairs with jetwatt_clock_add(): what the count covers is complete. */
	return smp_load_acquire(&nr_clocks);
}

/**
 * jetwatt_clock_at() - one of them
 * @i: less than a count returned before
 *
 * Return: the clock.
 */
struct jetwatt_clock *jetwatt_clock_at(unsigned int i)
{
	return &clocks[i];
}

/*
 * cpufreq_quick_get() knows only CPUs that are online. The mask may change
 * under us when a driver comes back with other policies: one odd value.
 */
static s32 policy_khz(const struct cpumask *cpus)
{
	unsigned int cpu = cpumask_any_and(cpus, cpu_online_mask);

	return cpu < nr_cpu_ids ? cpufreq_quick_get(cpu) : 0;
}

/**
 * jetwatt_clock_value() - what a clock shows now
 * @clock: the clock
 *
 * Context: process; no firmware call. Return: the value, for a slow clock as
 * last read, JETWATT_VALUE_NONE if there is none.
 */
s32 jetwatt_clock_value(const struct jetwatt_clock *clock)
{
	switch (clock->kind) {
	case JETWATT_SERIES_CPU_KHZ:
		return policy_khz(&clock->cpus);
	case JETWATT_SERIES_GPU_KHZ:
		return jetwatt_gpu_khz();
	case JETWATT_SERIES_CORES:
		return num_online_cpus();
	default:
		return READ_ONCE(clock->value);
	}
}

/**
 * jetwatt_clock_recent() - what a clock shows, unless nobody has looked lately
 * @clock: the clock
 *
 * Context: process; no firmware call. Return: as jetwatt_clock_value();
 * JETWATT_VALUE_NONE for a slow clock that was read more than two seconds ago.
 */
s32 jetwatt_clock_recent(const struct jetwatt_clock *clock)
{
	if (slow(clock) && time_after(jiffies, READ_ONCE(slow_last) + 2 * HZ))
		return JETWATT_VALUE_NONE;
	return jetwatt_clock_value(clock);
}

/**
 * jetwatt_clock_read() - record all clocks
 * @sample: where to
 * @all: slow ones too, even if there is nothing new
 *
 * Context: the sampler's thread.
 */
void jetwatt_clock_read(struct jetwatt_sample *sample, bool all)
{
	struct jetwatt_clock *clock;
	unsigned int i, n = jetwatt_clock_count();
	u32 turn;

	for (i = 0; i < n; i++) {
		clock = &clocks[i];
		/* One that was added while this sample was open has to wait. */
		if (clock->slot >= sample->nr_series)
			continue;
		if (slow(clock)) {
			/* Pairs with the slow path: the value is not older than its turn. */
			turn = smp_load_acquire(&clock->turn);
			if (turn == clock->told && !all)
				continue;
			clock->told = turn;
		}
		sample->value[clock->slot] = jetwatt_clock_value(clock);
	}
}

static void add_policy(struct cpufreq_policy *policy)
{
	unsigned int cpu = cpumask_first(policy->related_cpus);
	struct jetwatt_clock *clock;
	char label[16];

	snprintf(label, sizeof(label), "cpu%u", cpu);
	clock = jetwatt_clock_add(JETWATT_SERIES_CPU_KHZ, cpu, label);
	if (clock)
		cpumask_copy(&clock->cpus, policy->related_cpus);
}

static void look_for_policies(void)
{
	struct cpufreq_policy *policy;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		policy = cpufreq_cpu_get(cpu);
		if (!policy)
			continue;
		add_policy(policy);
		cpufreq_cpu_put(policy);
	}
}

static int policy_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == CPUFREQ_CREATE_POLICY)
		add_policy(data);
	return NOTIFY_DONE;
}

static struct notifier_block policy_notifier = { .notifier_call = policy_notify };

/*
 * The slow path runs under this lock: the work item while the sampler runs,
 * and whoever asks while it is parked.
 */
static DEFINE_MUTEX(slow_lock);
static unsigned int turn;

static void slow_turn(bool long_turn)
{
	mutex_lock(&slow_lock);
	if (long_turn) {
		jetwatt_gpu_look();
		jetwatt_slow_look();
	}
	jetwatt_slow_read(long_turn);
	slow_last = jiffies;
	mutex_unlock(&slow_lock);
}

/**
 * jetwatt_clock_refresh() - have values of slow clocks that are not stale
 *
 * A tenth of a second counts as fresh, so that the firmware is not asked more
 * often than by the sampler. For the privileged only: others get what there is
 * (jetwatt_clock_recent()).
 *
 * Context: sleeps.
 */
void jetwatt_clock_refresh(void)
{
	if (time_after(jiffies, READ_ONCE(slow_last) + SLOW_EVERY + SLOW_EVERY / 2))
		slow_turn(true);
}

static void slow_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(slow_work, slow_fn);

static void slow_fn(struct work_struct *work)
{
	slow_turn(turn++ % SLOW_TURNS == 0);
	queue_delayed_work(system_freezable_wq, &slow_work, SLOW_EVERY);
}

/**
 * jetwatt_clock_start() - the sampler will run: keep the slow clocks fresh
 */
void jetwatt_clock_start(void)
{
	turn = 0;
	queue_delayed_work(system_freezable_wq, &slow_work, 0);
}

/**
 * jetwatt_clock_stop() - the sampler is parked
 *
 * Context: sleeps until a firmware call under way has returned.
 */
void jetwatt_clock_stop(void)
{
	cancel_delayed_work_sync(&slow_work);
}

/**
 * jetwatt_clock_init() - find all clocks there are, and those to come
 *
 * Return: 0 or a negative errno. No clock at all is no error.
 */
int jetwatt_clock_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	err = cpufreq_register_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
	if (err)
		return err;
	err = jetwatt_gpu_init();
	if (err)
		goto unregister;
	look_for_policies();
	jetwatt_clock_add(JETWATT_SERIES_CORES, 0, "cores");
	slow_turn(true);
	return 0;
unregister:
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
	return err;
}

/**
 * jetwatt_clock_exit() - let go of all clocks
 *
 * Context: the sampler is parked.
 */
void jetwatt_clock_exit(void)
{
	jetwatt_gpu_exit();
	jetwatt_slow_exit();
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
}
