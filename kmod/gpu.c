// SPDX-License-Identifier: GPL-2.0
#include "clock.h"

#include <linux/devfreq.h>
#include <linux/err.h>
#include <linux/jetwatt.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include "fail.h"

static const struct of_device_id gpus[] = {
	{ .compatible = "nvidia,ga10b" },	/* Orin */
	{ .compatible = "nvidia,gv11b" },	/* Xavier */
	{ .compatible = "nvidia,gp10b" },	/* TX2 */
	{ .compatible = "nvidia,gm20b" },	/* Nano */
	{ }
};

/*
 * The devfreq device, with a reference. Its release calls into the driver, so
 * the reference must be gone before the driver is: the platform bus tells us
 * before it unbinds one. The spinlock makes sure that nobody is looking at it
 * when it is put.
 */
static DEFINE_SPINLOCK(lock);
static struct devfreq *gpu;

/**
 * jetwatt_gpu_khz() - clock of the GPU
 *
 * What devfreq has set last: no call to the firmware.
 *
 * Context: process. Return: kHz, JETWATT_VALUE_NONE if there is no GPU.
 */
s32 jetwatt_gpu_khz(void)
{
	s32 khz = JETWATT_VALUE_NONE;

	spin_lock(&lock);
	if (gpu && device_is_registered(&gpu->dev))
		khz = READ_ONCE(gpu->previous_freq) / 1000;
	spin_unlock(&lock);
	return khz;
}

/**
 * jetwatt_gpu_load() - share of the time that the GPU was busy
 * @permille: gets it, JETWATT_VALUE_NONE if there is no GPU or nobody has asked
 *	its driver yet
 *
 * What the governor was last told. The driver is not asked: it counts from one
 * question to the next, and the governor's are not ours to shorten.
 *
 * Context: process. Return: 0; -EBUSY: the governor is just asking.
 */
int jetwatt_gpu_load(s32 *permille)
{
	const struct devfreq_dev_status *status;
	int err = 0;

	*permille = JETWATT_VALUE_NONE;
	spin_lock(&lock);
	if (gpu && device_is_registered(&gpu->dev)) {
		status = &gpu->last_status;
		/* Written under this lock; to wait for it, the spinlock would have to be let go. */
		if (!mutex_trylock(&gpu->lock)) {
			err = -EBUSY;
		} else {
			if (status->total_time)
				*permille = min(status->busy_time, status->total_time) * 1000 /
					    status->total_time;
			mutex_unlock(&gpu->lock);
		}
	}
	spin_unlock(&lock);
	return err;
}

static void drop(const struct device *parent)
{
	struct devfreq *old = NULL;

	spin_lock(&lock);
	if (gpu && (!parent || gpu->dev.parent == parent)) {
		old = gpu;
		gpu = NULL;
	}
	spin_unlock(&lock);
	if (old)
		put_device(&old->dev);
}

static void take(struct devfreq *new)
{
	if (!jetwatt_clock_add(JETWATT_SERIES_GPU_KHZ, 0, dev_name(&new->dev)))
		return;
	if (new->profile->get_dev_status)
		jetwatt_clock_add(JETWATT_SERIES_GPU_LOAD_PERMILLE, 0, dev_name(&new->dev));
	get_device(&new->dev);
	spin_lock(&lock);
	gpu = new;
	spin_unlock(&lock);
}

static bool taken(void)
{
	bool any;

	spin_lock(&lock);
	any = gpu;
	spin_unlock(&lock);
	return any;
}

/*
 * While the parent's lock is held and it has a driver, the driver cannot take
 * its devfreq device down: so what is found can be taken hold of.
 */
static void look(struct device_node *np)
{
	struct platform_device *pdev = of_find_device_by_node(np);
	struct devfreq *found;

	if (!pdev)
		return;
	device_lock(&pdev->dev);
	if (pdev->dev.driver) {
		found = devfreq_get_devfreq_by_node(np);
		if (!IS_ERR_OR_NULL(found) && device_is_registered(&found->dev))
			take(found);
	}
	device_unlock(&pdev->dev);
	put_device(&pdev->dev);
}

/**
 * jetwatt_gpu_look() - take hold of the GPU's devfreq device if it is there
 *
 * Context: one caller at a time; sleeps.
 */
void jetwatt_gpu_look(void)
{
	struct device_node *np;
	struct devfreq *old;
	bool stale;

	/* A driver may also take its devfreq device down without being unbound. */
	spin_lock(&lock);
	old = gpu;
	stale = old && !device_is_registered(&old->dev);
	spin_unlock(&lock);
	if (stale)
		drop(NULL);
	else if (old)
		return;
	for_each_matching_node(np, gpus)
		/* There is one column: the first of several is it. */
		if (!taken() && of_device_is_available(np))
			look(np);
}

static int notify(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == BUS_NOTIFY_UNBIND_DRIVER)
		drop(data);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = notify };

/**
 * jetwatt_gpu_init() - get ready to take hold of a GPU
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_gpu_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	return bus_register_notifier(&platform_bus_type, &notifier);
}

/**
 * jetwatt_gpu_exit() - let go of it
 */
void jetwatt_gpu_exit(void)
{
	bus_unregister_notifier(&platform_bus_type, &notifier);
	drop(NULL);
}
