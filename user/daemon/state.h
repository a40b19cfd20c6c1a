/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What jetwattd does, as one table: each state with when it is entered and left, and what is
 * applied to the board in it. jetwattd(8), "States", is the same table; tests/unit/daemon_state.c
 * compares them.
 */
#ifndef JETWATT_DAEMON_STATE_H
#define JETWATT_DAEMON_STATE_H

#include "daemon/jetwattd.h"

/**
 * struct jetwattd_state - a row of the table
 * @name: as `jetwatt daemon` and the metric jetwatt_doing say it
 * @entered, @left: when
 * @applied: to the board
 * @from: bit s: may be entered from state s
 */
struct jetwattd_state {
	const char *name, *entered, *left, *applied;
	unsigned int from;
};

/* JETWATTD_DOINGS rows. */
extern const struct jetwattd_state jetwattd_state[];

/**
 * jetwattd_enter() - go to another state
 *
 * Under the lock. The thread of the cap or the control socket may have found that the board is
 * another process's, while the loop was about to say that it holds a mode: the state in which
 * nothing is switched stays.
 * Return: 0; -EPERM: the present state is not left for @to, and stays.
 */
int jetwattd_enter(struct jetwattd *d, enum jetwattd_doing to);

#endif
