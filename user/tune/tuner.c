// SPDX-License-Identifier: GPL-2.0-only
/*
 * Candidates, rows from files and database, and the measurement of a mode.
 */
#include "tune/tuner.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/mode_index.h"
#include "out/terminal.h"
#include "store/csv.h"
#include "tune/corpus.h"
#include "util/clock.h"
#include "util/error.h"

/* Collect the different modes of @n rows in the order of the rows: a mode may have a row for each
 * minibatch size. Return: 0, -ENOMEM. */
static int tuner_collect_modes(struct jetwatt_tuner *l, const struct jetwatt_row *row, int n)
{
	struct jetwatt_mode_index x;

	if (jetwatt_mode_index_open(&x, (size_t)n))
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		if (jetwatt_mode_index_find(&x, l->mode, &row[i].mode) >= 0)
			continue;
		l->mode[l->nr_modes] = row[i].mode;
		jetwatt_mode_index_add(&x, l->mode, l->nr_modes++);
	}
	jetwatt_mode_index_close(&x);
	return 0;
}

static int tuner_read_modes(struct jetwatt_tuner *l, const struct jetwatt_board *board,
			    const char *path)
{
	struct jetwatt_csv_error e = { 0 };
	struct jetwatt_row *row = NULL;
	int n;

	if (!path) {
		n = jetwatt_board_modes(board, &l->mode);
		if (n <= 0)
			return n == -ENOMEM ? jetwatt_tuner_no_memory() :
			       jetwatt_error_report(JETWATT_EXIT_UNSUPPORTED, NULL, "jetwatt list knobs",
						 "this board has no power modes");
		l->nr_modes = n;
		return 0;
	}
	n = jetwatt_csv_read(path, &row, NULL, &e);
	if (n < 0)
		return jetwatt_references_unreadable(path, n, &e);
	l->mode = calloc(n + 1, sizeof(*l->mode));
	if (!l->mode) {
		free(row);
		return jetwatt_tuner_no_memory();
	}
	if (tuner_collect_modes(l, row, n)) {
		free(row);
		return jetwatt_tuner_no_memory();
	}
	free(row);
	return l->nr_modes ? 0 : jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, NULL,
						   "%s has no modes", path);
}

int jetwatt_tuner_modes(struct jetwatt_tuner *l, const struct jetwatt_board *board,
			const char *path)
{
	int err = tuner_read_modes(l, board, path);

	for (size_t i = 0; i < l->nr_modes && !err; i++)
		jetwatt_mode_raise(&l->by.highest, &l->mode[i]);
	return err;
}

/* Return: 1 if the first @n rows contain this measurement: two files may both have it, or a file and the
 * database. Counted twice, it would make the error of the mode's mean too small. */
static int tuner_has_row(const struct jetwatt_tuner *l, size_t n, const struct jetwatt_row *row)
{
	for (size_t i = 0; i < n; i++)
		if (jetwatt_mode_same(&l->row[i].mode, &row->mode) && l->row[i].batch == row->batch &&
		    l->row[i].time_ms == row->time_ms && l->row[i].power_w == row->power_w)
			return 1;
	return 0;
}

int jetwatt_tuner_read(struct jetwatt_tuner *l, const char *path, int must)
{
	struct jetwatt_csv_error e = { 0 };
	struct jetwatt_row *row = NULL;
	uint32_t *batch = NULL, first;
	size_t before = l->nr_rows;
	int err = 0, several = 0, n;

	if (!must && access(path, F_OK))
		return 0;
	n = jetwatt_csv_read(path, &row, &batch, &e);
	if (n < 0)
		return jetwatt_references_unreadable(path, n, &e);
	/* Rows of an earlier file may have another size. */
	first = !l->sizes || !l->nr_rows ? batch[0] : l->row[0].batch ? 0 : l->size;
	for (int i = 0; i < n; i++)
		several |= batch[i] != first;
	if (several && l->sizes)
		err = jetwatt_tuner_label_rows(l, 0);
	/* Times at different minibatch sizes are not comparable unless the size is a feature. */
	if (several && !l->sizes)
		err = jetwatt_error_report(
			JETWATT_EXIT_FAILED,
			"rows of several batch sizes are from several jobs",
			"use the rows of one batch size only", "%s is not the profile of one job",
			path);
	l->size = several ? 0 : batch[0];
	for (int i = 0; i < n && !err; i++) {
		row[i].batch = several ? batch[i] : 0;
		if (isfinite(row[i].time_ms) && isfinite(row[i].power_w) && !tuner_has_row(l, before, &row[i]))
			err = jetwatt_tuner_add(l, &row[i]);
	}
	free(batch);
	free(row);
	l->from_file = l->nr_rows;
	return err;
}

int jetwatt_tuner_label_rows(struct jetwatt_tuner *l, uint32_t only)
{
	l->size = l->size ? l->size : only;
	for (size_t i = 0; i < l->nr_rows; i++) {
		if (!l->row[i].batch && !l->size)
			return jetwatt_error_report(JETWATT_EXIT_FAILED, "the file has no column batch",
						    "add the column, or use another file",
						    "the minibatch size of the rows is unknown");
		if (!l->row[i].batch)
			l->row[i].batch = l->size;
	}
	return 0;
}

int jetwatt_tuner_others(struct jetwatt_tuner *l)
{
	struct jetwatt_row *row = NULL;
	int n = jetwatt_profile_store_prior(l->store, &row), err;

	if (n < 0)
		return -1 - n;
	err = jetwatt_tuner_add_cross_device(l, row, (size_t)n);
	free(row);
	if (!err && !l->silent)
		jetwatt_notice("%d modes of this workload are known from other devices or releases", n);
	/* The result 1 means that there are too few rows, or the predictor does not use them. */
	return err < 0 ? -err : 0;
}

int jetwatt_tuner_reuse(struct jetwatt_tuner *l)
{
	struct jetwatt_row *row = NULL;
	int outdated = 0, n = jetwatt_profile_store_rows(l->store, &row, &outdated), err = 0;

	if (n < 0)
		return -1 - n;
	for (int i = 0; i < n && !err; i++)
		if (!tuner_has_row(l, l->nr_rows, &row[i]))
			err = jetwatt_tuner_add(l, &row[i]);
	free(row);
	l->from_file = l->nr_rows;
	if (!err)
		jetwatt_notice("%d measurements of this workload reused from the database", n);
	if (!err && outdated)
		jetwatt_notice("%d older measurements left out: the workload has changed since", outdated);
	return err ? err : jetwatt_tuner_others(l);
}

/* Callback of a measurement: update the progress bar. */
static void tuner_progress(const struct jetwatt_measure *m, double part, void *arg)
{
	const struct jetwatt_tuner *l = arg;
	char what[96], mode[48];

	jetwatt_terminal_mode(&m->row.mode, mode, sizeof(mode));
	if (m->batches)
		snprintf(what, sizeof(what), "%s %.1f ms %.2f W", mode, m->row.time_ms,
			 m->row.power_w);
	else
		snprintf(what, sizeof(what), "%s settling", mode);
	jetwatt_terminal_progress(l->args, l->measured + 1, l->max_measured, fmin(part, 0.99),
				  what);
}

/* Write all rows to the CSV file. Return: 0, exit code. */
static int tuner_write_rows(struct jetwatt_tuner *l)
{
	uint32_t *batch = NULL;
	int err = 0;

	if (!l->out)
		return 0;
	if (l->sizes) {
		batch = calloc(l->nr_rows, sizeof(*batch));
		err = batch ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < l->nr_rows && batch; i++)
		batch[i] = l->row[i].batch;
	if (!err)
		err = jetwatt_csv_write(l->out, l->row, batch, l->nr_rows);
	free(batch);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
				       jetwatt_error_advice(-err), "cannot write %s", l->out) : 0;
}

int jetwatt_tuner_measure(struct jetwatt_tuner *l, size_t index, const char *why,
			  const struct jetwatt_measure_limits *given)
{
	struct jetwatt_measure_limits limits = given ? *given : jetwatt_measure_profile;
	struct jetwatt_measure m = { .row = { .mode = l->mode[index] } };
	int fresh = !jetwatt_tuner_row(l, &l->mode[index]), err;
	uint64_t since, lost = l->session->lost;
	char what[96];

	limits.idle_s = l->wait_s;
	jetwatt_session_forget(l->session, JETWATT_MEASURE_WAITS_BEFORE);
	err = jetwatt_mode_guard_apply(l->guard, &l->mode[index]);
	if (err)
		return err;
	since = jetwatt_clock_ns();
	err = jetwatt_measure_mode(l->session, since, &limits, &m, tuner_progress, l);
	jetwatt_terminal_clear_progress(l->args);
	if (err)
		return jetwatt_measure_why(l->session, err, &limits);
	m.row.batch = l->sizes ? l->size : 0;
	/* If another process switched the mode meanwhile, the measurement is invalid. */
	err = jetwatt_mode_guard_check(l->guard, &l->mode[index]);
	if (err)
		return err;
	if (!l->silent)
		jetwatt_terminal_measured_row(l->nr_rows + 1, &m.row, why);
	if (l->args->verbose)
		jetwatt_notice("%u minibatches in %.1f s, %s after %.1f s, %.1f s in all",
				   m.batches, m.span_s, m.settled ? "settled" : "not settled",
				   m.settle_s, m.dwell_s);
	l->measured += fresh;
	snprintf(what, sizeof(what), "modes, %.0f s", (jetwatt_clock_ns() - l->begun_ns) * 1e-9);
	jetwatt_terminal_progress(l->args, l->measured, l->max_measured, 1, what);
	l->ended_ns = jetwatt_clock_ns();
	err = jetwatt_tuner_add(l, &m.row);
	if (!err && l->store)
		err = jetwatt_profile_store_add(l->store, &m, l->session->lost - lost);
	return err ? err : tuner_write_rows(l);
}

int jetwatt_tuner_one(struct jetwatt_tuner *l, size_t modes)
{
	struct jetwatt_estimator by = l->by;
	struct jetwatt_plan_next next;
	int err;

	/* This search compares modes by the time of a minibatch, so it takes all minibatches as alike. */
	by.particles = l->budget_w > 0;
	openblas_set_num_threads(1);
	if (l->down)
		err = jetwatt_plan_descend(l->mode, l->nr_modes, l->row, l->nr_rows, modes, &next);
	else
		err = jetwatt_plan_next(l->mode, l->nr_modes, l->row, l->nr_rows, &by,
					l->budget_w, modes, JETWATT_TUNER_SEED, &next);
	if (err == 1)
		return -ENODATA;
	if (err)
		return jetwatt_tuner_failed(l, err, "cannot choose the next mode");
	return jetwatt_tuner_measure(l, next.index, next.why, NULL);
}

int jetwatt_tuner_run(struct jetwatt_tuner *l, size_t modes)
{
	int err = 0;

	while (!err)
		err = jetwatt_tuner_one(l, modes);
	return err == -ENODATA ? 0 : err;
}
