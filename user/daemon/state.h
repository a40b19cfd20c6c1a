/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of the loop as one table: when each state is entered and left, and what is applied to the
 * board meanwhile. jetwattd(8), "States", has the same table; tests/unit/daemon_state.c compares
 * the two.
 */
#ifndef JETWATT_DAEMON_STATE_H
#define JETWATT_DAEMON_STATE_H

#include "daemon/jetwattd.h"

/**
 * struct jetwattd_state - a row of the table
 * @name: name in the output of "jetwatt daemon" and in the metric jetwatt_doing
 * @entered: when the state is entered
 * @left: when the state is left
 * @applied: what is applied to the board
 * @from: bit s: the state may be entered from state s
 */
struct jetwattd_state {
	const char *name, *entered, *left, *applied;
	unsigned int from;
};

/* The table; JETWATTD_DOINGS rows. */
extern const struct jetwattd_state jetwattd_state[];

/**
 * jetwattd_enter() - change the state
 * @d: jetwattd
 * @to: the new state
 *
 * Caller holds the lock. Another thread may have entered a state in which nothing is switched, for
 * example because another process controls the board, just before the loop enters "holding": then
 * the change is refused.
 *
 * Return: 0; -EPERM: refused, the state is unchanged.
 */
int jetwattd_enter(struct jetwattd *d, enum jetwattd_doing to);

#endif
