// SPDX-License-Identifier: GPL-2.0
/*
 * An hwmon device with the energy and power of the total, and the energy, power, voltage and
 * current of each rail.
 */
#include "interface/hwmon.h"

#include <linux/device.h>
#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/jetwatt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>
#include "fault_inject.h"
#include "sampler/energy.h"
#include "sensors/board.h"
#include "sensors/rail_graph.h"

/*
 * Any user may read the attributes of this hwmon device. Power readings at a high rate are a side
 * channel, so all values are refreshed together, at most ten times a second, and every read in
 * between returns the stored values.
 */
#define LATCH_NS	(NSEC_PER_SEC / 10)
#define STALE_NS	((s64)5 * NSEC_PER_SEC)

/*
 * energy1 and power1 are the total of the rails. The attributes of the rail with a given id have
 * the number id + 2 in their names, for example energy2 for id 0. The hwmon core numbers voltages
 * from 0, so the first rail's voltage is in2, and in0 and in1 do not exist.
 */
#define TOTAL		0
#define CHANNELS	(JETWATT_RAILS_MAX + 1)

static struct {
	struct mutex lock;	/* protects all fields of this struct */
	u64 at;
	struct jetwatt_energy_reading energy[CHANNELS];
} latch = { .lock = __MUTEX_INITIALIZER(latch.lock) };

static void latch_energy(u64 now)
{
	unsigned int i;

	jetwatt_energy_total(&latch.energy[TOTAL]);
	for (i = 0; i < jetwatt_rail_count(); i++)
		jetwatt_energy_rail(i, &latch.energy[i + 1]);
	latch.at = now;
}

static void read_latched(unsigned int channel, struct jetwatt_energy_reading *energy)
{
	u64 now;

	mutex_lock(&latch.lock);
	now = ktime_get_ns();
	if (!latch.at || now - latch.at >= LATCH_NS)
		latch_energy(now);
	*energy = latch.energy[channel];
	/*
	 * The ages are computed as signed numbers, because the sampler thread may have taken a
	 * sample after @now was read.
	 */
	if ((s64)(now - energy->time_ns) > STALE_NS)
		energy->time_ns = 0;
	if ((s64)(now - energy->bus_ns) > STALE_NS)
		energy->bus_ns = 0;
	mutex_unlock(&latch.lock);
}

static unsigned int channel_of(enum hwmon_sensor_types type, int channel)
{
	return type == hwmon_in ? channel - 1 : channel;
}

static umode_t is_visible(const void *unused, enum hwmon_sensor_types type, u32 attr, int channel)
{
	int i = channel_of(type, channel);

	if (i < TOTAL || (i == TOTAL && type != hwmon_energy && type != hwmon_power))
		return 0;
	/*
	 * If the resistance of the shunt is unknown, power, energy and current cannot be computed;
	 * only the bus voltage is shown.
	 */
	if (i != TOTAL && type != hwmon_in && !jetwatt_rail_at(i - 1)->shunt_uohm)
		return 0;
	return 0444;
}

static int read_channel(struct device *dev, enum hwmon_sensor_types type, u32 attr, int channel,
		long *value)
{
	struct jetwatt_energy_reading energy;

	read_latched(channel_of(type, channel), &energy);
	/*
	 * An energy counter is valid at any age; power, voltage and current are only shown if the
	 * last sample is at most five seconds old. Without a known shunt resistance, only the bus
	 * voltage has a time.
	 */
	if (type != hwmon_energy && !energy.time_ns && !(type == hwmon_in && energy.bus_ns))
		return -ENODATA;
	switch (type) {
	case hwmon_energy:
		*value = energy.uj;
		return 0;
	case hwmon_power:
		*value = energy.uw;
		return 0;
	case hwmon_in:
		*value = div_s64(energy.bus_uv, 1000);
		return 0;
	case hwmon_curr:
		*value = div_s64(energy.ua, 1000);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int read_label(struct device *dev, enum hwmon_sensor_types type, u32 attr, int channel,
		       const char **text)
{
	static const char * const totals[] = {
		[JETWATT_SCOPE_PARTIAL] = "partial sum",
		[JETWATT_SCOPE_MODULE] = "module total",
		[JETWATT_SCOPE_BOARD] = "board total",
	};
	unsigned int i = channel_of(type, channel);
	u32 scope;

	if (i == TOTAL) {
		jetwatt_graph_total(&scope);
		*text = totals[scope];
	} else {
		*text = jetwatt_rail_at(i - 1)->label;
	}
	return 0;
}

static const struct hwmon_ops hwmon_ops = {
	.is_visible = is_visible,
	.read = read_channel,
	.read_string = read_label,
};

/*
 * sample_time_ns: time of the last sample up to which all rails of the total are counted
 * (CLOCK_MONOTONIC); no value if it is more than five seconds old. With it, a reader can divide the
 * energy by the exact time, although values are up to 0.1 s and one interval of the samples old.
 */
static ssize_t sample_time_ns_show(struct device *dev, struct device_attribute *attr, char *text)
{
	struct jetwatt_energy_reading energy;

	read_latched(TOTAL, &energy);
	if (!energy.time_ns)
		return -ENODATA;
	return sysfs_emit(text, "%llu\n", energy.time_ns);
}
static DEVICE_ATTR_RO(sample_time_ns);

static struct attribute *jetwatt_hwmon_attrs[] = { &dev_attr_sample_time_ns.attr, NULL };
ATTRIBUTE_GROUPS(jetwatt_hwmon);

/* Flags of the attributes, one entry per hwmon channel; a zero ends each array. */
static u32 energies[CHANNELS + 1], powers[CHANNELS + 1], volts[CHANNELS + 2], amperes[CHANNELS + 1];

static const struct hwmon_channel_info energy_info = { hwmon_energy, energies };
static const struct hwmon_channel_info power_info = { hwmon_power, powers };
static const struct hwmon_channel_info in_info = { hwmon_in, volts };
static const struct hwmon_channel_info curr_info = { hwmon_curr, amperes };

static const struct hwmon_channel_info *infos[] = {
	&energy_info, &power_info, &in_info, &curr_info, NULL
};

static const struct hwmon_chip_info chip_info = { .ops = &hwmon_ops, .info = infos };

/* The lock serialises module loading, module unloading, and updates after scans. */
static struct {
	struct mutex lock;
	struct platform_device *parent;
	struct device *device;
	unsigned int nr_rails;	/* number of rails with attributes in @device */
} hwmon = { .lock = __MUTEX_INITIALIZER(hwmon.lock) };

static void unregister_hwmon(void)
{
	if (!IS_ERR_OR_NULL(hwmon.device))
		hwmon_device_unregister(hwmon.device);
	hwmon.device = NULL;
	hwmon.nr_rails = 0;
}

static int register_hwmon(unsigned int rails)
{
	unsigned int i;

	for (i = 0; i <= rails; i++) {
		energies[i] = HWMON_E_INPUT | HWMON_E_LABEL;
		powers[i] = HWMON_P_INPUT | HWMON_P_LABEL;
		volts[i] = HWMON_I_INPUT | HWMON_I_LABEL;
		amperes[i] = HWMON_C_INPUT | HWMON_C_LABEL;
	}
	volts[rails + 1] = HWMON_I_INPUT | HWMON_I_LABEL;
	hwmon.device = hwmon_device_register_with_info(&hwmon.parent->dev, "jetwatt", NULL, &chip_info,
						       jetwatt_hwmon_groups);
	if (IS_ERR(hwmon.device))
		return PTR_ERR(hwmon.device);
	hwmon.nr_rails = rails;
	return 0;
}

/**
 * jetwatt_hwmon_update() - register the hwmon device, or register it again for new rails
 *
 * A new registration is needed, because the list of attributes of a registered hwmon device cannot
 * grow.
 *
 * Context: takes hwmon.lock; sleeps.
 */
void jetwatt_hwmon_update(void)
{
	unsigned int rails = jetwatt_rail_count();
	int err;

	mutex_lock(&hwmon.lock);
	if (hwmon.parent && rails != hwmon.nr_rails) {
		unregister_hwmon();
		err = register_hwmon(rails);
		if (err)
			dev_warn(&hwmon.parent->dev,
				 "hwmon device not registered: rails %u, error %d\n", rails, err);
	}
	mutex_unlock(&hwmon.lock);
}

/**
 * jetwatt_hwmon_init() - register the hwmon device
 *
 * Return: 0 or a negative errno. If there are no rails yet, or the hwmon core refuses the device,
 * the function succeeds too, and jetwatt_hwmon_update() registers the device after a later scan.
 */
int jetwatt_hwmon_init(void)
{
	struct platform_device *pdev;
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	pdev = platform_device_register_simple("jetwatt", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	mutex_lock(&hwmon.lock);
	hwmon.parent = pdev;
	mutex_unlock(&hwmon.lock);
	jetwatt_hwmon_update();
	return 0;
}

/**
 * jetwatt_hwmon_exit() - unregister the hwmon device
 *
 * Context: sleeps until no attribute is being read.
 */
void jetwatt_hwmon_exit(void)
{
	struct platform_device *pdev;

	mutex_lock(&hwmon.lock);
	unregister_hwmon();
	pdev = hwmon.parent;
	hwmon.parent = NULL;
	mutex_unlock(&hwmon.lock);
	platform_device_unregister(pdev);
}
