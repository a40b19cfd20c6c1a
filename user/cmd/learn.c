// SPDX-License-Identifier: GPL-2.0-only
#include "learn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "screen.h"
#include "store/csv.h"

/* The tool shares the machine that it measures. */
void openblas_set_num_threads(int n);

static int no_memory(void)
{
	return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(ENOMEM), NULL, "cannot go on");
}

static int bad_file(const char *path, int err, const struct jetwatt_csv_error *e)
{
	char why[224];

	if (err != -EINVAL)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot read %s", path);
	snprintf(why, sizeof(why), "line %u: %s", e->line, e->text);
	return jetwatt_error_say(JETWATT_EXIT_FAILED, why,
				 "columns: cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w",
				 "%s is no file of power modes", path);
}

int jetwatt_learn_modes(struct jetwatt_learn *l, const struct jetwatt_board *board,
			const char *path)
{
	struct jetwatt_csv_error e = { 0 };
	struct jetwatt_row *row = NULL;
	int n;

	if (!path) {
		n = jetwatt_board_modes(board, &l->mode);
		if (n <= 0)
			return n == -ENOMEM ? no_memory() :
			       jetwatt_error_say(JETWATT_EXIT_UNSUPPORTED, NULL, "jetwatt list knobs",
						 "this board has no power modes");
		l->nr_modes = n;
		return 0;
	}
	n = jetwatt_csv_read(path, &row, NULL, &e);
	if (n < 0)
		return bad_file(path, n, &e);
	l->mode = calloc(n + 1, sizeof(*l->mode));
	if (!l->mode) {
		free(row);
		return no_memory();
	}
	/* A mode may stand there once for every batch size. */
	for (int i = 0; i < n; i++) {
		size_t j = 0;

		while (j < l->nr_modes && !jetwatt_learn_same(&l->mode[j], &row[i].mode))
			j++;
		if (j == l->nr_modes)
			l->mode[l->nr_modes++] = row[i].mode;
	}
	free(row);
	return l->nr_modes ? 0 : jetwatt_error_say(JETWATT_EXIT_FAILED, NULL, NULL,
						   "%s has no modes", path);
}

static int append(struct jetwatt_learn *l, const struct jetwatt_row *row)
{
	if (l->nr_rows == l->max_rows) {
		size_t max = l->max_rows ? 2 * l->max_rows : 32;
		struct jetwatt_row *r = reallocarray(l->row, max, sizeof(*r));

		if (!r)
			return no_memory();
		l->row = r;
		l->max_rows = max;
	}
	l->row[l->nr_rows++] = *row;
	return 0;
}

int jetwatt_learn_read(struct jetwatt_learn *l, const char *path, int must)
{
	struct jetwatt_csv_error e = { 0 };
	struct jetwatt_row *row = NULL;
	uint32_t *batch = NULL;
	int err = 0, n;

	if (!must && access(path, F_OK))
		return 0;
	n = jetwatt_csv_read(path, &row, &batch, &e);
	if (n < 0)
		return bad_file(path, n, &e);
	for (int i = 0; i < n && !err; i++) {
		/* One job's time is no other's: rows of another batch size would only mislead. */
		if (batch[i] != batch[0])
			err = jetwatt_error_say(JETWATT_EXIT_FAILED,
						"its rows are of several batch sizes: they are several jobs",
						"keep the rows of one batch size",
						"%s is not the profile of one job", path);
		else if (isfinite(row[i].time_ms) && isfinite(row[i].power_w))
			err = append(l, &row[i]);
	}
	free(batch);
	free(row);
	l->from_file = l->nr_rows;
	return err;
}

int jetwatt_learn_same(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return a->cores == b->cores && a->cpu_khz == b->cpu_khz && a->gpu_hz == b->gpu_hz &&
	       a->emc_hz == b->emc_hz;
}

const struct jetwatt_row *jetwatt_learn_row(const struct jetwatt_learn *l,
					    const struct jetwatt_mode *mode)
{
	for (size_t i = l->nr_rows; i > 0; i--)
		if (jetwatt_learn_same(&l->row[i - 1].mode, mode))
			return &l->row[i - 1];
	return NULL;
}

static void progress(const struct jetwatt_measure *m, double part, void *arg)
{
	const struct jetwatt_learn *l = arg;
	char what[96], mode[48];

	jetwatt_screen_mode(&m->row.mode, mode, sizeof(mode));
	if (m->batches)
		snprintf(what, sizeof(what), "%s %.1f ms %.2f W", mode, m->row.time_ms,
			 m->row.power_w);
	else
		snprintf(what, sizeof(what), "%s settling", mode);
	jetwatt_screen_bar(l->args, l->measured + 1, l->most, fmin(part, 0.99), what);
}

static int store(struct jetwatt_learn *l)
{
	int err = l->out ? jetwatt_csv_write(l->out, l->row, l->nr_rows) : 0;

	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot write %s", l->out) : 0;
}

int jetwatt_learn_measure(struct jetwatt_learn *l, size_t index, const char *why,
			  const struct jetwatt_measure_limits *given)
{
	struct jetwatt_measure_limits limits = given ? *given : jetwatt_measure_profile;
	struct jetwatt_measure m = { .row.mode = l->mode[index] };
	int fresh = !jetwatt_learn_row(l, &l->mode[index]), err;
	char what[96];
	uint64_t since;

	limits.idle_s = l->wait_s;
	err = jetwatt_guard_apply(l->guard, &l->mode[index]);
	if (err)
		return err;
	since = jetwatt_watch_now();
	err = jetwatt_measure_mode(l->watch, since, &limits, &m, progress, l);
	jetwatt_screen_clear(l->args);
	if (err)
		return jetwatt_measure_why(l->watch, err, &limits);
	/* What somebody else has switched meanwhile is not what we measured. */
	err = jetwatt_guard_check(l->guard, &l->mode[index]);
	if (err)
		return err;
	if (!l->silent)
		jetwatt_screen_row(l->nr_rows + 1, &m.row, why);
	if (l->args->verbose)
		jetwatt_error_note("%u minibatches in %.1f s, %s after %.1f s, %.1f s in all",
				   m.batches, m.span_s, m.settled ? "settled" : "not settled",
				   m.settle_s, m.dwell_s);
	l->measured += fresh;
	snprintf(what, sizeof(what), "modes, %.0f s", (jetwatt_watch_now() - l->begun_ns) * 1e-9);
	jetwatt_screen_bar(l->args, l->measured, l->most, 1, what);
	l->ended_ns = jetwatt_watch_now();
	err = append(l, &m.row);
	return err ? err : store(l);
}

int jetwatt_learn_one(struct jetwatt_learn *l, size_t rows)
{
	struct jetwatt_plan_next next;
	int err;

	openblas_set_num_threads(1);
	err = jetwatt_plan_next(l->mode, l->nr_modes, l->row, l->nr_rows, l->budget_w, rows,
				JETWATT_LEARN_SEED, &next);
	if (err == 1)
		return -ENODATA;
	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot plan the next mode");
	return jetwatt_learn_measure(l, next.index, next.why, NULL);
}

int jetwatt_learn_run(struct jetwatt_learn *l, size_t rows)
{
	size_t most = l->most > rows ? l->most : rows;
	int err = 0;

	/* The plan paces itself by all that may be spent, not by what is left
	 * after the part that is kept back. */
	while (!err && l->nr_rows < rows)
		err = jetwatt_learn_one(l, most);
	return err == -ENODATA ? 0 : err;
}

int jetwatt_learn_predict(struct jetwatt_learn *l)
{
	struct jetwatt_model *m = NULL;
	int err;

	openblas_set_num_threads(1);
	if (!l->prediction)
		l->prediction = calloc(l->nr_modes, sizeof(*l->prediction));
	if (!l->prediction)
		return no_memory();
	err = jetwatt_model_fit(&m, l->row, l->nr_rows, JETWATT_LEARN_SEED);
	if (!err)
		err = jetwatt_model_predict(m, l->mode, l->nr_modes, l->prediction);
	jetwatt_model_free(m);
	if (err == -ENODATA)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, "fewer than 3 modes have been measured",
					 "jetwatt profile -o FILE.csv -p PID", "cannot predict");
	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL, "cannot predict") :
		     0;
}

void jetwatt_learn_free(struct jetwatt_learn *l)
{
	free(l->mode);
	free(l->row);
	free(l->prediction);
}
