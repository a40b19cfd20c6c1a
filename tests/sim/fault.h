/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs in debugfs that make the next N operations fail. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include <linux/types.h>

struct dentry;

enum sim_fault {
	SIM_FAIL_I2C_NAK,	/* no chip acknowledges its address */
	SIM_FAIL_I2C_NAK_LATE,	/* the chip of the third register of a transfer does not */
	SIM_FAIL_I2C_STUCK,	/* somebody holds the clock down: time-out after a second */
	SIM_FAIL_CPUFREQ,	/* a policy refuses new limits */
	SIM_FAIL_DEVFREQ,	/* the GPU refuses a clock */
	SIM_FAIL_EMC,		/* a write of the cap is refused */
	SIM_LIE_EMC,		/* a write of the cap is accepted and ignored */
	SIM_FAIL_DLA,		/* a cap of an accelerator's clock is refused */
	SIM_FAIL_HOTPLUG,	/* a core refuses to come or go */
	SIM_FAULTS
};

/* Does this operation fail? Counts. */
bool sim_fault(enum sim_fault which);
void sim_fault_files(struct dentry *dir);

#endif
