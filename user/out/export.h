/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run in other programs' formats. Rows come in order of time, minibatches
 * after all of them, because they are found when all waits are known.
 */
#ifndef JETWATT_OUT_EXPORT_H
#define JETWATT_OUT_EXPORT_H

#include <stdio.h>

#include "minibatch/minibatch.h"
#include "jetwatt.h"

/**
 * struct jetwatt_export_run - what is exported
 * @total, @nr_total: indices of the rails whose sum counts; @scope: what it covers
 * @clocks: the same moment by three clocks
 * @begun_ns, @pid: the job; 0: not known yet
 */
struct jetwatt_export_run {
	const char *board, *kernel, *version, *command, *scope;
	const struct jetwatt_rail *rail;
	int nr_rails;
	const int *total;
	int nr_total;
	struct jetwatt_trace_clocks clocks;
	uint64_t begun_ns;
	uint32_t pid;
};

/* Of the whole run. @telemetry: last values; of counters, what they have counted in it. */
struct jetwatt_export_sums {
	uint64_t begun_ns, ended_ns, covered_ns, minibatches, waits, waits_lost, samples, lost;
	double uj;
	const double *rail_uj;
	struct jetwatt_telemetry telemetry;
};

/**
 * struct jetwatt_export_cost - what a minibatch has drawn
 * @uj: negative: not known
 * @sd_uj: one standard error of it; @grade: 'A' to 'D'; negative and '-': not known
 */
struct jetwatt_export_cost {
	double uj, sd_uj;
	char grade;
};

/**
 * struct jetwatt_export_wait - a wait, and why a minibatch ends with it or does not
 * @index: of all waits, from 0
 * @kind: of the minibatch that it is in, NULL: it is in none
 */
struct jetwatt_export_wait {
	size_t index;
	const struct jetwatt_sync *sync;
	const struct jetwatt_batch_why *why;
	const char *kind;
};

/**
 * struct jetwatt_export - an export being written
 * @minibatches: rows are minibatches, not samples, where the format has one kind
 * @waits: rows are waits
 * @clock: the mode that was written last; @told: the telemetry that was
 * @any: something has been written
 * @tracks: bit s: slot s has a track
 */
struct jetwatt_export {
	FILE *f;
	const struct jetwatt_export_run *run;
	int minibatches, waits;
	struct jetwatt_mode clock;
	struct jetwatt_telemetry told;
	uint64_t any, tracks;
	void *state;
};

/**
 * struct jetwatt_export_format - one format; every function may be NULL
 * @hz: rows a second unless somebody asks for another number, 0: all there are
 * @begin: 0, or not 0: no memory. It may put a block of malloc() at @state, which
 *	the caller frees if @end has not
 * @power: @lost samples are missing before this one
 * @job: it is known now: @run's pid and begun_ns
 * @wait: in place of samples and minibatches, if waits are asked for; NULL: the format has none
 */
struct jetwatt_export_format {
	double hz;
	int (*begin)(struct jetwatt_export *e);
	void (*job)(struct jetwatt_export *e);
	void (*power)(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost);
	void (*minibatch)(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			  const struct jetwatt_export_cost *c);
	void (*wait)(struct jetwatt_export *e, const struct jetwatt_export_wait *w);
	void (*end)(struct jetwatt_export *e, const struct jetwatt_export_sums *s);
};

extern const struct jetwatt_export_format jetwatt_export_csv, jetwatt_export_jsonl,
	jetwatt_export_perfetto, jetwatt_export_chrome, jetwatt_export_openmetrics,
	jetwatt_export_prometheus;

/* Shared by formats: power of the total; "train", "eval" or "other"; has the mode
 * changed since it was asked last? */
int64_t jetwatt_export_total(const struct jetwatt_export *e, const struct jetwatt_power *p);
const char *jetwatt_export_kind(const struct jetwatt_batch_bound *b);
int jetwatt_export_switched(struct jetwatt_export *e, const struct jetwatt_power *p);
/* Is a slot of telemetry another than it was when this was asked last? */
int jetwatt_export_moved(struct jetwatt_export *e, const struct jetwatt_power *p,
			 unsigned int slot);

#endif
