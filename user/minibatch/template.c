// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learns the emissions of a job's cycle, its usual gaps and waits, from labelled minibatches.
 *
 * All values are medians of differences, between waits with different phase indices of one
 * minibatch, or between waits with the same phase index in successive minibatches. Therefore
 * outliers have little weight, and a change of speed affects only the differences between waits before
 * and after the change.
 */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define GROUPS_MIN	4	/* minimum number of minibatches from which emissions are learned */
#define GAP_SD		0.04	/* minimum standard deviations */
#define WAIT_SD		0.02
/* minimum fraction of the groups that must have the same caller at a phase index */
#define CALLER		0.95
/* factor from the median distance between two values to the standard deviation; 1.05 for
 * normally distributed values */
#define TO_SD		1.3
/* a first gap that is this many standard deviations too long is a stall */
#define STALLED		5.0

/* Return the median, by Hoare's selection, which changes the order of the values. */
static double select_median(double *v, size_t n)
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

/* List in @at the first waits of complete groups of @k waits. Return: number of groups. */
static size_t group_starts(const struct jetwatt_batch_wait *b, size_t n, int k, bool other,
			   size_t *at)
{
	size_t count = 0, end;

	/* Start at wait 1: the gap before the first wait is unknown. */
	for (size_t i = 1; i < n; i = end) {
		for (end = i + 1; end < n && !b[end].starts_minibatch &&
				  b[end].other_phase == b[i].other_phase &&
				  !(b[end].phase_index & JETWATT_PHASE_INDEX_EXTRA);
		     end++)
			;
		if (b[i].starts_minibatch && b[i].other_phase == other && end - i == (size_t)k &&
		    b[i].phase_index != JETWATT_PHASE_INDEX_NONE)
			at[count++] = i;
	}
	return count;
}

static double log_of(const struct jetwatt_batch_wait *b, bool wait)
{
	return wait ? b->wait : b->gap;
}

/* Return the median difference between the values at phase index @p and at @p - 1 of the same
 * group. */
static double median_step(const struct jetwatt_batch_wait *b, const size_t *at, size_t n, int p,
			  bool wait, double *scratch)
{
	for (size_t j = 0; j < n; j++)
		scratch[j] = log_of(&b[at[j] + (size_t)p], wait) -
			     log_of(&b[at[j] + (size_t)p - 1], wait);
	return select_median(scratch, n);
}

/* Return the standard deviation of the values at phase index @p, from the differences between
 * successive groups. */
static double median_scatter(const struct jetwatt_batch_wait *b, const size_t *at, size_t n, int p,
			     bool wait, double *scratch)
{
	for (size_t j = 0; j + 1 < n; j++)
		scratch[j] = fabs(log_of(&b[at[j + 1] + (size_t)p], wait) -
			       log_of(&b[at[j] + (size_t)p], wait));
	return TO_SD * select_median(scratch, n - 1);
}

/* Return the usual caller at phase index @p; 0 if the caller varies. */
static uint32_t common_caller(const struct jetwatt_batch_wait *b, const size_t *at, size_t n, int p)
{
	uint32_t who = 0;
	size_t votes = 0, same = 0;

	for (size_t j = 0; j < n; j++) {
		uint32_t w = b[at[j] + (size_t)p].caller;

		if (!votes)
			who = w;
		votes += w == who ? 1 : votes ? -1u : 0;
	}
	for (size_t j = 0; j < n; j++)
		same += b[at[j] + (size_t)p].caller == who;
	return (double)same >= CALLER * (double)n ? who : 0;
}

int jetwatt_template_learn(const struct jetwatt_batch_wait *b, size_t n, int k, bool other,
			   struct jetwatt_cycle *c, double *scratch)
{
	size_t *at = malloc((n + 1) * sizeof(*at)), count;

	if (!at)
		return -ENOMEM;
	count = group_starts(b, n, k, other, at);
	c->k = 0;
	if (count < GROUPS_MIN) {
		free(at);
		return -ENODATA;
	}
	for (int p = 0; p < k; p++) {
		struct jetwatt_emission *to = &c->emission[p];

		*to = (struct jetwatt_emission){ 0 };
		if (p) {
			to->gap = to[-1].gap + median_step(b, at, count, p, false, scratch);
			to->wait = to[-1].wait + median_step(b, at, count, p, true, scratch);
		}
		to->gap_sd = fmax(GAP_SD, median_scatter(b, at, count, p, false, scratch));
		to->wait_sd = fmax(WAIT_SD, median_scatter(b, at, count, p, true, scratch));
		to->caller = common_caller(b, at, count, p);
	}
	c->k = k;
	free(at);
	return 0;
}

/* Estimate of the job's present speed, from its latest waits in the training cycle. */
struct tracker {
	const struct jetwatt_cycle *train;
	/* gap: speed of first gaps and of other gaps of a minibatch; wait: speed of the lengths
	 * of waits */
	double gap[2], wait;
	bool known;
};

static void track_speed(struct tracker *t, const struct jetwatt_batch_wait *b)
{
	const struct jetwatt_emission *p;

	if (b->other_phase || b->phase_index >= t->train->k || b->outlier)
		return;
	p = &t->train->emission[b->phase_index];
	t->gap[b->phase_index > 0] = b->gap - p->gap;
	if (!t->known)
		t->gap[!b->phase_index] = t->gap[b->phase_index > 0];
	t->wait = b->wait - p->wait;
	t->known = true;
}

/* Return the median offset of the waits labelled as @eval's (NULL: of the additional waits) from the
 * job's speed around them. @wait: compare lengths, not gaps; @sd: set to the scatter of the offset. */
static double speed_offset(const struct jetwatt_batch_wait *b, size_t n,
			   const struct jetwatt_cycle *train, const struct jetwatt_cycle *eval,
			   bool wait, double *scratch, double *sd)
{
	struct tracker t = { .train = train };
	size_t count = 0;
	double mid;

	for (size_t i = 1; i < n; i++) {
		double own;

		track_speed(&t, &b[i]);
		if (!t.known || (eval ? !b[i].other_phase || b[i].phase_index >= eval->k
				      : !(b[i].phase_index & JETWATT_PHASE_INDEX_EXTRA)))
			continue;
		own = eval ? log_of(&b[i], wait) - (wait ? eval->emission[b[i].phase_index].wait
						       : eval->emission[b[i].phase_index].gap)
			   : log_of(&b[i], wait);
		/* Compare an additional wait's gap with the short gaps, if there are any. */
		scratch[count++] =
			own - (wait ? t.wait : t.gap[eval ? b[i].phase_index > 0 : train->k > 1]);
	}
	mid = select_median(scratch, count);
	for (size_t i = 0; i < count; i++)
		scratch[i] = fabs(scratch[i] - mid);
	*sd = 1.48 * select_median(scratch, count);
	return mid;
}

void jetwatt_template_shift(const struct jetwatt_batch_wait *b, size_t n,
			    const struct jetwatt_cycle *train, struct jetwatt_cycle *eval,
			    double *scratch)
{
	double sd, gap = speed_offset(b, n, train, eval, false, scratch, &sd);
	double wait = speed_offset(b, n, train, eval, true, scratch, &sd);

	for (int p = 0; p < eval->k; p++) {
		eval->emission[p].gap += gap;
		eval->emission[p].wait += wait;
	}
}

void jetwatt_template_extra(const struct jetwatt_batch_wait *b, size_t n,
			    struct jetwatt_wait_hmm *m, double *scratch)
{
	struct jetwatt_emission *x = &m->extra;

	*x = (struct jetwatt_emission){ 0 };
	x->gap = speed_offset(b, n, &m->train, NULL, false, scratch, &x->gap_sd);
	x->wait = speed_offset(b, n, &m->train, NULL, true, scratch, &x->wait_sd);
	x->gap_sd = fmax(2 * GAP_SD, x->gap_sd);
	x->wait_sd = fmax(2 * WAIT_SD, x->wait_sd);
}

double jetwatt_template_stalls(const struct jetwatt_batch_wait *b, size_t n,
			       const struct jetwatt_cycle *c)
{
	struct tracker t = { .train = c };
	size_t outlier = 0, count = 0;

	for (size_t i = 1; i < n; i++) {
		if (t.known && !b[i].other_phase && !b[i].phase_index && !b[i].missing) {
			count++;
			outlier += b[i].gap - t.gap[0] > STALLED * c->emission[0].gap_sd;
		}
		track_speed(&t, &b[i]);
	}
	return ((double)outlier + 1) / ((double)count + 20);
}
