/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reaching what is needed: kernel, module, board; each with its own words when
 * it is not there.
 */
#ifndef JETWATT_MEASURE_CONNECT_H
#define JETWATT_MEASURE_CONNECT_H

#include <signal.h>

#include "board/board.h"
#include "jetwatt.h"

/* 0, or the exit code after saying that this kernel is too old. */
int jetwatt_reach_kernel(void);

/* Whether a kernel release is one that jetwatt can work on; @why gets words. */
int jetwatt_reach_release(const char *release, char *why, size_t len);

/* Open the module. Return: 0, or the exit code after saying what is wrong. */
int jetwatt_reach_module(struct jetwatt **jw, struct jetwatt_info *info);

/* The roots of a board, with room for their paths. */
struct jetwatt_reach_roots {
	struct jetwatt_board_roots roots;
	char sys[192], proc[192], state[192], etc[192];
};

/* Roots of the board whose files are in @dir, as doctor --replay writes them; NULL or empty:
 * the board that this is, for which NULL is returned. */
const struct jetwatt_board_roots *jetwatt_reach_roots(const char *dir,
						      struct jetwatt_reach_roots *at);

/* Find the board, which is in $JETWATT_ROOT if that is set. Return: 0, or the exit code after saying what is wrong. */
int jetwatt_reach_board(struct jetwatt_board **b);

/* ... for what switches clocks: one without any clock that can be set is refused. Which of
 * several is missing is said, and no failure: the others are used. */
int jetwatt_reach_knobs(struct jetwatt_board **b);

/* From here on the signals that would end us wait, until the verb is done or
 * reads them (signalfd of @set): half a switch is a bug. */
void jetwatt_reach_undisturbed(sigset_t *set);

/* A call on @jw failed with @err: say so. Return: exit code. */
int jetwatt_reach_failed(struct jetwatt *jw, int err, const char *what);

#endif
