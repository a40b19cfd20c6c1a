// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inject faults through debugfs: each file is one kind of fault, and holds the number of operations
 * that are to fail next.
 */
#include "fault.h"

#include <linux/atomic.h>
#include <linux/debugfs.h>

static atomic_t left[SIM_FAULTS];

#define NAME(id, name, meaning)	[SIM_##id] = name,
static const char *const names[SIM_FAULTS] = { SIM_FAULT_ROWS(NAME) };

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
