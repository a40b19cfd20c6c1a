/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of the loop as one table: when each state is entered and left, and which mode is applied
 * to the board in the state. jetwattd(8), "States", has the same table; tests/unit/daemon_state.c
 * compares the two.
 */
#ifndef JETWATT_DAEMON_STATE_H
#define JETWATT_DAEMON_STATE_H

#include "daemon/jetwattd.h"

/**
 * struct jetwattd_state - a row of the table
 * @name: name in the output of "jetwatt daemon" and in the metric jetwatt_doing
 * @entered: conditions under which the state is entered
 * @left: conditions under which the state is left
 * @applied: mode that is applied to the board in this state
 * @from: bit s is set if the state may be entered from state s
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
 * Caller holds the lock. The change of state is refused if the table does not allow it: another
 * thread may just have entered a state in which the loop does not choose modes.
 *
 * Return: 0; -EPERM if the change is refused; the state is then unchanged.
 */
int jetwattd_enter(struct jetwattd *d, enum jetwattd_doing to);

#endif
