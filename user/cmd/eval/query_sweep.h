/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jetwatt eval search and eval schedule: answer many queries from files in which every mode was
 * measured. A cell is a mode of a workload at one minibatch size. A strategy sees only the cells
 * that it asks for; its answer is compared with the best plan of all cells.
 */
#ifndef JETWATT_CMD_EVAL_QUERY_SWEEP_H
#define JETWATT_CMD_EVAL_QUERY_SWEEP_H

#include "plan/strategy.h"
#include "tune/mode_table.h"
#include "util/args.h"

/* A range of the sweep: the values @lo, @lo + @step, ... up to @hi. */
struct jetwatt_sweep_range {
	double lo, hi, step;
};

/**
 * struct jetwatt_sweep - one evaluation
 * @args: global options
 * @files: the workloads, and references to learn from
 * @infers: number of files of inference workloads given
 * @strategy: the search strategy
 * @modes: maximum number of modes to measure per query, 0: the strategy's own number
 * @queries: number of queries of the sweep, 0: all
 * @repeats: number of repeats with different seeds
 * @budget, @latency, @arrival: ranges of the sweep, in W, ms and requests per second
 * @reuse: queries come in random order, and measurements of one query are reused in later queries
 * @json: print JSON
 * @trace: file of request rates that change with time, NULL: constant rates
 * @measuring: duration of one measurement, in seconds; used only if @trace is given
 */
struct jetwatt_sweep {
	struct jetwatt_args args;
	struct jetwatt_mode_table files;
	size_t infers;
	const struct jetwatt_strategy *strategy;
	size_t modes, queries, repeats;
	struct jetwatt_sweep_range budget, latency, arrival;
	int reuse, json;
	const char *trace;
	double measuring;
};

/* The verbs eval search and eval schedule: parse the arguments, run, print. Return: exit code. */
int jetwatt_eval_search(int argc, char **argv);
int jetwatt_eval_schedule(int argc, char **argv);

/**
 * struct jetwatt_query_score - result of one query
 * @feasible: 1: the cells of the files allow a plan that meets the limits of the query
 * @solved: 1: the cells that were measured allow a plan that meets the limits of the query
 * @violated: 1: the chosen plan exceeds a limit of the query
 * @excess: time or latency of the answer in excess of the optimum's, in percent; NAN: no answer
 * @clean: time or latency of the answer in excess of the optimum of the rows that are not outliers,
 *	in percent, NAN: no answer; for training and inference together instead: throughput of the
 *	answer relative to that optimum, 0: no answer
 * @ratio: throughput of the answer relative to the optimum's, 0: no answer; NAN: the optimum's is 0
 * @ms: CPU time of the strategy in ms; @longest: CPU time of the longest step of the strategy, in
 *	ms
 * @exhaust_ms: CPU time of the exhaustive search, in ms
 * @modes, @measured: modes and cells measured for this query
 * @plan: the answer
 */
struct jetwatt_query_score {
	int feasible, solved, violated;
	double excess, clean, ratio, ms, longest, exhaust_ms;
	size_t modes, measured;
	struct jetwatt_slice_plan plan;
};

/* Answer one query: measure the cells that the strategy asks for, and compare the answer with the
 * optimum. @k: the measured cells; @state: the state of the strategy. Return: 0, negative
 * errno. */
int jetwatt_query_run(const struct jetwatt_sweep *s, struct jetwatt_observed *k, void *state,
		      const struct jetwatt_slice_query *q, struct jetwatt_query_score *v);

/* Find the best plan of all cells. @clean: without outlier rows. Return: 1 on success; 0: no plan
 * meets the limits. */
int jetwatt_query_optimum(const struct jetwatt_sweep *s, int clean,
			  const struct jetwatt_slice_query *q, struct jetwatt_slice_plan *plan);

/* query_trace.c: evaluate request rates that change with time, read from the file @trace. Return:
 * 0, or an exit code after printing the error. */
int jetwatt_rate_trace_run(const struct jetwatt_sweep *s);

/* query_run.c: run the sweep and print the result. Return: 0, or an exit code after printing the
 * error. */
int jetwatt_sweep_run(const struct jetwatt_sweep *s);

#endif
