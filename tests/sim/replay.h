/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a file of measured power modes for the replay plant. */
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

/* Read file @path into *rows (free with vfree()). Return: number of rows or negative errno. */
int sim_replay_read(const char *path, struct sim_row **rows);

#endif
