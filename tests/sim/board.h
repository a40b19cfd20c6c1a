/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drivers of the simulated board. Each driver has a function that registers it with a subsystem of
 * the kernel, and one that unregisters it.
 */
#ifndef SIM_BOARD_H
#define SIM_BOARD_H

#include <linux/types.h>

struct dentry;

extern uint sim_gpu_load;	/* GPU load that the driver reports, permille */

int sim_cpu_register(void);
void sim_cpu_unregister(void);
int sim_gpu_register(void);
void sim_gpu_unregister(void);
int sim_gpu_pci_register(void);
void sim_gpu_pci_unregister(void);
int sim_emc_register(void);
void sim_emc_unregister(void);
/* Return: the debugfs directory of the firmware's clocks. */
struct dentry *sim_emc_firmware_clocks(void);
int sim_dla_register(void);
void sim_dla_unregister(void);
int sim_bwmgr_register(void);
void sim_bwmgr_unregister(void);
int sim_thermal_register(void);
void sim_thermal_unregister(void);
int sim_fan_register(void);
void sim_fan_unregister(void);
int sim_overcurrent_register(void);
void sim_overcurrent_unregister(void);
int sim_host1x_register(void);
void sim_host1x_unregister(void);
int sim_nvhost_register(void);
void sim_nvhost_unregister(void);
int sim_tsg_register(void);
void sim_tsg_unregister(void);
/* Signal that the GPU has released a semaphore. Context: any. */
void sim_tsg_post(void);
int sim_waits_register(void);
void sim_waits_unregister(void);
int sim_job_register(void);
void sim_job_unregister(void);
void sim_truth_files(struct dentry *dir);

#endif
