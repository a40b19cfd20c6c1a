// SPDX-License-Identifier: GPL-2.0-only
/* Temperature of the die: the sensor behind the device tree's thermal zones. */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/thermal.h>

#include "board.h"
#include "plant.h"

/* Tegra234's zones: cpu 0, gpu 1, tj 8 (the hottest of all). */
static const int zones[] = { 0, 1, 8 };

static int temp_mc;
module_param(temp_mc, int, 0644);
MODULE_PARM_DESC(temp_mc, "temperature that the sensors show instead of the plant's (0: the plant's)");

static int get_temp(struct thermal_zone_device *tz, int *temp)
{
	struct sim_now now;

	*temp = READ_ONCE(temp_mc);
	if (*temp)
		return 0;
	sim_plant_now(&now);
	*temp = now.temp_mc;
	return 0;
}
static const struct thermal_zone_device_ops ops = {
	.get_temp = get_temp,
};

static int probe(struct platform_device *pdev)
{
	struct thermal_zone_device *tz;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(zones); i++) {
		tz = devm_thermal_of_zone_register(&pdev->dev, zones[i], NULL, &ops);
		if (IS_ERR(tz) && PTR_ERR(tz) != -ENODEV)
			return PTR_ERR(tz);
	}
	return 0;
}

static const struct of_device_id thermal_ids[] = {
	{ .compatible = "jetwatt,sim-thermal" },
	{ }
};
MODULE_DEVICE_TABLE(of, thermal_ids);

static struct platform_driver driver = {
	.probe = probe,
	.driver = {
		.name = "jetwatt-sim-thermal",
		.of_match_table = thermal_ids,
	},
};

int sim_thermal_register(void)
{
	return platform_driver_register(&driver);
}

void sim_thermal_unregister(void)
{
	platform_driver_unregister(&driver);
}
