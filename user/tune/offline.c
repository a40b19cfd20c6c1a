// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranking, Pareto front and messages of answers from a profile.
 */
#include "tune/offline.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/connect.h"
#include "out/terminal.h"
#include "util/error.h"

/* Largest number of candidates that are printed for a query. */
#define SHOWN	5

const char *jetwatt_offline_limits(const struct jetwatt_plan_objective *q, char *buf, size_t len)
{
	if (q->power_w > 0 && q->time_ms > 0)
		snprintf(buf, len, "%g W and %g ms", q->power_w, q->time_ms);
	else if (q->time_ms > 0)
		snprintf(buf, len, "%g ms", q->time_ms);
	else
		snprintf(buf, len, "%g W", q->power_w);
	return buf;
}

/* Round the suggested limit up, so that a mode meets it. */
static double offline_round_up(double v)
{
	double step = v < 10 ? 0.1 : 1;

	return ceil(v / step) * step;
}

/* Return: the mean of the measurements of candidate @i if it has been measured, else the prediction
 * of candidate @i. @measured: set to 1 or 0. */
static struct jetwatt_prediction offline_known(const struct jetwatt_tuner *l, size_t i,
					       int *measured)
{
	struct jetwatt_prediction p = l->prediction[i];
	struct jetwatt_row mean;

	*measured = jetwatt_plan_reading(&l->mode[i], l->row, l->nr_rows, &mean) > 0;
	if (*measured) {
		p.time_ms = mean.time_ms;
		p.power_w = mean.power_w;
		p.time_sd = mean.time_sd;
		p.power_sd = mean.power_sd;
	}
	return p;
}

/* Print the mode that exceeds the limits least, and the smallest limits that a mode can meet.
 * Return: exit code. */
static int offline_infeasible(const struct jetwatt_tuner *l, const struct jetwatt_plan_objective *q,
			      const struct jetwatt_plan_choice *near)
{
	int measured;
	const struct jetwatt_prediction is = offline_known(l, near->index, &measured);
	char what[224], fix[128] = "", limits[64], name[96] = "";
	double power, time;
	int n;

	jetwatt_board_mode_format(&l->mode[near->index], name, sizeof(name));
	n = snprintf(what, sizeof(what), "closest: %s at %.2f W and %.4g ms (%s)", name, is.power_w,
		     is.time_ms, measured ? "measured" : "predicted");
	if (q->power_w > 0 && is.power_w > q->power_w && n < (int)sizeof(what))
		n += snprintf(what + n, sizeof(what) - n, ", %.2f W over", is.power_w - q->power_w);
	if (q->time_ms > 0 && is.time_ms > q->time_ms && n < (int)sizeof(what))
		snprintf(what + n, sizeof(what) - n, ", %.4g ms over", is.time_ms - q->time_ms);
	jetwatt_plan_required_limits(l->mode, l->prediction, l->nr_modes, l->row, l->nr_rows, q, &power, &time);
	n = 0;
	if (q->power_w > 0 && isfinite(power))
		n = snprintf(fix, sizeof(fix), "--power %gW", offline_round_up(power));
	if (q->time_ms > 0 && isfinite(time))
		snprintf(fix + n, sizeof(fix) - n, "%s--time-ms %g", n ? ", or " : "",
			 offline_round_up(time));
	return jetwatt_error_report(JETWATT_EXIT_INFEASIBLE, what, *fix ? fix : NULL,
				 "no mode meets %s", jetwatt_offline_limits(q, limits, sizeof(limits)));
}

static void offline_line(const struct jetwatt_tuner *l, char mark, size_t i)
{
	int measured;
	struct jetwatt_prediction p = offline_known(l, i, &measured);
	char note[48];

	snprintf(note, sizeof(note), "%.4g J %s", p.time_ms * p.power_w * 1e-3,
		 measured ? "measured" : "predicted");
	jetwatt_terminal_predicted_row(mark, &l->mode[i], &p, note);
}

/* Print the Pareto front of time and power. Return: 0, exit code. */
static int offline_show_front(const struct jetwatt_tuner *l)
{
	double *time = calloc(2 * l->nr_modes, sizeof(*time)), *power = time + l->nr_modes;
	size_t *at = calloc(l->nr_modes, sizeof(*at));
	int n = 0, err = time && at ? 0 : 1, measured;

	for (size_t i = 0; i < l->nr_modes && !err; i++) {
		struct jetwatt_prediction p = offline_known(l, i, &measured);

		time[i] = p.time_ms;
		power[i] = p.power_w;
	}
	if (!err)
		n = jetwatt_plan_front(time, power, l->nr_modes, at);
	if (n)
		printf("the front, %d of %zu modes\n", n, l->nr_modes);
	for (int i = 0; i < n; i++)
		offline_line(l, ' ', at[i]);
	free(time);
	free(at);
	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, "out of memory", NULL,
				       "cannot compute the front") :
		     0;
}

static void offline_show(const struct jetwatt_tuner *l, const struct jetwatt_plan_objective *q,
			 const struct jetwatt_plan_choice *at, int n)
{
	static const char *const what[] = { "least time", "least power", "least energy" };
	char limits[64];

	printf("%s within %s (risk %g %%), from %zu measured modes\n", what[q->minimise],
	       jetwatt_offline_limits(q, limits, sizeof(limits)), 100 * q->risk,
	       jetwatt_tuner_known(l));
	jetwatt_terminal_predicted_heading();
	for (int i = 0; i < n && i < SHOWN; i++)
		offline_line(l, i ? ' ' : '*', at[i].index);
}

int jetwatt_offline_apply(const struct jetwatt_tuner *l, struct jetwatt_board *board,
			  const struct jetwatt_mode *m)
{
	struct jetwatt_error_text e = { "", "", "" };
	char name[96] = "";
	sigset_t set;
	int err = 0;

	/* A signal must not end this process between two writes: the board would be left between two
	 * modes. */
	if (board) {
		jetwatt_block_signals(&set);
		err = jetwatt_board_apply(board, m, &e);
	}
	if (err)
		return jetwatt_error_board(err, &e);
	jetwatt_board_mode_format(m, name, sizeof(name));
	if (!l->silent)
		printf(board ?
		       "applied %s, not verified: no job to measure\nto undo: jetwatt restore\n" :
		       "next: jetwatt apply %s\n", name);
	return 0;
}

int jetwatt_offline(struct jetwatt_tuner *l, const struct jetwatt_plan_objective *q, int front,
		    struct jetwatt_board *apply, struct jetwatt_result *a)
{
	struct jetwatt_plan_choice at[SHOWN];
	int n, err = jetwatt_tuner_predict(l);

	if (err)
		return err;
	n = jetwatt_plan_candidates(l->mode, l->prediction, l->nr_modes, l->row, l->nr_rows, q, at, SHOWN);
	if (n < 0)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-n), NULL,
					 "cannot rank the modes");
	if (!n)
		return offline_infeasible(l, q, &at[0]);
	if (!l->silent)
		offline_show(l, q, at, n);
	if (front && !l->silent)
		err = offline_show_front(l);
	if (err)
		return err;
	a->chosen = &l->mode[at[0].index];
	a->predicted = &l->prediction[at[0].index];
	a->measured = jetwatt_plan_reading(a->chosen, l->row, l->nr_rows, &a->mean) ? &a->mean : NULL;
	if (!l->silent)
		jetwatt_result_totals(a);
	return jetwatt_offline_apply(l, apply, a->chosen);
}
