// SPDX-License-Identifier: GPL-2.0
/* A PMU with the energy counters of the rails and of the total, for perf. */
#include "interface/pmu.h"

#include <linux/capability.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>
#include "fault_inject.h"
#include "sampler/config.h"
#include "sampler/energy.h"
#include "sensors/board.h"

/*
 * perf stat -e jetwatt/energy_vdd_gpu_soc/ -a
 *
 * The events count for the whole machine. All events belong to one CPU, named by the file
 * "cpumask"; when that CPU goes offline, they are moved to another one. While an event is open, the
 * sampler runs at its normal rate. Counters at the normal sampling rate are a side channel, so only
 * users that may observe the whole machine can open events.
 *
 * In perf_event_attr.config, 1 selects the total and 2 + id selects the rail with that id.
 */
#define CONFIG_TOTAL	1
#define CONFIG_RAIL	2
#define EVENTS		(JETWATT_RAILS_MAX + 1)
#define NAME_LEN	(sizeof("energy_.scale") + JETWATT_LABEL_LEN + 3)

/**
 * struct event_file - a file in the directory "events"
 * @attr: the attribute, named @name
 * @name: "energy_LABEL", "energy_LABEL.unit" or "energy_LABEL.scale"
 */
struct event_file {
	struct device_attribute attr;
	char name[NAME_LEN];
};

/*
 * Row n of each table is one file of event n. Only the first state.named rows are visible, and
 * state.named is increased only after a row is complete.
 */
static struct event_file event_files[EVENTS], unit_files[EVENTS], scale_files[EVENTS];
static struct attribute *event_attrs[3 * EVENTS + 1];

/**
 * struct pmu_state - names of the events, and registration of the PMU
 * @lock: protects @named and @registered
 * @named: number of complete rows in event_files, unit_files and scale_files
 * @registered: true: the PMU is registered
 * @hotplug_state: state number of the CPU hotplug callbacks
 * @owner: CPU of all events; nr_cpu_ids or more if there is none; written by the CPU hotplug
 *	callbacks only
 */
static struct pmu_state {
	struct mutex lock;
	unsigned int named;
	bool registered;
	int hotplug_state;
	unsigned int owner;
} state = { .lock = __MUTEX_INITIALIZER(state.lock), .owner = UINT_MAX };

static ssize_t config_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct event_file *file = container_of(attr, struct event_file, attr);

	return sysfs_emit(page, "event=0x%02x\n", (unsigned int)(file - event_files) + CONFIG_TOTAL);
}

static ssize_t unit_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "Joules\n");
}

static ssize_t scale_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "1e-6\n");
}

static umode_t event_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return n / 3 < state.named ? attr->mode : 0;
}

static const struct attribute_group events_group = {
	.name = "events",
	.attrs = event_attrs,
	.is_visible = event_visible,
};

PMU_FORMAT_ATTR(event, "config:0-7");
static struct attribute *format_attrs[] = { &format_attr_event.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = format_attrs };

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	unsigned int cpu = READ_ONCE(state.owner);

	/*
	 * Between the registration of the PMU and the first hotplug callback, no CPU is assigned
	 * yet.
	 */
	return cpu < nr_cpu_ids ? sysfs_emit(page, "%u\n", cpu) : -ENODEV;
}

static DEVICE_ATTR_RO(cpumask);
static struct attribute *cpumask_attrs[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group cpumask_group = { .attrs = cpumask_attrs };

static const struct attribute_group *groups[] = {
	&events_group, &format_group, &cpumask_group, NULL
};

static u64 read_counter(const struct perf_event *event)
{
	struct jetwatt_energy_reading energy;

	if (event->attr.config == CONFIG_TOTAL)
		jetwatt_energy_total(&energy);
	else
		jetwatt_energy_rail(event->attr.config - CONFIG_RAIL, &energy);
	return energy.uj;
}

static void event_update(struct perf_event *event)
{
	u64 before, now;

	/*
	 * An interrupt may update the same event concurrently; local64_cmpxchg() ensures that only
	 * one of the two updates adds the difference.
	 */
	do {
		before = local64_read(&event->hw.prev_count);
		now = read_counter(event);
	} while (local64_cmpxchg(&event->hw.prev_count, before, now) != before);
	local64_add(now - before, &event->count);
}

static void event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, read_counter(event));
	event->hw.state = 0;
}

static void event_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event_update(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		event_start(event, flags);
	return 0;
}

static void event_del(struct perf_event *event, int flags)
{
	event_stop(event, PERF_EF_UPDATE);
}

static void event_destroy(struct perf_event *event)
{
	jetwatt_config_counters(-1);
}

static int event_init(struct perf_event *event)
{
	unsigned int cpu = READ_ONCE(state.owner);

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK)
		return -EOPNOTSUPP;
	if (event->cpu < 0 || event->attr.config < CONFIG_TOTAL ||
	    event->attr.config >= CONFIG_RAIL + jetwatt_rail_count())
		return -EINVAL;
	if (!perfmon_capable())
		return -EACCES;
	/*
	 * Between the registration of the PMU and the first hotplug callback, no CPU is assigned
	 * yet.
	 */
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	event->cpu = cpu;
	event->destroy = event_destroy;
	jetwatt_config_counters(1);
	return 0;
}

static struct pmu energy_pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.attr_groups = groups,
	.event_init = event_init,
	.add = event_add,
	.del = event_del,
	.start = event_start,
	.stop = event_stop,
	.read = event_update,
};

static int cpu_online_cb(unsigned int cpu)
{
	if (state.owner >= nr_cpu_ids)
		WRITE_ONCE(state.owner, cpu);
	return 0;
}

static int cpu_offline_cb(unsigned int cpu)
{
	unsigned int other;
	int n;

	if (cpu != state.owner)
		return 0;
	other = cpumask_any_but(cpu_online_mask, cpu);
	/*
	 * Store the new owner before the events are moved, so that no event is opened on the
	 * outgoing CPU after the move.
	 */
	WRITE_ONCE(state.owner, other);
	if (other >= nr_cpu_ids)
		return 0;
	/*
	 * Since 6.2, one call of perf_pmu_migrate_context() moves one group of events only, because
	 * __perf_pmu_remove() removes an event from the tree and then searches for the event after
	 * the removed one. Therefore perf_pmu_migrate_context() is called once per open event;
	 * calls with no event left cost nothing.
	 */
	for (n = jetwatt_config_counters_open(); n > 0; n--)
		perf_pmu_migrate_context(&energy_pmu, cpu, other);
	return 0;
}

/* Return: true if an event before @row has the name of @row. */
static bool is_named_before(unsigned int row)
{
	unsigned int i;

	for (i = 0; i < row; i++)
		if (!strcmp(event_files[i].name, event_files[row].name))
			return true;
	return false;
}

/*
 * Set the names of an event's files: "energy_" and the label in lower case, with '_' instead of
 * every character that is not an ASCII letter or digit, because perf's parser rejects most of them.
 * If another event has the same name, the row number is appended, or the next number that makes the
 * name unique; as there are at most EVENTS names, it has two digits at most.
 */
static void name_event(unsigned int row, const char *label)
{
	char *at = event_files[row].name;
	unsigned int n;

	snprintf(at, NAME_LEN, "energy_%s", label);
	for (; *at; at++)
		*at = isalnum(*at) && isascii(*at) ? tolower(*at) : '_';
	for (n = row; is_named_before(row); n++)
		snprintf(at, NAME_LEN - (at - event_files[row].name), "_%u", n);
	snprintf(unit_files[row].name, NAME_LEN, "%s.unit", event_files[row].name);
	snprintf(scale_files[row].name, NAME_LEN, "%s.scale", event_files[row].name);
}

static void name_rails(void)
{
	unsigned int rails = jetwatt_rail_count();

	for (; state.named <= rails; state.named++)
		name_event(state.named, state.named ? jetwatt_rail_at(state.named - 1)->label : "total");
}

static void init_event_file(struct event_file *file, unsigned int at,
		    ssize_t (*show)(struct device *, struct device_attribute *, char *))
{
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = file->name;
	file->attr.attr.mode = 0444;
	file->attr.show = show;
	event_attrs[at] = &file->attr.attr;
}

/**
 * jetwatt_pmu_update() - add events for new rails
 *
 * Context: takes state.lock; sleeps.
 */
void jetwatt_pmu_update(void)
{
	mutex_lock(&state.lock);
	if (state.registered && jetwatt_rail_count() >= state.named) {
		name_rails();
		if (sysfs_update_group(&energy_pmu.dev->kobj, &events_group))
			dev_warn(energy_pmu.dev, "perf events of new rails not added\n");
	}
	mutex_unlock(&state.lock);
}

/**
 * jetwatt_pmu_init() - register the PMU
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_pmu_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < EVENTS; i++) {
		init_event_file(&event_files[i], 3 * i, config_show);
		init_event_file(&unit_files[i], 3 * i + 1, unit_show);
		init_event_file(&scale_files[i], 3 * i + 2, scale_show);
	}
	name_rails();
	err = jetwatt_fail_step();
	if (!err)
		err = perf_pmu_register(&energy_pmu, "jetwatt", -1);
	if (err)
		return err;
	/*
	 * The hotplug callbacks are set up after the PMU is registered, because the callbacks move
	 * events of the PMU. cpuhp_setup_state() calls cpu_online_cb() for each online CPU; the
	 * first of these calls sets state.owner.
	 */
	err = jetwatt_fail_step();
	if (!err)
		err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/jetwatt:online", cpu_online_cb,
					cpu_offline_cb);
	if (err < 0) {
		perf_pmu_unregister(&energy_pmu);
		return err;
	}
	state.hotplug_state = err;
	mutex_lock(&state.lock);
	state.registered = true;
	mutex_unlock(&state.lock);
	/* Add events for rails that were found after the call of name_rails() above. */
	jetwatt_pmu_update();
	return 0;
}

/**
 * jetwatt_pmu_exit() - unregister the PMU
 *
 * Context: no perf event is open, because each open event holds a reference to the module.
 */
void jetwatt_pmu_exit(void)
{
	mutex_lock(&state.lock);
	state.registered = false;
	mutex_unlock(&state.lock);
	cpuhp_remove_state_nocalls(state.hotplug_state);
	perf_pmu_unregister(&energy_pmu);
}
