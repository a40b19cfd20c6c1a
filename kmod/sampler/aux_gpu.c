// SPDX-License-Identifier: GPL-2.0
/* Clock rate and load of the GPU, read from its devfreq device. */
#include "sampler/aux_series.h"

#include <linux/devfreq.h>
#include <linux/err.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/reboot.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "fault_inject.h"

static const struct of_device_id gpus[] = {
	{ .compatible = "nvidia,ga10b" },	/* Orin */
	{ .compatible = "nvidia,gv11b" },	/* Xavier */
	{ .compatible = "nvidia,gp10b" },	/* TX2 */
	{ .compatible = "nvidia,gm20b" },	/* Nano */
	{ }
};

/*
 * Since Thor, the GPU is a PCI device. The GPU driver (nvidia.ko) creates child devices of the PCI
 * device that have no bus, driver or device-tree node; each child device has a devfreq device as
 * its child. The child device of the shaders is "gpu-gpc-N", N being the NUMA node; the driver sets
 * the clocks of all GPCs to the rate of its devfreq device. The child device for video,
 * "gpu-nvd-N", is not used here. (NVIDIA/open-gpu-kernel-modules 595.45.04,
 * kernel-open/nvidia/nv-pci.c)
 */
#define GPC		"gpu-gpc-"

/**
 * struct gpu - the GPU's devfreq device
 * @lock: excludes readers while @devfreq and @owner are replaced
 * @devfreq: the devfreq device, with a reference; NULL if there is none
 * @owner: device whose driver created @devfreq, with a reference
 * @pci: @owner is a PCI device
 * @closed: the machine is shutting down
 *
 * Releasing a devfreq device calls into its driver, so the reference to @devfreq must be dropped
 * before the driver is unloaded. A notifier on the bus of @owner drops the reference when the
 * driver is unbound. At shutdown, drivers remove their devices without being unbound, so a reboot
 * notifier drops the reference first.
 */
static struct gpu {
	spinlock_t lock;
	struct devfreq *devfreq;
	struct device *owner;
	bool pci, closed;
} gpu = { .lock = __SPIN_LOCK_UNLOCKED(gpu.lock) };

/**
 * jetwatt_gpu_khz() - return the clock rate of the GPU
 *
 * The function returns the rate that devfreq has set last, so no firmware call is needed. For a PCI
 * GPU that is runtime-suspended the rate is 0, like cur_freq of nvidia.ko.
 *
 * Context: process; takes gpu.lock. Return: kHz; 0 while a PCI GPU is suspended;
 * JETWATT_VALUE_NONE if there is no GPU.
 */
s32 jetwatt_gpu_khz(void)
{
	s32 khz = JETWATT_VALUE_NONE;

	spin_lock(&gpu.lock);
	if (gpu.devfreq && device_is_registered(&gpu.devfreq->dev))
		khz = gpu.pci && pm_runtime_suspended(gpu.owner) ? 0 :
							   READ_ONCE(gpu.devfreq->previous_freq) / 1000;
	spin_unlock(&gpu.lock);
	return khz;
}

/*
 * Return true if last_status contains the load of the GPU. A governor that polls the load keeps
 * devfreq's monitor work queued; with other governors, last_status is never updated. If the device
 * has no polling interval (polling_ms is 0), devfreq updates last_status only when it chooses a
 * clock.
 */
static bool polled(struct devfreq *devfreq)
{
	return !devfreq->profile->polling_ms || work_busy(&devfreq->work.work);
}

/**
 * jetwatt_gpu_load() - return the share of time that the GPU is busy
 * @permille: gets the load; 0 while the GPU is suspended; JETWATT_VALUE_NONE on -EBUSY, or if there
 *	is no GPU, its governor does not poll the load ("performance", "userspace"), or has not
 *	polled it yet
 *
 * The load is the value that the devfreq governor polled last. This function does not poll the GPU
 * driver: the driver measures the load from one poll to the next, so an additional poll would
 * shorten the measurement window of the governor.
 *
 * Context: process; takes gpu.lock. Return: 0, or -EBUSY if devfreq's lock is held, for instance
 * because the governor is polling.
 */
int jetwatt_gpu_load(s32 *permille)
{
	const struct devfreq_dev_status *status;
	int err = 0;

	*permille = JETWATT_VALUE_NONE;
	spin_lock(&gpu.lock);
	if (gpu.devfreq && device_is_registered(&gpu.devfreq->dev)) {
		status = &gpu.devfreq->last_status;
		/*
		 * devfreq->lock protects last_status. Code under a spinlock must not sleep, hence
		 * trylock.
		 */
		if (!mutex_trylock(&gpu.devfreq->lock)) {
			err = -EBUSY;
		} else {
			if (pm_runtime_suspended(gpu.owner))
				*permille = 0;
			else if (status->total_time && polled(gpu.devfreq))
				*permille = min(status->busy_time, status->total_time) * 1000 /
					    status->total_time;
			mutex_unlock(&gpu.devfreq->lock);
		}
	}
	spin_unlock(&gpu.lock);
	return err;
}

static void detach_gpu(const struct device *of)
{
	struct device *old_owner = NULL;
	struct devfreq *old = NULL;

	spin_lock(&gpu.lock);
	if (gpu.devfreq && (!of || gpu.owner == of)) {
		old = gpu.devfreq;
		old_owner = gpu.owner;
		gpu.devfreq = NULL;
		gpu.owner = NULL;
	}
	spin_unlock(&gpu.lock);
	if (!old)
		return;
	put_device(&old->dev);
	put_device(old_owner);
}

/*
 * Add the series of @new, and hold references to @new and @from, the device whose driver created
 * @new. @from must be locked and bound to its driver, see discover_in().
 */
static void attach_gpu(struct devfreq *new, struct device *from)
{
	if (!jetwatt_aux_add(JETWATT_SERIES_GPU_KHZ, 0, dev_name(&new->dev)))
		return;
	if (new->profile->get_dev_status)
		jetwatt_aux_add(JETWATT_SERIES_GPU_LOAD_PERMILLE, 0, dev_name(&new->dev));
	spin_lock(&gpu.lock);
	if (!gpu.closed) {
		get_device(&new->dev);
		get_device(from);
		gpu.devfreq = new;
		gpu.owner = from;
		gpu.pci = dev_is_pci(from);
	}
	spin_unlock(&gpu.lock);
}

static bool have_gpu(void)
{
	bool any;

	spin_lock(&gpu.lock);
	any = gpu.devfreq;
	spin_unlock(&gpu.lock);
	return any;
}

/* Callback for each child of a GPC's device: if @dev is a devfreq device, return it in @found. */
static int devfreq_of(struct device *dev, void *found)
{
	if (!dev->class || strcmp(dev->class->name, "devfreq"))
		return 0;
	*(struct devfreq **)found = container_of(dev, struct devfreq, dev);
	return 1;
}

static int gpc_of(struct device *dev, void *found)
{
	if (strncmp(dev_name(dev), GPC, strlen(GPC)))
		return 0;
	return device_for_each_child(dev, found, devfreq_of);
}

/*
 * A driver creates and removes its devfreq device while the device to which the driver is bound is
 * locked. Therefore, while this function holds the lock of @dev and @dev has a driver, any registered
 * devfreq device that is found is completely set up and is not removed.
 */
static void discover_in(struct device *dev, struct device_node *np)
{
	struct devfreq *found = NULL;

	/*
	 * Do not wait for the lock: a driver that is probing for a long time must not delay the
	 * slow series. Discovery is repeated about once a second while the sampler runs.
	 */
	if (!device_trylock(dev))
		return;
	if (dev->driver) {
		if (np)
			found = devfreq_get_devfreq_by_node(np);
		else
			device_for_each_child(dev, &found, gpc_of);
		if (!IS_ERR_OR_NULL(found) && device_is_registered(&found->dev))
			attach_gpu(found, dev);
	}
	device_unlock(dev);
}

static void discover_on_platform(void)
{
	struct platform_device *pdev;
	struct device_node *np;

	for_each_matching_node(np, gpus) {
		/* The series describe one GPU, so only the first GPU is used. */
		if (have_gpu() || !of_device_is_available(np))
			continue;
		pdev = of_find_device_by_node(np);
		if (!pdev)
			continue;
		discover_in(&pdev->dev, np);
		put_device(&pdev->dev);
	}
}

/*
 * All PCI devices of the vendor NVIDIA are searched; only Tegra's integrated GPU has a child device
 * "gpu-gpc-N", PCIe cards have none.
 */
static void discover_on_pci(void)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID, pdev)))
		if (!have_gpu())
			discover_in(&pdev->dev, NULL);
}

/**
 * jetwatt_gpu_discover() - find the GPU's devfreq device, if it is not known yet
 *
 * Context: one caller at a time; sleeps.
 */
void jetwatt_gpu_discover(void)
{
	struct devfreq *old;
	bool stale;

	/*
	 * A driver may remove its devfreq device without being unbound; no notifier reports this.
	 */
	spin_lock(&gpu.lock);
	old = gpu.devfreq;
	stale = old && !device_is_registered(&old->dev);
	spin_unlock(&gpu.lock);
	if (stale)
		detach_gpu(NULL);
	else if (old)
		return;
	discover_on_platform();
	if (!have_gpu())
		discover_on_pci();
}

static int gpu_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == BUS_NOTIFY_UNBIND_DRIVER)
		detach_gpu(data);
	return NOTIFY_DONE;
}

static struct notifier_block platform_notifier = { .notifier_call = gpu_notify };

#ifdef CONFIG_PCI
static struct notifier_block pci_notifier = { .notifier_call = gpu_notify };

static int watch_pci(void)
{
	return bus_register_notifier(&pci_bus_type, &pci_notifier);
}

static void unwatch_pci(void)
{
	bus_unregister_notifier(&pci_bus_type, &pci_notifier);
}
#else
static int watch_pci(void)
{
	return 0;
}

static void unwatch_pci(void)
{
}
#endif

static int gpu_reboot_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	spin_lock(&gpu.lock);
	gpu.closed = true;
	spin_unlock(&gpu.lock);
	detach_gpu(NULL);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = { .notifier_call = gpu_reboot_notify };

/**
 * jetwatt_gpu_init() - register the notifiers that are needed to use a devfreq device
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_gpu_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	err = bus_register_notifier(&platform_bus_type, &platform_notifier);
	if (err)
		return err;
	err = jetwatt_fail_step();
	if (!err)
		err = watch_pci();
	if (err)
		goto err_platform;
	err = jetwatt_fail_step();
	if (!err)
		err = register_reboot_notifier(&reboot_notifier);
	if (err)
		goto err_pci;
	return 0;
err_pci:
	unwatch_pci();
err_platform:
	bus_unregister_notifier(&platform_bus_type, &platform_notifier);
	return err;
}

/**
 * jetwatt_gpu_exit() - unregister the notifiers and release the devfreq device
 */
void jetwatt_gpu_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unwatch_pci();
	bus_unregister_notifier(&platform_bus_type, &platform_notifier);
	detach_gpu(NULL);
}
