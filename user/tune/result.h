/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What profile and optimize have found, for other programs: one JSON document
 * and a CSV of predictions.
 */
#ifndef JETWATT_TUNE_RESULT_H
#define JETWATT_TUNE_RESULT_H

#include "tune/explain_print.h"
#include "tune/preset_compare.h"
#include "tune/tuner.h"

/**
 * struct jetwatt_answer - the outcome
 * @board: its name
 * @learn: candidates and measurements
 * @chosen: NULL: none
 * @predicted: what was predicted for it
 * @measured: what was measured in it at the end, NULL: it was not
 * @minibatches: of an epoch or of the whole job, for the totals; 0: not asked
 * @explain: why, NULL: not asked
 * @baseline: presets to compare with, NULL: none
 * @infer: the minibatch size and latency of a server, NULL: none was asked for
 */
struct jetwatt_answer {
	const char *board;
	const struct jetwatt_learn *learn;
	const struct jetwatt_mode *chosen;
	const struct jetwatt_prediction *predicted;
	const struct jetwatt_row *measured;
	uint64_t minibatches;
	const struct jetwatt_explain *explain;
	const struct jetwatt_baseline *baseline;
	const struct jetwatt_infer *infer;
};

/* @path: "-": standard output. Return: 0, exit code. */
int jetwatt_answer_json(const struct jetwatt_answer *a, const char *path);
/* Time and energy of all minibatches in the chosen mode, a line for the screen. */
void jetwatt_answer_totals(const struct jetwatt_answer *a);
int jetwatt_answer_predictions(const struct jetwatt_learn *l, const char *path);

#endif
