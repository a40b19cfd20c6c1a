// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the auxiliary series. The sampler thread reads the fast series itself. The slow series
 * need firmware calls or locks of other drivers, so a work item reads them, and the sampler thread
 * records the values last read.
 */
#include "sampler/aux_series.h"

#include <linux/cpufreq.h>
#include <linux/errno.h>
#include <linux/jetwatt.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>
#include "fault_inject.h"
#include "sampler/ring.h"

#define SLOW_PERIOD	(HZ / 10)	/* jiffies: at most ten rounds of firmware calls a second */
#define LONG_CYCLE	10		/* every 10th round: also temperatures, discovery */

/*
 * The lock serialises the slow reads: those of the work item while the sampler runs, of
 * jetwatt_aux_refresh(), and of jetwatt_aux_init().
 */
static struct {
	struct mutex lock;
	unsigned int cycle;	/* number of runs of the work item since the sampler started */
	unsigned long last;	/* jiffies of the last round; also read without @lock */
} slow_reads = { .lock = __MUTEX_INITIALIZER(slow_reads.lock) };

static const u8 reader_of[] = {
#define READER(ID, reader, ...) \
	[JETWATT_SERIES_##ID] = JETWATT_SERIES_READER_##reader,
	JETWATT_SERIES_ROWS(READER)
#undef READER
};

/* Return true if reading the series needs a firmware call or another driver. */
static bool is_slow(const struct jetwatt_aux *series)
{
	return reader_of[series->kind] == JETWATT_SERIES_READER_SLOW;
}

/*
 * cpufreq_quick_get() only works for online CPUs. @cpus may change concurrently if a cpufreq driver
 * is loaded again with different policies; a single wrong value is then possible.
 */
static s32 policy_khz(const struct cpumask *cpus)
{
	unsigned int cpu = cpumask_any_and(cpus, cpu_online_mask);

	return cpu < nr_cpu_ids ? cpufreq_quick_get(cpu) : 0;
}

/**
 * jetwatt_aux_value() - return the present value of an auxiliary series
 * @series: the series
 *
 * Context: process; makes no firmware call. Return: the present value of a fast series (0 for a
 * CPU clock that is unknown or whose CPUs are offline), the value last read of a slow series, or
 * JETWATT_VALUE_NONE if the series has no value.
 */
s32 jetwatt_aux_value(const struct jetwatt_aux *series)
{
	switch (series->kind) {
	case JETWATT_SERIES_CPU_KHZ:
		return policy_khz(&series->cpus);
	case JETWATT_SERIES_GPU_KHZ:
		return jetwatt_gpu_khz();
	case JETWATT_SERIES_CORES:
		return num_online_cpus();
	default:
		return READ_ONCE(series->value);
	}
}

/**
 * jetwatt_aux_recent() - return the value of an auxiliary series unless it is outdated
 * @series: the series
 *
 * Context: process; makes no firmware call. Return: the result of jetwatt_aux_value();
 * JETWATT_VALUE_NONE for a slow series if the last slow read was more than two seconds ago.
 */
s32 jetwatt_aux_recent(const struct jetwatt_aux *series)
{
	if (is_slow(series) && time_after(jiffies, READ_ONCE(slow_reads.last) + 2 * HZ))
		return JETWATT_VALUE_NONE;
	return jetwatt_aux_value(series);
}

/**
 * jetwatt_aux_read() - record the auxiliary series in a sample
 * @sample: the sample
 * @all: record slow series even if they were not read again since they were recorded last
 *
 * Context: the sampler thread.
 */
void jetwatt_aux_read(struct jetwatt_sample *sample, bool all)
{
	struct jetwatt_aux *series;
	unsigned int i, n = jetwatt_aux_count();
	u32 reads;

	for (i = 0; i < n; i++) {
		series = jetwatt_aux_at(i);
		/*
		 * A series that was added after jetwatt_ring_begin() has no column in this sample.
		 */
		if (series->slot >= sample->nr_series)
			continue;
		if (is_slow(series)) {
			/*
			 * Pairs with store_slow(): series->value is at least as new as
			 * series->reads.
			 */
			reads = smp_load_acquire(&series->reads);
			if (reads == series->recorded_reads && !all)
				continue;
			series->recorded_reads = reads;
		}
		sample->value[series->slot] = jetwatt_aux_value(series);
	}
}

static void add_policy(struct cpufreq_policy *policy)
{
	unsigned int cpu = cpumask_first(policy->related_cpus);
	struct jetwatt_aux *series;
	char label[16];

	snprintf(label, sizeof(label), "cpu%u", cpu);
	series = jetwatt_aux_add(JETWATT_SERIES_CPU_KHZ, cpu, label);
	if (series)
		cpumask_copy(&series->cpus, policy->related_cpus);
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

static void read_slow(bool long_cycle)
{
	mutex_lock(&slow_reads.lock);
	if (long_cycle) {
		jetwatt_gpu_discover();
		jetwatt_slow_discover();
	}
	jetwatt_slow_read(long_cycle);
	slow_reads.last = jiffies;
	mutex_unlock(&slow_reads.lock);
}

/**
 * jetwatt_aux_refresh() - read the slow series if their values are outdated
 *
 * If the last slow read was less than 0.15 seconds ago, the values are not read again, which limits
 * the rate of the firmware calls that clients can cause. Called for privileged clients only; other
 * clients get the values last read (jetwatt_aux_recent()).
 *
 * Context: takes slow_reads.lock; sleeps.
 */
void jetwatt_aux_refresh(void)
{
	if (time_after(jiffies, READ_ONCE(slow_reads.last) + SLOW_PERIOD + SLOW_PERIOD / 2))
		read_slow(true);
}

static void read_slow_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(slow_work, read_slow_fn);

static void read_slow_fn(struct work_struct *work)
{
	read_slow(slow_reads.cycle++ % LONG_CYCLE == 0);
	queue_delayed_work(system_freezable_wq, &slow_work, SLOW_PERIOD);
}

/**
 * jetwatt_aux_start() - start to read the slow series periodically, before the sampler runs
 */
void jetwatt_aux_start(void)
{
	slow_reads.cycle = 0;
	queue_delayed_work(system_freezable_wq, &slow_work, 0);
}

/**
 * jetwatt_aux_stop() - stop reading the slow series when the sampler is parked
 *
 * Context: sleeps until a read of the slow series under way is finished.
 */
void jetwatt_aux_stop(void)
{
	cancel_delayed_work_sync(&slow_work);
}

/**
 * jetwatt_aux_init() - find the auxiliary series, and follow devices that appear later
 *
 * Return: 0 or a negative errno. If no device is found, the function succeeds too.
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
 * jetwatt_aux_exit() - release all devices of auxiliary series
 *
 * Context: the sampler is parked.
 */
void jetwatt_aux_exit(void)
{
	jetwatt_gpu_exit();
	jetwatt_slow_exit();
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
}
