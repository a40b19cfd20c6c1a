/* SPDX-License-Identifier: GPL-2.0-only */
/* The board's drivers. Each pair registers with a kernel core and takes itself off again. */
#ifndef SIM_BOARD_H
#define SIM_BOARD_H

#include <linux/types.h>

struct dentry;

extern uint sim_gpu_load;	/* permille that the GPU says it was busy */

int sim_cpu_register(void);
void sim_cpu_unregister(void);
int sim_gpu_register(void);
void sim_gpu_unregister(void);
int sim_gpu_pci_register(void);
void sim_gpu_pci_unregister(void);
int sim_emc_register(void);
void sim_emc_unregister(void);
/* Where the firmware shows its clocks in debugfs. */
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
/* The GPU has released a semaphore. From any context. */
void sim_tsg_post(void);
int sim_waits_register(void);
void sim_waits_unregister(void);
int sim_job_register(void);
void sim_job_unregister(void);
void sim_truth_files(struct dentry *dir);

#endif
