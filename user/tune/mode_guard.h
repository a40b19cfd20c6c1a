/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Restores the board when a verb ends: the knobs return to the values that they had when the guard
 * was opened, unless the applied mode is kept. A process has one guard; the caller restores the
 * board on errors too.
 */
#ifndef JETWATT_TUNE_MODE_GUARD_H
#define JETWATT_TUNE_MODE_GUARD_H

#include "board/board.h"

/**
 * struct jetwatt_mode_guard - how to restore the board
 * @board: the board
 * @before: mode at open
 * @held: 1: a mode had been applied before; restore this mode, not the values of the knobs before
 *	it was applied
 * @changed: 1: the verb has saved or changed the knobs, so they must be restored
 */
struct jetwatt_mode_guard {
	struct jetwatt_board *board;
	struct jetwatt_mode before;
	int held, changed;
};

/* Read the values of the board's knobs and whether a mode is applied. Return: 0; exit code, after
 * printing the error. */
int jetwatt_mode_guard_open(struct jetwatt_mode_guard *g, struct jetwatt_board *board);

/*
 * Do the same as jetwatt_mode_guard_open(); also take the lease and save every knob, so that an
 * error of these steps is reported before a job is started. The signals that end a verb are blocked
 * from then on, so that none of them ends the process before the board is restored: they arrive at
 * the session, also if it is opened later. Return: 0, exit code.
 */
int jetwatt_mode_guard_hold(struct jetwatt_mode_guard *g, struct jetwatt_board *board);
/* Apply a mode. Return: 0, exit code. */
int jetwatt_mode_guard_apply(struct jetwatt_mode_guard *g, const struct jetwatt_mode *mode);

/* Check that no other process has changed a knob of the applied mode. Return: 0, exit code. */
int jetwatt_mode_guard_check(struct jetwatt_mode_guard *g, const struct jetwatt_mode *mode);

/* Restore the board, if @changed of @g is 1. Return: 0, exit code. */
int jetwatt_mode_guard_restore(struct jetwatt_mode_guard *g);

/* Keep the applied mode when the verb ends; the user can return to the state before with jetwatt
 * restore. */
void jetwatt_mode_guard_keep(struct jetwatt_mode_guard *g);

#endif
