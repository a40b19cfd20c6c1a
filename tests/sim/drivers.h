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
 * The drivers that main.c registers, in this order. The driver NAME is defined in NAME.c, with the
 * functions sim_NAME_register(), which returns 0 or a negative errno, and sim_NAME_unregister().
 */
#define SIM_DRIVERS(row)	\
	row(cpu)		\
	row(gpu)		\
	row(emc)		\
	row(dla)		\
	row(thermal)		\
	row(fan)		\
	row(overcurrent)	\
	row(waits)		\
	row(job)
/* Drivers that gpu.c, emc.c and waits.c register. */
#define SIM_FURTHER_DRIVERS(row) row(gpu_pci) row(bwmgr) row(host1x) row(nvhost) row(tsg)

#define SIM_DRIVER_DECLARE(name)		\
	int sim_##name##_register(void);	\
	void sim_##name##_unregister(void);
SIM_DRIVERS(SIM_DRIVER_DECLARE)
SIM_FURTHER_DRIVERS(SIM_DRIVER_DECLARE)

/* Return: the debugfs directory of the firmware's clocks. */
struct dentry *sim_emc_firmware_clocks(void);
/* Signal that the GPU has released a semaphore. Context: any. */
void sim_tsg_post(void);
void sim_truth_files(struct dentry *dir);

#endif
