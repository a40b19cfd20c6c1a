// SPDX-License-Identifier: GPL-2.0-only
/* Corrects labels of a job's waits where the first estimate or the Viterbi path may be wrong. */
#include "minibatch/viterbi.h"

#include <math.h>
#include <stdlib.h>

#include "minibatch/minibatch.h"

/* minimum number of successive minibatches of another size that form another phase */
#define PHASE_MIN	3
/* number of waits before, and number of waits after, that serve as the reference for a wait */
#define AROUND		12
/* minimum difference between a long gap and short gaps (logarithm): twice as long */
#define LONG		0.7
/* gaps that differ by less than this (logarithm) count as equally long */
#define AS_LONG		0.35
/* maximum standard deviation (logarithm) of gaps with which long and short gaps can be
 * distinguished */
#define CLEAR_SD	0.3
/* minimum number of long gaps for relabelling a job in which every wait seemed to be a
 * minibatch */
#define LONG_GAPS_MIN	20
/* number of waits before, and number of waits after, that count as neighbours of a wait */
#define NEAR		4
/* maximum number of waits with a usual label among those that make up for a delay */
#define CATCH_UP	2
/* maximum difference between the duration of a cycle and that of its neighbours, as fraction */
#define ALIKE		0.25
/* maximum difference between the lengths of waits of the same speed (logarithm) */
#define LIKE		0.2
/* minimum number of neighbouring waits that must have the same length */
#define LIKE_MIN	3
/* maximum amount by which waits at other clocks are shorter than usual ones (logarithm) */
#define SHORTER		2.1
/* maximum mean duration of late minibatches, in usual durations; LATE_SAME_WORK applies if all waits
 * follow the same number of launches, so that the work is known to be the same */
#define LATE		2
#define LATE_SAME_WORK	3

/*
 * If several gaps of a cycle are as long as the first one and the others are short, the cycle
 * consists of several minibatches: label them. Return: usual number of waits of a minibatch of such
 * a cycle; 0 if the cycle is one minibatch.
 */
int jetwatt_relabel_several(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_cycle *c,
			    bool other)
{
	bool begins[JETWATT_PERIOD_MAX] = { true };
	int size[JETWATT_PERIOD_MAX + 1] = { 0 }, parts = 1, shorts = 0, last = 0, best = 1, at = 0;

	for (int p = 1; p < c->k; p++) {
		if (c->emission[p].gap_sd > CLEAR_SD)
			return 0;
		begins[p] = c->emission[p].gap > -AS_LONG;
		parts += begins[p];
		shorts += c->emission[p].gap < -LONG;
	}
	if (parts == 1 || !shorts || parts + shorts != c->k || c->emission[0].gap_sd > CLEAR_SD)
		return 0;
	for (int p = 1; p <= c->k; p++) {
		if (p < c->k && !begins[p])
			continue;
		size[p - last]++;
		last = p;
	}
	for (int k = 2; k <= c->k; k++)
		if (size[k] > size[best])
			best = k;
	for (size_t i = 0; i < n; i++) {
		if (b[i].other_phase != other || b[i].phase_index >= c->k)
			continue;
		b[i].starts_minibatch = begins[b[i].phase_index];
		at = b[i].starts_minibatch ? 0 : at + 1;
		b[i].phase_index = (uint8_t)(at < best	  ? at
					     : at == best ? JETWATT_PHASE_INDEX_EXTRA
							  : at);
	}
	return best;
}

void jetwatt_relabel_sizes(struct jetwatt_batch_wait *b, size_t n, int k)
{
	size_t from = 0, same = 0, last = 0, end;

	for (size_t i = 0; i <= n; i = end) {
		for (end = i + 1;
		     end < n && !b[end].starts_minibatch && b[end].other_phase == b[i].other_phase;
		     end++)
			;
		if (i < n && !b[i].other_phase && b[i].starts_minibatch && end - i != (size_t)k &&
		    (!same || end - i == last)) {
			from = same++ ? from : i;
			last = end - i;
			continue;
		}
		for (size_t j = from; j < i && same >= PHASE_MIN; j++)
			b[j].other_phase = true;
		same = 0;
	}
}

/*
 * Return a mask of the phase indices of the cycle at @b whose gap is short in the model @c but as
 * long as the first gap in this cycle; 0 if the cycle is not complete, or if there is no such
 * index.
 */
static unsigned int inner_starts(const struct jetwatt_batch_wait *b, const struct jetwatt_cycle *c)
{
	unsigned int inner = 0;

	for (int p = 0; p < c->k; p++)
		if (b[p].other_phase || b[p].phase_index != p || b[p].missing)
			return 0;
	for (int p = 1; p < c->k; p++)
		if (c->emission[p].gap < -LONG && b[p].gap - b[0].gap > -AS_LONG)
			inner |= 1u << p;
	return inner;
}

void jetwatt_relabel_parts(struct jetwatt_batch_wait *b, size_t n, const struct jetwatt_cycle *c)
{
	size_t k = (size_t)c->k, from = 0, to = 0;
	unsigned int last = 0, inner;

	/* Start at wait 1: the gap before the first wait is unknown. */
	for (size_t i = 1; i < n; i += inner ? k : 1) {
		inner = i + k <= n && !b[i].phase_index ? inner_starts(b + i, c) : 0;
		if (inner && inner == last && i == to) {
			to += k;
		} else if (inner) {
			from = i;
			to = i + k;
		}
		last = inner ? inner : i < to ? last : 0;
		if (to - from < PHASE_MIN * k || i + k != to)
			continue;
		for (size_t j = from; j < to; j++) {
			b[j].other_phase = true;
			b[j].starts_minibatch =
				j == from || !((j - from) % k) || inner >> (j - from) % k & 1;
		}
	}
}

/* Return the median duration of the NEAR usual cycles before wait @at or after it; 0 if there are
 * none. */
static double cycle_near(const struct jetwatt_batch_wait *b, size_t n, size_t at, bool after)
{
	double near[NEAR];
	size_t m = 0;

	for (size_t i = after ? at : at - 1; i > 0 && i < n && m < NEAR; i += after ? 1 : -1ul)
		if (!(b[i].outlier & JETWATT_OUTLIER_WAIT) && !b[i].phase_index)
			near[m++] = b[i].cycle_ns;
	return jetwatt_peaks_median(near, m);
}

/*
 * Return whether the waits from @from to @to - 1 have the caller of the waits before and after them,
 * and all cycles last at least @least. Usual waits can be told from those of a checkpoint, because the
 * waits of a checkpoint follow each other quickly or have another caller.
 */
static bool are_late(const struct jetwatt_batch_wait *b, size_t n, size_t from, size_t to,
		     double least)
{
	if (to == n)
		return false;
	for (size_t i = from; i < to; i++)
		if (b[i].cycle_ns < least || b[i].caller != b[from - 1].caller ||
		    b[i].caller != b[to].caller)
			return false;
	return true;
}

/* Return whether the waits from @from to @to - 1 and the waits beside them follow the same number of
 * launches, more than one. (A CUDA graph is one launch, whatever its work.) */
static bool same_launches(const struct jetwatt_batch_wait *b, size_t from, size_t to)
{
	for (size_t i = from; i <= to; i++)
		if (b[i].launches < 2 || b[i].launches != b[from - 1].launches)
			return false;
	return true;
}

/*
 * Relabel late minibatches in jobs with one wait per minibatch. A disturbance may delay some
 * minibatches, after which the next ones are short until the delay is made up. The delay changes
 * neither the number of minibatches nor their total time. Therefore the late and the short waits
 * are minibatches, not additional waits and not another phase. The last of the short waits may be
 * long enough to have the label of a usual wait already. If every cycle is at least as long as
 * usual, the minibatches are late and no delay is made up.
 */
void jetwatt_relabel_caught_up(struct jetwatt_batch_wait *b, size_t n)
{
	for (size_t i = 1, j, end; i < n; i = j) {
		double sum = 0, was, will, least, most;
		bool strange = false, late;

		for (j = i;
		     j < n && !b[j].missing &&
		     (b[j].other_phase ? b[j].phase_index == JETWATT_PHASE_INDEX_NONE
				       : b[j].outlier & JETWATT_OUTLIER_WAIT || b[j].phase_index);
		     j++) {
			sum += b[j].cycle_ns;
			strange |= b[j].phase_index != 0;
		}
		was = strange ? cycle_near(b, n, i, false) : 0;
		will = strange ? cycle_near(b, n, j, true) : 0;
		least = fmin(was, will) * (1 - ALIKE);
		most = fmax(was, will) * (1 + ALIKE);
		late = strange && least > 0 && are_late(b, n, i, j, least);
		for (end = j; strange && end < n && end < j + CATCH_UP && b[end].cycle_ns < least &&
		     sum >= most * (double)(end - i); end++)
			sum += b[end].cycle_ns;
		sum /= (double)(end - i);
		if (late)
			most = fmax(was, will) *
			       (same_launches(b, i, j) ? LATE_SAME_WORK : LATE);
		for (size_t l = i; l < j && strange && sum > least && sum < most; l++) {
			b[l].phase_index = 0;
			b[l].other_phase = false;
			b[l].rule = JETWATT_RULE_CAUGHT_UP;
			b[l].score = (float)log(fmin(sum / least, most / sum));
		}
		j += j == i;
	}
}

/* Return the minimum length (logarithm) of the wait of a minibatch, determined from the usual
 * waits among the waits from @from to @to - 1. */
static double shortest_wait(const struct jetwatt_batch_wait *b, size_t from, size_t to)
{
	double near[2 * AROUND];
	size_t m = 0;

	for (size_t i = from; i < to && m < 2 * AROUND; i++)
		if (!b[i].other_phase)
			near[m++] = b[i].wait;
	return m ? jetwatt_peaks_median(near, m) - SHORTER : INFINITY;
}

/*
 * Return: true if wait @i is as long as several of its neighbours. Gaps are not compared, because
 * the data loader may be ahead for some minibatches after a change of clocks.
 */
static bool is_alike(const struct jetwatt_batch_wait *b, size_t n, size_t i)
{
	int alike = 0;

	for (size_t j = i > NEAR ? i - NEAR : 1; j < n && j <= i + NEAR; j++)
		alike += j != i && b[j].caller == b[i].caller && fabs(b[j].wait - b[i].wait) < LIKE;
	return alike >= LIKE_MIN;
}

/*
 * Relabel waits with short gaps in jobs with one wait per minibatch. After a change of clocks the
 * gaps may be short. Short gaps scatter more than the long ones from which the cycle was learned,
 * so they do not fit the learned cycle. Waits with such gaps are minibatches if they are as long as
 * their neighbours.
 */
void jetwatt_relabel_alike(struct jetwatt_batch_wait *b, size_t n)
{
	for (size_t i = 1, j; i < n; i = j + 1) {
		size_t alike = 0, from, to;
		double least;

		for (j = i;
		     j < n && b[j].other_phase && b[j].phase_index == JETWATT_PHASE_INDEX_NONE &&
		     !b[j].missing && b[j].caller == b[i - 1].caller;
		     j++)
			;
		if (j == i)
			continue;
		from = i > AROUND ? i - AROUND : 1;
		to = j + AROUND < n ? j + AROUND : n;
		least = fmin(shortest_wait(b, from, i), shortest_wait(b, j, to));
		for (size_t l = i; l < j; l++)
			alike += b[l].wait > least && is_alike(b, n, l);
		/* The first wait may have begun before the change of clocks, so it suffices if
		 * three quarters of the waits are as long as their neighbours. */
		for (size_t l = i; l < j && 4 * alike >= 3 * (j - i); l++) {
			b[l].phase_index = 0;
			b[l].other_phase = false;
			b[l].rule = JETWATT_RULE_ALIKE;
			b[l].score = (float)alike / (float)(j - i);
		}
	}
}

/* Return the third shortest gap around wait @i, which is short but not an outlier. */
static double short_gap(const struct jetwatt_batch_wait *b, size_t n, size_t i)
{
	size_t lo = i > AROUND ? i - AROUND : 1, hi = i + AROUND < n ? i + AROUND : n;
	double least[3] = { INFINITY, INFINITY, INFINITY };

	for (size_t j = lo; j < hi; j++) {
		double v = b[j].gap;

		for (int l = 0; l < 3 && v < least[2]; l++) {
			double was = least[l];

			least[l] = fmin(was, v);
			v = fmax(was, v);
		}
	}
	return least[2];
}

/*
 * Label a wait as start of a minibatch if the gap before it is much longer than the short gaps
 * around it. Return: k if more than half of the groups have k waits each, k >= 2; else 0.
 */
int jetwatt_relabel_long_gaps(struct jetwatt_batch_wait *b, size_t n)
{
	size_t count[JETWATT_PERIOD_MAX + 1] = { 0 }, last = 0, groups = 0;
	int best = 2;

	for (size_t i = 0; i < n; i++) {
		b[i].starts_minibatch = b[i].gap - short_gap(b, n, i) > LONG;
		b[i].other_phase = false;
	}
	b[0].starts_minibatch = true;
	for (size_t i = 1; i < n; i++) {
		if (!b[i].starts_minibatch)
			continue;
		if (i - last <= JETWATT_PERIOD_MAX)
			count[i - last]++;
		last = i;
		groups++;
	}
	for (int k = 3; k <= JETWATT_PERIOD_MAX; k++)
		if (count[k] > count[best])
			best = k;
	return count[best] * 2 > groups ? best : 0;
}

/*
 * Check long gaps in a job in which every wait seemed to be a minibatch. Return: @k if the long
 * gaps belong to the job; 0 if they are too few or irregular, if a disturbance may cause them, or if
 * memory is short.
 */
int jetwatt_relabel_check_long_gaps(const struct jetwatt_batch_wait *b, size_t n, int k,
				    double *scratch)
{
	size_t *at = malloc(n * sizeof(*at)), count = 0, exact = 0;
	bool usual;

	if (!at)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (!b[i].starts_minibatch)
			continue;
		exact += count && i - at[count - 1] == (size_t)k;
		at[count++] = i;
	}
	usual = count >= LONG_GAPS_MIN && exact * 10 >= count * 8 &&
		jetwatt_period_is_own(b, at, count, k, scratch);
	free(at);
	return usual ? k : 0;
}
