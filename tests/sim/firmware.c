// SPDX-License-Identifier: GPL-2.0-only
/*
 * The debugfs directory of the board's firmware, "bpmp/debug", in which the drivers of clocks
 * create their files.
 */
#include <linux/debugfs.h>

#include "drivers.h"

static struct dentry *bpmp, *dir, *clocks;

void sim_firmware_create(void)
{
	bpmp = debugfs_create_dir("bpmp", NULL);
	dir = debugfs_create_dir("debug", bpmp);
	clocks = debugfs_create_dir("clk", dir);
}

void sim_firmware_remove(void)
{
	debugfs_remove_recursive(bpmp);
}

struct dentry *sim_firmware_dir(void)
{
	return dir;
}

struct dentry *sim_firmware_clocks(void)
{
	return clocks;
}
