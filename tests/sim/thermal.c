// SPDX-License-Identifier: GPL-2.0-only
/* Simulate the temperature sensor of the die, which the thermal zones of the device tree use. */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/thermal.h>

#include "drivers.h"
#include "plant.h"

/* Zones of Tegra234: 0 is cpu, 1 is gpu, 8 is tj (the maximum of all). */
static const int zones[] = { 0, 1, 8 };

static int temp_mc;
module_param(temp_mc, int, 0644);
MODULE_PARM_DESC(temp_mc, "temperature that the sensors report, in 1/1000 degree Celsius (default 0: the plant's temperature)");

/*
 * A real die does not cool at once, and the kernel's governor removes a limit only while the
 * temperature falls. Therefore the reported temperature falls to the plant's at most at this rate,
 * in 1/1000 degree Celsius per second.
 */
#define FALL_MC		4000

static DEFINE_SPINLOCK(shown_lock);
static struct {
	int mc;
	u64 ns;
} shown;

static int get_temp(struct thermal_zone_device *tz, int *temp)
{
	struct sim_now now;
	u64 ns = ktime_get_ns();

	sim_plant_now(&now);
	spin_lock(&shown_lock);
	shown.mc -= (int)min_t(u64, div_u64((ns - shown.ns) * FALL_MC, NSEC_PER_SEC), INT_MAX / 2);
	shown.mc = READ_ONCE(temp_mc) ?: max(shown.mc, now.temp_mc);
	shown.ns = ns;
	*temp = shown.mc;
	spin_unlock(&shown_lock);
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
