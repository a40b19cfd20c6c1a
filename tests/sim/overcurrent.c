// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of over-current and under-voltage events: the hwmon device "soctherm_oc" on the platform
 * device soctherm-oc-event. Attributes:
 *
 * Orin    oc1_event_cnt, oc1_throt_en, up to oc3: drivers/thermal/tegra23x_oc_event.c of L4T 35.3.1
 *         (Seeed-Studio/Linux_for_Tegra, source/kernel/nvidia); tegra234-oc-event.c of JetPack 6
 *         (jnohlgard/nvidia-linux-nv-oot). A read fails with -EINVAL if the firmware refuses it.
 * Xavier  oc1_irq_cnt to oc6_irq_cnt: tegra19x_oc_event.c in the same tree; its other attributes,
 *         for the depth of throttling, are left out
 * Thor    no source found, so the simulated board has no such device
 *
 * The counters start when the firmware (Orin) or the driver (Xavier) is started. The meaning of
 * each input depends on the board.
 *
 * Evidence (see doc/hardware.md): vendor's source.
 */
#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/hwmon-sysfs.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "drivers.h"

#define INPUTS		6

static int oc_events[INPUTS];
module_param_array(oc_events, int, NULL, 0644);
MODULE_PARM_DESC(oc_events, "number of events that each over-current input reports (default 0); negative: the input refuses the request");

static struct platform_device *pdev;
static struct device *hwmon;

static ssize_t count_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	int n = READ_ONCE(oc_events[to_sensor_dev_attr(attr)->index]);

	return n < 0 ? -EINVAL : sysfs_emit(buf, "%d\n", n);
}

static ssize_t throt_en_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "1\n");
}

static SENSOR_DEVICE_ATTR_RO(oc1_event_cnt, count, 0);
static SENSOR_DEVICE_ATTR_RO(oc1_throt_en, throt_en, 0);
static SENSOR_DEVICE_ATTR_RO(oc2_event_cnt, count, 1);
static SENSOR_DEVICE_ATTR_RO(oc2_throt_en, throt_en, 1);
static SENSOR_DEVICE_ATTR_RO(oc3_event_cnt, count, 2);
static SENSOR_DEVICE_ATTR_RO(oc3_throt_en, throt_en, 2);
static SENSOR_DEVICE_ATTR_RO(oc1_irq_cnt, count, 0);
static SENSOR_DEVICE_ATTR_RO(oc2_irq_cnt, count, 1);
static SENSOR_DEVICE_ATTR_RO(oc3_irq_cnt, count, 2);
static SENSOR_DEVICE_ATTR_RO(oc4_irq_cnt, count, 3);
static SENSOR_DEVICE_ATTR_RO(oc5_irq_cnt, count, 4);
static SENSOR_DEVICE_ATTR_RO(oc6_irq_cnt, count, 5);

static struct attribute *orin_attrs[] = {
	&sensor_dev_attr_oc1_event_cnt.dev_attr.attr, &sensor_dev_attr_oc1_throt_en.dev_attr.attr,
	&sensor_dev_attr_oc2_event_cnt.dev_attr.attr, &sensor_dev_attr_oc2_throt_en.dev_attr.attr,
	&sensor_dev_attr_oc3_event_cnt.dev_attr.attr, &sensor_dev_attr_oc3_throt_en.dev_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(orin);

static struct attribute *xavier_attrs[] = {
	&sensor_dev_attr_oc1_irq_cnt.dev_attr.attr, &sensor_dev_attr_oc2_irq_cnt.dev_attr.attr,
	&sensor_dev_attr_oc3_irq_cnt.dev_attr.attr, &sensor_dev_attr_oc4_irq_cnt.dev_attr.attr,
	&sensor_dev_attr_oc5_irq_cnt.dev_attr.attr, &sensor_dev_attr_oc6_irq_cnt.dev_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(xavier);

static const struct attribute_group **groups_of_board(void)
{
	if (sim_board_is_one_of("AGX Orin", "Orin NX", "Orin Nano", NULL))
		return orin_groups;
	if (sim_board_is_one_of("Xavier NX", "AGX Xavier", NULL))
		return xavier_groups;
	return NULL;
}

int sim_overcurrent_register(void)
{
	const struct attribute_group **groups = groups_of_board();

	if (!groups)
		return 0;
	pdev = platform_device_register_simple("soctherm-oc-event", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	hwmon = hwmon_device_register_with_groups(&pdev->dev, "soctherm_oc", NULL, groups);
	if (!IS_ERR(hwmon))
		return 0;
	platform_device_unregister(pdev);
	return PTR_ERR(hwmon);
}

void sim_overcurrent_unregister(void)
{
	if (!groups_of_board())
		return;
	hwmon_device_unregister(hwmon);
	platform_device_unregister(pdev);
}
