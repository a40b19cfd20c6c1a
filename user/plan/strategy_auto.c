// SPDX-License-Identifier: GPL-2.0-only
/*
 * The strategy "auto": Bayesian optimisation. After an initial design, the strategy chooses the
 * mode with the largest constrained expected improvement. After the measurements of each mode, the
 * surrogate of each workload is fitted again. Fits and plans also use measurements of earlier queries.
 *
 * The cost is the number of modes, not of cells, because switching, settling and disturbing the
 * job cost time per mode: in a new mode up to SIZES worthwhile minibatch sizes are measured.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/acquisition.h"
#include "plan/improvement.h"
#include "plan/search.h"

/* From ENOUGH_MODES modes on, if a plan meets the limits, no new mode is measured whose expected
 * improvement is below ENOUGH. */
#define ENOUGH		2e-4
#define ENOUGH_MODES	8
/* A size is measured if its expected improvement is at least WORTH times that of the mode's best size,
 * which, in a measured mode, must exceed ENOUGH and WORTH_HERE times that of the best new mode. */
#define WORTH		0.3
#define WORTH_HERE	0.1
/* Number of modes of the initial design. */
#define OPENING		2
/* Except for training, from this many modes on, an unmeasured end of the range of cores comes first. */
#define BOTH_ENDS	3
/* Largest number of minibatch sizes that are queued when a mode is chosen. */
#define SIZES		3
/* Growth of @caution (acquisition.h) per consecutive mode over the budget after the first. */
#define CAUTION		0.5
/* Without an incumbent, if no mode has this probability of meeting the limits: infeasible. */
#define HOPELESS	1e-3
/* A measured value may be as low as this share of its predicted value. */
#define SURPRISE	0.6
/* A mode predicted below this multiple of the lowest measured power may in fact draw less. */
#define CLOSE		1.1

/**
 * struct bayes - state of a search by Bayesian optimisation
 * @model: surrogate of each workload
 * @q: query for which the @queued cells of @queue are still to be measured in mode @entered
 * @misses: number of consecutive modes over the budget, without those of the initial design
 * @opening: 1: mode @entered, the one that was chosen last, is part of the initial design
 * @seed: seed of the fits
 * @seen, @worst: scratch arrays: 1 for a measured mode; highest predicted power of each mode
 */
struct bayes {
	struct jetwatt_surrogate model[JETWATT_OBSERVED_WORKS];
	struct jetwatt_slice_query q;
	struct jetwatt_cell queue[1 + 2 * JETWATT_SLICE_SIZES];
	size_t queued, entered, misses;
	int opening;
	uint64_t seed;
	unsigned char *seen;
	struct jetwatt_prediction *worst;
};

static void bayes_free(void *state)
{
	struct bayes *s = state;

	for (size_t w = 0; s && w < JETWATT_OBSERVED_WORKS; w++)
		jetwatt_surrogate_free(&s->model[w]);
	if (s) {
		free(s->seen);
		free(s->worst);
	}
	free(s);
}

static int bayes_new(void **state, const struct jetwatt_observed *k, uint64_t seed)
{
	struct bayes *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	for (size_t w = 0; w < k->works && !err; w++)
		err = jetwatt_surrogate_init(&s->model[w], &k->work[w], k->n);
	if (!err) {
		s->seed = seed;
		s->entered = SIZE_MAX;
		s->seen = malloc(k->n);
		s->worst = malloc(k->n * sizeof(*s->worst));
		err = s->seen && s->worst ? 0 : -ENOMEM;
	}
	if (err) {
		bayes_free(s);
		s = NULL;
	}
	*state = s;
	return err;
}

/* Return: 1 for training, or if a minibatch of this size fills within the latency limit; else 0. */
static int bayes_in_time(const struct jetwatt_observed *k, size_t work, size_t size,
			 const struct jetwatt_slice_query *q)
{
	if (!work && jetwatt_slice_trains(k->kind))
		return 1;
	return 1e3 * k->work[work].size[size] / q->arrival_hz < q->latency_ms;
}

/* Fit the surrogates of all workloads and predict all modes. */
static int bayes_fit(struct bayes *s, const struct jetwatt_observed *k,
		     const struct jetwatt_slice_query *q)
{
	int err = 0, full = 1;

	/* At most one full fit that could be postponed: two would delay the search noticeably. */
	for (size_t w = k->works; w-- > 0 && !err;)
		err = jetwatt_surrogate_fit(&s->model[w], k, &k->work[w], q->power_w, s->seed, &full);
	for (size_t w = 0; w < k->works; w++)
		for (size_t z = 0; z < k->work[w].sizes && !err; z++)
			if (bayes_in_time(k, w, z, q))
				err = jetwatt_surrogate_predict(&s->model[w], k, &k->work[w], z);
	return err;
}

static struct jetwatt_estimate bayes_estimate(const struct bayes *s, const struct jetwatt_observed *k,
					      size_t work, size_t size, size_t mode)
{
	return jetwatt_surrogate_estimate(&s->model[work], k, &k->work[work], size, mode);
}

/* Set @best to a mode's largest acquisition value over minibatch sizes with an unmeasured cell. */
static void bayes_acquisition(const struct bayes *s, const struct jetwatt_observed *k,
			      const struct jetwatt_incumbent *inc, size_t mode,
			      struct jetwatt_acquisition *best)
{
	const struct jetwatt_workload_data *a = &k->work[0], *b = &k->work[k->works - 1];

	*best = (struct jetwatt_acquisition){ .score = -1 };
	for (size_t i = 0; i < a->sizes; i++) {
		if (!bayes_in_time(k, 0, i, inc->q))
			continue;
		for (size_t j = 0; j < (k->works > 1 ? b->sizes : 1); j++) {
			struct jetwatt_estimate g[JETWATT_OBSERVED_WORKS];
			const uint32_t size[] = { a->size[i], b->size[j] };
			double ok, score;

			if (k->works > 1 && !bayes_in_time(k, 1, j, inc->q))
				continue;
			g[0] = bayes_estimate(s, k, 0, i, mode);
			if (k->works > 1)
				g[1] = bayes_estimate(s, k, 1, j, mode);
			if (!(g[0].time_sd > 0) && (k->works == 1 || !(g[1].time_sd > 0)))
				continue;
			score = jetwatt_acquisition_of(inc, g, size, &ok);
			if (score > best->score)
				*best = (struct jetwatt_acquisition){ score, ok, { i, j } };
		}
	}
}

/* Queue a cell, unless the cell is measured or queued already. */
static void bayes_enqueue(struct bayes *s, const struct jetwatt_observed *k, size_t work,
			  size_t size, size_t mode)
{
	struct jetwatt_cell c = { work, size, mode };

	if (jetwatt_observed_has(k, &c))
		return;
	for (size_t i = 0; i < s->queued; i++)
		if (s->queue[i].work == work && s->queue[i].size == size)
			return;
	s->queue[s->queued++] = c;
}

/* Choose a mode: queue its best minibatch size and up to SIZES - 1 others worth measuring. */
static void bayes_enter_mode(struct bayes *s, const struct jetwatt_observed *k,
			     const struct jetwatt_incumbent *inc, size_t mode,
			     const struct jetwatt_acquisition *h)
{
	size_t last = k->works - 1;
	double score[JETWATT_SLICE_SIZES];

	s->entered = mode;
	for (size_t w = 0; w < k->works; w++)
		bayes_enqueue(s, k, w, h->size[w], mode);
	if (inc->kind == JETWATT_SLICE_TRAIN)
		return;
	for (size_t z = 0; z < k->work[last].sizes; z++) {
		const uint32_t size[] = { k->work[0].size[h->size[0]], k->work[last].size[z] };
		struct jetwatt_estimate g[JETWATT_OBSERVED_WORKS];
		double ok;

		g[0] = bayes_estimate(s, k, 0, h->size[0], mode);
		g[last] = bayes_estimate(s, k, last, z, mode);
		score[z] = bayes_in_time(k, last, z, inc->q) && g[last].time_sd > 0 ?
				   jetwatt_acquisition_of(inc, g, last ? size : size + 1, &ok) : -1;
	}
	for (int more = 1; more < SIZES; more++) {
		size_t top = h->size[last];
		double most = WORTH * h->score;

		for (size_t z = 0; z < k->work[last].sizes; z++)
			if (z != h->size[last] && score[z] >= most && score[z] > 0) {
				most = score[z];
				top = z;
			}
		if (top == h->size[last])
			break;
		score[top] = -1;
		bayes_enqueue(s, k, last, top, mode);
	}
}

/* Choose a mode of the initial design: training, the largest size within the latency limit, and one
 * more size that differs from mode to mode. */
static int bayes_initial_design(struct bayes *s, const struct jetwatt_observed *k,
				const struct jetwatt_slice_query *q, size_t modes)
{
	struct jetwatt_search d = { .mode = k->mode, .n = k->n, .rows = modes,
				    .budget_w = q->power_w, .seen = s->seen, .p = s->worst };
	struct jetwatt_plan_next next;
	int err;

	for (size_t i = 0; i < k->n; i++) {
		s->worst[i] = (struct jetwatt_prediction){ 0 };
		for (size_t w = 0; w < k->works && modes; w++)
			for (size_t z = 0; z < k->work[w].sizes; z++)
				if (s->model[w].good[z])
					s->worst[i].power_w =
						fmax(s->worst[i].power_w,
						     bayes_estimate(s, k, w, z, i).power_w);
	}
	err = jetwatt_design_next(&d, &next);
	if (err)
		return err;
	s->entered = next.index;
	s->opening = 1;
	for (size_t w = 0; w < k->works; w++) {
		size_t fit = 0, z = k->work[w].sizes;

		while (z-- > 0)
			fit += bayes_in_time(k, w, z, q);
		for (z = 0; z < k->work[w].sizes; z++)
			if (bayes_in_time(k, w, z, q)) {
				fit--;
				if (!fit || fit == (modes + 1) % (fit + z + 1))
					bayes_enqueue(s, k, w, z, next.index);
			}
	}
	return s->queued ? 0 : 1;
}

/* Count consecutive modes over the budget, without those of the initial design. */
static void bayes_count_miss(struct bayes *s, const struct jetwatt_observed *k)
{
	if (s->entered == SIZE_MAX)
		return;
	if (!jetwatt_observed_over(k, s->entered, s->q.power_w))
		s->misses = 0;
	else if (!s->opening)
		s->misses++;
	s->entered = SIZE_MAX;
	s->opening = 0;
}

/* Set @inc to the best measured plan. @left: number of new modes that may be measured. */
static void bayes_set_incumbent(const struct bayes *s, const struct jetwatt_observed *k,
		const struct jetwatt_slice_query *q, size_t left, struct jetwatt_incumbent *inc)
{
	struct jetwatt_slice_plan plan;
	double top = 0;

	*inc = (struct jetwatt_incumbent){ .kind = k->kind, .q = q, .caution = 1 };
	inc->sd_factor = k->kind == JETWATT_SLICE_TRAIN ? jetwatt_plan_sd_factor(left) : 1;
	if (s->misses > 1)
		inc->caution += CAUTION * (s->misses - 1);
	inc->any = jetwatt_observed_best(k, q, &plan);
	inc->none = !inc->any;
	if (k->kind == JETWATT_SLICE_TRAIN) {
		for (size_t i = 0; i < k->n; i++)
			top = fmax(top, bayes_estimate(s, k, 0, 0, i).time_ms);
		inc->best = inc->any ? plan.time_ms : top;
	} else if (k->kind == JETWATT_SLICE_TRAIN_AND_INFER) {
		for (size_t i = 0; i < k->n; i++)
			top = fmax(top, 1e3 / bayes_estimate(s, k, 0, 0, i).time_ms);
		/* Improvements are relative to the incumbent's throughput, which must not be 0. */
		inc->any = inc->any && plan.tau;
		inc->best = inc->any ? plan.throughput_hz : top;
	} else {
		inc->best = inc->any ? plan.latency_ms : q->latency_ms;
	}
}

/* No new mode may be measured or none is worth it: try other sizes in modes measured for this
 * query. Measurements deviate from predictions more often than the standard deviations say: choose
 * the size that improves the incumbent most if its time and power are SURPRISE times the predicted
 * ones. Return: 0: a cell was queued; 1: no size improves it, or @kind is not train and infer. */
static int bayes_remaining_sizes(struct bayes *s, const struct jetwatt_observed *k,
				 const struct jetwatt_incumbent *inc)
{
	size_t last = k->works - 1, mode = 0, size = 0;
	double most = 0;

	if (k->kind != JETWATT_SLICE_TRAIN_AND_INFER)
		return 1;
	for (size_t i = 0; i < k->n; i++) {
		struct jetwatt_estimate t;

		if (!k->fresh[i])
			continue;
		t = bayes_estimate(s, k, 0, 0, i);
		if (t.time_sd > 0 || t.power_w > inc->q->power_w)
			continue;
		for (size_t z = 0; z < k->work[last].sizes; z++) {
			struct jetwatt_estimate f = bayes_estimate(s, k, last, z, i);
			double window = 1e3 * k->work[last].size[z] / inc->q->arrival_hz, wait, rate;

			if (!(f.time_sd > 0) || !bayes_in_time(k, last, z, inc->q))
				continue;
			wait = f.time_ms * SURPRISE;
			if (wait > fmin(inc->q->latency_ms - window, window) ||
			    f.power_w * SURPRISE > inc->q->power_w)
				continue;
			rate = 1e3 * jetwatt_slice_tau(window, wait, t.time_ms) / window;
			if (rate > (inc->any ? inc->best : 0) && rate > most) {
				most = rate;
				mode = i;
				size = z;
			}
		}
	}
	if (!(most > 0))
		return 1;
	s->entered = mode;
	bayes_enqueue(s, k, last, size, mode);
	return s->queued ? 0 : 1;
}

/* No mode is likely to meet the limits: choose the mode with the lowest predicted power, if it may
 * draw less power than the lowest measured power. Return: 0; 1 if no such mode exists. */
static int bayes_closest(struct bayes *s, const struct jetwatt_observed *k,
			 const struct jetwatt_slice_query *q, const struct jetwatt_acquisition *h)
{
	double least = INFINITY, drawn = INFINITY;
	size_t mode = 0;

	for (size_t i = 0; i < k->n; i++) {
		double most = 0;

		for (size_t w = 0; w < k->works; w++)
			for (size_t z = 0; z < k->work[w].sizes; z++)
				if (s->model[w].good[z] && bayes_in_time(k, w, z, q))
					most = fmax(most, bayes_estimate(s, k, w, z, i).power_w);
		if (s->seen[i]) {
			drawn = fmin(drawn, most);
		} else if (most < least) {
			least = most;
			mode = i;
		}
	}
	if (!(least < CLOSE * drawn))
		return 1;
	s->entered = mode;
	for (size_t w = 0; w < k->works; w++)
		bayes_enqueue(s, k, w, h->size[w], mode);
	return s->queued ? 0 : 1;
}

/* Return: 1 if the references predict all workloads well enough to skip the initial design. */
static int bayes_skip_design(const struct bayes *s, const struct jetwatt_observed *k)
{
	for (size_t w = 0; w < k->works; w++)
		if (jetwatt_fitted_reference_weight(s->model[w].m) < JETWATT_PLAN_REFERENCE_WEIGHT)
			return 0;
	return 1;
}

/* Choose the next mode by expected improvement. Return: 0; 1 if no mode is worth measuring. */
static int bayes_choose(struct bayes *s, const struct jetwatt_observed *k,
			const struct jetwatt_slice_query *q, size_t most, size_t modes)
{
	struct jetwatt_acquisition top = { .score = -1 }, here = { .score = -1 }, h;
	struct jetwatt_incumbent inc;
	int missing = 0;
	size_t at = 0, at_here = 0;
	double ok = 0, range[2] = { 0, 0 };

	bayes_set_incumbent(s, k, q, most > k->modes ? most - k->modes : 0, &inc);
	if (k->kind != JETWATT_SLICE_TRAIN && modes >= BOTH_ENDS && !bayes_skip_design(s, k))
		missing = jetwatt_observed_ends_missing(k, s->seen, range);
	for (size_t i = 0; i < k->n; i++) {
		struct jetwatt_acquisition *best = k->fresh[i] ? &here : &top;

		if (!k->fresh[i] && k->modes >= most)
			continue;
		if (missing && !k->fresh[i] && !(jetwatt_observed_end_of(k, i, range) & missing))
			continue;
		bayes_acquisition(s, k, &inc, i, &h);
		ok = fmax(ok, h.ok);
		if (h.score > best->score) {
			*best = h;
			*(k->fresh[i] ? &at_here : &at) = i;
		}
	}
	if (here.score > ENOUGH && here.score > WORTH_HERE * top.score) {
		bayes_enter_mode(s, k, &inc, at_here, &here);
		return 0;
	}
	if (top.score >= 0 && !inc.any && ok < HOPELESS)
		return bayes_closest(s, k, q, &top);
	if (top.score < 0 || (!inc.none && top.score < ENOUGH && modes >= ENOUGH_MODES))
		return bayes_remaining_sizes(s, k, &inc);
	bayes_enter_mode(s, k, &inc, at, &top);
	return 0;
}

static int bayes_next(void *state, const struct jetwatt_observed *k,
		      const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *next)
{
	struct bayes *s = state;
	size_t modes;
	int err = 0;

	if (!k->measured) {
		s->queued = s->misses = 0;
		s->entered = SIZE_MAX;
	}
	s->q = *q;
	/* Except in the initial design, discard the queued cells of a mode over the budget. */
	if (s->queued && !s->opening && jetwatt_observed_over(k, s->entered, q->power_w))
		s->queued = 0;
	if (!s->queued) {
		bayes_count_miss(s, k);
		modes = jetwatt_observed_modes(k, s->seen);
		err = bayes_fit(s, k, q);
		if (!err && modes < OPENING && !bayes_skip_design(s, k))
			err = k->modes < most ? bayes_initial_design(s, k, q, modes) : 1;
		else if (!err)
			err = bayes_choose(s, k, q, most, modes);
		if (!err && !s->queued)
			err = 1;
	}
	if (err)
		return err;
	*next = s->queue[0];
	memmove(s->queue, s->queue + 1, --s->queued * sizeof(*s->queue));
	return 0;
}

const struct jetwatt_strategy jetwatt_strategy_auto = {
	.name = "auto", .does = "Bayesian optimisation, using all earlier measurements",
	.modes = 15, .new = bayes_new, .next = bayes_next, .free = bayes_free,
};
