// SPDX-License-Identifier: GPL-2.0-only
/* Common steps of all evaluations: choose rows, fit, predict, and compute quantiles. */
#include "cmd/eval/eval.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/linreg.h"
#include "model/order.h"
#include "model/random.h"
#include "plan/plan.h"
#include "util/error.h"

double jetwatt_eval_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* Return: the seed of repeat @r. */
static uint64_t repeat_seed(const struct jetwatt_eval *e, size_t r)
{
	uint64_t s = e->seed * 0x100000001b3ull + r;

	return jetwatt_random(&s);
}

/* Move row @row to index @k of @at. Return: 1 on success; 0: it is not in @at. */
static int move_row_to(size_t *at, size_t n, size_t k, size_t row)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == row) {
			at[i] = at[k];
			at[k] = row;
			return 1;
		}
	return 0;
}

static int is_sampled(const size_t *at, size_t k, size_t row)
{
	for (size_t i = 0; i < k; i++)
		if (at[i] == row)
			return 1;
	return 0;
}

/* Choose rows as jetwatt profile does without a budget. If it chooses too few, the remaining rows
 * are drawn at random. In this simulation, a repeated measurement returns the same value. */
static int sample_designed(const struct jetwatt_eval *e, uint64_t seed, size_t *at)
{
	struct jetwatt_row *seen = malloc(2 * e->samples * sizeof(*seen));
	size_t k = 0, rows = 0;
	int err = seen ? 0 : -ENOMEM;

	while (!err && rows < 2 * e->samples) {
		struct jetwatt_plan_next next;

		err = jetwatt_plan_next(e->mode, e->n, seen, rows, &e->guide, 0,
					e->samples, seed, &next);
		if (err)
			break;
		seen[rows++] = e->row[next.index];
		if (!is_sampled(at, k, next.index))
			move_row_to(at, e->n, k++, next.index);
	}
	free(seen);
	if (err < 0)
		return err;
	jetwatt_random_draw(&seed, at + k, e->n - k, e->samples - k);
	return 0;
}

int jetwatt_eval_sample(const struct jetwatt_eval *e, size_t r, size_t *at)
{
	uint64_t seed = repeat_seed(e, r);

	for (size_t i = 0; i < e->n; i++)
		at[i] = i;
	if (!e->designed) {
		jetwatt_random_draw(&seed, at, e->n, e->samples);
		return 0;
	}
	if (e->method->kind & JETWATT_PREDICTOR_OWN_MODES) {
		size_t own[JETWATT_LINREG_MODES];
		int n = jetwatt_linreg_modes(e->mode, e->n, own);

		for (int k = 0; k < n; k++)
			move_row_to(at, e->n, k, own[k]);
		return 0;
	}
	return sample_designed(e, seed, at);
}

int jetwatt_eval_fit(const struct jetwatt_eval *e, size_t r, const size_t *at, size_t k,
		     void **model, double *ms)
{
	struct jetwatt_row *row = malloc((k ? k : 1) * sizeof(*row));
	uint32_t *batch = malloc((k ? k : 1) * sizeof(*batch));
	struct jetwatt_predictor_input in = {
		.sample = { row, e->batch ? batch : NULL, k }, .highest = e->highest,
		.prior = e->prior, .seed = repeat_seed(e, r),
	};
	double begun;
	int err = -ENOMEM;

	*model = NULL;
	if (k < e->method->min_rows && !e->prior)
		err = -ENODATA;
	else if (row && batch)
		err = 0;
	if (!err) {
		for (size_t i = 0; i < k; i++) {
			row[i] = e->row[at[i]];
			batch[i] = e->batch ? e->batch[at[i]] : 0;
		}
		begun = jetwatt_eval_now_ms();
		err = e->method->fit(model, &in);
		if (ms)
			*ms = jetwatt_eval_now_ms() - begun;
	}
	free(row);
	free(batch);
	return err;
}

int jetwatt_eval_all(const struct jetwatt_eval *e, const void *model,
		     struct jetwatt_prediction *out, double *ms)
{
	double begun = jetwatt_eval_now_ms();
	int err = e->method->predict(model, e->mode, e->batch, e->n, out);

	if (ms)
		*ms = jetwatt_eval_now_ms() - begun;
	return err;
}

const char *jetwatt_eval_sampling(const struct jetwatt_eval *e)
{
	return e->designed ? "designed" : "random";
}

void jetwatt_eval_progress(const struct jetwatt_eval *e, size_t r)
{
	if (!e->args.progress)
		return;
	if (r < e->repeats)
		fprintf(stderr, e->args.lines ? "repeat %zu of %zu\n" : "\rrepeat %zu of %zu ",
			r + 1, e->repeats);
	else if (!e->args.lines)
		fprintf(stderr, "\r\033[K");
}

double jetwatt_eval_quantile(double *v, size_t n, double q)
{
	double at = q * (n - 1);
	size_t i;

	if (!n)
		return NAN;
	qsort(v, n, sizeof(*v), jetwatt_order_doubles);
	i = at;
	return i + 1 < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n - 1];
}

int jetwatt_eval_failed(const struct jetwatt_eval *e, int err)
{
	const char *fix = NULL;

	if (err == -ENODATA)
		fix = "give more --samples";
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), fix, "method %s failed on %s",
				 e->method->name, e->path);
}
