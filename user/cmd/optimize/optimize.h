/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of jetwatt optimize. */
#ifndef JETWATT_CMD_OPTIMIZE_OPTIMIZE_H
#define JETWATT_CMD_OPTIMIZE_OPTIMIZE_H

#include "tune/result.h"
#include "tune/corpus.h"
#include "tune/inference.h"
#include "tune/token_search.h"

/**
 * struct jetwatt_optimize - arguments of jetwatt optimize
 * @args: global options
 * @job: the job to measure; may be empty
 * @store: options of the profile database
 * @reference: profiles of other workloads to learn from
 * @method: the predictor, NULL: the default
 * @knobs: optional knobs to include in the grid, see tune/knob_option.h
 * @profile, @modes, @out, @json, @predictions, @presets, @plot: files, NULL: not given
 * @ask: objective and limits
 * @rate: least number of units per second, from --rate; 0: no limit
 * @wait_s: timeout for a job without GPU activity, in seconds
 * @most: maximum number of modes to measure, from --most
 * @verify: maximum number of predicted candidates among the @most modes; -1: the default number
 * @minibatches: number of minibatches whose total time and energy are printed, 0: print no totals
 * @least: objective given with --least, -1: the option was not given; @ask has the resulting
 *	objective
 * @front, @apply, @dry_run, @explain: options that were given
 * @why: result of --explain
 * @inference: query about an inference server; @strategy in it is NULL if the command line has
 *	no such query
 * @tokens: query about a language model's server, which has a counter if the command line has such a
 *	query
 */
struct jetwatt_optimize {
	struct jetwatt_args args;
	struct jetwatt_args_job job;
	struct jetwatt_profile_store_args store;
	struct jetwatt_references reference;
	const struct jetwatt_predictor *method;
	unsigned int knobs;
	const char *profile, *modes, *out, *json, *predictions, *presets, *plot;
	struct jetwatt_plan_objective ask;
	double wait_s, rate;
	long most, verify, minibatches;
	int least, front, apply, dry_run, explain;
	struct jetwatt_explain why;
	struct jetwatt_inference inference;
	struct jetwatt_tokens tokens;
};

/* Parse the command line into @in, which need not be initialized. Exits the program with a usage
 * error if the options are invalid. */
void jetwatt_optimize_parse(int argc, char **argv, struct jetwatt_optimize *in);

#endif
