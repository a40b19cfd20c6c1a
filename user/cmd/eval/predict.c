// SPDX-License-Identifier: GPL-2.0-only
/*
 * jetwatt eval predict: relative errors of a method on the modes that it was not fitted to, over
 * all repeats.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/eval/eval.h"
#include "out/json.h"
#include "tune/plot_file.h"
#include "util/error.h"

/* 0.975 quantile of the normal distribution, for two-sided 95 % intervals. */
#define Z95	1.959964

enum { TIME, POWER, WHAT };

/**
 * struct predict_score - figures of a method; each array has one value per repeat
 * @mape: mean absolute relative error of time and power, in percent
 * @covered: share of modes whose time, or whose power, is within the predicted 95 % interval, in
 *	percent
 * @fit_ms, @predict_ms: CPU times in ms
 * @all: the block of memory that contains all arrays
 */
struct predict_score {
	double *mape[WHAT], *covered[WHAT], *fit_ms, *predict_ms;
	double *all;
};

/* Data of the plots: errors for each number of samples, and measured and predicted values of the
 * first repeat. */
struct drawing {
	struct jetwatt_report_curve curve[JETWATT_EVAL_CURVE];
	struct jetwatt_report_fit *fit;
};

static double score_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] / n;
	return sum;
}

static void score_repeat(const struct jetwatt_eval *e, const size_t *at,
			 const struct jetwatt_prediction *p, struct predict_score *s, size_t r)
{
	size_t n = e->n - e->samples;

	for (int w = 0; w < WHAT; w++)
		s->mape[w][r] = s->covered[w][r] = 0;
	for (size_t i = e->samples; i < e->n; i++) {
		const struct jetwatt_prediction *q = &p[at[i]];
		const struct jetwatt_row *row = &e->row[at[i]];
		const double predicted[WHAT] = { q->time_ms, q->power_w };
		const double measured[WHAT] = { row->time_ms, row->power_w };
		const double sd[WHAT] = { q->time_sd, q->power_sd };

		for (int w = 0; w < WHAT; w++) {
			s->mape[w][r] += 100 * fabs(predicted[w] / measured[w] - 1) / n;
			s->covered[w][r] += fabs(log(predicted[w] / measured[w])) <= Z95 * sd[w] ? 100.0 / n : 0;
		}
	}
}

static void collect_pairs(const struct jetwatt_eval *e, const size_t *at,
			  const struct jetwatt_prediction *p, struct jetwatt_report_fit *fit)
{
	for (size_t i = e->samples; i < e->n; i++)
		fit[i - e->samples] = (struct jetwatt_report_fit){
			{ e->row[at[i]].time_ms, e->row[at[i]].power_w },
			{ p[at[i]].time_ms, p[at[i]].power_w },
		};
}

static int predict_repeat(const struct jetwatt_eval *e, size_t r, size_t *at,
			  struct jetwatt_prediction *p,
			  struct predict_score *s, struct jetwatt_report_fit *fit)
{
	void *model = NULL;
	int err = jetwatt_eval_sample(e, r, at);

	if (!err)
		err = jetwatt_eval_fit(e, r, at, e->samples, &model, &s->fit_ms[r]);
	if (!err)
		err = jetwatt_eval_all(e, model, p, &s->predict_ms[r]);
	if (!err)
		score_repeat(e, at, p, s, r);
	if (!err && !r && fit)
		collect_pairs(e, at, p, fit);
	if (model)
		e->method->free(model);
	return err;
}

static void quartiles_json(struct jetwatt_json *j, const char *key, double *v, size_t n)
{
	jetwatt_json_object(j, key);
	jetwatt_json_real(j, "median", jetwatt_eval_quantile(v, n, 0.5), 5);
	jetwatt_json_real(j, "q1", jetwatt_eval_quantile(v, n, 0.25), 5);
	jetwatt_json_real(j, "q3", jetwatt_eval_quantile(v, n, 0.75), 5);
	jetwatt_json_end(j);
}

static void score_print_json(const struct jetwatt_eval *e, struct predict_score *s)
{
	int known = e->method->kind & JETWATT_PREDICTOR_INTERVAL;
	struct jetwatt_json j;

	jetwatt_json_init(&j, stdout, 0);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "corpus", e->path);
	jetwatt_json_array(&j, "references");
	for (size_t i = 0; i < e->reference.n; i++)
		jetwatt_json_string(&j, NULL, e->reference.path[i]);
	jetwatt_json_end(&j);
	jetwatt_json_string(&j, "method", e->method->name);
	jetwatt_json_string(&j, "sampling", jetwatt_eval_sampling(e));
	jetwatt_json_uint(&j, "samples", e->samples);
	jetwatt_json_uint(&j, "repeats", e->repeats);
	jetwatt_json_uint(&j, "seed", e->seed);
	quartiles_json(&j, "time_mape_pct", s->mape[TIME], e->repeats);
	quartiles_json(&j, "power_mape_pct", s->mape[POWER], e->repeats);
	jetwatt_json_object(&j, "coverage95_pct");
	jetwatt_json_real(&j, "time", known ? score_mean(s->covered[TIME], e->repeats) : NAN, 4);
	jetwatt_json_real(&j, "power", known ? score_mean(s->covered[POWER], e->repeats) : NAN, 4);
	jetwatt_json_end(&j);
	jetwatt_json_real(&j, "fit_ms", jetwatt_eval_quantile(s->fit_ms, e->repeats, 0.5), 4);
	jetwatt_json_real(&j, "predict_ms", jetwatt_eval_quantile(s->predict_ms, e->repeats, 0.5),
			  4);
	jetwatt_json_end(&j);
}

static void score_print(const struct jetwatt_eval *e, struct predict_score *s)
{
	static const char *const name[WHAT] = { "time", "power" };
	size_t n = e->repeats;

	printf("%s: fitted to %zu of %zu modes (%s), %zu repeats\n", e->method->name, e->samples,
	       e->n, jetwatt_eval_sampling(e), n);
	printf("%-7s %8s %8s %8s %14s\n", "error %", "median", "q1", "q3", "in 95 % range");
	for (int w = 0; w < WHAT; w++) {
		printf("%-7s %8.2f %8.2f %8.2f", name[w],
		       jetwatt_eval_quantile(s->mape[w], n, 0.5),
		       jetwatt_eval_quantile(s->mape[w], n, 0.25),
		       jetwatt_eval_quantile(s->mape[w], n, 0.75));
		if (e->method->kind & JETWATT_PREDICTOR_INTERVAL)
			printf(" %12.1f %%\n", score_mean(s->covered[w], n));
		else
			printf(" %14s\n", "-");
	}
	printf("fit %.1f ms, prediction of %zu modes %.1f ms\n",
	       jetwatt_eval_quantile(s->fit_ms, n, 0.5), e->n,
	       jetwatt_eval_quantile(s->predict_ms, n, 0.5));
}

static void curve_point(struct jetwatt_report_curve *c, const struct jetwatt_eval *e,
			struct predict_score *s)
{
	c->samples = e->samples;
	for (int w = 0; w < WHAT; w++) {
		c->median[w] = jetwatt_eval_quantile(s->mape[w], e->repeats, 0.5);
		c->q1[w] = jetwatt_eval_quantile(s->mape[w], e->repeats, 0.25);
		c->q3[w] = jetwatt_eval_quantile(s->mape[w], e->repeats, 0.75);
	}
}

/* Evaluate the method fitted to e->samples rows; @i: index of e->samples in e->curve. Return: 0,
 * exit code. */
static int predict_evaluate(struct jetwatt_eval *e, size_t i, struct drawing *d)
{
	size_t *at = malloc(e->n * sizeof(*at)), n = e->repeats;
	struct jetwatt_prediction *p = malloc(e->n * sizeof(*p));
	double *v = calloc(n, 6 * sizeof(*v));
	struct predict_score s = { { v, v + n }, { v + 2 * n, v + 3 * n }, v + 4 * n, v + 5 * n, v };
	int err = at && p && v ? 0 : -ENOMEM;

	for (size_t r = 0; r < n && !err; r++) {
		jetwatt_eval_progress(e, r);
		err = predict_repeat(e, r, at, p, &s, d->fit);
	}
	jetwatt_eval_progress(e, n);
	if (!err) {
		curve_point(&d->curve[i], e, &s);
		if (e->json)
			score_print_json(e, &s);
		else
			score_print(e, &s);
	}
	free(at);
	free(p);
	free(v);
	return err ? jetwatt_eval_failed(e, err) : 0;
}

static int predict_draw(const struct jetwatt_eval *e, const struct drawing *d)
{
	int several = e->nr_curve > 1;
	char title[96];
	struct jetwatt_report r = {
		.title = title, .workload = e->path, .curve = d->curve,
		.nr_curve = several ? e->nr_curve : 0, .fit = d->fit,
		.nr_fit = several && !strstr(e->plot, ".html") ? 0 : e->n - e->samples,
	};

	snprintf(title, sizeof(title), "%s from %zu modes, %s", e->method->name, e->samples,
		 jetwatt_eval_sampling(e));
	return jetwatt_plot_write(e->plot, &r, several ? JETWATT_GNUPLOT_LEARNING :
				     JETWATT_GNUPLOT_FIT);
}

int jetwatt_eval_predict(struct jetwatt_eval *e)
{
	struct drawing d = { .fit = NULL };
	int code = 0;

	if (e->method->kind & (JETWATT_PREDICTOR_OBSERVED | JETWATT_PREDICTOR_FIXED))
		return jetwatt_error_report(JETWATT_EXIT_USAGE, NULL,
					 "evaluate it with jetwatt eval optimize",
					 "method %s makes no predictions", e->method->name);
	if (e->plot) {
		d.fit = calloc(e->n, sizeof(*d.fit));
		if (!d.fit)
			return jetwatt_eval_failed(e, -ENOMEM);
	}
	/* A method with modes of its own is evaluated once, whatever --samples states. */
	if (e->designed && e->method->kind & JETWATT_PREDICTOR_OWN_MODES)
		e->nr_curve = 0;
	if (e->nr_curve < 2)
		e->curve[0] = e->samples;
	for (size_t i = 0; i < (e->nr_curve ? e->nr_curve : 1) && !code; i++) {
		e->samples = e->curve[i];
		code = predict_evaluate(e, i, &d);
	}
	if (!code && e->plot)
		code = predict_draw(e, &d);
	free(d.fit);
	return code;
}
