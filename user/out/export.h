/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export formats for traces, used by jetwatt export and jetwatt top. Rows of samples are written in
 * order of time; rows of minibatches or waits follow at the end, because minibatches are found only
 * when all waits are known.
 */
#ifndef JETWATT_OUT_EXPORT_H
#define JETWATT_OUT_EXPORT_H

#include <stdio.h>

#include "minibatch/minibatch.h"
#include "jetwatt.h"

/**
 * struct jetwatt_export_run - the exported run
 * @board, @kernel, @version, @command: texts stored in the trace
 * @scope: what the total power covers, for example "module"
 * @rail, @nr_rails: all rails
 * @total, @nr_total: indices of the rails whose sum is the total power
 * @clocks: time of one moment by CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME, in ns
 * @begun_ns, @pid: start and process of the job; 0: not known yet
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

/* Sums of energy and time over the whole run. Energies in uJ. @covered_ns: time in no gap of the
 * samples; @lost: number of missing samples; @telemetry: last value of each telemetry series; for a
 * counter, its increase during the run. */
struct jetwatt_export_sums {
	uint64_t begun_ns, ended_ns, covered_ns, minibatches, waits, waits_lost, samples, lost;
	double uj;
	const double *rail_uj;
	struct jetwatt_telemetry telemetry;
};

/**
 * struct jetwatt_export_cost - energy of a minibatch
 * @uj: energy of the minibatch in uJ, negative: unknown
 * @sd_uj: standard error of @uj, in uJ; negative: unknown
 * @grade: grade 'A' to 'D' of the energy, see jetwatt_batch_cost_between(); '-': unknown
 */
struct jetwatt_export_cost {
	double uj, sd_uj;
	char grade;
};

/**
 * struct jetwatt_export_wait - a wait, and why it is the end of a minibatch or not
 * @index: index of the wait among all waits, from 0
 * @sync: the wait
 * @why: the decision whether the wait ends a minibatch
 * @kind: kind of the minibatch that contains the wait ("train", ...), NULL: no minibatch contains
 *	it
 */
struct jetwatt_export_wait {
	size_t index;
	const struct jetwatt_sync *sync;
	const struct jetwatt_batch_why *why;
	const char *kind;
};

/**
 * struct jetwatt_export - an export in progress
 * @f: the output
 * @run: the exported run
 * @minibatches: 1: write minibatches and no samples (CSV and JSON lines)
 * @waits: 1: write waits and no samples (CSV and JSON lines)
 * @clock: the number of cores and the clock frequencies that were written last
 * @last_telemetry: the telemetry written last
 * @any: number of events written so far (Chrome)
 * @tracks: bit s is set if telemetry slot s has a track (Perfetto)
 * @state: data of the format's own functions
 */
struct jetwatt_export {
	FILE *f;
	const struct jetwatt_export_run *run;
	int minibatches, waits;
	struct jetwatt_mode clock;
	struct jetwatt_telemetry last_telemetry;
	uint64_t any, tracks;
	void *state;
};

/**
 * struct jetwatt_export_format - one format; every function may be NULL
 * @hz: default number of rows per second, 0: one row for every sample
 * @begin: write the header. Return: 0; any other value: out of memory. @state may be set to memory
 *	from malloc(), which the caller frees unless @end did
 * @job: called once the pid and begun_ns of @run are known
 * @power: write a row (export_rows.h); @lost: number of samples missing since the previous row
 * @minibatch: write a minibatch
 * @wait: write a wait, if @waits is set; NULL: the format has no rows of waits
 * @count: write the count of the work units @unit, which was read between two times
 * @end: write the sums of the run and the end of the file
 */
struct jetwatt_export_format {
	double hz;
	int (*begin)(struct jetwatt_export *e);
	void (*job)(struct jetwatt_export *e);
	void (*power)(struct jetwatt_export *e, const struct jetwatt_power *p, uint64_t lost);
	void (*minibatch)(struct jetwatt_export *e, const struct jetwatt_batch_bound *b,
			  const struct jetwatt_export_cost *c);
	void (*wait)(struct jetwatt_export *e, const struct jetwatt_export_wait *w);
	void (*count)(struct jetwatt_export *e, const char *unit, uint64_t begin_ns, uint64_t end_ns,
		      double count);
	void (*end)(struct jetwatt_export *e, const struct jetwatt_export_sums *s);
};

extern const struct jetwatt_export_format jetwatt_export_csv, jetwatt_export_jsonl,
	jetwatt_export_perfetto, jetwatt_export_chrome, jetwatt_export_openmetrics,
	jetwatt_export_prometheus, jetwatt_export_tegrastats;

/* Shared by the formats. */
/* Return: total power of the sample @p, in microwatts. */
int64_t jetwatt_export_total(const struct jetwatt_export *e, const struct jetwatt_power *p);
/* Return: kind of the minibatch: "train", "eval" or "other". */
const char *jetwatt_export_kind(const struct jetwatt_batch_bound *b);
/* Return: 1 if a clock or the number of cores has changed since the last call, else 0. */
int jetwatt_export_clocks_changed(struct jetwatt_export *e, const struct jetwatt_power *p);
/* Return: 1 if the value of the telemetry slot has changed since the last call for @slot, else 0.
 */
int jetwatt_export_slot_changed(struct jetwatt_export *e, const struct jetwatt_power *p,
				unsigned int slot);

#endif
