// SPDX-License-Identifier: GPL-2.0-only
/*
 * optimize --latency from a profile, and the messages about limits that this file shares with
 * inference_live.c.
 */
#include "tune/inference.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/search.h"
#include "tune/offline.h"
#include "util/error.h"

/* Value of a limit that a trial search ignores, in watts and in milliseconds. */
#define NO_LIMIT	1e9

const char *jetwatt_inference_limits(const struct jetwatt_slice_query *q, char *buf, size_t len)
{
	int n = 0;

	if (q->power_w < NO_LIMIT)
		n = snprintf(buf, len, "%g W and ", q->power_w);
	snprintf(buf + n, len - n, "%g ms at %g requests a second", q->latency_ms, q->arrival_hz);
	return buf;
}

/* Find the best plan among @sizes sizes from @from on. Return: 1 on success; 0 if none meets the
 * limits. */
static int inference_best_plan(const struct jetwatt_inference *f, size_t modes, size_t from,
			       size_t sizes, const double *t, const double *w,
			       const struct jetwatt_slice_query *q,
			       struct jetwatt_slice_plan *plan)
{
	const struct jetwatt_slice_work work = { f->size + from, sizes, t + from * modes, w + from * modes };
	int found = jetwatt_slice_find(JETWATT_SLICE_INFER, &work, modes, q, plan);

	plan->size[0] += from;
	return found;
}

int jetwatt_inference_infeasible(const struct jetwatt_inference *f, const struct jetwatt_tuner *l,
				 const double *t, const double *w)
{
	struct jetwatt_slice_query late = f->q, hungry = f->q;
	struct jetwatt_slice_plan near;
	char what[192], fix[96] = "", limits[96], name[96] = "";
	int n = 0;

	late.latency_ms = NO_LIMIT;
	hungry.power_w = NO_LIMIT;
	*what = '\0';
	if (inference_best_plan(f, l->nr_modes, 0, f->sizes, t, w, &late, &near)) {
		jetwatt_board_mode_format(&l->mode[near.mode], name, sizeof(name));
		snprintf(what, sizeof(what), "closest: %s with minibatches of %u: %.4g ms, %.2f W", name,
			 f->size[near.size[0]], near.latency_ms, near.power_w);
		n = snprintf(fix, sizeof(fix), "--latency %.0fms", ceil(near.latency_ms));
	}
	if (inference_best_plan(f, l->nr_modes, 0, f->sizes, t, w, &hungry, &near))
		snprintf(fix + n, sizeof(fix) - n, "%s--power %.0fW", n ? ", or " : "", ceil(near.power_w));
	/* Queueing delay of the smallest minibatch size: no mode can shorten this delay. */
	if (!*what && f->sizes && 1e3 * f->size[0] / f->q.arrival_hz >= f->q.latency_ms) {
		snprintf(what, sizeof(what), "it takes %.4g ms until a minibatch of %u is full",
			 1e3 * f->size[0] / f->q.arrival_hz, f->size[0]);
		snprintf(fix, sizeof(fix), "%s a longer --latency",
			 f->size[0] > 1 ? "use smaller minibatches or" : "use");
	}
	return jetwatt_error_report(
		JETWATT_EXIT_INFEASIBLE,
		*what ? what : "no mode within the power budget finishes a minibatch before the next one is full",
		*fix ? fix : "try larger minibatches: --batch 16,32,64; or a lower --arrival",
		"no mode and minibatch size meet %s",
		jetwatt_inference_limits(&f->q, limits, sizeof(limits)));
}

/* Set the minibatch sizes to choose from to the sizes of the rows. Return: 0, exit code. */
static int inference_sizes_of_rows(struct jetwatt_inference *f, const struct jetwatt_tuner *l)
{
	for (size_t i = 0; i < l->nr_rows; i++) {
		uint32_t size = l->row[i].batch ? l->row[i].batch : l->size;

		if (size && jetwatt_slice_size(f->size, &f->sizes, size))
			return jetwatt_error_report(
				JETWATT_EXIT_USAGE, NULL,
				"choose some of the sizes: --batch 1,4,16",
				"more than %d minibatch sizes", JETWATT_SLICE_SIZES);
	}
	return f->sizes ? 0 :
			  jetwatt_error_report(JETWATT_EXIT_USAGE, "the profile has no column batch",
					    "add --batch N, the size that it was measured with",
					    "the minibatch size is unknown");
}

/**
 * struct inference_table - times and powers of all modes, for each minibatch size
 * @t: time of a minibatch, in milliseconds: measured, or an upper bound at the accepted risk
 * @w: power, in watts: measured, or an upper bound at the accepted risk
 * @p: predictions
 * @seen: 1: @t and @w are measured once, 2: more than once; 0: they are predicted
 */
struct inference_table {
	double *t, *w;
	struct jetwatt_prediction *p;
	unsigned char *seen;
};

/* A single power reading that the model contradicts is likely too low by chance: take the upper bound of
 * the prediction instead. A reading over the budget is tested as if it were the budget, because it may
 * become the suggested budget. @z: standard deviations of the bound. */
static void inference_distrust(const struct jetwatt_inference *f, size_t cells, double z,
			       struct inference_table *table)
{
	for (size_t at = 0; at < cells; at++) {
		const struct jetwatt_prediction *p = &table->p[at];
		double budget_w = fmax(f->q.power_w, table->w[at]);

		if (table->seen[at] == 1 && !jetwatt_reading_plausible(table->w[at], 1, p, budget_w))
			table->w[at] = fmax(table->w[at], p->power_w * exp(z * p->power_sd));
	}
}

static int inference_fill_table(const struct jetwatt_inference *f, struct jetwatt_tuner *l,
				struct inference_table *table)
{
	uint32_t *batch = malloc(l->nr_modes * sizeof(*batch));
	double z = jetwatt_plan_quantile(f->risk / 2);
	int feature = l->nr_rows && l->row[0].batch, err = batch ? 0 : -ENOMEM;

	for (size_t k = 0; k < f->sizes && !err; k++) {
		struct jetwatt_prediction *p = table->p + k * l->nr_modes;

		for (size_t i = 0; i < l->nr_modes; i++)
			batch[i] = f->size[k];
		err = jetwatt_fitted_predict(l->model, l->mode, feature ? batch : NULL, l->nr_modes, p);
		for (size_t i = 0; i < l->nr_modes && !err; i++) {
			table->t[k * l->nr_modes + i] = p[i].time_ms * exp(z * p[i].time_sd);
			table->w[k * l->nr_modes + i] = p[i].power_w * exp(z * p[i].power_sd);
		}
	}
	for (size_t r = 0; r < l->nr_rows && !err; r++)
		for (size_t at = 0; at < f->sizes * l->nr_modes; at++) {
			size_t i = at % l->nr_modes;

			if ((feature && l->row[r].batch != f->size[at / l->nr_modes]) ||
			    !jetwatt_mode_same(&l->mode[i], &l->row[r].mode))
				continue;
			/* Of several measurements, take the longest time and the highest power. */
			table->t[at] = table->seen[at] ? fmax(table->t[at], l->row[r].time_ms) : l->row[r].time_ms;
			table->w[at] = table->seen[at] ? fmax(table->w[at], l->row[r].power_w) : l->row[r].power_w;
			table->seen[at] = table->seen[at] ? 2 : 1;
		}
	if (!err)
		inference_distrust(f, f->sizes * l->nr_modes, z, table);
	free(batch);
	return err;
}

static void inference_show(const struct jetwatt_inference *f, const struct jetwatt_tuner *l,
			   const struct inference_table *table)
{
	char limits[96];

	printf("least latency within %s (risk %g %%), from %zu rows\n",
	       jetwatt_inference_limits(&f->q, limits, sizeof(limits)), 100 * f->risk, l->nr_rows);
	printf("%-24s %5s %10s %10s %8s\n", "  cores CPU/GPU/EMC MHz", "batch", "ms", "latency ms", "W");
	for (size_t k = 0; k < f->sizes; k++) {
		struct jetwatt_slice_plan p;

		if (inference_best_plan(f, l->nr_modes, k, 1, table->t, table->w, &f->q, &p))
			jetwatt_inference_line(f, l, k == f->plan.size[0] ? '*' : ' ', &p,
					       table->seen[k * l->nr_modes + p.mode] ? "measured" : "predicted");
		else
			printf("  %-22s %5u  %s\n", "-", f->size[k], "exceeds the limits");
	}
}

int jetwatt_inference_offline(struct jetwatt_inference *f, struct jetwatt_tuner *l,
			      struct jetwatt_board *apply, struct jetwatt_result *a)
{
	struct inference_table table = { NULL };
	int code = f->sizes ? 0 : inference_sizes_of_rows(f, l), err = 0;
	size_t n;

	if (!code && l->nr_rows && !l->row[0].batch &&
	    (f->sizes > 1 || (l->size && f->size[0] != l->size)))
		code = jetwatt_error_report(
			JETWATT_EXIT_USAGE,
			"all rows have one minibatch size, from which no other can be predicted",
			"use a profile whose column batch has several sizes",
			f->sizes > 1 ? "--batch has several sizes" :
			"--batch is not the minibatch size of the profile");
	if (!code)
		code = jetwatt_tuner_fit(l);
	if (code)
		return code;
	n = f->sizes * l->nr_modes;
	table.t = malloc(2 * n * sizeof(*table.t));
	table.p = malloc(n * sizeof(*table.p));
	table.seen = calloc(n, 1);
	table.w = table.t + n;
	err = table.t && table.p && table.seen ? inference_fill_table(f, l, &table) : -ENOMEM;
	if (err)
		code = jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), jetwatt_error_advice(-err),
					 "cannot predict");
	else if (!inference_best_plan(f, l->nr_modes, 0, f->sizes, table.t, table.w, &f->q,
				      &f->plan))
		code = jetwatt_inference_infeasible(f, l, table.t, table.w);
	if (!code) {
		f->measured = table.seen[f->plan.size[0] * l->nr_modes + f->plan.mode] > 0;
		a->inference = f;
		a->chosen = &l->mode[f->plan.mode];
		if (!l->silent)
			inference_show(f, l, &table);
		code = jetwatt_offline_apply(l, apply, a->chosen);
	}
	free(table.t);
	free(table.p);
	free(table.seen);
	return code;
}
