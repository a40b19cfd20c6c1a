// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory clock of Thor. JetPack 7 shows the memory clock as the devfreq device "bwmgr", whose
 * max_freq is capped by nvpmodel.conf. Of this device, only the name, the attributes and the range
 * of the clock are known: the attributes are those of any devfreq device, and the scripts of
 * IISWC2026 read them on a Developer Kit. The source of the driver is not published. This
 * simulation assumes that the memory clock runs at its limit max_freq, as with the caps of the
 * other boards.
 */
#include <linux/devfreq.h>
#include <linux/platform_device.h>
#include <linux/pm_opp.h>

#include "drivers.h"
#include "fault.h"
#include "knobs.h"

static struct platform_device *pdev;
static struct devfreq *devfreq;
static struct devfreq_simple_ondemand_data always = { .upthreshold = 5 };

static int target(struct device *dev, unsigned long *freq, u32 flags)
{
	u32 i;

	if (sim_fault(SIM_FAIL_EMC))
		return -EIO;
	for (i = sim_steps.nr_emc - 1; i && sim_steps.emc_hz[i] >= *freq + 1000; i--)
		;
	*freq = sim_steps.emc_hz[i];
	sim_knobs_set_emc(*freq);
	return 0;
}

static int get_dev_status(struct device *dev, struct devfreq_dev_status *status)
{
	status->total_time = 1;
	status->busy_time = 1;
	status->current_frequency = sim_knobs_emc();
	return 0;
}

static int get_cur_freq(struct device *dev, unsigned long *freq)
{
	*freq = sim_knobs_emc();
	return 0;
}

static struct devfreq_dev_profile profile = {
	.target = target,
	.get_dev_status = get_dev_status,
	.get_cur_freq = get_cur_freq,
};

int sim_bwmgr_register(void)
{
	int err = 0;
	u32 i;

	if (!sim_emc_capped_by("bwmgr"))
		return 0;
	pdev = platform_device_register_simple("bwmgr", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev)) {
		err = PTR_ERR(pdev);
		pdev = NULL;
		return err;
	}
	for (i = 0; !err && i < sim_steps.nr_emc; i++)
		err = dev_pm_opp_add(&pdev->dev, sim_steps.emc_hz[i], 0);
	if (!err) {
		profile.initial_freq = sim_knobs_emc();
		devfreq = devfreq_add_device(&pdev->dev, &profile, "simple_ondemand", &always);
		if (IS_ERR(devfreq)) {
			err = PTR_ERR(devfreq);
			devfreq = NULL;
		}
	}
	if (err)
		sim_bwmgr_unregister();
	return err;
}

void sim_bwmgr_unregister(void)
{
	if (devfreq)
		devfreq_remove_device(devfreq);
	devfreq = NULL;
	if (!pdev)
		return;
	dev_pm_opp_remove_all_dynamic(&pdev->dev);
	platform_device_unregister(pdev);
	pdev = NULL;
}
