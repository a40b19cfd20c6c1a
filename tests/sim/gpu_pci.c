// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thor's GPU: a PCI device, with clocks as nvidia.ko registers them
 * (NVIDIA/open-gpu-kernel-modules 595.45.04, kernel-open/nvidia/nv-pci.c and
 * kernel-open/common/inc/nv-tegra-clk.h).
 *
 * As in nvidia.ko: the parents of the devfreq devices are bare devices below the PCI device,
 * "gpu-gpc-0" and "gpu-nvd-0", without bus, driver and node. Other clocks of the GPU follow the
 * clocks of these two devices and have no devfreq device of their own. The governor is
 * "performance", the polling interval 25 ms. While the PCI device is runtime-suspended, cur_freq is
 * 0, the load is 0 of 100, and a new clock is only stored. The load is reported in percent.
 * remove() removes the devfreq devices and the devices of all GPU clocks.
 *
 * Unlike nvidia.ko: the PCI device is alone on a simulated host bridge (no root port; its address
 * is 0001:00:00.0, on the board 0000:01:00.0) and has neither BARs nor capabilities; clocks are
 * variables instead of calls to the BPMP; there is no interconnect request and no cooling device.
 * In a kernel without the governor "performance", the governor is "simple_ondemand" with a
 * threshold that keeps the clock at its limit while the load is above 5 %.
 */
#include <linux/devfreq.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/pm_opp.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "drivers.h"
#include "fault.h"
#include "knobs.h"

#ifdef CONFIG_PCI

#define DEVICE_ID	0x2b00
#define PCI_CLASS	0x030200	/* 3D controller (assumed, there is no source) */

/* Clock of the video unit, up to 1692 MHz; it does not affect the plant. */
#define NVD_MIN_HZ	315000000UL
#define NVD_STEP_HZ	81000000UL
#define NVD_STEPS	18

struct sim_clk {
	struct device dev;
	struct devfreq *devfreq;	/* NULL: the clock follows others */
	struct devfreq_dev_profile profile;
	struct devfreq_simple_ondemand_data always;
	unsigned long table[SIM_STEPS_MAX];
	u32 steps;
	unsigned long hz;
	bool gpc;
};

static const char *const followers[] = { "gpc1clk-0", "gpc2clk-0", "gpu-sys-0", "gpu-pwr-0" };

struct sim_gpu {
	struct sim_clk *gpc, *nvd;
	struct device *follower[ARRAY_SIZE(followers)];
};

static struct sim_clk *to_clk(struct device *dev)
{
	return container_of(dev, struct sim_clk, dev);
}

static int target(struct device *dev, unsigned long *freq, u32 flags)
{
	struct sim_clk *clk = to_clk(dev);
	u32 i;

	if (pm_runtime_suspended(dev->parent))
		return 0;
	if (sim_fault(SIM_FAIL_DEVFREQ))
		return -EIO;
	/* Round the requested clock down to a level, with a tolerance of 1 kHz. */
	for (i = clk->steps - 1; i && clk->table[i] >= *freq + 1000; i--)
		;
	*freq = clk->table[i];
	WRITE_ONCE(clk->hz, *freq);
	if (clk->gpc)
		sim_knobs_set_gpu(*freq);
	return 0;
}

static int get_cur_freq(struct device *dev, unsigned long *freq)
{
	struct sim_clk *clk = to_clk(dev);

	if (pm_runtime_active(dev->parent))
		*freq = READ_ONCE(clk->hz);
	else if (pm_runtime_suspended(dev->parent))
		*freq = 0;
	else
		*freq = clk->devfreq->previous_freq;
	return 0;
}

static int get_dev_status(struct device *dev, struct devfreq_dev_status *status)
{
	struct sim_clk *clk = to_clk(dev);
	bool awake = pm_runtime_active(dev->parent);

	status->total_time = 100;
	status->busy_time = awake ? min(sim_gpu_load, 1000u) / 10 : 0;
	status->current_frequency = awake ? READ_ONCE(clk->hz) : clk->devfreq->previous_freq;
	return 0;
}

static void release(struct device *dev)
{
	kfree(to_clk(dev));
}

static struct sim_clk *add_clk(struct device *gpu, const char *name)
{
	struct sim_clk *clk = kzalloc(sizeof(*clk), GFP_KERNEL);
	int err;

	if (!clk)
		return ERR_PTR(-ENOMEM);
	clk->dev.parent = gpu;
	clk->dev.release = release;
	dev_set_name(&clk->dev, "%s", name);
	err = device_register(&clk->dev);
	if (err) {
		put_device(&clk->dev);
		return ERR_PTR(err);
	}
	return clk;
}

static void remove_clk(struct sim_clk *clk)
{
	if (!clk)
		return;
	if (clk->devfreq)
		devfreq_remove_device(clk->devfreq);
	dev_pm_opp_remove_all_dynamic(&clk->dev);
	device_unregister(&clk->dev);
}

static int scale(struct sim_clk *clk)
{
	struct devfreq *devfreq;
	u32 i;
	int err;

	for (i = 0; i < clk->steps; i++) {
		err = dev_pm_opp_add(&clk->dev, clk->table[i], 0);
		if (err)
			return err;
	}
	clk->hz = clk->table[clk->steps - 1];
	clk->profile.target = target;
	clk->profile.get_cur_freq = get_cur_freq;
	clk->profile.get_dev_status = get_dev_status;
	clk->profile.initial_freq = clk->hz;
	clk->profile.polling_ms = 25;
	/* 5 % is the lowest threshold that the governor "simple_ondemand" accepts. */
	clk->always.upthreshold = 5;
	devfreq = devfreq_add_device(&clk->dev, &clk->profile, "performance", &clk->always);
	if (IS_ERR(devfreq))
		devfreq = devfreq_add_device(&clk->dev, &clk->profile, "simple_ondemand",
					     &clk->always);
	if (IS_ERR(devfreq))
		return PTR_ERR(devfreq);
	clk->devfreq = devfreq;
	return 0;
}

static void unwind(struct sim_gpu *gpu)
{
	u32 i;

	remove_clk(gpu->gpc);
	remove_clk(gpu->nvd);
	for (i = 0; i < ARRAY_SIZE(followers); i++)
		if (gpu->follower[i])
			device_unregister(gpu->follower[i]);
	kfree(gpu);
}

/* Create the clocks first, then the devfreq devices, in the order of nvidia.ko. */
static int add_clks(struct device *dev, struct sim_gpu *gpu)
{
	struct sim_clk *clk;
	u32 i;

	clk = add_clk(dev, "gpu-gpc-0");
	if (IS_ERR(clk))
		return PTR_ERR(clk);
	gpu->gpc = clk;
	clk->gpc = true;
	clk->steps = sim_steps.nr_gpu;
	for (i = 0; i < clk->steps; i++)
		clk->table[i] = sim_steps.gpu_hz[i];
	clk = add_clk(dev, "gpu-nvd-0");
	if (IS_ERR(clk))
		return PTR_ERR(clk);
	gpu->nvd = clk;
	clk->steps = NVD_STEPS;
	for (i = 0; i < clk->steps; i++)
		clk->table[i] = NVD_MIN_HZ + i * NVD_STEP_HZ;
	for (i = 0; i < ARRAY_SIZE(followers); i++) {
		clk = add_clk(dev, followers[i]);
		if (IS_ERR(clk))
			return PTR_ERR(clk);
		gpu->follower[i] = &clk->dev;
	}
	return scale(gpu->gpc) ?: scale(gpu->nvd);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct sim_gpu *gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	int err;

	if (!gpu)
		return -ENOMEM;
	err = add_clks(&pdev->dev, gpu);
	if (err) {
		unwind(gpu);
		return dev_err_probe(&pdev->dev, err, "no devfreq device\n");
	}
	pci_set_drvdata(pdev, gpu);
	/* From here on, the attribute power/control selects whether the device may suspend: "on"
	 * (the default) or "auto". */
	pm_runtime_put_noidle(&pdev->dev);
	return 0;
}

static void remove(struct pci_dev *pdev)
{
	pm_runtime_get_noresume(&pdev->dev);
	unwind(pci_get_drvdata(pdev));
}

static int nap(struct device *dev)
{
	return 0;
}

static const struct dev_pm_ops pm = { SET_RUNTIME_PM_OPS(nap, nap, NULL) };

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, DEVICE_ID) },
	{ }
};

static struct pci_driver driver = {
	.name = "jetwatt-sim-nvidia",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.driver.pm = &pm,
};

/* Configuration space of device 00.0: a type 0 header only. */
static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *val)
{
	static const u32 header[] = {
		[PCI_VENDOR_ID / 4] = DEVICE_ID << 16 | PCI_VENDOR_ID_NVIDIA,
		[PCI_CLASS_REVISION / 4] = PCI_CLASS << 8,
	};
	u32 word = where / 4 < ARRAY_SIZE(header) ? header[where / 4] : 0;

	if (devfn || bus->parent) {
		*val = ~0;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	word >>= where % 4 * 8;
	*val = size == 4 ? word : word & (BIT(size * 8) - 1);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 val)
{
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config = {
	.read = config_read,
	.write = config_write,
};

static struct resource busn = {
	.name = "jetwatt-sim busn",
	.start = 0,
	.end = 0,
	.flags = IORESOURCE_BUS,
};

static void remove_bus(void *bus)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
}

static int bridge_probe(struct platform_device *pdev)
{
	struct pci_host_bridge *bridge = pci_alloc_host_bridge(0);
	int err;

	if (!bridge)
		return -ENOMEM;
	bridge->dev.parent = &pdev->dev;
	bridge->ops = &config;
	pci_add_resource(&bridge->windows, &busn);
	pci_lock_rescan_remove();
	err = pci_scan_root_bus_bridge(bridge);
	if (!err)
		pci_bus_add_devices(bridge->bus);
	pci_unlock_rescan_remove();
	if (err) {
		pci_free_host_bridge(bridge);
		return err;
	}
	/* This function is registered as a devm action instead of as .remove, whose prototype
	 * differs between kernel versions. */
	return devm_add_action_or_reset(&pdev->dev, remove_bus, bridge->bus);
}

static const struct of_device_id bridge_ids[] = {
	{ .compatible = "jetwatt,sim-pci" },
	{ }
};
MODULE_DEVICE_TABLE(of, bridge_ids);

static struct platform_driver bridge_driver = {
	.probe = bridge_probe,
	.driver = {
		.name = "jetwatt-sim-pci",
		.of_match_table = bridge_ids,
	},
};

int sim_gpu_pci_add(void)
{
	int err;

	err = pci_register_driver(&driver);
	if (err)
		return err;
	err = platform_driver_register(&bridge_driver);
	if (err)
		pci_unregister_driver(&driver);
	return err;
}

void sim_gpu_pci_remove(void)
{
	platform_driver_unregister(&bridge_driver);
	pci_unregister_driver(&driver);
}

#else

int sim_gpu_pci_add(void)
{
	return 0;
}

void sim_gpu_pci_remove(void)
{
}

#endif
