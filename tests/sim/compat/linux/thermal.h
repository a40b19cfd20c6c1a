/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_COMPAT_LINUX_THERMAL_H
#define SIM_COMPAT_LINUX_THERMAL_H

#include_next <linux/thermal.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/version.h>
/*
 * Before Linux 6.0, thermal sensors of the device tree have operations of another type than other
 * thermal zones.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
struct sim_compat_sensor {
	struct thermal_zone_device *tz;	/* NULL until the zone is registered */
	const struct thermal_zone_device_ops *ops;
};

static inline int sim_compat_get_temp(void *data, int *temp)
{
	struct sim_compat_sensor *sensor = data;

	return sensor->ops->get_temp(sensor->tz, temp);
}

static const struct thermal_zone_of_device_ops sim_compat_ops = {
	.get_temp = sim_compat_get_temp,
};

static inline struct thermal_zone_device *
devm_thermal_of_zone_register(struct device *dev, int id, void *data,
			      const struct thermal_zone_device_ops *ops)
{
	struct sim_compat_sensor *sensor = devm_kzalloc(dev, sizeof(*sensor), GFP_KERNEL);
	struct thermal_zone_device *tz;

	if (!sensor)
		return ERR_PTR(-ENOMEM);
	sensor->ops = ops;
	tz = devm_thermal_zone_of_sensor_register(dev, id, sensor, &sim_compat_ops);
	if (!IS_ERR(tz))
		sensor->tz = tz;
	return tz;
}
#endif

#endif
