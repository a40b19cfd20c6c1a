// SPDX-License-Identifier: GPL-2.0-only
/*
 * Save, apply, check and restore for verbs that switch modes.
 */
#include "tune/mode_guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "measure/connect.h"
#include "util/error.h"

int jetwatt_mode_guard_open(struct jetwatt_mode_guard *g, struct jetwatt_board *board)
{
	int owner = 0, err;

	memset(g, 0, sizeof(*g));
	g->board = board;
	g->held = jetwatt_board_saved_owner(board, &owner) == 1;
	err = jetwatt_board_read(board, &g->before);
	if (err)
		return jetwatt_error_report(jetwatt_error_code(err), strerror(-err), "jetwatt doctor",
					 "cannot read the board's knobs");
	return 0;
}

int jetwatt_mode_guard_hold(struct jetwatt_mode_guard *g, struct jetwatt_board *board)
{
	struct jetwatt_error_text e = { "", "", "" };
	sigset_t set;
	int err;

	jetwatt_block_signals(&set);
	err = jetwatt_mode_guard_open(g, board);
	if (err)
		return err;
	err = jetwatt_board_save(board, &e);
	if (err)
		return jetwatt_error_board(err, &e);
	g->changed = !g->held;
	/* jetwatt_board_save() refuses to save a state during throttling, but it does not check this
	 * if a state is saved already. */
	err = g->held ? jetwatt_board_refuse_throttled(board, &e) : 0;
	if (err)
		return jetwatt_error_board(err, &e);
	/* The guard restores the board by applying the mode that was applied before, which cannot
	 * restore a knob that differs from this mode. */
	if (g->held && jetwatt_board_verify(board, &g->before, &e))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, e.what, "jetwatt restore, then again",
					 "a mode was applied before, and a knob was changed since");
	if (g->held)
		jetwatt_notice(
			"a mode had been applied before: it will be restored at the end");
	return 0;
}

int jetwatt_mode_guard_apply(struct jetwatt_mode_guard *g, const struct jetwatt_mode *mode)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_apply(g->board, mode, &e);

	/* A refused switch to a mode has been rolled back; -ENOTRECOVERABLE means that the rollback
	 * failed. */
	if (!err || err == -ENOTRECOVERABLE)
		g->changed = 1;
	return err ? jetwatt_error_board(err, &e) : 0;
}

int jetwatt_mode_guard_check(struct jetwatt_mode_guard *g, const struct jetwatt_mode *mode)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err = jetwatt_board_verify(g->board, mode, &e);

	return err ? jetwatt_error_board(err, &e) : 0;
}

int jetwatt_mode_guard_restore(struct jetwatt_mode_guard *g)
{
	struct jetwatt_error_text e = { "", "", "" };
	int err;

	if (!g->changed)
		return 0;
	g->changed = 0;
	err = g->held ? jetwatt_board_apply(g->board, &g->before, &e) :
	      jetwatt_board_restore(g->board, &e);
	/* -ENOENT: the saved state does not exist any more, so there is nothing to restore. */
	if (err == -ENOENT)
		return 0;
	return err ? jetwatt_error_board(err, &e) : 0;
}

void jetwatt_mode_guard_keep(struct jetwatt_mode_guard *g)
{
	g->changed = 0;
}
