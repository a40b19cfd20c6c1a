/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * optimize --latency: the power mode and the minibatch size of an inference server with the lowest
 * latency within a power budget and a latency limit. The latency is that of the first request of a
 * minibatch, which waits until the minibatch is full. "Answer" is the result of the query.
 */
#ifndef JETWATT_TUNE_INFERENCE_H
#define JETWATT_TUNE_INFERENCE_H

#include "tune/result.h"
#include "tune/strategy_search.h"

/**
 * struct jetwatt_inference - query and answer
 * @q: the limits
 * @risk: accepted probability that an unmeasured answer exceeds a limit
 * @size: minibatch sizes to choose from, in samples
 * @sizes: number of sizes
 * @strategy: search strategy
 * @max_modes: largest number of modes to measure for the query, including those of earlier rows
 * @plan: the answer
 * @measured: 1: the answer was measured; 0: the answer is a prediction
 * @done: jetwatt_inference_live() calls it with the result and the exit code of the search, while the
 *	command, if it lives, runs on; the session of the job's last run, if any, is open. It returns
 *	the exit code
 * @arg: argument of @done
 */
struct jetwatt_inference {
	struct jetwatt_slice_query q;
	double risk;
	uint32_t size[JETWATT_SLICE_SIZES];
	size_t sizes;
	const struct jetwatt_strategy *strategy;
	size_t max_modes;
	struct jetwatt_slice_plan plan;
	int measured;
	int (*done)(void *arg, const struct jetwatt_result *a, int err);
	void *arg;
};

/**
 * jetwatt_inference_offline() - answer from a profile, without measuring
 * @f: query and answer; if @f has no @size, the minibatch sizes of the rows are used
 * @l: candidates and rows
 * @apply: board to switch to the answer; NULL: do not switch
 * @a: set to the result
 *
 * Return: 0; exit code. JETWATT_EXIT_INFEASIBLE has been explained.
 */
int jetwatt_inference_offline(struct jetwatt_inference *f, struct jetwatt_tuner *l,
			      struct jetwatt_board *apply, struct jetwatt_result *a);

/**
 * jetwatt_inference_live() - measure modes and sizes, and verify the answer
 * @f: query and answer
 * @l: candidates and rows; the function sets the session, the guard and the store of @l
 * @job: running job with one minibatch size; or a command, in which {batch} stands for the
 *	minibatch size, and which is restarted each time the size changes
 * @args: options of the profile database
 * @board: the board
 * @stay: 1: keep the mode, and let the command run on; 0: restore the board
 * @a: set to the result
 *
 * Return: 0; an exit code of jetwatt; or the exit status of the command if the command ran to its
 * end.
 */
int jetwatt_inference_live(struct jetwatt_inference *f, struct jetwatt_tuner *l,
			   const struct jetwatt_args_job *job,
			   const struct jetwatt_profile_store_args *args,
			   struct jetwatt_board *board, int stay, struct jetwatt_result *a);

/* Format the limits of the query, such as "30 W and 100 ms at 60 requests a second". Return:
 * @buf. */
const char *jetwatt_inference_limits(const struct jetwatt_slice_query *q, char *buf, size_t len);
/*
 * Print that no plan meets the limits of the query, and limits that a plan meets, if any. @t and
 * @w: times and powers of all modes for each minibatch size. Return: exit code.
 */
int jetwatt_inference_infeasible(const struct jetwatt_inference *f, const struct jetwatt_tuner *l,
				 const double *t, const double *w);

/* inference_print.c */
/* Return: time of a minibatch in milliseconds, without the queueing delay. */
double jetwatt_inference_ms(const struct jetwatt_inference *f, const struct jetwatt_slice_plan *p);
/* Print a plan as a line of a table. */
void jetwatt_inference_line(const struct jetwatt_inference *f, const struct jetwatt_tuner *l,
			    char mark, const struct jetwatt_slice_plan *p, const char *note);
/* Write the answer as the JSON object "inference". */
void jetwatt_inference_json(const struct jetwatt_inference *f, struct jetwatt_json *j);

#endif
