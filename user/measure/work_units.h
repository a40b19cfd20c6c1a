/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy and time per work unit of a run. A thread reads the counters of the program about once per
 * second; the thread that runs the session computes the energy at the times of the readings.
 */
#ifndef JETWATT_MEASURE_WORK_UNITS_H
#define JETWATT_MEASURE_WORK_UNITS_H

#include "measure/run_energy.h"
#include "measure/unit_counter.h"

/**
 * struct jetwatt_work_unit - a counter over a run
 * @name, @source, @metric: of struct jetwatt_unit and its source
 * @start_ns, @end_ns: first and last reading of the counter, or the begin and the end of the run
 * @units: units counted from @start_ns to @end_ns
 * @energy_j: energy from @start_ns to @end_ns, J
 * @energy_sd, @units_sd: relative standard errors of @energy_j and @units; NAN: unknown
 * @resets, @readings: number of restarts and of readings of the counter
 * @rate_var, @power_var: relative standard errors of @rate_hz and @power_w that are caused by their
 *	variation during the run; NAN: unknown
 * @power_w: mean power, W
 * @rate_hz: units per second
 *
 * NAN if no unit was counted:
 * @unit_j, @unit_ms: energy and time per unit, J and ms
 * @unit_sd: relative standard error of @unit_j; the relative standard error of @unit_ms and of
 *	@rate_hz is @units_sd
 */
struct jetwatt_work_unit {
	const char *name, *source, *metric;
	uint64_t start_ns, end_ns;
	double units, energy_j, energy_sd, units_sd;
	unsigned int resets, readings;
	double power_w, rate_hz, unit_j, unit_ms, unit_sd, rate_var, power_var;
};

struct jetwatt_work_units;

/*
 * Begin to read the counters @units of the job of the session @m->session, which has just begun.
 * Return: 0; or the exit code, after printing an error. The caller frees *@w with
 * jetwatt_work_units_free(), also after an error.
 */
int jetwatt_work_units_begin(struct jetwatt_work_units **w, struct jetwatt_units *units,
			     struct jetwatt_run_energy *m);

/*
 * Make the counters of a trace, whose readings jetwatt_work_units_add() adds. Missing counters are
 * reported only by jetwatt_work_units_check(). @started: 1: the trace is that of a command, so the counts
 * were 0 at its begin. Return: the counters; NULL: out of memory.
 */
struct jetwatt_work_units *jetwatt_work_units_replay(struct jetwatt_units *units, int started);
/* Add a reading of a trace. */
void jetwatt_work_units_add(struct jetwatt_work_units *w, const struct jetwatt_unit_reading *r);
/* The recorded run @m has just begun. */
void jetwatt_work_units_start(struct jetwatt_work_units *w, struct jetwatt_run_energy *m);

/* Process the new readings; call this function before each jetwatt_run_energy_run() of the run.
 * Prints notices about missing and restarted counters. */
void jetwatt_work_units_run(struct jetwatt_work_units *w);

/* The job has ended, or its measurement ends now: read the counters once more, and end the thread.
 * The event loop of the session runs meanwhile. */
void jetwatt_work_units_last(struct jetwatt_work_units *w);

/*
 * Process the last readings; call this function before jetwatt_run_energy_end(). @end_ns: end of
 * the run. If the run is not replayed, prints the errors of jetwatt_work_units_check(). Return:
 * exit code.
 */
int jetwatt_work_units_end(struct jetwatt_work_units *w, uint64_t end_ns);
/* Print an error for each counter that was never read, was read only once, or is missing at the end
 * although the job still runs. Return: exit code. */
int jetwatt_work_units_check(const struct jetwatt_work_units *w);

/* Return: number of counters that have a result, because they have counts at two different times. @result:
 * JETWATT_UNITS_MAX entries. */
int jetwatt_work_units_results(const struct jetwatt_work_units *w,
			       struct jetwatt_work_unit *result);

/* End the thread, if it is running, and free the memory. @w: may be NULL. */
void jetwatt_work_units_free(struct jetwatt_work_units *w);

#endif
