// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a job does, learned from minibatches that are marked already.
 *
 * Everything is a median of differences, between places of one minibatch or
 * between a place and itself one minibatch later: what is odd has no weight,
 * and a job whose speed changes differs from itself only where it does.
 */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define GROUPS_MIN	4
#define GAP_SD		0.04	/* at least, as nothing is more regular */
#define WAIT_SD		0.02
#define CALLER		0.95	/* of the groups have the same one at a place */
#define TO_SD		1.3	/* median distance of two values to a deviation; 1.05 were they normal */
#define STALLED		5.0	/* deviations by which a first gap is odd */

/* Median, by Hoare's selection: values are put in another order. */
static double middle(double *v, size_t n)
{
	size_t lo = 0, hi = n ? n - 1 : 0, mid = n / 2;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			double t = v[i];

			v[i++] = v[j];
			v[j--] = t;
		}
		if (mid <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return n ? v[mid] : 0;
}

static size_t starts(const struct jetwatt_beat *b, size_t n, int k, bool other, size_t *at)
{
	size_t count = 0, end;

	/* The first gap is not known. */
	for (size_t i = 1; i < n; i = end) {
		for (end = i + 1; end < n && !b[end].first && b[end].other == b[i].other &&
		     !(b[end].place & JETWATT_PLACE_EXTRA); end++)
			;
		if (b[i].first && b[i].other == other && end - i == (size_t)k &&
		    b[i].place != JETWATT_PLACE_NONE)
			at[count++] = i;
	}
	return count;
}

static double value(const struct jetwatt_beat *b, bool wait)
{
	return wait ? b->wait : b->gap;
}

static double step(const struct jetwatt_beat *b, const size_t *at, size_t n, int p, bool wait,
		   double *room)
{
	for (size_t j = 0; j < n; j++)
		room[j] = value(&b[at[j] + (size_t)p], wait) - value(&b[at[j] + (size_t)p - 1], wait);
	return middle(room, n);
}

static double scatter(const struct jetwatt_beat *b, const size_t *at, size_t n, int p, bool wait,
		      double *room)
{
	for (size_t j = 0; j + 1 < n; j++)
		room[j] = fabs(value(&b[at[j + 1] + (size_t)p], wait) -
			       value(&b[at[j] + (size_t)p], wait));
	return TO_SD * middle(room, n - 1);
}

/* The caller at a place, 0: several. */
static uint32_t caller(const struct jetwatt_beat *b, const size_t *at, size_t n, int p)
{
	uint32_t who = 0;
	size_t votes = 0, same = 0;

	for (size_t j = 0; j < n; j++) {
		uint32_t w = b[at[j] + (size_t)p].who;

		if (!votes)
			who = w;
		votes += w == who ? 1 : votes ? -1u : 0;
	}
	for (size_t j = 0; j < n; j++)
		same += b[at[j] + (size_t)p].who == who;
	return (double)same >= CALLER * (double)n ? who : 0;
}

int jetwatt_template_learn(const struct jetwatt_beat *b, size_t n, int k, bool other,
			   struct jetwatt_cycle *c, double *room)
{
	size_t *at = malloc((n + 1) * sizeof(*at)), count;

	if (!at)
		return -ENOMEM;
	count = starts(b, n, k, other, at);
	c->k = 0;
	if (count < GROUPS_MIN) {
		free(at);
		return -ENODATA;
	}
	for (int p = 0; p < k; p++) {
		struct jetwatt_place *to = &c->place[p];

		*to = (struct jetwatt_place){ 0 };
		if (p) {
			to->gap = to[-1].gap + step(b, at, count, p, false, room);
			to->wait = to[-1].wait + step(b, at, count, p, true, room);
		}
		to->gap_sd = fmax(GAP_SD, scatter(b, at, count, p, false, room));
		to->wait_sd = fmax(WAIT_SD, scatter(b, at, count, p, true, room));
		to->who = caller(b, at, count, p);
	}
	c->k = k;
	free(at);
	return 0;
}

/* Where is a marked wait in its cycle? Follows the speed of the training. */
struct tracker {
	const struct jetwatt_cycle *train;
	double gap[2], wait;	/* of first gaps and of others */
	bool known;
};

static void follow(struct tracker *t, const struct jetwatt_beat *b)
{
	const struct jetwatt_place *p;

	if (b->other || b->place >= t->train->k || b->odd)
		return;
	p = &t->train->place[b->place];
	t->gap[b->place > 0] = b->gap - p->gap;
	if (!t->known)
		t->gap[!b->place] = t->gap[b->place > 0];
	t->wait = b->wait - p->wait;
	t->known = true;
}

/* Gap or wait of marked waits relative to the speed around them. */
static double offset(const struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *train,
		     const struct jetwatt_cycle *eval, bool wait, double *room, double *sd)
{
	struct tracker t = { .train = train };
	size_t count = 0;
	double mid;

	for (size_t i = 1; i < n; i++) {
		double own;

		follow(&t, &b[i]);
		if (!t.known || (eval ? !b[i].other || b[i].place >= eval->k
				      : !(b[i].place & JETWATT_PLACE_EXTRA)))
			continue;
		own = eval ? value(&b[i], wait) - (wait ? eval->place[b[i].place].wait
						       : eval->place[b[i].place].gap)
			   : value(&b[i], wait);
		/* An extra one's gap is like those inside a minibatch, if there are. */
		room[count++] = own - (wait ? t.wait : t.gap[eval ? b[i].place > 0 : train->k > 1]);
	}
	mid = middle(room, count);
	for (size_t i = 0; i < count; i++)
		room[i] = fabs(room[i] - mid);
	*sd = 1.48 * middle(room, count);
	return mid;
}

void jetwatt_template_shift(const struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *train,
			    struct jetwatt_cycle *eval, double *room)
{
	double sd, gap = offset(b, n, train, eval, false, room, &sd);
	double wait = offset(b, n, train, eval, true, room, &sd);

	for (int p = 0; p < eval->k; p++) {
		eval->place[p].gap += gap;
		eval->place[p].wait += wait;
	}
}

void jetwatt_template_extra(const struct jetwatt_beat *b, size_t n, struct jetwatt_motif *m,
			    double *room)
{
	struct jetwatt_place *x = &m->extra;

	*x = (struct jetwatt_place){ 0 };
	x->gap = offset(b, n, &m->train, NULL, false, room, &x->gap_sd);
	x->wait = offset(b, n, &m->train, NULL, true, room, &x->wait_sd);
	x->gap_sd = fmax(2 * GAP_SD, x->gap_sd);
	x->wait_sd = fmax(2 * WAIT_SD, x->wait_sd);
}

double jetwatt_template_stalls(const struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c)
{
	struct tracker t = { .train = c };
	size_t odd = 0, count = 0;

	for (size_t i = 1; i < n; i++) {
		if (t.known && !b[i].other && !b[i].place && !b[i].missing) {
			count++;
			odd += b[i].gap - t.gap[0] > STALLED * c->place[0].gap_sd;
		}
		follow(&t, &b[i]);
	}
	return ((double)odd + 1) / ((double)count + 20);
}
