/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inject faults through debugfs: each file is one kind of fault, and holds the number of operations
 * that are to fail next.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <linux/types.h>

struct dentry;

/* The faults: row(ID, NAME, meaning); the constant of the fault is SIM_ID, and its file is NAME. */
#define SIM_FAULT_ROWS(row)	\
	row(FAIL_I2C_NAK, "fail_i2c_nak", "no chip acknowledges its address")	\
	row(FAIL_I2C_NAK_LATE, "fail_i2c_nak_late", "the chip of a transfer's third register does not acknowledge")	\
	row(FAIL_I2C_STUCK, "fail_i2c_stuck", "the bus is stuck: a transfer times out after 1 s")	\
	row(FAIL_CPUFREQ, "fail_cpufreq", "a policy refuses new limits")	\
	row(FAIL_DEVFREQ, "fail_devfreq", "the GPU refuses a clock")	\
	row(FAIL_EMC, "fail_emc", "changing the memory clock's cap fails")	\
	row(LIE_EMC, "lie_emc", "writing the memory clock's cap succeeds without effect")	\
	row(FAIL_DLA, "fail_dla", "writing the cap of an accelerator's clock fails")	\
	row(FAIL_HOTPLUG, "fail_hotplug", "a core cannot be taken online or offline")

enum sim_fault {
#define SIM_FAULT_ID(id, name, meaning)	SIM_##id,
	SIM_FAULT_ROWS(SIM_FAULT_ID)
#undef SIM_FAULT_ID
	SIM_FAULTS
};

/*
 * Return: whether the present operation must fail by fault @which; if so, decrement the number of
 * operations that are to fail.
 */
bool sim_fault(enum sim_fault which);
void sim_fault_files(struct dentry *dir);

#endif
