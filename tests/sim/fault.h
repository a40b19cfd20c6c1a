/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inject faults through debugfs: each file is one kind of fault, and holds the number of operations
 * that are to fail next.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <linux/types.h>

struct dentry;

enum sim_fault {
	SIM_FAIL_I2C_NAK,	/* no chip acknowledges its address */
	SIM_FAIL_I2C_NAK_LATE,	/* the chip of a transfer's third register does not acknowledge */
	SIM_FAIL_I2C_STUCK,	/* the bus is stuck: a transfer times out after 1 s */
	SIM_FAIL_CPUFREQ,	/* a policy refuses new limits */
	SIM_FAIL_DEVFREQ,	/* the GPU refuses a clock */
	SIM_FAIL_EMC,		/* writing the memory clock's cap fails */
	SIM_LIE_EMC,		/* writing the memory clock's cap succeeds without effect */
	SIM_FAIL_DLA,		/* writing the cap of an accelerator's clock fails */
	SIM_FAIL_HOTPLUG,	/* a core cannot be taken online or offline */
	SIM_FAULTS
};

/*
 * Return: whether the present operation must fail by fault @which; if so, decrement the number of
 * operations that are to fail.
 */
bool sim_fault(enum sim_fault which);
void sim_fault_files(struct dentry *dir);

#endif
