/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drivers of the simulated board. Each driver has a function that registers it with a subsystem of
 * the kernel, and one that unregisters it.
 */
#ifndef SIM_DRIVERS_H
#define SIM_DRIVERS_H

#include <linux/types.h>

struct dentry;

extern uint sim_gpu_load;	/* GPU load that the driver reports, permille */

/*
 * The drivers that main.c registers, in alphabetical order; none of them depends on another one.
 * The driver NAME is a file with the functions sim_NAME_register(), which returns 0 or a negative
 * errno, and sim_NAME_unregister(). Kbuild finds the files and defines SIM_DRIVERS(row).
 */
#define SIM_DRIVER_DECLARE(name)		\
	int sim_##name##_register(void);	\
	void sim_##name##_unregister(void);
SIM_DRIVERS(SIM_DRIVER_DECLARE)

/* Drivers that gpu.c and waits.c add. */
#define SIM_FURTHER_DRIVERS(row) row(gpu_pci) row(host1x) row(nvhost) row(tsg)

#define SIM_FURTHER_DECLARE(name)		\
	int sim_##name##_add(void);		\
	void sim_##name##_remove(void);
SIM_FURTHER_DRIVERS(SIM_FURTHER_DECLARE)

/*
 * Return: whether the simulated board is one of the boards with these names (boards.c). The last
 * argument is NULL. A driver calls this function if only some boards have its device.
 */
bool sim_board_is_one_of(const char *name, ...) __attribute__((__sentinel__));

/* Return: whether the board caps the memory clock by @which: "clk", "iso" or "bwmgr". */
bool sim_emc_capped_by(const char *which);

/*
 * firmware.c: create and remove the debugfs directory of the board's firmware, with all files in
 * it. The drivers create their files in it, but do not remove them.
 */
void sim_firmware_create(void);
void sim_firmware_remove(void);
/* Return: the directory of the firmware, and that of its clocks. */
struct dentry *sim_firmware_dir(void);
struct dentry *sim_firmware_clocks(void);
/* Signal that the GPU has released a semaphore. Context: any. */
void sim_tsg_post(void);
void sim_truth_files(struct dentry *dir);

#endif
