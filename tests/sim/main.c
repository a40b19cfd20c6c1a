// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-sim: simulate a Jetson board, by default an AGX Orin, on any other machine.
 *
 * The module registers the same devices with the kernel's subsystems as a board's drivers do, on
 * the nodes of the board's device tree. The simulation shares no code with the module under test.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "board.h"
#include "bus.h"
#include "fault.h"
#include "knobs.h"
#include "model.h"
#include "plant.h"

static char *plant = "analytic";
module_param(plant, charp, 0444);
MODULE_PARM_DESC(plant, "model of the plant: analytic or replay");

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of all noise (1)");

static const struct sim_model *model;
static struct dentry *dir;

static int find_model(void)
{
	if (!strcmp(plant, sim_analytic.name))
		model = &sim_analytic;
	else if (!strcmp(plant, sim_replay.name))
		model = &sim_replay;
	if (model)
		return 0;
	pr_err("unknown plant \"%s\"; known: analytic, replay\n", plant);
	return -EINVAL;
}

static int start_plant(void)
{
	struct sim_mode mode;
	int err;

	err = model->open(&sim_steps, min_t(u32, num_possible_cpus(), sim_model_board()->cores));
	if (err)
		return err;
	sim_knobs_init();
	sim_knobs_mode(&mode);
	err = sim_plant_start(model, &mode, seed);
	if (err)
		model->close();
	else
		sim_knobs_live(true);
	return err;
}

static void stop_plant(void)
{
	sim_knobs_live(false);
	sim_plant_stop();
	model->close();
}

static int __init sim_init(void)
{
	int err;

	err = find_model();
	if (err)
		return err;
	err = start_plant();
	if (err)
		return err;
	err = sim_cpu_register();
	if (err)
		goto err_plant;
	err = sim_gpu_register();
	if (err)
		goto err_cpu;
	err = sim_emc_register();
	if (err)
		goto err_gpu;
	err = sim_dla_register();
	if (err)
		goto err_emc;
	err = sim_thermal_register();
	if (err)
		goto err_dla;
	err = sim_fan_register();
	if (err)
		goto err_thermal;
	err = sim_overcurrent_register();
	if (err)
		goto err_fan;
	err = sim_waits_register();
	if (err)
		goto err_overcurrent;
	err = sim_job_register();
	if (err)
		goto err_waits;
	err = sim_bus_register(seed);
	if (err)
		goto err_job;
	dir = debugfs_create_dir("jetwatt-sim", NULL);
	sim_fault_files(dir);
	sim_truth_files(dir);
	return 0;

err_job:
	sim_job_unregister();
err_waits:
	sim_waits_unregister();
err_overcurrent:
	sim_overcurrent_unregister();
err_fan:
	sim_fan_unregister();
err_thermal:
	sim_thermal_unregister();
err_dla:
	sim_dla_unregister();
err_emc:
	sim_emc_unregister();
err_gpu:
	sim_gpu_unregister();
err_cpu:
	sim_cpu_unregister();
err_plant:
	stop_plant();
	return err;
}

static void __exit sim_exit(void)
{
	debugfs_remove_recursive(dir);
	sim_bus_unregister();
	sim_job_unregister();
	sim_waits_unregister();
	sim_overcurrent_unregister();
	sim_fan_unregister();
	sim_thermal_unregister();
	sim_dla_unregister();
	sim_emc_unregister();
	sim_gpu_unregister();
	sim_cpu_unregister();
	stop_plant();
}

module_init(sim_init);
module_exit(sim_exit);
MODULE_DESCRIPTION("Simulated Jetson");
MODULE_LICENSE("GPL");
