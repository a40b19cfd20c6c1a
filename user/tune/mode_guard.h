/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The board as it was: whatever happens between open and back, the knobs
 * return to what they said at open, unless what was applied is kept.
 */
#ifndef JETWATT_TUNE_MODE_GUARD_H
#define JETWATT_TUNE_MODE_GUARD_H

#include "board/board.h"

/**
 * struct jetwatt_guard - the way back
 * @before: the mode at open
 * @held: a mode had been applied before us: back to that, not further
 * @changed: there is something to bring back
 */
struct jetwatt_guard {
	struct jetwatt_board *board;
	struct jetwatt_mode before;
	int held, changed;
};

/* Return: 0, or the exit code after saying what is wrong. */
int jetwatt_guard_open(struct jetwatt_guard *g, struct jetwatt_board *board);

/* As open, and take the lease and save every knob: whatever would forbid to
 * switch is found out before a job is started. Return: 0, exit code. */
int jetwatt_guard_hold(struct jetwatt_guard *g, struct jetwatt_board *board);
int jetwatt_guard_apply(struct jetwatt_guard *g, const struct jetwatt_mode *mode);

/* Has somebody else touched a knob since? Return: 0, exit code. */
int jetwatt_guard_check(struct jetwatt_guard *g, const struct jetwatt_mode *mode);

/* Bring back. Return: 0, exit code. */
int jetwatt_guard_back(struct jetwatt_guard *g);

/* The mode that was applied last stays; jetwatt restore is the way back. */
void jetwatt_guard_keep(struct jetwatt_guard *g);

#endif
