// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selection of the next reading: a reading is worth taking if its gain exceeds its cost. The gain
 * of a reading is the expected improvement of the best time, or energy, within the limit (Jones et al.,
 * Journal of Global Optimization 13, 1998), multiplied by the time that the job is expected to
 * run. The cost of a reading is the time lost in a slower mode and, if the mode exceeds the budget,
 * the time lost by the cap's step down. The reading with the highest gain per cost is taken. The
 * expected remaining time of a job equals the running time of its workload so far (Gott, Nature
 * 363, 1993: median remaining duration of a process observed at a random moment).
 */
#include "daemon/learner_inside.h"

#include <math.h>

#include "plan/improvement.h"
#include "plan/plan.h"

/* Time in a lower mode after a step down of the cap, in s. */
#define OVER_S		1
/* Maximum probability of being over the budget at which a mode is still tried: with readings of
 * other workloads or devices, and without. Without such readings, a measured mode over the budget
 * improves the model more. */
#define OVER		0.5
#define OVER_ALONE	0.8
/* A mode that is over the budget with a higher probability is tried if its expected gain exceeds its
 * cost by this factor. */
#define WORTH		5
/* Minimum gain of a longer reading of a mode near the limit, in s; about the cost if the mode turns out to be
 * over the budget. */
#define EXACT_S		1
/* After this number of readings of such a mode, other readings that are worth their cost are taken first. */
#define REREADS_FIRST	2
/* Minimum expected improvement of a reading that the model proposes, as a fraction of the best time (or
 * energy) of a minibatch. */
#define GAIN		1e-5
/* If no reading is expected to improve on the best mode by this fraction, a search takes at most
 * one more reading. Then the best mode is held until the next search is due; holding it shows
 * whether the job has changed. */
#define SMALL		0.02
/* The reading with the highest gain per cost is taken first. ANY_S, in s, is added to the costs, so
 * that cheap readings of small gain do not precede all others. */
#define ANY_S		0.5
/* Factor on the errors of the predictions in the gain by which a reading is compared with the others, if readings of
 * other workloads or devices are known: a few readings are all that a job of minutes pays for, so modes that are
 * probably good go before modes that are uncertain. Whether a reading pays depends on the gain without the factor. */
#define FOCUS		0.7
/* Factor on the error of predicted times in the gain, if a job is expected to run for more than WIDE_S seconds:
 * what such a job loses in a mode that the model takes for the best one costs more than the readings that show
 * where the model's error is too small. */
#define WIDE		1.5
#define WIDE_S		600
/* Minimum expected remaining time of a job, in s. */
#define REST_MIN_S	30
/* Minimum number of readings with which the model's predictions are used, and of complete ones among
 * them. With few readings the model underestimates its error: unless readings of other devices agree with
 * the job's rows, DOUBT / sqrt(readings + 1) is added in quadrature to its relative error. */
#define ROWS		2
#define ROWS_MIN	1
#define DOUBT		0.15
/* Part of that which is added to the error of power, which the model knows better. */
#define DOUBT_POWER	0.4
/* With fewer than JETWATTD_SURE complete readings and without readings of other workloads or devices,
 * predictions are not trusted for slow modes. A slow mode is then tried only if jetwattd_is_affordable()
 * returns 1; or if its expected gain during its own duration exceeds its cost, and it takes at most
 * SLOW_SHARE of the running time of the workload. */
#define SLOW_SHARE	0.3
/* If the gain of no reading exceeds its cost, the next attempt is due at the earliest when the
 * workload's running time has grown by the factor LATER and by LATER_S seconds, but at most by
 * LATER_MOST_S seconds. Choosing a reading takes CPU time: apart from CPU_FREE_S seconds, the attempts use at
 * most the fraction CPU of the run time. Once the fits keep hyper-parameters, they take a tenth of the
 * time, so WARM_FREE_S and WARM_CPU hold from then on. jetwattd.conf(5) states all except LATER_S: "no
 * measurement is worth its cost". */
#define LATER		1.1
#define LATER_S		5
#define LATER_MOST_S	30
#define CPU		0.01
#define CPU_FREE_S	10
#define WARM_CPU	0.001
#define WARM_FREE_S	3

/* A job that begins with JETWATTD_SURE readings is held in the best mode for KNOWN_S seconds first, unless a
 * reading is expected to improve on it by the fraction KNOWN_GAIN, as after a change of the budget. jetwattd.conf(5)
 * states both: "first ten seconds" and "5 %". */
#define KNOWN_S		10
#define KNOWN_GAIN	0.05

/* Time of learning and holding a job, in s, after which presets that are probably over the budget are
 * measured too. jetwattd.conf(5) states it: "first ten seconds of any job". */
#define PRESETS_S	10
/* Minimum rest of the share with which they are measured, in s. jetwattd.conf(5) states it: "two seconds". */
#define PRESETS_SHARE_S	2

/* Return the time for which the job has been learned and held, in s. */
static double run_s(const struct jetwattd_learner *l)
{
	return (l->terms.now_ns - l->run_ns) * 1e-9;
}

/* Return the expected remaining time of the job, in s. */
static double expected_s(const struct jetwattd_learner *l)
{
	return fmax(REST_MIN_S, fmax(run_s(l), l->spent->all.ran_s));
}

/* Find a mode near the limit for which a longer reading is worth its time. @readings: set to the number
 * of its readings. Return: index of the mode, -1: none. */
static long reread_near_limit(const struct jetwattd_learner *l, int *readings)
{
	double gain;
	long i = jetwattd_uncertain_best(l, &gain, readings);

	return gain * expected_s(l) > EXACT_S ? i : -1;
}

/* Return the expected improvement of a mode over the best one, as a fraction of the best mode's objective,
 * weighted by the probability that the mode is within the limit. @by: the best mode's objective divided by the
 * predicted one; @least: relative error that is added in quadrature to the error of the predicted time, and in part to
 * that of power; @time, @power: factors on the errors of both. */
static double expected_gain(const struct jetwattd_learner *l, const struct jetwatt_prediction *p, double by,
			    double least, double time, double power)
{
	double t = time * hypot(hypot(p->time_sd, l->by_energy ? p->power_sd : 0), least);
	double w = power * hypot(p->power_sd, DOUBT_POWER * least);

	return jetwatt_normal_cdf(log(l->terms.limit_w / p->power_w) / w) *
	       jetwatt_expected_improvement(log(by), t);
}

/* Choose by the model's predictions. @least: as for expected_gain(); @known: 1:
 * the predictions use readings of other workloads or devices. Return: index of the mode; -1: no
 * gain exceeds its cost now. */
static long best_by_model(struct jetwattd_learner *l, const struct jetwatt_row *best, double least, int known)
{
	/* 1: enough is known to permit modes that could be far slower */
	int sure = known || jetwattd_complete_rows(l) >= JETWATTD_SURE;
	const struct jetwatt_row *safe = jetwattd_learner_best_under(l, l->terms.safe_w, NULL);
	double over_s = OVER_S * (safe ? fmax(0, 1 - l->best_objective / jetwattd_row_objective(l, safe)) : 1), top = 0;
	double left = jetwattd_share_left(l), expected = expected_s(l), most = 0;
	double wide = expected > WIDE_S ? WIDE : 1, preset = jetwattd_best_preset(l);
	long at = -1;

	for (size_t i = 0; i < l->known.nr_modes; i++) {
		const struct jetwatt_prediction *p = &l->known.prediction[i];
		double ratio = l->best_objective / jetwattd_objective_of(l, p->time_ms, p->power_w);
		double over, by, cost, when, lag, rank;
		int pays, can;

		if (l->seen[i])
			continue;
		by = expected_gain(l, p, ratio, least, wide, 1);
		over = jetwatt_normal_cdf(log(p->power_w / l->budget_w) / hypot(p->power_sd, DOUBT_POWER * least));
		cost = jetwattd_reading_cost(l, p->time_ms, ratio) + over * over_s;
		if (by < GAIN)
			continue;
		if (over > (known ? OVER : OVER_ALONE) && by * expected < WORTH * cost) {
			l->again_s = fmin(l->again_s, WORTH * cost / by);
			continue;
		}
		/* A reading whose expected gain during its own duration exceeds its cost is taken
		 * whatever jetwattd_share_left() is. */
		pays = by * jetwattd_reading_s(l, p->time_ms) > cost;
		can = sure || jetwattd_is_affordable(l, i, best) ||
		      (pays && jetwattd_reading_s(l, jetwattd_worst_ms(l, i, best)) <= SLOW_SHARE * l->spent->all.ran_s);
		lag = jetwattd_lag_when(l, preset, jetwattd_reading_s(l, p->time_ms),
					l->best_objective / ratio * exp(hypot(p->time_sd, least)));
		lag = fmax(lag, jetwattd_lag_when(l, preset, over * OVER_S,
						  safe ? jetwattd_row_objective(l, safe) : INFINITY));
		if (lag > 0 || !can || (!pays && (by * expected <= cost || cost > left))) {
			when = fmax(lag, cost > left ? jetwattd_share_when(l, cost) : 0);
			l->again_s = fmin(l->again_s, fmax(cost / by, when));
			continue;
		}
		most = fmax(most, by);
		rank = (known ? expected_gain(l, p, ratio, least, FOCUS, FOCUS) : by) / (cost + ANY_S);
		if (rank > top) {
			top = rank;
			l->gain_s = by * expected;
			at = (long)i;
		}
	}
	l->small = most < SMALL;
	return at;
}

/* Return: 1 if there are enough readings for predictions. A reading that the cap ended shows the power
 * only, and counts half. */
static int has_rows(const struct jetwattd_learner *l)
{
	size_t complete = jetwattd_complete_rows(l);

	return complete >= ROWS_MIN && complete + l->known.nr_rows >= 2 * ROWS &&
	       jetwatt_estimator_enough(&l->known.by, l->known.nr_rows);
}

/* Predict the modes that may be better. With few readings predict all modes, because the parametric
 * means, by which jetwatt_tuner_predict_possible() excludes modes, can then be far off; also if modes
 * are compared by energy. Return: 1 if @l->known.prediction is set for the modes whose @l->seen is
 * 0; 0: the model cannot predict. */
static int predict(struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	for (size_t i = 0; i < l->known.nr_modes; i++)
		l->seen[i] = jetwattd_is_excluded(l, i) ? JETWATT_EXCLUDED : JETWATT_NEW;
	for (size_t i = 0; i < l->known.nr_rows; i++) {
		long at = jetwatt_mode_index_find(&l->index, l->known.mode, &l->known.row[i].mode);

		if (at >= 0)
			l->seen[at] = JETWATT_EXCLUDED;
	}
	/* jetwatt_tuner_predict_possible() leaves out the modes that cannot be faster. */
	if (jetwattd_complete_rows(l) < JETWATTD_SURE || l->by_energy)
		return !jetwatt_tuner_predict(&l->known);
	return !jetwatt_tuner_predict_possible(&l->known, l->terms.limit_w, best->time_ms, l->seen);
}

/* Choose a mode that may improve on @best. Return: index of the mode; -1: no gain exceeds its cost
 * now. */
static long improve_on(struct jetwattd_learner *l, const struct jetwatt_row *best)
{
	int cross_device, known;
	long i;

	/* After a reading of small gain, hold without predicting again. */
	if (l->small) {
		l->again_s = 0;
		return -1;
	}
	cross_device = jetwattd_cross_device_agrees(l);
	known = cross_device || jetwattd_others_agree(l);
	if ((known || has_rows(l)) && predict(l, best)) {
		l->predicted = 1;
		return best_by_model(l, best,
				     cross_device ? 0 : DOUBT / sqrt(l->known.nr_rows + 1.0), known);
	}
	i = jetwattd_raise_one_knob(l, best);
	if (i < 0)
		i = jetwattd_pick_unpredicted(l);
	if (i >= 0) {
		double worst = jetwattd_worst_ms(l, (size_t)i, best);

		l->again_s = jetwattd_lag_when(l, jetwattd_best_preset(l), jetwattd_reading_s(l, worst),
					       l->best_objective * worst / best->time_ms);
		return l->again_s > 0 ? -1 : i;
	}
	l->again_s = jetwattd_share_when(l, jetwattd_reading_cost(l, JETWATTD_LONGER * best->time_ms, 1.0 / JETWATTD_LONGER));
	return -1;
}

static long pick_now(struct jetwattd_learner *l, int *exact)
{
	const struct jetwatt_row *best = jetwattd_best(l);
	int enough = best && jetwattd_is_enough_measured(l), readings;
	long i;

	if (jetwattd_allowance_used_up(l))
		return -1;
	i = enough || (best && jetwattd_complete_rows(l) >= JETWATTD_SURE) ? -1 : jetwattd_next_preset(l, best, 0);
	if (i < 0 && best && !enough && run_s(l) > PRESETS_S && jetwattd_share_left(l) > PRESETS_SHARE_S)
		i = jetwattd_next_preset(l, best, 1);
	if (i >= 0)
		return i;
	if (!best)
		return jetwattd_pick_unpredicted(l);
	i = reread_near_limit(l, &readings);
	if (i < 0 || readings >= REREADS_FIRST) {
		long other = enough ? -1 : improve_on(l, best);

		if (i < 0 || other >= 0)
			return other;
		l->predicted = 0;
		l->gain_s = 0;
	}
	*exact = 1;
	return i;
}

/* Return the time for which the job has to run before the CPU time of choices permits the next one,
 * in s; less than 0: none. */
static double cpu_wait_s(struct jetwattd_learner *l)
{
	double used_s = l->terms.choose_s;

	if (l->known.nr_rows <= l->known.warm_rows) {
		l->warm_run_s = -1;
		return (used_s - CPU_FREE_S) / CPU - run_s(l);
	}
	if (l->warm_run_s < 0) {
		l->warm_run_s = run_s(l);
		l->warm_choose_s = used_s;
	}
	return (used_s - l->warm_choose_s - WARM_FREE_S) / WARM_CPU - (run_s(l) - l->warm_run_s);
}

long jetwattd_pick(struct jetwattd_learner *l, int *exact)
{
	double ran_s = l->spent->all.ran_s, later_s;
	long i;

	later_s = fmin(LATER * ran_s + LATER_S, ran_s + LATER_MOST_S);
	later_s = fmax(later_s, ran_s + cpu_wait_s(l));
	*exact = 0;
	l->predicted = 0;
	l->gain_s = 0;
	l->rest_s = expected_s(l);
	l->again_s = INFINITY;
	i = pick_now(l, exact);
	if (!l->taken && run_s(l) < KNOWN_S && jetwattd_complete_rows(l) >= JETWATTD_SURE && jetwattd_best(l) &&
	    (*exact || l->gain_s < KNOWN_GAIN * l->rest_s)) {
		l->gain_s = 0;
		l->again_s = ran_s + KNOWN_S - run_s(l);
		return -1;
	}
	/* Set when the next attempt is due if there is no step, or if the step is interrupted. */
	l->again_s = i < 0 ? fmax(l->again_s, later_s) : later_s;
	return i;
}
