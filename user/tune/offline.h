/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An answer from a profile alone: no job runs, nothing is measured.
 */
#ifndef JETWATT_TUNE_OFFLINE_H
#define JETWATT_TUNE_OFFLINE_H

#include "tune/result.h"

/**
 * jetwatt_consult() - rank the modes for a question and show the best ones
 * @l: with candidates and rows
 * @front: show the whole front too
 * @apply: the board to switch to the answer, NULL: not
 * @a: the answer
 *
 * Return: 0, exit code; JETWATT_EXIT_INFEASIBLE has been explained.
 */
int jetwatt_consult(struct jetwatt_learn *l, const struct jetwatt_plan_question *q, int front,
		    struct jetwatt_board *apply, struct jetwatt_answer *a);

/* The end of an answer: switch to it, or where there is no @board say how. Return: exit code. */
int jetwatt_consult_apply(const struct jetwatt_learn *l, struct jetwatt_board *board,
			  const struct jetwatt_mode *m);

/* "30 W", "80 ms", "30 W and 80 ms": the limits of a question. */
const char *jetwatt_consult_limits(const struct jetwatt_plan_question *q, char *buf, size_t len);

#endif
