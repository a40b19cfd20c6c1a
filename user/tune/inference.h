/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * optimize --latency: a power mode and a minibatch size for an inference server, so that
 * the slowest answer of a minibatch (which has waited until it was full) comes soonest
 * within the power budget and the limit of latency.
 */
#ifndef JETWATT_TUNE_INFERENCE_H
#define JETWATT_TUNE_INFERENCE_H

#include "tune/result.h"
#include "tune/strategy_search.h"

/**
 * struct jetwatt_infer - question and answer
 * @q: the limits; @risk: accepted probability of breaking one of them where nothing was measured
 * @size: minibatch sizes to choose from, @sizes of them
 * @strategy: that asks for what to measure; @most: modes at most
 * @plan: the answer; @measured: it rests on a measurement
 */
struct jetwatt_infer {
	struct jetwatt_slice_query q;
	double risk;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
	const struct jetwatt_strategy *strategy;
	size_t most;
	struct jetwatt_slice_plan plan;
	int measured;
};

/**
 * jetwatt_infer_consult() - from a profile alone; the sizes are those of its rows, unless given
 * @apply: the board to switch to the answer, NULL: not
 *
 * Return: 0, exit code; JETWATT_EXIT_INFEASIBLE has been explained.
 */
int jetwatt_infer_consult(struct jetwatt_infer *f, struct jetwatt_learn *l,
			  struct jetwatt_board *apply, struct jetwatt_answer *a);

/**
 * jetwatt_infer_live() - measure modes and sizes, prove the answer and stay in it
 * @job: running, of one size; or a command, in which {batch} stands for the size, and which
 *	is started again for another one
 * @board: @l's; @l has neither watch nor guard yet
 * @stay: the mode stays, and a command goes on; else the board is as before
 *
 * Return: 0, exit code; the command's status where it went on to its end.
 */
int jetwatt_infer_live(struct jetwatt_infer *f, struct jetwatt_learn *l,
		       const struct jetwatt_args_job *job, const struct jetwatt_keep_args *keep,
		       struct jetwatt_board *board, int stay, struct jetwatt_answer *a);

/* "30 W and 100 ms at 60 requests a second" */
const char *jetwatt_infer_limits(const struct jetwatt_slice_query *q, char *buf, size_t len);
/* No plan is within the limits: says so, and what would be; @t, @w: times and powers, size by
 * size. Return: exit code. */
int jetwatt_infer_infeasible(const struct jetwatt_infer *f, const struct jetwatt_learn *l,
			     const double *t, const double *w);
/* Of a minibatch, without waiting until it is full. */
double jetwatt_infer_ms(const struct jetwatt_infer *f, const struct jetwatt_slice_plan *p);
/* The answer as a line of the screen. */
void jetwatt_infer_line(const struct jetwatt_infer *f, const struct jetwatt_learn *l, char mark,
			const struct jetwatt_slice_plan *p, const char *note);
void jetwatt_infer_json(const struct jetwatt_infer *f, struct jetwatt_json *j);

#endif
