/* SPDX-License-Identifier: GPL-2.0-only */
/* What jetwatt optimize was asked. */
#ifndef JETWATT_CMD_OPTIMIZE_OPTIMIZE_H
#define JETWATT_CMD_OPTIMIZE_OPTIMIZE_H

#include "tune/result.h"
#include "tune/corpus.h"
#include "tune/inference.h"

/**
 * struct jetwatt_optimize - the command line
 * @method: the predictor, NULL: the default
 * @profile, @modes, @out, @json, @predictions, @presets, @plot: files, NULL: none
 * @knobs: optional ones of the grid, see tune/knob_option.h
 * @most: modes to measure at most; @verify: of these, candidates of the prediction, -1: as
 *	it comes
 * @least: that was asked for, -1: nothing was; @ask has what it comes to
 * @why: room for what --explain finds
 * @infer: has a strategy where it is about a server
 */
struct jetwatt_optimize {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	struct jetwatt_keep_args keep;
	struct jetwatt_references reference;
	const struct jetwatt_predictor *method;
	unsigned int knobs;
	const char *profile, *modes, *out, *json, *predictions, *presets, *plot;
	struct jetwatt_plan_question ask;
	double wait_s;
	long most, verify, minibatches;
	int least, front, apply, dry_run, explain;
	struct jetwatt_explain why;
	struct jetwatt_infer infer;
};

/* @in: whatever it was. Ends the program where the command line makes no sense. */
void jetwatt_optimize_parse(int argc, char **argv, struct jetwatt_optimize *in);

#endif
