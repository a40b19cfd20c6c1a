// SPDX-License-Identifier: GPL-2.0-only
/* Other ways to mark the waits of a job: what a first look at them takes for one thing
 * may be another. */
#include "minibatch/viterbi.h"

#include <math.h>
#include <stdlib.h>

#include "minibatch/minibatch.h"

#define PHASE_MIN	3	/* minibatches of another size in a row */
#define AROUND		12	/* waits on either side */
#define LONG		0.7	/* logarithm: twice as long */
#define AS_LONG		0.35
#define CLEAR_SD	0.3	/* of gaps that are told apart */
#define HEAVY_MIN	20	/* long gaps that say something */
#define NEAR		4
#define CATCH_UP	2	/* waits beyond those that are odd */
#define ALIKE		0.25	/* share by which a cycle may differ from those around */
#define LIKE		0.2	/* logarithm by which waits of one speed may differ */
#define LIKE_MIN	3	/* others that are alike */
#define SHORTER		2.1	/* logarithm by which another speed's waits may be shorter: a copy's are */
#define LATE		2	/* usual cycles that late minibatches may take each, in the mean */

/* A cycle in which several gaps are as long as the first and others are short is
 * several minibatches: marks them. Return: their usual size, 0: it is one. */
int jetwatt_remark_several(struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c, bool other)
{
	bool begins[JETWATT_RHYTHM_MAX] = { true };
	int size[JETWATT_RHYTHM_MAX + 1] = { 0 }, parts = 1, shorts = 0, last = 0, best = 1, at = 0;

	for (int p = 1; p < c->k; p++) {
		if (c->place[p].gap_sd > CLEAR_SD)
			return 0;
		begins[p] = c->place[p].gap > -AS_LONG;
		parts += begins[p];
		shorts += c->place[p].gap < -LONG;
	}
	if (parts == 1 || !shorts || parts + shorts != c->k || c->place[0].gap_sd > CLEAR_SD)
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
		if (b[i].other != other || b[i].place >= c->k)
			continue;
		b[i].first = begins[b[i].place];
		at = b[i].first ? 0 : at + 1;
		b[i].place = (uint8_t)(at < best ? at : at == best ? JETWATT_PLACE_EXTRA : at);
	}
	return best;
}

/* Several minibatches in a row of another size than usual are another phase. */
void jetwatt_remark_aside(struct jetwatt_beat *b, size_t n, int k)
{
	size_t from = 0, same = 0, last = 0, end;

	for (size_t i = 0; i <= n; i = end) {
		for (end = i + 1; end < n && !b[end].first && b[end].other == b[i].other; end++)
			;
		if (i < n && !b[i].other && b[i].first && end - i != (size_t)k && (!same || end - i == last)) {
			from = same++ ? from : i;
			last = end - i;
			continue;
		}
		for (size_t j = from; j < i && same >= PHASE_MIN; j++)
			b[j].other = true;
		same = 0;
	}
}

/* Places of the cycle at @b whose gap is short in @c, and here as long as the first: a bit each. */
static unsigned int begins_anew(const struct jetwatt_beat *b, const struct jetwatt_cycle *c)
{
	unsigned int anew = 0;

	for (int p = 0; p < c->k; p++)
		if (b[p].other || b[p].place != p || b[p].missing)
			return 0;
	for (int p = 1; p < c->k; p++)
		if (c->place[p].gap < -LONG && b[p].gap - b[0].gap > -AS_LONG)
			anew |= 1u << p;
	return anew;
}

void jetwatt_remark_parts(struct jetwatt_beat *b, size_t n, const struct jetwatt_cycle *c)
{
	size_t k = (size_t)c->k, from = 0, to = 0;
	unsigned int last = 0, anew;

	/* The first gap is not known. */
	for (size_t i = 1; i < n; i += anew ? k : 1) {
		anew = i + k <= n && !b[i].place ? begins_anew(b + i, c) : 0;
		if (anew && anew == last && i == to) {
			to += k;
		} else if (anew) {
			from = i;
			to = i + k;
		}
		last = anew ? anew : i < to ? last : 0;
		if (to - from < PHASE_MIN * k || i + k != to)
			continue;
		for (size_t j = from; j < to; j++) {
			b[j].other = true;
			b[j].first = j == from || !((j - from) % k) || anew >> (j - from) % k & 1;
		}
	}
}

/* Typical cycle of what fits before @at, or after; 0: nothing does. */
static double cycle_near(const struct jetwatt_beat *b, size_t n, size_t at, bool after)
{
	double near[NEAR];
	size_t m = 0;

	for (size_t i = after ? at : at - 1; i > 0 && i < n && m < NEAR; i += after ? 1 : -1ul)
		if (!(b[i].odd & JETWATT_ODD_WAIT) && !b[i].place)
			near[m++] = b[i].cycle_ns;
	return jetwatt_peaks_median(near, m);
}

/* Are waits [@from, @to[ made by the job's usual call, and is no cycle shorter than @least?
 * A checkpoint's waits follow each other quickly, or are made by another call. */
static bool all_late(const struct jetwatt_beat *b, size_t n, size_t from, size_t to, double least)
{
	if (to == n)
		return false;
	for (size_t i = from; i < to; i++)
		if (b[i].cycle_ns < least || b[i].who != b[from - 1].who || b[i].who != b[to].who)
			return false;
	return true;
}

/* With one wait per minibatch: what delays some and lets others catch up leaves
 * their number and the time that they take. Such is no extra wait, nor a phase. Of
 * those that catch up, the last may be long enough to fit. If every cycle is at least
 * as long as usual, the delays are not caught up: the minibatches are only late. */
void jetwatt_remark_caught_up(struct jetwatt_beat *b, size_t n)
{
	for (size_t i = 1, j, end; i < n; i = j) {
		double sum = 0, was, will, least, most;
		bool strange = false, late;

		for (j = i; j < n && !b[j].missing && (b[j].other ? b[j].place == JETWATT_PLACE_NONE
							    : b[j].odd & JETWATT_ODD_WAIT || b[j].place); j++) {
			sum += b[j].cycle_ns;
			strange |= b[j].place != 0;
		}
		was = strange ? cycle_near(b, n, i, false) : 0;
		will = strange ? cycle_near(b, n, j, true) : 0;
		least = fmin(was, will) * (1 - ALIKE);
		most = fmax(was, will) * (1 + ALIKE);
		late = strange && least > 0 && all_late(b, n, i, j, least);
		for (end = j; strange && end < n && end < j + CATCH_UP && b[end].cycle_ns < least &&
		     sum >= most * (double)(end - i); end++)
			sum += b[end].cycle_ns;
		sum /= (double)(end - i);
		if (late)
			most = fmax(was, will) * LATE;
		for (size_t l = i; l < j && strange && sum > least && sum < most; l++) {
			b[l].place = 0;
			b[l].other = false;
			b[l].rule = JETWATT_RULE_CAUGHT_UP;
			b[l].score = (float)log(fmin(sum / least, most / sum));
		}
		j += j == i;
	}
}

/* Shortest wait that a minibatch may have among those of [@from, @to[ that are in the cycle. */
static double shortest_wait(const struct jetwatt_beat *b, size_t from, size_t to)
{
	double near[2 * AROUND];
	size_t m = 0;

	for (size_t i = from; i < to && m < 2 * AROUND; i++)
		if (!b[i].other)
			near[m++] = b[i].wait;
	return m ? jetwatt_peaks_median(near, m) - SHORTER : INFINITY;
}

/* Is wait @i as long as several of those around it? Their gaps may differ: the loader is ahead for
 * some minibatches after a change of clocks. */
static bool is_alike(const struct jetwatt_beat *b, size_t n, size_t i)
{
	int alike = 0;

	for (size_t j = i > NEAR ? i - NEAR : 1; j < n && j <= i + NEAR; j++)
		alike += j != i && b[j].who == b[i].who && fabs(b[j].wait - b[i].wait) < LIKE;
	return alike >= LIKE_MIN;
}

/* With one wait per minibatch: after a change of clocks the gaps may be short ones, which
 * scatter more than the long ones that the cycle was learned from, so that none of them fits.
 * Such waits are minibatches all the same if they are as long as their neighbours. */
void jetwatt_remark_alike(struct jetwatt_beat *b, size_t n)
{
	for (size_t i = 1, j; i < n; i = j + 1) {
		size_t alike = 0, from, to;
		double least;

		for (j = i; j < n && b[j].other && b[j].place == JETWATT_PLACE_NONE && !b[j].missing &&
		     b[j].who == b[i - 1].who; j++)
			;
		if (j == i)
			continue;
		from = i > AROUND ? i - AROUND : 1;
		to = j + AROUND < n ? j + AROUND : n;
		least = fmin(shortest_wait(b, from, i), shortest_wait(b, j, to));
		for (size_t l = i; l < j; l++)
			alike += b[l].wait > least && is_alike(b, n, l);
		/* The first one may have begun before the change. */
		for (size_t l = i; l < j && 4 * alike >= 3 * (j - i); l++) {
			b[l].place = 0;
			b[l].other = false;
			b[l].rule = JETWATT_RULE_ALIKE;
			b[l].score = (float)alike / (float)(j - i);
		}
	}
}

/* The third shortest gap around @i: short, and no freak. */
static double short_gap(const struct jetwatt_beat *b, size_t n, size_t i)
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

/* Gaps that are much longer than the short ones around them, as beginnings.
 * Return: the usual size of what they begin; 0: there are not such two kinds. */
int jetwatt_remark_long_gaps(struct jetwatt_beat *b, size_t n)
{
	size_t count[JETWATT_RHYTHM_MAX + 1] = { 0 }, last = 0, groups = 0;
	int best = 2;

	for (size_t i = 0; i < n; i++) {
		b[i].first = b[i].gap - short_gap(b, n, i) > LONG;
		b[i].other = false;
	}
	b[0].first = true;
	for (size_t i = 1; i < n; i++) {
		if (!b[i].first)
			continue;
		if (i - last <= JETWATT_RHYTHM_MAX)
			count[i - last]++;
		last = i;
		groups++;
	}
	for (int k = 3; k <= JETWATT_RHYTHM_MAX; k++)
		if (count[k] > count[best])
			best = k;
	return count[best] * 2 > groups ? best : 0;
}

/* Long gaps where every wait seemed to be a minibatch: are they ones that no
 * disturbance makes? Return: @k, 0: no. */
int jetwatt_remark_heavy(const struct jetwatt_beat *b, size_t n, int k, double *room)
{
	size_t *at = malloc(n * sizeof(*at)), count = 0, exact = 0;
	bool usual;

	if (!at)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (!b[i].first)
			continue;
		exact += count && i - at[count - 1] == (size_t)k;
		at[count++] = i;
	}
	usual = count >= HEAVY_MIN && exact * 10 >= count * 8 &&
		jetwatt_weight_usual(b, at, count, k, room);
	free(at);
	return usual ? k : 0;
}
