/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of profile, predict and optimize for other programs: a JSON document, and a CSV of
 * predictions.
 */
#ifndef JETWATT_TUNE_RESULT_H
#define JETWATT_TUNE_RESULT_H

#include "tune/explain_print.h"
#include "tune/preset_compare.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_result - the result
 * @board: name of the board
 * @learn: candidates and rows
 * @chosen: the chosen mode; NULL: none
 * @predicted: prediction of the chosen mode; NULL: none
 * @measured: with a job, last measurement of the chosen mode, or with --per the mean; without a job,
 *	@mean; NULL: not measured
 * @mean: without a job: mean of the measurements of the chosen mode, by which it was chosen
 * @minibatches: number of minibatches for the totals of time and energy; 0: no totals
 * @explain: explanation of the chosen mode; NULL: not requested
 * @baseline: presets that the chosen mode is compared with; NULL: none
 * @inference: minibatch size and latency of an inference server; NULL: not requested
 * @tokens: figures per token of a language model's server; NULL: not requested
 */
struct jetwatt_result {
	const char *board;
	const struct jetwatt_tuner *learn;
	const struct jetwatt_mode *chosen;
	const struct jetwatt_prediction *predicted;
	const struct jetwatt_row *measured;
	struct jetwatt_row mean;
	uint64_t minibatches;
	const struct jetwatt_explain *explain;
	const struct jetwatt_preset_compare *baseline;
	const struct jetwatt_inference *inference;
	const struct jetwatt_tokens *tokens;
};

/* Write the JSON document. @path: "-": standard output. Return: 0, exit code. */
int jetwatt_result_json(const struct jetwatt_result *a, const char *path);
/* Print the total time and energy of @minibatches minibatches in the chosen mode. */
void jetwatt_result_totals(const struct jetwatt_result *a);
/* Write the predictions of all candidates as CSV. Return: 0, exit code. */
int jetwatt_result_predictions(const struct jetwatt_tuner *l, const char *path);

#endif
