/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks the kernel and opens the module and the board for a verb or jetwattd. The functions that
 * open something print an error text that says which of these steps has failed.
 */
#ifndef JETWATT_MEASURE_CONNECT_H
#define JETWATT_MEASURE_CONNECT_H

#include <signal.h>

#include "board/board.h"
#include "jetwatt.h"

/* Check that the kernel is new enough. Return: 0 if it is new enough; else the exit code, after
 * printing an error. */
int jetwatt_check_kernel(void);

/*
 * Check a kernel release, "5.10.104-tegra" for instance. Return: 0; -EOPNOTSUPP: the kernel is too
 * old, and @why, of @len bytes, has the reason.
 */
int jetwatt_check_release(const char *release, char *why, size_t len);

/*
 * Open the module and read its properties. Return: 0; or the exit code, after printing an error.
 */
int jetwatt_open_module(struct jetwatt **jw, struct jetwatt_info *info);

/* The root directories of a board, with the memory of their paths. */
struct jetwatt_board_roots_in {
	struct jetwatt_board_roots roots;
	char sys[192], proc[192], state[192], etc[192];
};

/*
 * Return the root directories of the board in @dir, as doctor --replay --into writes them. NULL:
 * @dir is NULL or empty, so the board is this machine.
 */
const struct jetwatt_board_roots *jetwatt_board_roots_in(const char *dir,
						      struct jetwatt_board_roots_in *at);

/*
 * Open the board, which is in $JETWATT_ROOT if that is set. Return: 0; or the exit code, after
 * printing an error.
 */
int jetwatt_open_board(struct jetwatt_board **b);

/*
 * Open the board as jetwatt_open_board() does, for verbs that change clocks: a board without any
 * required clock that can be set is an error. Other required clocks that cannot be set are
 * reported.
 */
int jetwatt_open_knobs(struct jetwatt_board **b);

/*
 * Block the signals that would end the process, so that it is not ended in the middle of a change
 * of mode. The caller reads the blocked signals with a signalfd of @set; otherwise they have no
 * effect. SIGHUP is not blocked if it is ignored. Also ignores SIGPIPE.
 */
void jetwatt_block_signals(sigset_t *set);

/* Print the error of a failed call on @jw. Return: exit code. */
int jetwatt_connect_error(struct jetwatt *jw, int err, const char *what);

#endif
