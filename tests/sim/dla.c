// SPDX-License-Identifier: GPL-2.0-only
/*
 * The deep learning accelerators: two platform devices with caps of their clocks, named as
 * NVIDIA's nvpmodel.conf has them (LineageOS/android_device_nvidia_concord,
 * nvpmodel/nvpmodel_p3701_0000.conf), and the firmware's debugfs file max_rate of the core clock.
 *
 * The caps behave as in isbozeng/bsp-jp6.2.0, nvidia-oot/drivers/video/tegra/host/nvdla/nvdla.c: a
 * written value is passed through clk_round_rate(); a read returns clk_round_rate() of UINT_MAX, so
 * without a cap the highest level. The highest clocks, 1600 MHz (AGX Orin) and 614.4 MHz (Orin NX
 * before Super), are those of the modules' data sheets (unverified). No job uses the accelerators,
 * so they draw no power.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "drivers.h"
#include "fault.h"

#define ACCELERATORS	2
/* Clock levels are multiples of STEP_HZ, like the caps of NVIDIA's modes. LOWEST_HZ is made up. */
#define STEP_HZ		12800000ULL
#define LOWEST_HZ	(9 * STEP_HZ)

enum { CORE, FALCON, CLOCKS };

struct accelerator {
	struct platform_device *pdev;
	struct kobject *dir;
	struct kobj_attribute attr[CLOCKS];
	u64 cap[CLOCKS];
};

static struct accelerator accelerator[ACCELERATORS];
static u64 top;		/* highest level of the clock, Hz; 0: no accelerator */

static u64 rounded(u64 hz)
{
	return hz >= top ? top : max(hz / STEP_HZ * STEP_HZ, LOWEST_HZ);
}

/* Return: address of the cap, in Hz, that the attribute @attr shows and sets. */
static u64 *cap_of(struct kobj_attribute *attr)
{
	u32 i, c;

	for (i = 0; i < ACCELERATORS; i++)
		for (c = 0; c < CLOCKS; c++)
			if (attr == &accelerator[i].attr[c])
				return &accelerator[i].cap[c];
	return NULL;
}

static ssize_t cap_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(*cap_of(attr)));
}

static ssize_t cap_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	unsigned long hz;

	if (kstrtoul(buf, 0, &hz))
		return -EINVAL;
	if (sim_fault(SIM_FAIL_DLA))
		return -EIO;
	WRITE_ONCE(*cap_of(attr), rounded(hz));
	return count;
}

static int max_rate_get(void *data, u64 *hz)
{
	*hz = top;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(max_rate_fops, max_rate_get, NULL, "%llu\n");

static void remove(struct accelerator *a)
{
	kobject_put(a->dir);
	platform_device_unregister(a->pdev);
	*a = (struct accelerator){ };
}

static int add(struct accelerator *a, u32 nr)
{
	static const char * const device[] = { "15880000.nvdla0", "158c0000.nvdla1" };
	static const char * const clock[ACCELERATORS][CLOCKS] = {
		{ "dla0_core", "dla0_falcon" }, { "dla1_core", "dla1_falcon" },
	};
	u32 c;
	int err = 0;

	a->pdev = platform_device_register_simple(device[nr], PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(a->pdev)) {
		err = PTR_ERR(a->pdev);
		a->pdev = NULL;
		return err;
	}
	a->dir = kobject_create_and_add("clk_cap", &a->pdev->dev.kobj);
	if (!a->dir)
		err = -ENOMEM;
	for (c = 0; !err && c < CLOCKS; c++) {
		a->cap[c] = top;
		sysfs_attr_init(&a->attr[c].attr);
		a->attr[c].attr.name = clock[nr][c];
		a->attr[c].attr.mode = 0644;
		a->attr[c].show = cap_show;
		a->attr[c].store = cap_store;
		err = sysfs_create_file(a->dir, &a->attr[c].attr);
	}
	if (err)
		remove(a);
	return err;
}

int sim_dla_register(void)
{
	struct dentry *clock;
	u32 i;
	int err;

	top = sim_board_is_one_of("AGX Orin", NULL) ? 1600000000 :
	      sim_board_is_one_of("Orin NX", NULL) ? 614400000 : 0;
	for (i = 0; top && i < ACCELERATORS; i++) {
		err = add(&accelerator[i], i);
		if (err) {
			sim_dla_unregister();
			return err;
		}
	}
	if (top) {
		clock = debugfs_create_dir("nafll_dla0_core", sim_firmware_clocks());
		debugfs_create_file_unsafe("max_rate", 0444, clock, NULL, &max_rate_fops);
	}
	return 0;
}

void sim_dla_unregister(void)
{
	u32 i;

	for (i = 0; i < ACCELERATORS; i++)
		if (accelerator[i].pdev)
			remove(&accelerator[i]);
}
