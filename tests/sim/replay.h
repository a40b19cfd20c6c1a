/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "plant.h"

#define SIM_ROWS_MAX	20000

struct sim_row {
	struct sim_mode mode;
	u32 batch;
	u64 time_ns;
	u32 uw;
};

/* Read @path. *rows is for vfree(). Return: how many; a negative errno, and why in the log. */
int sim_replay_read(const char *path, struct sim_row **rows);

#endif
