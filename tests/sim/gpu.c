// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU clock up to Orin: a devfreq device with the name of the GPU's platform device:
 * "17000000.gpu" (gpu@17000000, JetPack 6) or "17000000.gv11b" (gv11b at the same address, in
 * JetPack 5's tegra194-soc-base.dtsi). Thor's clock: gpu_pci.c.
 */
#include <linux/devfreq.h>
#include <linux/devfreq_cooling.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_opp.h>

#include "drivers.h"
#include "fault.h"
#include "knobs.h"

uint sim_gpu_load = 1000;
module_param_named(gpu_load, sim_gpu_load, uint, 0644);
MODULE_PARM_DESC(gpu_load, "GPU load that the driver reports, permille (default 1000)");

static unsigned long table[SIM_STEPS_MAX];

static int target(struct device *dev, unsigned long *freq, u32 flags)
{
	u32 i, pick = 0;

	if (sim_fault(SIM_FAIL_DEVFREQ))
		return -EIO;
	/* devfreq rounds the limits to kHz, so the requested clock may differ from a level by up to
	 * 1 kHz. */
	if (flags & DEVFREQ_FLAG_LEAST_UPPER_BOUND) {
		for (i = 0; i < sim_steps.nr_gpu && table[i] < *freq + 1000; i++)
			pick = i;
	} else {
		pick = sim_steps.nr_gpu - 1;
		for (i = sim_steps.nr_gpu; i-- > 0 && table[i] + 1000 > *freq; )
			pick = i;
	}
	*freq = table[pick];
	sim_knobs_set_gpu(*freq);
	return 0;
}

/*
 * The driver reports a GPU load of 100 % by default. With a load of 100 %, the devfreq governor
 * keeps the clock at its limit, as NVIDIA's governor does during training.
 */
static int get_dev_status(struct device *dev, struct devfreq_dev_status *status)
{
	status->busy_time = min(sim_gpu_load, 1000u) * 7;
	status->total_time = 7000;
	status->current_frequency = sim_knobs_gpu();
	return 0;
}

static int get_cur_freq(struct device *dev, unsigned long *freq)
{
	*freq = sim_knobs_gpu();
	return 0;
}

static struct devfreq_dev_profile profile = {
	.target = target,
	.get_dev_status = get_dev_status,
	.get_cur_freq = get_cur_freq,
};

static void forget_steps(void *dev)
{
	dev_pm_opp_remove_all_dynamic(dev);
}

/* Register the levels as operating points of the device; devfreq takes its limits from them. */
static int tell_steps(struct device *dev)
{
	u32 i;
	int err;

	for (i = 0; i < sim_steps.nr_gpu; i++) {
		table[i] = sim_steps.gpu_hz[i];
		err = dev_pm_opp_add(dev, table[i], 0);
		if (err)
			return err;
	}
	return 0;
}

static void uncool(void *cooling)
{
	devfreq_cooling_unregister(cooling);
}

/*
 * Register a cooling device, by which the thermal zones limit the GPU clock in addition to the
 * user's limits.
 */
static int cool(struct device *dev, struct devfreq *devfreq)
{
	struct thermal_cooling_device *cooling = of_devfreq_cooling_register(dev->of_node, devfreq);

	/* -EINVAL: the kernel lacks the cooling support of devfreq, which is no error. */
	if (IS_ERR(cooling))
		return PTR_ERR(cooling) == -EINVAL ? 0 : PTR_ERR(cooling);
	return devm_add_action_or_reset(dev, uncool, cooling);
}

static int probe(struct platform_device *pdev)
{
	struct devfreq *devfreq;
	int err;

	err = devm_add_action_or_reset(&pdev->dev, forget_steps, &pdev->dev);
	if (err)
		return err;
	err = tell_steps(&pdev->dev);
	if (err)
		return err;
	profile.initial_freq = sim_knobs_gpu();
	devfreq = devm_devfreq_add_device(&pdev->dev, &profile, "simple_ondemand", NULL);
	if (IS_ERR(devfreq))
		return dev_err_probe(&pdev->dev, PTR_ERR(devfreq),
				     "no devfreq device: is governor_simpleondemand loaded?\n");
	return cool(&pdev->dev, devfreq);
}

static const struct of_device_id gpu_ids[] = {
	{ .compatible = "nvidia,ga10b" },
	{ .compatible = "nvidia,gv11b" },
	{ }
};
MODULE_DEVICE_TABLE(of, gpu_ids);
MODULE_SOFTDEP("pre: governor_simpleondemand");

static struct platform_driver driver = {
	.probe = probe,
	.driver = {
		.name = "jetwatt-sim-gpu",
		.of_match_table = gpu_ids,
	},
};

int sim_gpu_register(void)
{
	int err;

	err = platform_driver_register(&driver);
	if (err)
		return err;
	err = sim_gpu_pci_add();
	if (err)
		platform_driver_unregister(&driver);
	return err;
}

void sim_gpu_unregister(void)
{
	sim_gpu_pci_remove();
	platform_driver_unregister(&driver);
}
