// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that nobody knows yet, or whose minibatches cannot be told apart: the cap
 * has stepped down for it, and all that is known is power. From the lowest mode
 * up, with all knobs alike, as far as the budget has room.
 */
#include "daemon/loop.h"
#include "util/clock.h"

#include <errno.h>
#include <math.h>

/* From the lowest mode to the highest; one more is the board as it was found. */
#define RUNGS		8
#define FOUND		(RUNGS + 1)
/* So long on a rung shows what it draws. */
#define RUNG_NS		400000000ull
/* Most jobs are seen before that. */
#define LASTS_NS	3000000000ull
/* With so much of the budget drawn the next one may be tried, whatever the last step added. */
#define ROOM		0.7

static double part(double v, double lo, double hi)
{
	return hi > lo ? log(v / lo) / log(hi / lo) : 0;
}

/* Of the knobs that every mode sets. Return: how many. */
static int parts(const struct jetwattd_run *r, const struct jetwatt_mode *m,
		 double p[JETWATT_KNOBS])
{
	int n = 0;

	jetwatt_each_knob(k)
		if (!jetwatt_knob_row(k)->optional)
			p[n++] = part(jetwatt_mode_get(m, k), jetwatt_mode_get(&r->lowest, k),
				      jetwatt_mode_get(&r->highest, k));
	return n;
}

double jetwattd_level(const struct jetwattd_run *r, const struct jetwatt_mode *m, double *least)
{
	double p[JETWATT_KNOBS], sum = 0;
	int n = parts(r, m, p);

	*least = INFINITY;
	for (int i = 0; i < n; i++) {
		*least = fmin(*least, p[i]);
		sum += p[i];
	}
	return sum / n;
}

static const struct jetwatt_mode *on_rung(const struct jetwattd_run *r, int rung)
{
	const struct jetwatt_mode *nearest = &r->d->act.floor;
	double p[JETWATT_KNOBS], far, least = INFINITY;

	for (size_t i = 0; i < r->learn.nr_modes; i++) {
		int n = parts(r, &r->learn.mode[i], p);

		far = 0;
		for (int k = 0; k < n; k++)
			far += (p[k] - (double)rung / RUNGS) * (p[k] - (double)rung / RUNGS);
		if (far < least) {
			least = far;
			nearest = &r->learn.mode[i];
		}
	}
	return nearest;
}

/* The cap has left the rung that we were on. */
static void fallen(struct jetwattd_ladder *l, struct jetwattd *d)
{
	l->most = l->rung ? l->rung - 1 : 0;
	l->rung = jetwatt_mode_same(&d->act.mode, &d->act.floor) ? 0 : l->most;
	l->below_w = 0;
	l->fell_ns = d->act.switched_ns;
	l->since_ns = l->on ? l->since_ns : l->fell_ns;
	l->on = 1;
	d->cap.tripped = 0;
}

static int has_room(const struct jetwattd_ladder *l, struct jetwattd *d)
{
	double limit = jetwattd_limit(d), w = d->cap.here_w;

	return w > 0 && (w < ROOM * limit || (l->below_w > 0 && w * w / l->below_w < limit));
}

int jetwattd_ladder(struct jetwattd_run *r)
{
	struct jetwattd_ladder *l = &r->ladder;
	struct jetwattd *d = r->d;
	uint64_t now = jetwatt_clock_ns();
	int found, lasts;

	pthread_mutex_lock(&d->lock);
	if (d->cap.tripped && d->act.applied)
		fallen(l, d);
	if (now - l->fell_ns > JETWATTD_CALM_S * 1e9)
		l->most = FOUND;
	/* Nothing is to be held any more. */
	found = l->on && !(d->cap.budget_w > 0);
	if (l->on && !found && !d->cap.owing && l->rung < l->most && now - d->act.switched_ns > RUNG_NS &&
	    has_room(l, d)) {
		d->cap.safe = d->act.mode;
		d->cap.safe_w = l->below_w = d->cap.here_w;
		d->cap.have_safe = 1;
		found = ++l->rung == FOUND;
		/* A rung that a knob refuses is left out. */
		if (!found && jetwattd_put(&d->act, on_rung(r, l->rung)) == -EBUSY)
			l->on = 0;
	}
	pthread_mutex_unlock(&d->lock);
	lasts = l->on && !found && now - l->since_ns > LASTS_NS;
	if (lasts && !l->said)
		jetwattd_say(d, "over the budget, by no job that is seen: as high as there is room");
	l->said |= lasts;
	return found;
}

void jetwattd_ladder_leave(struct jetwattd_run *r)
{
	r->ladder.on = r->ladder.said = 0;
	r->ladder.rung = FOUND;
}
