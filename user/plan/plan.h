/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bayesian optimisation of power modes: which mode to measure next, and which mode answers a query.
 * Used by user/tune/, user/cmd/ and user/daemon/.
 *
 * Pure functions of models and arrays: no globals, files or clocks. The functions return when the
 * computation has ended; they do not run in the background.
 */
#ifndef JETWATT_PLAN_H
#define JETWATT_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include "model/estimator.h"

/* Largest length of a reason in characters: the rest of a line of 80 columns. */
#define JETWATT_PLAN_WHY	22

/**
 * struct jetwatt_plan_next - the mode to measure next
 * @index: index of the mode in the array of modes
 * @why: reason for the report, a static string of at most JETWATT_PLAN_WHY characters, such as
 *	"expected improvement"
 */
struct jetwatt_plan_next {
	size_t index;
	const char *why;
};

/*
 * Without a budget the search ends if the sum of the variances of log time and log power, averaged
 * over unmeasured modes, is below the square of JETWATT_PLAN_SD_ENOUGH. With a budget the search
 * ends if the expected improvement of the time of a minibatch, as a share of that time, times the
 * probability of meeting the budget, is below JETWATT_PLAN_MIN_GAIN.
 */
#define JETWATT_PLAN_SD_ENOUGH	0.01
#define JETWATT_PLAN_MIN_GAIN	2e-4
/* Smallest number of rows with which a search with a budget may end for lack of expected
 * improvement. */
#define JETWATT_PLAN_MIN_ROWS	10
/* If the weight of the references in the model is at least this value, a search with a budget skips
 * the initial design. */
#define JETWATT_PLAN_REFERENCE_WEIGHT	0.1

/**
 * jetwatt_plan_next() - choose the mode to measure next, for minimum time within a power budget
 * @mode: modes of the board
 * @n: number of modes
 * @row: measured rows, the latest last. A mode may occur more than once
 * @rows: number of rows; 0 at the start
 * @by: predictor and prior; NULL: the default predictor without a prior. The initial design is
 *	skipped if the prior has rows of the same workload from other devices that agree with @row,
 *	or, with a budget, references of enough weight
 * @budget_w: power budget, in watts; 0: no budget, learn the whole surface
 * @most: largest number of different modes to measure in all
 * @seed: seed of all random choices; equal arguments give an equal choice
 * @next: set to the mode to measure next
 *
 * With a budget, an unmeasured mode is chosen by its expected improvement times its probability of
 * meeting the budget, both with smaller standard deviations if fewer than ten new modes may still be
 * measured. With four to JETWATT_FIT_MAX rows, a mode whose only power reading
 * contradicts the model is chosen a second time, even if @most modes have been measured: with a
 * budget, if it would be the fastest within the budget.
 *
 * Return: 0; 1 if no mode is worth measuring; -EINVAL if @n is 0, a required knob is 0, or @budget_w
 * is negative or not finite; negative errno as jetwatt_estimator_fit(). No mode is worth measuring if
 * @most modes have been measured, or all have been measured or excluded. Without a budget: also if
 * the sum of the variances of log time and log power, averaged over the unmeasured modes (192 of
 * them at most), is below JETWATT_PLAN_SD_ENOUGH squared. With a budget: from JETWATT_PLAN_MIN_ROWS
 * rows on, if improvement times probability is below JETWATT_PLAN_MIN_GAIN in every mode; or if no
 * mode can be within the budget and no unmeasured mode is predicted to draw less power than the
 * measured modes.
 */
int jetwatt_plan_next(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, const struct jetwatt_estimator *by, double budget_w, size_t most,
		      uint64_t seed, struct jetwatt_plan_next *next);

/**
 * enum jetwatt_seen - state of a mode in the search
 * @JETWATT_NEW: not measured
 * @JETWATT_MEASURED: measured
 * @JETWATT_EXCLUDED: not measured, and excluded because it is far too slow or far over the budget
 */
enum jetwatt_seen { JETWATT_NEW, JETWATT_MEASURED, JETWATT_EXCLUDED };

/**
 * struct jetwatt_plan_memory - what earlier calls have computed with the same model and the same modes
 * @mean: parametric means of the time of all modes, then of their power; NULL: not computed yet
 * @predicted: 1 for each mode that has been predicted, else 0; NULL: no mode has been
 */
struct jetwatt_plan_memory {
	double *mean;
	unsigned char *predicted;
};

/* Forget what was computed, because the model or the modes have changed. */
void jetwatt_plan_forget(struct jetwatt_plan_memory *memory);

/**
 * jetwatt_plan_predict_possible() - predict the modes that may be the answer
 * @m: fitted model
 * @mode: modes of the board
 * @n: number of modes
 * @budget_w: power budget, in watts
 * @beat_ms: time of a minibatch that the answer must beat, in ms; 0: none
 * @seen: state of each mode. Modes that are too slow or draw too much by the parametric means are set
 *	from JETWATT_NEW to JETWATT_EXCLUDED
 * @p: set to the prediction of each mode that is not excluded, and unchanged for the others
 * @memory: updated; modes that it has as predicted must have their prediction in @p, and are not predicted
 *	again; NULL: compute everything
 *
 * The parametric means cost little compared with a prediction. The means exclude no mode if the
 * predictor has no means; if references have at least the weight JETWATT_PLAN_REFERENCE_WEIGHT in its
 * prediction, because the means ignore references; or if @beat_ms is 0 and, by the means, no mode is
 * below 85 % of the budget.
 *
 * Return: 0; negative errno.
 */
int jetwatt_plan_predict_possible(const struct jetwatt_fitted *m, const struct jetwatt_mode *mode,
				  size_t n, double budget_w, double beat_ms, unsigned char *seen,
				  struct jetwatt_prediction *p, struct jetwatt_plan_memory *memory);

/**
 * jetwatt_plan_descend() - choose the next mode on a board whose clocks can only be lowered
 * @mode: modes of the board
 * @n: number of modes
 * @row: measured rows
 * @rows: number of rows
 * @most: largest number of rows
 * @next: set to the mode to measure next
 *
 * Neither the CPU clock nor the GPU clock is above that of any measured row, so a profile that is
 * resumed continues with clocks that are no higher than those of its rows. Only the modes of the
 * rows are used, not their times and powers.
 *
 * Return: 0; 1 if no unmeasured mode can be reached or @rows has reached @most; -EINVAL if @n is 0.
 */
int jetwatt_plan_descend(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, size_t most, struct jetwatt_plan_next *next);

/**
 * jetwatt_plan_uncertainty() - mean uncertainty of predictions
 * @p: predictions of all modes
 * @n: number of modes
 * @budget_w: 0: average over all modes; else power budget in watts: average over the modes that
 *	could be the answer, or over all modes if none is predicted to be within the budget
 *
 * Return: mean relative half width of the 95 % intervals, of time or power, whichever is wider.
 */
double jetwatt_plan_uncertainty(const struct jetwatt_prediction *p, size_t n, double budget_w);

/**
 * struct jetwatt_plan_choice - a candidate for the answer
 * @index: index of the mode in the array of modes
 * @measured: 1: the mode has been measured; 0: the mode is only predicted
 * @p: prediction of the mode
 */
struct jetwatt_plan_choice {
	size_t index;
	int measured;
	struct jetwatt_prediction p;
};

/**
 * jetwatt_plan_reading() - combine all measurements of a mode
 * @mode: the mode
 * @row: measured rows
 * @rows: number of rows
 * @mean: set to the means of time and power, weighted by inverse variances, and their relative
 *	standard errors; unchanged if there is no measurement
 *
 * Return: number of measurements of the mode.
 */
size_t jetwatt_plan_reading(const struct jetwatt_mode *mode, const struct jetwatt_row *row,
			    size_t rows, struct jetwatt_row *mean);

/**
 * struct jetwatt_plan_objective - objective and limits of a query
 * @minimise: quantity to minimise: time, power, or energy per minibatch
 * @power_w: limit of the module's mean power, in watts; 0: no limit
 * @time_ms: limit of the time of a minibatch, in milliseconds; 0: no limit
 * @risk: accepted probability that the answer exceeds a limit, for example 0.05; with two limits,
 *	half of it for each
 */
struct jetwatt_plan_objective {
	enum { JETWATT_MIN_TIME, JETWATT_MIN_POWER, JETWATT_MIN_ENERGY } minimise;
	double power_w, time_ms;
	double risk;
};

/**
 * jetwatt_plan_candidates() - rank the candidates for a query
 * @mode: modes of the board
 * @p: predictions of all modes
 * @n: number of modes
 * @row: measured rows
 * @rows: number of rows
 * @q: objective and limits
 * @out: set to the candidates, best first
 * @max: number of entries of @out
 *
 * A mode whose combined measurements exceed a limit is not a candidate, nor is an unmeasured mode
 * that exceeds a limit with more than the accepted probability. To rank above a measured
 * mode, the prediction of an unmeasured mode must be better by half a standard deviation.
 * With a power limit, a measured mode whose single power reading is implausibly low ranks last
 * until it is measured again. A caller that cannot measure takes the first candidate with @measured
 * set.
 *
 * Return: number of candidates written; 0 if there is no candidate (@out[0] is then the mode whose
 * measured or predicted values exceed the limits least); -ENOMEM.
 */
int jetwatt_plan_candidates(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		     const struct jetwatt_row *row, size_t rows,
		     const struct jetwatt_plan_objective *q, struct jetwatt_plan_choice *out,
		     int max);

/* Call jetwatt_plan_candidates() for minimum time within the power budget @budget_w. */
int jetwatt_plan_rank(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p, size_t n,
		      const struct jetwatt_row *row, size_t rows, double budget_w, double risk,
		      struct jetwatt_plan_choice *out, int max);

/*
 * Return: the number of standard deviations above the median that a normal variable exceeds with
 * probability @risk.
 */
double jetwatt_plan_quantile(double risk);

/**
 * jetwatt_plan_required_limits() - the smallest limits that a mode can meet
 * @mode: modes of the board
 * @p: predictions of all modes
 * @n: number of modes
 * @row: measured rows
 * @rows: number of rows
 * @q: objective and limits
 * @power_w: set to the smallest power limit, in watts, that a mode within @q's time limit meets at
 *	@q's risk; INFINITY: no mode is within the time limit
 * @time_ms: set to the smallest time limit, in milliseconds, that a mode within @q's power limit
 *	meets at @q's risk; INFINITY: no mode is within the power limit
 */
void jetwatt_plan_required_limits(const struct jetwatt_mode *mode, const struct jetwatt_prediction *p,
		       size_t n, const struct jetwatt_row *row, size_t rows,
		       const struct jetwatt_plan_objective *q, double *power_w, double *time_ms);

/*
 * Set @out (@n entries) to the indices of the Pareto front, on which less time requires more power,
 * by ascending time. Entries whose time or power is not finite are left out of the front. Return:
 * number of entries of the front.
 */
int jetwatt_plan_front(const double *time, const double *power, size_t n, size_t *out);

#endif
