// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fan's tachometer: the hwmon device "pwm_tach" with the attribute "rpm", on the platform
 * device of the node generic_pwm_tachometer, as NVIDIA's driver for "generic-pwm-tachometer"
 * creates it. NVIDIA's driver reports 0 rpm if it cannot measure the speed; fan_rpm=0 simulates
 * this.
 *
 * Sources: "PWM based Generic Tachometer driver" (2017 to 2020, kernel 4.9 and 5.10 of L4T), of
 * which a copy was read whose path in the source tree is unknown. The node: L4T 35.3.1,
 * hardware/nvidia/platform/t23x/prometheus/kernel-dts/cvb/tegra234-p3740-0000-a00.dtsi, and
 * source/kernel/nvidia/Documentation/devicetree/bindings/hwmon/generic-pwm-tachometer.txt.
 * Mainline's driver (pwm_fan.c) has fan1_input of the hwmon device "pwmfan" if the fan has an
 * interrupt for its tachometer, which is not simulated: drivers/hwmon/pwm-fan.c of Linux 5.10,
 * 5.15.148 and 6.8.
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

static uint fan_rpm = 1500;
module_param(fan_rpm, uint, 0644);
MODULE_PARM_DESC(fan_rpm, "speed that the fan's tachometer reports, rpm");

static struct platform_device *pdev;
static struct device *hwmon;

static ssize_t rpm_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(fan_rpm));
}
static SENSOR_DEVICE_ATTR_RO(rpm, rpm, 0);

static struct attribute *pwm_tach_attrs[] = {
	&sensor_dev_attr_rpm.dev_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(pwm_tach);

/* Return: whether the board is known to have a fan with a tachometer. */
static bool has_fan(void)
{
	return !sim_board_is_one_of("AGX Thor", NULL);
}

int sim_fan_register(void)
{
	if (!has_fan())
		return 0;
	pdev = platform_device_register_simple("generic_pwm_tachometer", PLATFORM_DEVID_NONE,
					       NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	hwmon = hwmon_device_register_with_groups(&pdev->dev, "pwm_tach", NULL, pwm_tach_groups);
	if (!IS_ERR(hwmon))
		return 0;
	platform_device_unregister(pdev);
	return PTR_ERR(hwmon);
}

void sim_fan_unregister(void)
{
	if (!has_fan())
		return;
	hwmon_device_unregister(hwmon);
	platform_device_unregister(pdev);
}
