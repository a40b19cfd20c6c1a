/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acquisition function of the strategy "auto": constrained expected improvement, for each kind of
 * plan (enum jetwatt_slice_kind).
 */
#ifndef JETWATT_ACQUISITION_H
#define JETWATT_ACQUISITION_H

#include "plan/strategy.h"
#include "plan/surrogate.h"

/**
 * struct jetwatt_acquisition - acquisition value of a mode
 * @score: result of jetwatt_acquisition_of(); negative: the mode has no cell left to measure
 * @ok: probability of meeting all limits, as jetwatt_acquisition_of() sets it
 * @size: index of the minibatch size of each workload that gives this value
 */
struct jetwatt_acquisition {
	double score, ok;
	size_t size[JETWATT_OBSERVED_WORKS];
};

/**
 * struct jetwatt_incumbent - incumbent (the best measured plan within the limits) and query
 * @kind: kind of the plan
 * @q: the limits
 * @best: objective of the incumbent: time in milliseconds, latency in milliseconds, or minibatches
 *	per second, by @kind. If @any is 0: the scale of the improvement, in the same unit
 * @caution: exponent of the probability of meeting the power budget
 * @sd_factor: factor on the standard deviations of unmeasured cells
 * @any: 1: @best is the objective of the incumbent; 0: there is no incumbent to improve
 * @none: 1: no measured plan meets the limits, not even inference without training
 */
struct jetwatt_incumbent {
	enum jetwatt_slice_kind kind;
	const struct jetwatt_slice_query *q;
	double best, caution, sd_factor;
	int any, none;
};

/*
 * Return: the expected improvement of a plan, as a share of @best of @inc, times the probability of
 * meeting the power budget raised to the power @caution; 0 if this probability is below 1e-6. If
 * @none of @inc is set, meeting the limits with inference counts as a small improvement. @g:
 * time and power of each workload at the minibatch sizes of the plan; @size: samples in a minibatch
 * of each workload; @ok: set to the probability of meeting all limits, its factor for the power
 * budget raised to @caution too.
 */
double jetwatt_acquisition_of(const struct jetwatt_incumbent *inc, const struct jetwatt_estimate *g,
		       const uint32_t *size, double *ok);

#endif
