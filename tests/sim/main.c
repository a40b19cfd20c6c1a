// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt-sim: simulate a Jetson board, by default an AGX Orin, on any other machine.
 *
 * The module registers devices with the kernel's subsystems as a board's drivers do, most of them
 * on nodes of the board's device tree. The simulation shares no code with the module under test.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "boards.h"
#include "bus.h"
#include "drivers.h"
#include "fault.h"
#include "knobs.h"
#include "plant.h"

static char *plant = "analytic";
module_param(plant, charp, 0444);
MODULE_PARM_DESC(plant, "model of the plant: analytic or replay");

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of all noise (default 1)");

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

#define DRIVER(name)	{ sim_##name##_register, sim_##name##_unregister },
static const struct {
	int (*register_driver)(void);
	void (*unregister_driver)(void);
} drivers[] = { SIM_DRIVERS(DRIVER) };

/* Unregister the first @n drivers, the last one first. */
static void unregister_drivers(size_t n)
{
	while (n--)
		drivers[n].unregister_driver();
}

static int register_drivers(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(drivers); i++) {
		err = drivers[i].register_driver();
		if (err) {
			unregister_drivers(i);
			return err;
		}
	}
	return 0;
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
	sim_firmware_create();
	err = register_drivers();
	if (err)
		goto err_firmware;
	err = sim_bus_register(seed);
	if (err)
		goto err_drivers;
	dir = debugfs_create_dir("jetwatt-sim", NULL);
	sim_fault_files(dir);
	sim_truth_files(dir);
	return 0;

err_drivers:
	unregister_drivers(ARRAY_SIZE(drivers));
err_firmware:
	sim_firmware_remove();
	stop_plant();
	return err;
}

static void __exit sim_exit(void)
{
	debugfs_remove_recursive(dir);
	sim_bus_unregister();
	unregister_drivers(ARRAY_SIZE(drivers));
	sim_firmware_remove();
	stop_plant();
}

module_init(sim_init);
module_exit(sim_exit);
MODULE_DESCRIPTION("Simulated Jetson");
MODULE_LICENSE("GPL");
