// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads files of measured modes into tables, marks outliers, and learns priors from references.
 */
#include "tune/mode_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/outlier.h"
#include "plan/plan.h"
#include "store/csv.h"
#include "tune/corpus.h"
#include "tune/method.h"
#include "util/error.h"

/* Rows and minibatch sizes of a file as they were read. */
struct table_file {
	const char *path;
	struct jetwatt_row *row;
	uint32_t *batch;
	size_t n;
};

/* Read a file. Return: 0; exit code, after printing the error. */
static int table_file_read(struct table_file *f, const char *path)
{
	struct jetwatt_csv_error e = { 0 };
	long n = jetwatt_csv_read(path, &f->row, &f->batch, &e);

	f->path = path;
	if (n < 0)
		return jetwatt_references_unreadable(path, n, &e);
	if (!n)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL,
					 "write a file of modes: jetwatt profile -o FILE.csv",
					 "%s has no rows",
					 path);
	f->n = n;
	for (long i = 0; i < n; i++)
		if (!(f->row[i].time_ms > 0 && f->row[i].time_ms < INFINITY &&
		      f->row[i].power_w > 0 && f->row[i].power_w < INFINITY))
			return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL,
						 "complete time_ms and power_w in every row",
						 "%s: mode %ld was not measured", path, i + 1);
	return 0;
}

/* Collect the minibatch sizes of a file. Return: 0; exit code, after printing the error. */
static int table_file_sizes(const struct table_file *f, struct jetwatt_mode_table_work *w)
{
	w->sizes = 0;
	for (size_t i = 0; i < f->n; i++)
		if (jetwatt_slice_size(w->size, &w->sizes, f->batch[i]))
			return jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, "use at most 16 minibatch sizes in a file",
						 "%s has too many minibatch sizes", f->path);
	return 0;
}

/* Order of rows by mode, for qsort() and bsearch(). */
static int table_by_mode(const void *a, const void *b)
{
	const struct jetwatt_row *x = a, *y = b;

	return jetwatt_mode_order(&x->mode, &y->mode);
}

/* Copy the rows of one minibatch size in the order of their modes, one row for each mode: the mean of
 * the rows of the mode. Return: number of rows, -ENOMEM. */
static long table_column(const struct table_file *f, uint32_t size, struct jetwatt_row **out)
{
	struct jetwatt_row *r = malloc(f->n * sizeof(*r));
	size_t n = 0, k = 0, same;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		if (f->batch[i] == size)
			r[n++] = f->row[i];
	qsort(r, n, sizeof(*r), table_by_mode);
	for (size_t i = 0; i < n; i += same) {
		same = 1;
		while (i + same < n && !table_by_mode(&r[i], &r[i + same]))
			same++;
		r[k] = r[i];
		if (same > 1)
			jetwatt_plan_reading(&r[i].mode, r + i, same, &r[k]);
		k++;
	}
	*out = r;
	return k;
}

/* Remove from the table the modes without a row in @r, the rows of a file at one minibatch size; the
 * first call fills the table with the modes of @r. Return: 0, -ENOMEM. */
static int table_narrow(struct jetwatt_mode_table *t, const struct jetwatt_row *r, size_t n)
{
	size_t k = 0;

	if (!t->mode) {
		t->mode = malloc((n ? n : 1) * sizeof(*t->mode));
		if (!t->mode)
			return -ENOMEM;
		for (size_t i = 0; i < n; i++)
			t->mode[i] = r[i].mode;
		t->n = n;
		return 0;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct jetwatt_row key = { .mode = t->mode[i] };

		if (bsearch(&key, r, n, sizeof(*r), table_by_mode))
			t->mode[k++] = t->mode[i];
	}
	t->n = k;
	return 0;
}

/* Fill the times and the powers of one minibatch size. */
static void table_fill(struct jetwatt_mode_table *t, struct jetwatt_mode_table_work *w, size_t size,
		       const struct jetwatt_row *r, size_t n)
{
	for (size_t i = 0, at = size * t->n; i < t->n; i++, at++) {
		struct jetwatt_row key = { .mode = t->mode[i] };
		const struct jetwatt_row *row = bsearch(&key, r, n, sizeof(*r), table_by_mode);

		w->time_ms[at] = row->time_ms;
		w->power_w[at] = row->power_w;
	}
}

/* Fill the powers without outliers. Return: 0, -ENOMEM. */
static int table_mark_outliers(struct jetwatt_mode_table *t, struct jetwatt_mode_table_work *w)
{
	size_t n = w->sizes * t->n;
	struct jetwatt_row *r = calloc(n, sizeof(*r));
	unsigned char *outlier = malloc(n);
	int err = r && outlier ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		r[i] = (struct jetwatt_row){ .mode = t->mode[i % t->n], .batch = w->size[i / t->n],
					     .power_w = w->power_w[i] };
	if (!err && jetwatt_outlier_mark(r, n, outlier) < 0)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		w->clean_w[i] = outlier[i] ? NAN : w->power_w[i];
	free(r);
	free(outlier);
	return err;
}

/* Keep the modes that each file has at each minibatch size; if @filling is set, fill the tables
 * instead. Return: 0, -ENOMEM. */
static int table_each_column(struct jetwatt_mode_table *t, const struct table_file *f, int filling)
{
	int err = 0;

	for (size_t w = 0; w < jetwatt_slice_works(t->kind) && !err; w++) {
		struct jetwatt_mode_table_work *work = &t->work[w];

		if (filling) {
			work->time_ms = malloc(3 * work->sizes * t->n * sizeof(*work->time_ms));
			if (!work->time_ms)
				return -ENOMEM;
			work->power_w = work->time_ms + work->sizes * t->n;
			work->clean_w = work->power_w + work->sizes * t->n;
		}
		for (size_t z = 0; z < work->sizes && !err; z++) {
			struct jetwatt_row *r = NULL;
			long n = table_column(&f[w], work->size[z], &r);

			if (n < 0)
				err = n;
			else if (filling)
				table_fill(t, work, z, r, n);
			else
				err = table_narrow(t, r, n);
			free(r);
		}
		if (filling && !err)
			err = table_mark_outliers(t, work);
	}
	return err;
}

/* Learn the priors. References with several minibatch sizes are inference workloads, references
 * with one size are training workloads. Return: 0, exit code. */
static int table_learn(struct jetwatt_mode_table *t)
{
	struct jetwatt_corpus ref[2][JETWATT_MODE_TABLE_REFERENCES];
	struct table_file f[JETWATT_MODE_TABLE_REFERENCES] = { 0 };
	const char *used[JETWATT_MODE_TABLE_REFERENCES];
	size_t n[2] = { 0 }, nr_used = 0;
	int code = t->method ? jetwatt_references_suit(t->method, t->references) : 0, err = 0;

	for (int serves = 0; serves < 2; serves++) {
		t->by[serves].by = t->method;
		for (size_t i = 0; i < t->n; i++)
			jetwatt_mode_raise(&t->by[serves].highest, &t->mode[i]);
	}
	for (size_t i = 0; i < t->references && !code; i++) {
		int serves = 0;

		code = table_file_read(&f[i], t->reference[i]);
		if (code || jetwatt_references_leave_out(jetwatt_estimator_by(&t->by[0]), t->reference[i],
							   f[i].row, f[i].n, t->mode, t->n))
			continue;
		used[nr_used++] = t->reference[i];
		for (size_t k = 0; k < f[i].n; k++)
			serves |= f[i].batch[k] != f[i].batch[0];
		for (size_t k = 0; k < f[i].n && serves; k++)
			f[i].row[k].batch = f[i].batch[k];
		ref[serves][n[serves]++] = (struct jetwatt_corpus){ f[i].row, serves ? f[i].batch : NULL, f[i].n };
	}
	for (int serves = 0; serves < 2 && !code && !err; serves++)
		if (n[serves])
			err = jetwatt_estimator_learn(&t->by[serves], ref[serves], n[serves], t->seed);
	if (err)
		code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot learn from the references");
	for (size_t w = 0; w < jetwatt_slice_works(t->kind); w++)
		t->work[w].by = &t->by[w || !jetwatt_slice_trains(t->kind)];
	for (size_t i = 0; i < t->references; i++) {
		free(f[i].row);
		free(f[i].batch);
	}
	memcpy(t->reference, used, nr_used * sizeof(*used));
	t->references = nr_used;
	return code;
}

int jetwatt_mode_table_load(struct jetwatt_mode_table *t)
{
	struct table_file f[JETWATT_OBSERVED_WORKS] = { 0 };
	size_t works = jetwatt_slice_works(t->kind);
	int trains = jetwatt_slice_trains(t->kind), code = 0, err = 0;
	char fix[160];

	for (size_t w = 0; w < works && !code; w++) {
		t->work[w].path = trains && !w ? t->train : t->infer[w - trains];
		code = table_file_read(&f[w], t->work[w].path);
		if (!code)
			code = table_file_sizes(&f[w], &t->work[w]);
		if (!code && trains && !w && t->work[w].sizes > 1)
			code = jetwatt_error_report(
				JETWATT_EXIT_USAGE, "the file has rows of several batch sizes",
				"give the file with --infer if it is of an inference workload",
				"%s is not a training file", t->train);
		if (!code && t->method && t->work[w].sizes > 1 && !jetwatt_method_sizes(t->method))
			code = jetwatt_error_report(JETWATT_EXIT_USAGE,
						    "the file has rows of several batch sizes",
						 jetwatt_method_list(fix, sizeof(fix), "--method ",
								     jetwatt_method_sizes),
						 "method %s cannot use %s", t->method->name,
						 t->work[w].path);
		if (!code && !(trains && !w) && !t->work[w].size[0])
			code = jetwatt_error_report(JETWATT_EXIT_USAGE,
						    "the file has no column batch", NULL,
						 "%s is not an inference file", t->work[w].path);
	}
	if (!code)
		err = table_each_column(t, f, 0);
	if (!code && !err && !t->n)
		code = jetwatt_error_report(JETWATT_EXIT_FAILED, NULL, NULL,
					 "the files have no mode in common");
	if (!code && !err)
		err = table_each_column(t, f, 1);
	if (err)
		code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot load %s", t->work[0].path);
	for (size_t w = 0; w < works; w++) {
		free(f[w].row);
		free(f[w].batch);
	}
	return code ? code : table_learn(t);
}

void jetwatt_mode_table_free(struct jetwatt_mode_table *t)
{
	for (size_t w = 0; w < JETWATT_OBSERVED_WORKS; w++)
		free(t->work[w].time_ms);
	for (int serves = 0; serves < 2; serves++)
		jetwatt_estimator_forget(&t->by[serves]);
	free(t->mode);
}
