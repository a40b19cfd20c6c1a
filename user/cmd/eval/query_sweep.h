/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eval search and eval schedule: queries by the hundred against files in which
 * every mode was measured. A strategy sees what it asks for; it is judged by the
 * best plan of all.
 */
#ifndef JETWATT_CMD_EVAL_QUERY_SWEEP_H
#define JETWATT_CMD_EVAL_QUERY_SWEEP_H

#include "plan/strategy.h"
#include "tune/mode_table.h"
#include "util/args.h"

struct jetwatt_stream_range {
	double lo, hi, step;
};

/**
 * struct jetwatt_stream - one evaluation
 * @files: the workloads, and references to learn from; @infers: files of inference given
 * @modes: that may be measured for a query, 0: as the strategy has it
 * @queries: of the sweep, 0: all
 * @reuse: the queries come in random order, and measurements are kept
 * @trace: file of arrivals that change, NULL: none; @measuring: seconds that a measurement takes
 */
struct jetwatt_stream {
	struct jetwatt_args args;
	struct jetwatt_mode_table files;
	size_t infers;
	const struct jetwatt_strategy *strategy;
	size_t modes, queries, repeats;
	struct jetwatt_stream_range budget, latency, arrival;
	int reuse, json;
	const char *trace;
	double measuring;
};

/* The two verbs: read their arguments, then all the rest. Return: exit code. */
int jetwatt_eval_search(int argc, char **argv);
int jetwatt_eval_schedule(int argc, char **argv);

/**
 * struct jetwatt_stream_verdict - on one query
 * @feasible: some plan is within the limits; @solved: so is one that was found;
 *	@violated: the answer is not
 * @excess: of time or latency over the optimum, in percent, NAN: none
 * @ratio: of throughput to the optimum's, NAN: there is none to be had
 * @clean: the one or the other against the optimum of rows that are not dirty
 * @modes, @measured: for this query; @ms: of computing, @longest: at once;
 *	@exhaust_ms: of looking at every plan there is
 * @plan: the answer
 */
struct jetwatt_stream_verdict {
	int feasible, solved, violated;
	double excess, clean, ratio, ms, longest, exhaust_ms;
	size_t modes, measured;
	struct jetwatt_slice_plan plan;
};

/* One query: measure as the strategy has it, answer, judge. Return: 0, negative errno. */
int jetwatt_stream_ask(const struct jetwatt_stream *s, struct jetwatt_known *k, void *state,
		       const struct jetwatt_slice_query *q, struct jetwatt_stream_verdict *v);

/* The best plan of all. @clean: by rows that are not dirty. Return: 1, 0: none. */
int jetwatt_stream_best(const struct jetwatt_stream *s, int clean,
			const struct jetwatt_slice_query *q, struct jetwatt_slice_plan *plan);

/* The same for arrivals that change, from @trace (query_trace.c). */
int jetwatt_stream_follow(const struct jetwatt_stream *s);

/* Ask, judge, print. Return: 0, or an exit code after saying why. */
int jetwatt_stream_run(const struct jetwatt_stream *s);

#endif
