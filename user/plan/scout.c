// SPDX-License-Identifier: GPL-2.0-only
/*
 * The strategy auto: a few modes that move every knob, then always the mode that
 * promises most, by a model of each workload that is fitted again after each.
 * Whatever was measured for earlier queries is in the models and in the answer.
 *
 * What counts is modes, since switching, settling and disturbing the job is per
 * mode: in one that was entered all sizes that still promise something are
 * measured.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/scout.h"
#include "plan/search.h"

/* With a plan at hand: nothing worth a measurement, as a share of it, once so many
 * modes are. */
#define ENOUGH		2e-4
#define ENOUGH_MODES	8
/* A size is worth measuring in a mode with this share of the promise of the best
 * one there; a mode that was entered already, with this share of that of all. */
#define WORTH		0.3
#define WORTH_HERE	0.1
/* Modes that are laid out by hand before the models lead. */
#define OPENING		2
/* From so many on they have been at both ends of the range of cores. */
#define BOTH_ENDS	3
/* Sizes a mode, when it is entered. */
#define SIZES		3
/* What misses in a row add to the weight of the budget. */
#define CAUTION		0.5
/* No mode will do, as far as one can know. */
#define HOPELESS	1e-3
/* A reading may be so far below what is predicted. */
#define SURPRISE	0.6
/* So far above the least power measured one that was not may still turn out lower. */
#define CLOSE		1.1

/**
 * struct scout
 * @queue: cells to come in the mode that was entered, @queued of them
 * @q: the query they are for; @misses: modes over the budget since one that was not
 * @entered: the mode entered last; @opening: it was one of the first few
 */
struct scout {
	struct jetwatt_view view[JETWATT_KNOWN_WORKS];
	struct jetwatt_slice_query q;
	struct jetwatt_cell queue[1 + 2 * JETWATT_SLICE_SIZES];
	size_t queued, entered, misses;
	int opening;
	uint64_t seed;
	unsigned char *seen;
	struct jetwatt_prediction *worst;
};

static void scout_free(void *state)
{
	struct scout *s = state;

	for (size_t w = 0; s && w < JETWATT_KNOWN_WORKS; w++)
		jetwatt_view_free(&s->view[w]);
	if (s) {
		free(s->seen);
		free(s->worst);
	}
	free(s);
}

static int scout_new(void **state, const struct jetwatt_known *k, uint64_t seed)
{
	struct scout *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	for (size_t w = 0; w < k->works && !err; w++)
		err = jetwatt_view_init(&s->view[w], &k->work[w], k->n);
	if (!err) {
		s->seed = seed;
		s->entered = SIZE_MAX;
		s->seen = malloc(k->n);
		s->worst = malloc(k->n * sizeof(*s->worst));
		err = s->seen && s->worst ? 0 : -ENOMEM;
	}
	if (err) {
		scout_free(s);
		s = NULL;
	}
	*state = s;
	return err;
}

/* May a minibatch of this size wait to be full? */
static int in_time(const struct jetwatt_known *k, size_t work, size_t size,
		   const struct jetwatt_slice_query *q)
{
	if (!work && jetwatt_slice_trains(k->kind))
		return 1;
	return 1e3 * k->work[work].size[size] / q->arrival_hz < q->latency_ms;
}

static int learn(struct scout *s, const struct jetwatt_known *k,
		 const struct jetwatt_slice_query *q)
{
	int err = 0, whole = 1;

	/* One at a time: two whole fits in one step would be felt. */
	for (size_t w = k->works; w-- > 0 && !err;)
		err = jetwatt_view_fit(&s->view[w], k, &k->work[w], q->power_w, s->seed, &whole);
	for (size_t w = 0; w < k->works && !err; w++)
		for (size_t z = 0; z < k->work[w].sizes && !err; z++)
			if (in_time(k, w, z, q))
				err = jetwatt_view_predict(&s->view[w], k, &k->work[w], z);
	return err;
}

static struct jetwatt_guess guess(const struct scout *s, const struct jetwatt_known *k, size_t work,
				  size_t size, size_t mode)
{
	return jetwatt_view_guess(&s->view[work], k, &k->work[work], size, mode);
}

/* Over all sizes of a mode that leave something to be measured. */
static void hope(const struct scout *s, const struct jetwatt_known *k,
		 const struct jetwatt_goal *goal, size_t mode, struct jetwatt_hope *best)
{
	const struct jetwatt_tenant *a = &k->work[0], *b = &k->work[k->works - 1];

	*best = (struct jetwatt_hope){ .score = -1 };
	for (size_t i = 0; i < a->sizes; i++) {
		if (!in_time(k, 0, i, goal->q))
			continue;
		for (size_t j = 0; j < (k->works > 1 ? b->sizes : 1); j++) {
			struct jetwatt_guess g[JETWATT_KNOWN_WORKS];
			const uint32_t size[] = { a->size[i], b->size[j] };
			double ok, score;

			if (k->works > 1 && !in_time(k, 1, j, goal->q))
				continue;
			g[0] = guess(s, k, 0, i, mode);
			if (k->works > 1)
				g[1] = guess(s, k, 1, j, mode);
			if (!(g[0].time_sd > 0) && (k->works == 1 || !(g[1].time_sd > 0)))
				continue;
			score = jetwatt_hope_of(goal, g, size, &ok);
			if (score > best->score)
				*best = (struct jetwatt_hope){ score, ok, { i, j } };
		}
	}
}

static void enqueue(struct scout *s, const struct jetwatt_known *k, size_t work, size_t size,
		    size_t mode)
{
	struct jetwatt_cell c = { work, size, mode };

	if (jetwatt_known_has(k, &c))
		return;
	for (size_t i = 0; i < s->queued; i++)
		if (s->queue[i].work == work && s->queue[i].size == size)
			return;
	s->queue[s->queued++] = c;
}

/* The sizes of a mode that are worth it, best first. */
static void enter(struct scout *s, const struct jetwatt_known *k, const struct jetwatt_goal *goal,
		  size_t mode, const struct jetwatt_hope *h)
{
	size_t last = k->works - 1;
	double score[JETWATT_SLICE_SIZES];

	s->entered = mode;
	for (size_t w = 0; w < k->works; w++)
		enqueue(s, k, w, h->size[w], mode);
	if (goal->kind == JETWATT_SLICE_TRAIN)
		return;
	for (size_t z = 0; z < k->work[last].sizes; z++) {
		const uint32_t size[] = { k->work[0].size[h->size[0]], k->work[last].size[z] };
		struct jetwatt_guess g[JETWATT_KNOWN_WORKS];
		double ok;

		g[0] = guess(s, k, 0, h->size[0], mode);
		g[last] = guess(s, k, last, z, mode);
		score[z] = in_time(k, last, z, goal->q) && g[last].time_sd > 0 ?
			   jetwatt_hope_of(goal, g, last ? size : size + 1, &ok) : -1;
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
		enqueue(s, k, last, top, mode);
	}
}

/* One of the first few: training, the largest size that may do, and another one
 * that differs from mode to mode. */
static int open_with(struct scout *s, const struct jetwatt_known *k,
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
				if (s->view[w].good[z])
					s->worst[i].power_w = fmax(s->worst[i].power_w,
								   guess(s, k, w, z, i).power_w);
	}
	err = jetwatt_design_next(&d, &next);
	if (err)
		return err;
	s->entered = next.index;
	s->opening = 1;
	for (size_t w = 0; w < k->works; w++) {
		size_t fit = 0, z = k->work[w].sizes;

		while (z-- > 0)
			fit += in_time(k, w, z, q);
		for (z = 0; z < k->work[w].sizes; z++)
			if (in_time(k, w, z, q)) {
				fit--;
				if (!fit || fit == (modes + 1) % (fit + z + 1))
					enqueue(s, k, w, z, next.index);
			}
	}
	return s->queued ? 0 : 1;
}

/* What the last mode entered has shown. */
static void look_back(struct scout *s, const struct jetwatt_known *k)
{
	if (s->entered == SIZE_MAX)
		return;
	if (!jetwatt_known_over(k, s->entered, s->q.power_w))
		s->misses = 0;
	else if (!s->opening)
		s->misses++;
	s->entered = SIZE_MAX;
	s->opening = 0;
}

static void aim(const struct scout *s, const struct jetwatt_known *k,
		const struct jetwatt_slice_query *q, struct jetwatt_goal *goal)
{
	struct jetwatt_slice_plan plan;
	double top = 0;

	*goal = (struct jetwatt_goal){ .kind = k->kind, .q = q, .caution = 1 };
	if (s->misses > 1)
		goal->caution += CAUTION * (s->misses - 1);
	goal->any = jetwatt_known_answer(k, q, &plan);
	goal->none = !goal->any;
	if (k->kind == JETWATT_SLICE_TRAIN) {
		for (size_t i = 0; i < k->n; i++)
			top = fmax(top, guess(s, k, 0, 0, i).time_ms);
		goal->best = goal->any ? plan.time_ms : top;
	} else if (k->kind == JETWATT_SLICE_BESIDE) {
		for (size_t i = 0; i < k->n; i++)
			top = fmax(top, 1e3 / guess(s, k, 0, 0, i).time_ms);
		/* A plan that leaves no room for training is one, but no scale. */
		goal->any = goal->any && plan.tau;
		goal->best = goal->any ? plan.throughput_hz : top;
	} else {
		goal->best = goal->any ? plan.latency_ms : q->latency_ms;
	}
}

/*
 * No mode may be entered any more, or none is worth it: what is left is sizes of modes that
 * were entered, which cost no switch. Readings err more often than a model's deviations say:
 * the one of them that would better the best plan by most if it took a part less time
 * than predicted and kept the power, which a model denies by less than that, is looked at.
 */
static int glean(struct scout *s, const struct jetwatt_known *k, const struct jetwatt_goal *goal)
{
	size_t last = k->works - 1, mode = 0, size = 0;
	double most = 0;

	if (k->kind != JETWATT_SLICE_BESIDE)
		return 1;
	for (size_t i = 0; i < k->n; i++) {
		struct jetwatt_guess t;

		if (!k->fresh[i])
			continue;
		t = guess(s, k, 0, 0, i);
		if (t.time_sd > 0 || t.power_w > goal->q->power_w)
			continue;
		for (size_t z = 0; z < k->work[last].sizes; z++) {
			struct jetwatt_guess f = guess(s, k, last, z, i);
			double window = 1e3 * k->work[last].size[z] / goal->q->arrival_hz, wait, rate;

			if (!(f.time_sd > 0) || !in_time(k, last, z, goal->q))
				continue;
			wait = f.time_ms * SURPRISE;
			if (wait > fmin(goal->q->latency_ms - window, window) ||
			    f.power_w * SURPRISE > goal->q->power_w)
				continue;
			rate = 1e3 * jetwatt_slice_tau(window, wait, t.time_ms) / window;
			if (rate > (goal->any ? goal->best : 0) && rate > most) {
				most = rate;
				mode = i;
				size = z;
			}
		}
	}
	if (!(most > 0))
		return 1;
	s->entered = mode;
	enqueue(s, k, last, size, mode);
	return s->queued ? 0 : 1;
}

/* Nothing will do as far as one can know: the modes that draw least, while they may
 * draw less than those that were measured. */
static int closest(struct scout *s, const struct jetwatt_known *k,
		   const struct jetwatt_slice_query *q, const struct jetwatt_hope *h)
{
	double least = INFINITY, drawn = INFINITY;
	size_t mode = 0;

	for (size_t i = 0; i < k->n; i++) {
		double most = 0;

		for (size_t w = 0; w < k->works; w++)
			for (size_t z = 0; z < k->work[w].sizes; z++)
				if (s->view[w].good[z] && in_time(k, w, z, q))
					most = fmax(most, guess(s, k, w, z, i).power_w);
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
		enqueue(s, k, w, h->size[w], mode);
	return s->queued ? 0 : 1;
}

/* Do other workloads stand in for the first modes of all of these? */
static int foreseen(const struct scout *s, const struct jetwatt_known *k)
{
	for (size_t w = 0; w < k->works; w++)
		if (jetwatt_fitted_foreseen(s->view[w].m) < JETWATT_PLAN_FORESEEN)
			return 0;
	return 1;
}

static int choose(struct scout *s, const struct jetwatt_known *k,
		  const struct jetwatt_slice_query *q, size_t most, size_t modes)
{
	struct jetwatt_hope top = { .score = -1 }, here = { .score = -1 }, h;
	struct jetwatt_goal goal;
	int missing = 0;
	size_t at = 0, at_here = 0;
	double ok = 0, range[2] = { 0, 0 };

	aim(s, k, q, &goal);
	if (modes >= BOTH_ENDS && !foreseen(s, k))
		missing = jetwatt_known_ends_missing(k, s->seen, range);
	for (size_t i = 0; i < k->n; i++) {
		struct jetwatt_hope *best = k->fresh[i] ? &here : &top;

		if (!k->fresh[i] && k->modes >= most)
			continue;
		if (missing && !k->fresh[i] && !(jetwatt_known_end_of(k, i, range) & missing))
			continue;
		hope(s, k, &goal, i, &h);
		ok = fmax(ok, h.ok);
		if (h.score > best->score) {
			*best = h;
			*(k->fresh[i] ? &at_here : &at) = i;
		}
	}
	if (here.score > ENOUGH && here.score > WORTH_HERE * top.score) {
		enter(s, k, &goal, at_here, &here);
		return 0;
	}
	if (top.score < 0)
		return glean(s, k, &goal);
	if (!goal.any && ok < HOPELESS)
		return closest(s, k, q, &top);
	if (!goal.none && top.score < ENOUGH && modes >= ENOUGH_MODES)
		return glean(s, k, &goal);
	enter(s, k, &goal, at, &top);
	return 0;
}

static int scout_next(void *state, const struct jetwatt_known *k,
		      const struct jetwatt_slice_query *q, size_t most, struct jetwatt_cell *next)
{
	struct scout *s = state;
	size_t modes;
	int err = 0;

	if (!k->measured) {
		s->queued = s->misses = 0;
		s->entered = SIZE_MAX;
	}
	s->q = *q;
	/* A mode that has turned out to be over the budget needs no more sizes. */
	if (s->queued && !s->opening && jetwatt_known_over(k, s->entered, q->power_w))
		s->queued = 0;
	if (!s->queued) {
		look_back(s, k);
		modes = jetwatt_known_modes(k, s->seen);
		err = learn(s, k, q);
		if (!err && modes < OPENING && !foreseen(s, k))
			err = k->modes < most ? open_with(s, k, q, modes) : 1;
		else if (!err)
			err = choose(s, k, q, most, modes);
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
	.name = "auto", .does = "Model-guided, with all that was measured before", .modes = 15,
	.new = scout_new, .next = scout_next, .free = scout_free,
};
