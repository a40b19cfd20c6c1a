// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inject faults through debugfs: each file is one kind of fault, and holds the number of operations
 * that are to fail next.
 */
#include "fault.h"

#include <linux/atomic.h>
#include <linux/debugfs.h>

static atomic_t left[SIM_FAULTS];

static const char *const names[SIM_FAULTS] = {
	[SIM_FAIL_I2C_NAK] = "fail_i2c_nak",
	[SIM_FAIL_I2C_NAK_LATE] = "fail_i2c_nak_late",
	[SIM_FAIL_I2C_STUCK] = "fail_i2c_stuck",
	[SIM_FAIL_CPUFREQ] = "fail_cpufreq",
	[SIM_FAIL_DEVFREQ] = "fail_devfreq",
	[SIM_FAIL_EMC] = "fail_emc",
	[SIM_LIE_EMC] = "lie_emc",
	[SIM_FAIL_DLA] = "fail_dla",
	[SIM_FAIL_HOTPLUG] = "fail_hotplug",
};

bool sim_fault(enum sim_fault which)
{
	return atomic_dec_if_positive(&left[which]) >= 0;
}

void sim_fault_files(struct dentry *dir)
{
	int i;

	for (i = 0; i < SIM_FAULTS; i++)
		debugfs_create_atomic_t(names[i], 0600, dir, &left[i]);
}
