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

/* The lock serialises additions; a series is complete before the count covers it. */
static struct {
	struct mutex lock;
	struct jetwatt_aux series[JETWATT_AUX_MAX];
	unsigned int nr;
} aux = { .lock = __MUTEX_INITIALIZER(aux.lock) };

/*
 * Under its lock run the work item, while the sampler runs, and a caller of
 * jetwatt_aux_refresh(), while the sampler is parked.
 */
static struct {
	struct mutex lock;
	unsigned int turn;	/* of the work item */
	unsigned long last;	/* time of the last one, in jiffies; also read without the lock */
} slow_reads = { .lock = __MUTEX_INITIALIZER(slow_reads.lock) };

static const u8 reader_of[] = {
#define READER(ID, reader, ...) \
	[JETWATT_SERIES_##ID] = JETWATT_SERIES_READER_##reader,
	JETWATT_SERIES_ROWS(READER)
#undef READER
};

/* Only the firmware or another driver knows it. */
static bool is_slow(const struct jetwatt_aux *clock)
{
	return reader_of[clock->kind] == JETWATT_SERIES_READER_SLOW;
}

/**
 * jetwatt_aux_add() - find a clock, or add it
 * @kind: enum jetwatt_series
 * @index: see JETWATT_A_CLOCK_INDEX
 * @label: for people
 *
 * Context: sleeps. Return: the clock, NULL if there is no room.
 */
struct jetwatt_aux *jetwatt_aux_add(u32 kind, u32 index, const char *label)
{
	struct jetwatt_aux *clock = NULL;
	unsigned int i;
	int slot;

	mutex_lock(&aux.lock);
	for (i = 0; i < aux.nr && !clock; i++)
		if (aux.series[i].kind == kind && aux.series[i].index == index)
			clock = &aux.series[i];
	if (clock || aux.nr == JETWATT_AUX_MAX)
		goto unlock;
	slot = jetwatt_series_slot(kind, index);
	if (slot < 0)
		goto unlock;
	clock = &aux.series[aux.nr];
	clock->kind = kind;
	clock->index = index;
	clock->slot = slot;
	clock->value = JETWATT_VALUE_NONE;
	strscpy(clock->label, label, sizeof(clock->label));
	/* Pairs with jetwatt_aux_count(). */
	smp_store_release(&aux.nr, aux.nr + 1);
	jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, 0);
unlock:
	mutex_unlock(&aux.lock);
	return clock;
}

/**
 * jetwatt_aux_count() - how many clocks there are
 *
 * Context: any. Return: the number; it only grows.
 */
unsigned int jetwatt_aux_count(void)
{
	/* Pairs with jetwatt_aux_add(): what the count covers is complete. */
	return smp_load_acquire(&aux.nr);
}

/**
 * jetwatt_aux_at() - one of them
 * @i: less than a count returned before
 *
 * Return: the clock.
 */
struct jetwatt_aux *jetwatt_aux_at(unsigned int i)
{
	return &aux.series[i];
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
 * jetwatt_aux_value() - what a clock shows now
 * @clock: the clock
 *
 * Context: process; no firmware call. Return: the value, for a slow clock as
 * last read, JETWATT_VALUE_NONE if there is none.
 */
s32 jetwatt_aux_value(const struct jetwatt_aux *clock)
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
 * jetwatt_aux_recent() - what a clock shows, unless nobody has looked lately
 * @clock: the clock
 *
 * Context: process; no firmware call. Return: as jetwatt_aux_value();
 * JETWATT_VALUE_NONE for a slow clock that was read more than two seconds ago.
 */
s32 jetwatt_aux_recent(const struct jetwatt_aux *clock)
{
	if (is_slow(clock) && time_after(jiffies, READ_ONCE(slow_reads.last) + 2 * HZ))
		return JETWATT_VALUE_NONE;
	return jetwatt_aux_value(clock);
}

/**
 * jetwatt_aux_read() - record all clocks
 * @sample: where to
 * @all: slow ones too, even if there is nothing new
 *
 * Context: the sampler's thread.
 */
void jetwatt_aux_read(struct jetwatt_sample *sample, bool all)
{
	struct jetwatt_aux *clock;
	unsigned int i, n = jetwatt_aux_count();
	u32 turn;

	for (i = 0; i < n; i++) {
		clock = &aux.series[i];
		/* One that was added while this sample was open has to wait. */
		if (clock->slot >= sample->nr_series)
			continue;
		if (is_slow(clock)) {
			/* Pairs with the slow path: the value is not older than its turn. */
			turn = smp_load_acquire(&clock->turn);
			if (turn == clock->recorded_turn && !all)
				continue;
			clock->recorded_turn = turn;
		}
		sample->value[clock->slot] = jetwatt_aux_value(clock);
	}
}

static void add_policy(struct cpufreq_policy *policy)
{
	unsigned int cpu = cpumask_first(policy->related_cpus);
	struct jetwatt_aux *clock;
	char label[16];

	snprintf(label, sizeof(label), "cpu%u", cpu);
	clock = jetwatt_aux_add(JETWATT_SERIES_CPU_KHZ, cpu, label);
	if (clock)
		cpumask_copy(&clock->cpus, policy->related_cpus);
}

static void discover_policies(void)
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

static void read_slow(bool long_turn)
{
	mutex_lock(&slow_reads.lock);
	if (long_turn) {
		jetwatt_gpu_discover();
		jetwatt_slow_discover();
	}
	jetwatt_slow_read(long_turn);
	slow_reads.last = jiffies;
	mutex_unlock(&slow_reads.lock);
}

/**
 * jetwatt_aux_refresh() - have values of slow clocks that are not stale
 *
 * A tenth of a second counts as fresh, so that the firmware is not asked more
 * often than by the sampler. For the privileged only: others get what there is
 * (jetwatt_aux_recent()).
 *
 * Context: sleeps.
 */
void jetwatt_aux_refresh(void)
{
	if (time_after(jiffies, READ_ONCE(slow_reads.last) + SLOW_EVERY + SLOW_EVERY / 2))
		read_slow(true);
}

static void read_slow_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(slow_work, read_slow_fn);

static void read_slow_fn(struct work_struct *work)
{
	read_slow(slow_reads.turn++ % SLOW_TURNS == 0);
	queue_delayed_work(system_freezable_wq, &slow_work, SLOW_EVERY);
}

/**
 * jetwatt_aux_start() - the sampler will run: keep the slow clocks fresh
 */
void jetwatt_aux_start(void)
{
	slow_reads.turn = 0;
	queue_delayed_work(system_freezable_wq, &slow_work, 0);
}

/**
 * jetwatt_aux_stop() - the sampler is parked
 *
 * Context: sleeps until a firmware call under way has returned.
 */
void jetwatt_aux_stop(void)
{
	cancel_delayed_work_sync(&slow_work);
}

/**
 * jetwatt_aux_init() - find all clocks there are, and those to come
 *
 * Return: 0 or a negative errno. No clock at all is no error.
 */
int jetwatt_aux_init(void)
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
	discover_policies();
	jetwatt_aux_add(JETWATT_SERIES_CORES, 0, "cores");
	read_slow(true);
	return 0;
unregister:
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
	return err;
}

/**
 * jetwatt_aux_exit() - let go of all clocks
 *
 * Context: the sampler is parked.
 */
void jetwatt_aux_exit(void)
{
	jetwatt_gpu_exit();
	jetwatt_slow_exit();
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
}
