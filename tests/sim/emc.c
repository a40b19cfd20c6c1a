// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory clock: a clock provider (the "emc" clock of tegra234-emc), the cap files of JetPack 5
 * and 6, and the firmware's debugfs files.
 *
 * The memory clock runs at the lower of these two caps (Thor's memory clock: bwmgr.c). The caps
 * behave like those of NVIDIA's drivers:
 *
 * JetPack 6     OE4T/linux-nv-oot jetson_36.4.3, drivers/nvpmodel/nvpmodel-clk-cap.c. A written
 *               value is passed through clk_round_rate(), so 0 becomes the lowest level. A read
 *               returns clk_round_rate() of S64_MAX: the cap, or without a cap the highest level.
 * JetPack 5.1.1 Seeed-Studio/Linux_for_Tegra, source/kernel/nvidia,
 *               drivers/nvpmodel/nvpmodel_emc_cap.c. A read returns the written value; 0 is no
 *               cap. Only root and its group can read the file.
 */
#include <linux/clk-provider.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "boards.h"
#include "drivers.h"
#include "fault.h"
#include "knobs.h"

#define TEGRA234_CLK_EMC	31

static char *emc_cap;
module_param(emc_cap, charp, 0444);
MODULE_PARM_DESC(emc_cap, "caps of the memory clock: clk (JetPack 6), iso (5), both, bwmgr (7 on Thor), none (default: the board's)");

static DEFINE_MUTEX(lock);	/* held while a cap and the clock that follows it change */
static u64 clk_cap = S64_MAX;	/* Hz; S64_MAX: no cap */
static unsigned long iso_cap;	/* as written; 0: no cap */
static struct kobject *cap6, *cap5;

static u64 step_under(u64 hz)
{
	u32 i = sim_steps.nr_emc - 1;

	while (i && sim_steps.emc_hz[i] > hz)
		i--;
	return sim_steps.emc_hz[i];
}

static u64 cap(void)
{
	return min_t(u64, clk_cap, iso_cap ?: S64_MAX);
}

/* Context: lock held. */
static void follow(void)
{
	sim_knobs_set_emc(step_under(cap()));
}

/* JetPack 6: /sys/kernel/nvpmodel_clk_cap/emc */
static ssize_t emc_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", step_under(READ_ONCE(clk_cap)));
}

static ssize_t emc_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	unsigned long hz;
	int err = kstrtoul(buf, 0, &hz);

	if (err)
		return err;
	if (sim_fault(SIM_FAIL_EMC))
		return -EIO;
	if (sim_fault(SIM_LIE_EMC))
		return count;
	mutex_lock(&lock);
	clk_cap = step_under(hz);
	follow();
	mutex_unlock(&lock);
	return count;
}

/* JetPack 5: /sys/kernel/nvpmodel_emc_cap/emc_iso_cap */
static ssize_t emc_iso_cap_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(iso_cap));
}

static ssize_t emc_iso_cap_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	unsigned long hz;

	if (sscanf(buf, "%lu", &hz) != 1)
		return -EINVAL;
	if (sim_fault(SIM_FAIL_EMC))
		return -EIO;
	if (sim_fault(SIM_LIE_EMC))
		return count;
	mutex_lock(&lock);
	iso_cap = hz;
	follow();
	mutex_unlock(&lock);
	return count;
}

static struct kobj_attribute emc_attr = __ATTR(emc, 0664, emc_show, emc_store);
static struct kobj_attribute emc_iso_cap_attr = __ATTR(emc_iso_cap, 0660, emc_iso_cap_show,
						       emc_iso_cap_store);

static int rate_get(void *data, u64 *hz)
{
	*hz = sim_knobs_emc();
	return 0;
}

static int min_rate_get(void *data, u64 *hz)
{
	*hz = sim_steps.emc_hz[0];
	return 0;
}

static int max_rate_get(void *data, u64 *hz)
{
	*hz = sim_steps.emc_hz[sim_steps.nr_emc - 1];
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_get, NULL, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(min_rate_fops, min_rate_get, NULL, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(max_rate_fops, max_rate_get, NULL, "%llu\n");

static int possible_rates_show(struct seq_file *m, void *v)
{
	u32 i;

	for (i = 0; i < sim_steps.nr_emc; i++)
		seq_printf(m, "%s%llu", i ? " " : "", sim_steps.emc_hz[i] / 1000);
	seq_putc(m, '\n');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(possible_rates);

static void firmware_files(void)
{
	struct dentry *clock = debugfs_create_dir("emc", sim_firmware_clocks());

	debugfs_create_file_unsafe("rate", 0444, clock, NULL, &rate_fops);
	debugfs_create_file_unsafe("min_rate", 0444, clock, NULL, &min_rate_fops);
	debugfs_create_file_unsafe("max_rate", 0444, clock, NULL, &max_rate_fops);
	debugfs_create_file("possible_rates", 0444, debugfs_create_dir("emc", sim_firmware_dir()),
			    NULL, &possible_rates_fops);
}

static unsigned long recalc_rate(struct clk_hw *hw, unsigned long parent)
{
	return sim_knobs_emc();
}

static int determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	req->rate = min(step_under(req->rate), step_under(cap()));
	return 0;
}

static int set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent)
{
	sim_knobs_set_emc(step_under(rate));
	return 0;
}

static const struct clk_ops ops = {
	.recalc_rate = recalc_rate,
	.determine_rate = determine_rate,
	.set_rate = set_rate,
};

static struct clk_hw emc_clk;

static struct clk_hw *clk_get_hw(struct of_phandle_args *args, void *data)
{
	return args->args[0] == TEGRA234_CLK_EMC ? &emc_clk : ERR_PTR(-ENOENT);
}

static int probe(struct platform_device *pdev)
{
	/* The rate of the memory clock changes without a call of the clock framework, so the
	 * framework must not cache it. */
	static const struct clk_init_data init = {
		.name = "emc",
		.ops = &ops,
		.flags = CLK_GET_RATE_NOCACHE,
	};
	int err;

	emc_clk.init = &init;
	err = devm_clk_hw_register(&pdev->dev, &emc_clk);
	if (err)
		return err;
	return devm_of_clk_add_hw_provider(&pdev->dev, clk_get_hw, NULL);
}

static const struct of_device_id emc_ids[] = {
	{ .compatible = "jetwatt,sim-clk" },
	{ }
};
MODULE_DEVICE_TABLE(of, emc_ids);

static struct platform_driver driver = {
	.probe = probe,
	.driver = {
		.name = "jetwatt-sim-clk",
		.of_match_table = emc_ids,
	},
};

bool sim_emc_capped_by(const char *which)
{
	const char *is = emc_cap ?: sim_model_board()->emc_cap;

	return !strcmp(is, which) || (!strcmp(is, "both") && strcmp(which, "bwmgr"));
}

/* Return: directory of @attr; NULL if cap @which is not simulated; or an error pointer. */
static struct kobject *cap_file(const char *which, const char *dir, struct kobj_attribute *attr)
{
	struct kobject *kobj;
	int err;

	if (!sim_emc_capped_by(which))
		return NULL;
	kobj = kobject_create_and_add(dir, kernel_kobj);
	if (!kobj)
		return ERR_PTR(-ENOMEM);
	err = sysfs_create_file(kobj, &attr->attr);
	if (!err)
		return kobj;
	kobject_put(kobj);
	return ERR_PTR(err);
}

int sim_emc_register(void)
{
	int err;

	if (!emc_cap)
		emc_cap = sim_model_board()->emc_cap;
	if (!sim_emc_capped_by("clk") && !sim_emc_capped_by("iso") &&
	    !sim_emc_capped_by("bwmgr") && strcmp(emc_cap, "none"))
		return -EINVAL;
	cap6 = cap_file("clk", "nvpmodel_clk_cap", &emc_attr);
	if (IS_ERR(cap6))
		return PTR_ERR(cap6);
	cap5 = cap_file("iso", "nvpmodel_emc_cap", &emc_iso_cap_attr);
	if (IS_ERR(cap5)) {
		err = PTR_ERR(cap5);
		goto err_cap6;
	}
	err = platform_driver_register(&driver);
	if (err)
		goto err_cap5;
	firmware_files();
	return 0;

err_cap5:
	kobject_put(cap5);
err_cap6:
	kobject_put(cap6);
	return err;
}

void sim_emc_unregister(void)
{
	platform_driver_unregister(&driver);
	kobject_put(cap5);
	kobject_put(cap6);
}
