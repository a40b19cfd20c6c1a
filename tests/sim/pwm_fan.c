// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fan's PWM signal: the hwmon device "pwmfan" with the attribute "pwm1", the duty cycle from 0
 * to 255, as mainline's driver for "pwm-fan" creates it. As in that driver, the fan starts at 255.
 * A fan whose tachometer has its own driver (fan.c) has no interrupt, and therefore no fan1_input.
 * The driver's platform device is called pwm-fan; this one has another name, to which mainline's
 * driver does not bind.
 *
 * Sources: drivers/hwmon/pwm-fan.c of mainline, commit 01695410d452, and
 * Documentation/hwmon/pwm-fan.rst.
 *
 * Evidence (see doc/hardware.md): vendor's source for the attribute; unproven that a Jetson has it,
 * because no device tree with a node of this driver was read.
 */
#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/hwmon-sysfs.h>
#include <linux/kernel.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "drivers.h"

static struct platform_device *pdev;
static struct device *hwmon;
static u8 duty;

static ssize_t pwm1_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(duty));
}

static ssize_t pwm1_store(struct device *dev, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	u8 value;
	int err = kstrtou8(buf, 10, &value);

	if (err)
		return err;
	WRITE_ONCE(duty, value);
	return count;
}
static SENSOR_DEVICE_ATTR_RW(pwm1, pwm1, 0);

static struct attribute *pwm_fan_attrs[] = {
	&sensor_dev_attr_pwm1.dev_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(pwm_fan);

int sim_pwm_fan_register(void)
{
	duty = 255;
	pdev = platform_device_register_simple("jetwatt-sim-pwm-fan", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	hwmon = hwmon_device_register_with_groups(&pdev->dev, "pwmfan", NULL, pwm_fan_groups);
	if (!IS_ERR(hwmon))
		return 0;
	platform_device_unregister(pdev);
	return PTR_ERR(hwmon);
}

void sim_pwm_fan_unregister(void)
{
	hwmon_device_unregister(hwmon);
	platform_device_unregister(pdev);
}
