// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON document of a result, and the CSV of predictions.
 */
#include "tune/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "out/json.h"
#include "store/csv.h"
#include "tune/inference.h"
#include "tune/token_search.h"
#include "util/error.h"
#include "util/outfile.h"

static void result_mode(struct jetwatt_json *j, const struct jetwatt_mode *m)
{
	char name[96];

	jetwatt_json_mode(j, m);
	if (!jetwatt_board_mode_format(m, name, sizeof(name)))
		jetwatt_json_string(j, "mode", name);
}

static void result_sampler(struct jetwatt_json *j, struct jetwatt_session *w)
{
	struct jetwatt_rail now[JETWATT_RAILS_MAX];
	uint32_t requested = UINT32_MAX, read = UINT32_MAX, fresh = UINT32_MAX;
	int n = jetwatt_rails(w->jw, now, JETWATT_RAILS_MAX);

	/* The sample rate of a sum of rails is that of the slowest rail in the sum. */
	for (int i = 0; i < w->nr_total; i++) {
		const struct jetwatt_rail *r = w->total[i] < n ? &now[w->total[i]] :
					       &w->rail[w->total[i]];

		requested = r->requested_mhz < requested ? r->requested_mhz : requested;
		read = r->read_mhz < read ? r->read_mhz : read;
		fresh = r->fresh_mhz < fresh ? r->fresh_mhz : fresh;
	}
	jetwatt_json_object(j, "sampler");
	jetwatt_json_real(j, "requested_hz", requested * 1e-3, 6);
	jetwatt_json_real(j, "read_hz", read * 1e-3, 6);
	jetwatt_json_real(j, "fresh_hz", fresh * 1e-3, 6);
	jetwatt_json_uint(j, "samples", w->samples);
	jetwatt_json_uint(j, "lost", w->lost);
	jetwatt_json_uint(j, "missed_deadlines", jetwatt_session_missed(w));
	jetwatt_json_end(j);
	jetwatt_json_object(j, "minibatches");
	jetwatt_json_uint(j, "detected", jetwatt_session_minibatches(w));
	jetwatt_json_uint(j, "waits", w->waits);
	jetwatt_json_uint(j, "waits_lost", jetwatt_session_waits_lost(w));
	jetwatt_json_end(j);
}

static void result_chosen(struct jetwatt_json *j, const struct jetwatt_result *a)
{
	if (!a->chosen) {
		jetwatt_json_null(j, "chosen");
		return;
	}
	jetwatt_json_object(j, "chosen");
	result_mode(j, a->chosen);
	if (a->predicted) {
		jetwatt_json_real(j, "predicted_time_ms", a->predicted->time_ms, 7);
		jetwatt_json_real(j, "predicted_power_w", a->predicted->power_w, 7);
		jetwatt_json_real(j, "predicted_time_sd", a->predicted->time_sd, 4);
		jetwatt_json_real(j, "predicted_power_sd", a->predicted->power_sd, 4);
	}
	if (a->measured) {
		jetwatt_json_real(j, "measured_time_ms", a->measured->time_ms, 7);
		jetwatt_json_real(j, "measured_power_w", a->measured->power_w, 7);
		jetwatt_json_real(j, "measured_time_sd", a->measured->time_sd, 4);
		jetwatt_json_real(j, "measured_power_sd", a->measured->power_sd, 4);
	}
	jetwatt_json_end(j);
}

/* Compute totals from the measurement, else from the prediction. The errors of time and power are
 * taken as independent. Return: 1 on success; 0 if totals were not requested or there is no answer.
 */
static int result_totals(const struct jetwatt_result *a, double *s, double *s_sd, double *j,
			 double *j_sd)
{
	const struct jetwatt_row *m = a->measured;
	const struct jetwatt_prediction *p = a->predicted;
	double power_sd;

	if (!a->minibatches || !a->chosen || !(m || p))
		return 0;
	*s = a->minibatches * (m ? m->time_ms : p->time_ms) * 1e-3;
	*s_sd = m ? m->time_sd : p->time_sd;
	*j = *s * (m ? m->power_w : p->power_w);
	power_sd = m ? m->power_sd : p->power_sd;
	*j_sd = sqrt(*s_sd * *s_sd + power_sd * power_sd);
	return 1;
}

void jetwatt_result_totals(const struct jetwatt_result *a)
{
	double s, s_sd, j, j_sd;

	if (result_totals(a, &s, &s_sd, &j, &j_sd))
		printf("%llu minibatches: %.4g s +- %.1f %%, %.4g kJ +- %.1f %% (%.3g Wh)\n",
		       (unsigned long long)a->minibatches, s, 100 * s_sd, j * 1e-3, 100 * j_sd,
		       j / 3600);
}

static void result_totals_json(struct jetwatt_json *json, const struct jetwatt_result *a)
{
	double s, s_sd, j, j_sd;

	if (!result_totals(a, &s, &s_sd, &j, &j_sd))
		return;
	jetwatt_json_object(json, "total");
	jetwatt_json_uint(json, "minibatches", a->minibatches);
	jetwatt_json_real(json, "seconds", s, 7);
	jetwatt_json_real(json, "seconds_sd", s_sd, 4);
	jetwatt_json_real(json, "energy_j", j, 7);
	jetwatt_json_real(json, "energy_sd", j_sd, 4);
	jetwatt_json_end(json);
}

/* Return: number of different modes in the rows. */
static size_t result_count_modes(const struct jetwatt_tuner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr_rows; i++) {
		size_t k = 0;

		while (!jetwatt_mode_same(&l->row[k].mode, &l->row[i].mode))
			k++;
		n += k == i;
	}
	return n;
}

static void result_rows(struct jetwatt_json *j, const struct jetwatt_tuner *l)
{
	jetwatt_json_array(j, "rows");
	for (size_t i = 0; i < l->nr_rows; i++) {
		jetwatt_json_object(j, NULL);
		result_mode(j, &l->row[i].mode);
		if (l->row[i].batch)
			jetwatt_json_uint(j, "batch", l->row[i].batch);
		jetwatt_json_real(j, "time_ms", l->row[i].time_ms, 7);
		jetwatt_json_real(j, "power_w", l->row[i].power_w, 7);
		jetwatt_json_real(j, "time_sd", l->row[i].time_sd, 4);
		jetwatt_json_real(j, "power_sd", l->row[i].power_sd, 4);
		jetwatt_json_end(j);
	}
	jetwatt_json_end(j);
}

static int result_unwritable(const char *path, int err)
{
	return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), jetwatt_error_advice(-err),
				    "cannot write %s", path);
}

int jetwatt_result_json(const struct jetwatt_result *a, const char *path)
{
	const struct jetwatt_tuner *l = a->learn;
	struct jetwatt_outfile out = { .f = NULL };
	struct jetwatt_json j;
	struct utsname u;
	int err = strcmp(path, "-") ? jetwatt_outfile_open(&out, path, 0666) : 0;

	if (err)
		return result_unwritable(path, err);
	uname(&u);
	jetwatt_json_init(&j, out.f ? out.f : stdout, 1);
	jetwatt_json_object(&j, NULL);
	jetwatt_json_string(&j, "board", a->board);
	jetwatt_json_string(&j, "kernel", u.release);
	if (l->budget_w > 0)
		jetwatt_json_real(&j, "budget_w", l->budget_w, 6);
	jetwatt_json_uint(&j, "modes_total", l->nr_modes);
	jetwatt_json_uint(&j, "modes_profiled", result_count_modes(l));
	if (l->session) {
		jetwatt_json_real(&j, "profile_seconds",
				  l->ended_ns ? (l->ended_ns - l->begun_ns) * 1e-9 : 0, 6);
		jetwatt_json_string(&j, "scope", l->session->scope);
		result_sampler(&j, l->session);
	}
	result_chosen(&j, a);
	result_totals_json(&j, a);
	if (a->inference)
		jetwatt_inference_json(a->inference, &j);
	if (a->tokens)
		jetwatt_token_json(a->tokens, l, a->chosen, &j);
	if (a->explain)
		jetwatt_explain_json(a->explain, l->mode, &j);
	if (a->baseline)
		jetwatt_preset_compare_json(a->baseline, l, &j);
	result_rows(&j, l);
	jetwatt_json_end(&j);
	/* main() reports failed writes to standard output. */
	err = jetwatt_outfile_end(&out, 0);
	return err ? result_unwritable(path, err) : 0;
}

/* Round to seven significant digits; further digits carry no information. */
static double result_round(double v)
{
	double unit = v > 0 ? pow(10, 6 - floor(log10(v))) : 1;

	return round(v * unit) / unit;
}

int jetwatt_result_predictions(const struct jetwatt_tuner *l, const char *path)
{
	struct jetwatt_row *row = calloc(l->nr_modes + 1, sizeof(*row));
	int err = -ENOMEM;

	if (row) {
		for (size_t i = 0; i < l->nr_modes; i++) {
			row[i].mode = l->mode[i];
			row[i].time_ms = result_round(l->prediction[i].time_ms);
			row[i].power_w = result_round(l->prediction[i].power_w);
			row[i].time_sd = result_round(l->prediction[i].time_sd);
			row[i].power_sd = result_round(l->prediction[i].power_sd);
		}
		err = jetwatt_csv_write(path, row, l->batch, l->nr_modes);
	}
	free(row);
	return err ? result_unwritable(path, err) : 0;
}
