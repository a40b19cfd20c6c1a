// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory clock: a clock provider (tegra234-emc's "emc" hangs on it), the
 * cap files of JetPack 5 and 6, and the firmware's debugfs files.
 *
 * The clock runs at the cap. A cap between two steps becomes the lower one
 * without a word, as on the board.
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

#include "board.h"
#include "fault.h"
#include "knobs.h"

#define TEGRA234_CLK_EMC	31

static DEFINE_MUTEX(lock);	/* cap and the clock that follows it */
static u64 cap = S64_MAX;	/* Hz; S64_MAX: none */
static struct kobject *cap6, *cap5;
static struct dentry *bpmp;

static u64 step_under(u64 hz)
{
	u32 i = sim_steps.nr_emc - 1;

	while (i && sim_steps.emc_hz[i] > hz)
		i--;
	return sim_steps.emc_hz[i];
}

static int set_cap(u64 hz)
{
	if (sim_fault(SIM_FAIL_EMC))
		return -EIO;
	if (sim_fault(SIM_LIE_EMC))
		return 0;
	mutex_lock(&lock);
	cap = hz == S64_MAX ? hz : step_under(hz);
	sim_knobs_set_emc(step_under(cap));
	mutex_unlock(&lock);
	return 0;
}

/* JetPack 6: /sys/kernel/nvpmodel_clk_cap/emc */
static ssize_t emc_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(cap));
}

static ssize_t emc_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	s64 hz;
	int err = kstrtos64(buf, 0, &hz);

	if (!err && hz < 0)
		err = -EINVAL;
	if (!err)
		err = set_cap(hz);
	return err ?: count;
}

/* JetPack 5: /sys/kernel/nvpmodel_emc_cap/emc_iso_cap, where 0 is no cap */
static ssize_t emc_iso_cap_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u64 hz = READ_ONCE(cap);

	return sysfs_emit(buf, "%llu\n", hz == S64_MAX ? 0 : hz);
}

static ssize_t emc_iso_cap_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	s64 hz;
	int err = kstrtos64(buf, 0, &hz);

	if (!err && hz < 0)
		err = -EINVAL;
	if (!err)
		err = set_cap(hz ?: S64_MAX);
	return err ?: count;
}

static struct kobj_attribute emc_attr = __ATTR_RW(emc);
static struct kobj_attribute emc_iso_cap_attr = __ATTR_RW(emc_iso_cap);

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
	struct dentry *debug, *emc;

	bpmp = debugfs_create_dir("bpmp", NULL);
	debug = debugfs_create_dir("debug", bpmp);
	emc = debugfs_create_dir("emc", debugfs_create_dir("clk", debug));
	debugfs_create_file_unsafe("rate", 0444, emc, NULL, &rate_fops);
	debugfs_create_file_unsafe("min_rate", 0444, emc, NULL, &min_rate_fops);
	debugfs_create_file_unsafe("max_rate", 0444, emc, NULL, &max_rate_fops);
	debugfs_create_file("possible_rates", 0444, debugfs_create_dir("emc", debug), NULL,
			    &possible_rates_fops);
}

static unsigned long recalc_rate(struct clk_hw *hw, unsigned long parent)
{
	return sim_knobs_emc();
}

static int determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	req->rate = min(step_under(req->rate), step_under(READ_ONCE(cap)));
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
	/* The rate changes behind the framework's back: it must always ask. */
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

int sim_emc_register(void)
{
	int err = -ENOMEM;

	cap6 = kobject_create_and_add("nvpmodel_clk_cap", kernel_kobj);
	if (!cap6)
		return err;
	cap5 = kobject_create_and_add("nvpmodel_emc_cap", kernel_kobj);
	if (!cap5)
		goto err_cap6;
	err = sysfs_create_file(cap6, &emc_attr.attr);
	if (err)
		goto err_cap5;
	err = sysfs_create_file(cap5, &emc_iso_cap_attr.attr);
	if (err)
		goto err_cap5;
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
	debugfs_remove_recursive(bpmp);
	platform_driver_unregister(&driver);
	kobject_put(cap5);
	kobject_put(cap6);
}
