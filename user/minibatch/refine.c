// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a first guess at a job's minibatches to the most probable ones: what the
 * guess says of the job is learned, the walk that fits it best is sought, and
 * once more with what that one says.
 */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES		3
#define SAME		0.02	/* scores: nothing more to be learned */
#define WORSE		0.3	/* ... and there is something new */
#define WAITS_MIN	40	/* fewer say too little of what is unusual */

/* A walk explains a job: the mean logarithm of a wait's probability (a job with 5 %
 * jitter has 2), and shares of waits that are odd, at no place, or where it breaks off. */
#define SCORE_MIN	1.5
#define SCORE_MIN_PARTS	1.0	/* ... that is made of several minibatches, whose order is not in it */
#define ODD_MAX		0.06
#define MATTERS		0.05	/* of its cycle; a shorter gap may be anything */
#define NONE_MAX	0.3
#define BROKEN_MAX	0.005
#define ORDER		1.2	/* of the score, that minibatches come in an order is worth */
#define PER_PLACE	2.0	/* a place is four numbers, half a logarithm of waits each */

/* Logarithms of a probability; at first there may be a phase that is not known. */
#define ABORT_FIRST	(-5.0)
#define ABORT		(-7.0)
#define WHOLE_MIN	3	/* lost minibatches: fewer may be stalls of that length */
#define EXTRAS_MIN	3	/* fewer are chance */
#define EXTRA_GAP_SD	0.6	/* ... and so are those that differ by more */
#define EXTRA_WAIT_SD	0.8
#define EVAL_MIN	12	/* waits of another rhythm */
#define EVAL_RUN	4	/* ... and so many in a row, in the mean */
#define EVAL_GAP_SD	0.5	/* a rhythm has less scatter */
#define EVAL_WAIT_SD	0.3

/* Places of a guess that only has beginnings. */
static void places(struct jetwatt_beat *b, size_t n)
{
	uint8_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at = b[i].first || (i && b[i].other != b[i - 1].other) ? 0 :
		     at + 1 < JETWATT_PLACE_EXTRA ? at + 1 : at;
		b[i].place = at;
		b[i].missing = 0;
		b[i].odd = 0;
	}
}

/* Beginnings of places. */
static void beginnings(struct jetwatt_beat *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b[i].first = !b[i].place || (b[i].place == JETWATT_PLACE_NONE &&
					     (!i || b[i - 1].place != JETWATT_PLACE_NONE));
}

/* Most common size of the groups of a phase; 0: none. */
static int usual_size(const struct jetwatt_beat *b, size_t n)
{
	size_t count[JETWATT_RHYTHM_MAX + 1] = { 0 }, end;
	int best = 0;

	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !b[end].first && b[end].other == b[i].other; end++)
			;
		if (b[i].other && end - i <= JETWATT_RHYTHM_MAX)
			count[end - i]++;
	}
	for (int k = 1; k <= JETWATT_RHYTHM_MAX; k++)
		if (count[k] * (size_t)k > (best ? count[best] * (size_t)best : 0))
			best = k;
	return best;
}

/* Is a cycle one, or anything? */
static bool regular(const struct jetwatt_cycle *c)
{
	for (int p = 0; p < c->k; p++)
		if (c->place[p].gap_sd > EVAL_GAP_SD || c->place[p].wait_sd > EVAL_WAIT_SD)
			return false;
	return c->k > 0;
}

/* Are there enough waits of another phase, and enough in a row? */
static bool phases(const struct jetwatt_beat *b, size_t n)
{
	size_t count = 0, runs = 0;

	for (size_t i = 0; i < n; i++) {
		count += b[i].other;
		runs += b[i].other && (!i || !b[i - 1].other);
	}
	return count >= EVAL_MIN && count >= EVAL_RUN * runs;
}

/* What was in no cycle: does it have one of its own? Marks its beginnings. */
static int outside(struct jetwatt_beat *b, size_t n, bool shared, struct jetwatt_beat *some)
{
	struct jetwatt_rhythm r = { .shared = shared };
	size_t count = 0, at = 0;
	int rc;

	if (!phases(b, n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (b[i].other)
			some[count++] = b[i];
	rc = jetwatt_rhythm_guess(some, count, JETWATT_RHYTHM_BY_ANY, &r);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (!b[i].other)
			continue;
		b[i].first = some[at++].first || !i || !b[i - 1].other;
		b[i].place = b[i].first || b[i - 1].place + 1 >= JETWATT_RHYTHM_MAX ? 0 : b[i - 1].place + 1;
	}
	return 0;
}

/* What is unusual, as far as it was seen. */
struct refine_seen {
	size_t missing, whole, odd, extras, after;
};

static struct refine_seen look(const struct jetwatt_beat *b, size_t n, int k)
{
	struct refine_seen s = { 0 };

	for (size_t i = 1; i < n; i++) {
		s.missing += b[i].missing;
		s.whole += b[i].missing && b[i].missing % k == 0;
		s.odd += !b[i].missing && !b[i].place && !b[i].other && b[i].odd;
		if (b[i].place & JETWATT_PLACE_EXTRA) {
			s.extras++;
			s.after += !(b[i - 1].odd & JETWATT_ODD_WAIT);
		}
	}
	return s;
}

/* Rates of it; a little is always possible. What nothing but a gap speaks for, a
 * lost minibatch, must be more often than gaps that it does not explain; an extra
 * wait must come after usual ones, or it makes up for one that was too long. */
static void count(const struct jetwatt_beat *b, size_t n, struct jetwatt_motif *m, bool first,
		  double *room)
{
	struct refine_seen s = look(b, n, m->train.k);
	double groups = (double)n / m->train.k;

	m->stall = jetwatt_template_stalls(b, n, &m->train);
	m->lost = ((double)s.missing + 1) / ((double)n + 200);
	m->whole = first || m->told || (s.whole >= WHOLE_MIN && s.whole >= 2 * s.odd);
	m->abort = first ? ABORT_FIRST : ABORT;
	m->extra_rate = ((double)s.extras + 0.5) / (groups + 100);
	m->extras = s.extras >= EXTRAS_MIN;
	if (m->extras)
		jetwatt_template_extra(b, n, m, room);
	if (m->extras ? m->extra.gap_sd > EXTRA_GAP_SD || m->extra.wait_sd > EXTRA_WAIT_SD ||
			s.after * 10 < s.extras * 9 : !first)
		m->extra_rate = 0;
}

static void learn(struct jetwatt_beat *b, size_t n, int k, struct jetwatt_motif *m, bool first,
		  double *room)
{
	int size;

	if (jetwatt_template_learn(b, n, k, false, &m->train, room))
		return;
	size = phases(b, n) ? usual_size(b, n) : 0;
	m->eval.k = 0;
	if (size && size != k && !jetwatt_template_learn(b, n, size, true, &m->eval, room)) {
		int parts = jetwatt_remark_several(b, n, &m->eval, true);

		if (parts && jetwatt_template_learn(b, n, parts, true, &m->eval, room))
			m->eval.k = 0;
	}
	if (m->eval.k != k && regular(&m->eval))
		jetwatt_template_shift(b, n, &m->train, &m->eval, room);
	else
		m->eval.k = 0;
	count(b, n, m, first, room);
}

struct refine_work {
	struct jetwatt_beat *some;
	double *room;
	bool told, shared, why;
};

/* Learns and walks by turns. @b is marked; its score is that of the last walk. */
static int settle(struct jetwatt_beat *b, size_t n, int k, struct refine_work *w,
		  struct jetwatt_motif *m, double *score)
{
	double last = INFINITY;
	int rc = 0;

	*m = (struct jetwatt_motif){ .told = w->told, .why = w->why };
	*score = -INFINITY;
	jetwatt_remark_aside(b, n, k);
	for (int pass = 0; pass < PASSES && !rc; pass++) {
		learn(b, n, k, m, !pass, w->room);
		if (!m->train.k)
			break;
		rc = jetwatt_decode(b, n, m, score);
		if (rc || isinf(*score))
			break;
		if (k == 1) {
			jetwatt_remark_caught_up(b, n);
			jetwatt_remark_alike(b, n);
		}
		beginnings(b, n);
		if (pass + 1 == PASSES || fabs(*score - last) < SAME)
			break;
		last = *score;
		jetwatt_remark_aside(b, n, k);
		jetwatt_remark_parts(b, n, &m->train);
		if (!m->eval.k)
			rc = outside(b, n, w->shared, w->some);
	}
	return rc;
}

/* Does it explain more than it needs to be told? */
static bool better(double score, int k, double than, int other, size_t n)
{
	return (score - than) * (double)n > PER_PLACE * (k - other) * log((double)n);
}

/* Another guess, if it is better than @b, into @b. */
static int try_long_gaps(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r,
			 struct refine_work *w, struct jetwatt_motif *m, double *score)
{
	struct jetwatt_beat *own = malloc(n * sizeof(*own));
	struct jetwatt_motif other;
	int k, rc = 0;
	double own_score;

	if (!own)
		return -ENOMEM;
	memcpy(own, b, n * sizeof(*own));
	k = jetwatt_remark_long_gaps(own, n);
	if (k && r->k == 1)
		k = jetwatt_remark_heavy(own, n, k, w->room);
	if (k && r->shared && !jetwatt_weight_apart(own, n, w->room))
		k = 0;
	if (k && k != r->k) {
		places(own, n);
		rc = settle(own, n, k, w, &other, &own_score);
		if (!rc && other.train.k && better(own_score, k, *score, r->k, n)) {
			memcpy(b, own, n * sizeof(*own));
			*m = other;
			*score = own_score;
			r->k = k;
		}
	}
	free(own);
	return rc;
}

/* Does the walk explain the job? Not if many waits are odd where nothing but a
 * disturbance makes them so, or at no place, or if it often breaks off. */
static bool explains(const struct jetwatt_beat *b, size_t n, int k, double score, double least)
{
	size_t odd = 0, none = 0, broken = 0;

	for (size_t i = 1; i < n; i++) {
		bool end = b[i - 1].place & JETWATT_PLACE_EXTRA || b[i - 1].place + 1 >= k;

		none += b[i].place == JETWATT_PLACE_NONE;
		if (!b[i].other && !b[i].missing && !(b[i].place & JETWATT_PLACE_EXTRA))
			odd += b[i].odd & JETWATT_ODD_WAIT ||
			       (b[i].odd && b[i].place && b[i].gap_ns > MATTERS * b[i].cycle_ns);
		broken += !b[i - 1].other && !end && !b[i].missing &&
			  (b[i].other || b[i].place != b[i - 1].place + 1);
	}
	return score > least && (double)odd <= ODD_MAX * (double)n &&
	       (double)none <= NONE_MAX * (double)n && (double)broken <= BROKEN_MAX * (double)n + 1;
}

/* Peaks that kept step, but not well enough to be taken at once. @guess: of the waits as
 * they were; the better one of the two, if @b is. */
static int try_peaks(struct jetwatt_beat *b, struct jetwatt_beat *guess, size_t n,
		     struct jetwatt_rhythm *r, struct refine_work *w, struct jetwatt_motif *m, double *score)
{
	struct jetwatt_rhythm other = { .shared = r->shared };
	struct jetwatt_beat *own;
	struct jetwatt_motif model;
	double own_score;
	int rc;

	if (!r->other_k)
		return 0;
	own = malloc(2 * n * sizeof(*own));
	if (!own)
		return -ENOMEM;
	memcpy(own, guess, n * sizeof(*own));
	rc = jetwatt_rhythm_guess(own, n, JETWATT_RHYTHM_BY_PEAKS, &other);
	if (rc || other.k == 1)
		goto out;
	places(own, n);
	memcpy(own + n, own, n * sizeof(*own));
	jetwatt_beats_sharpen(own, n);
	rc = settle(own, n, other.k, w, &model, &own_score);
	if (!rc && model.train.k && better(own_score, other.k, *score, r->k, n) &&
	    explains(own, n, other.k, own_score, SCORE_MIN)) {
		memcpy(b, own, n * sizeof(*own));
		memcpy(guess, own + n, n * sizeof(*own));
		*m = model;
		*score = own_score;
		r->k = other.k;
	}
out:
	free(own);
	return rc;
}

/* The usual cycle may be several minibatches. Return: 0, -ENOMEM. */
static int try_several(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r,
		       struct refine_work *w, struct jetwatt_motif *m, double *score)
{
	struct jetwatt_beat *own = malloc(n * sizeof(*own));
	struct jetwatt_motif other;
	double own_score;
	int rc = 0, k;

	if (!own)
		return -ENOMEM;
	memcpy(own, b, n * sizeof(*own));
	k = m->train.k ? jetwatt_remark_several(own, n, &m->train, false) : 0;
	if (k)
		rc = settle(own, n, k, w, &other, &own_score);
	/* That there is an order in which they come is worth something, but not all. */
	if (k && !rc && other.train.k && own_score > *score - ORDER) {
		memcpy(b, own, n * sizeof(*own));
		*m = other;
		*score = own_score;
		r->k = k;
	}
	free(own);
	return rc;
}

/* What was found, of a walk that explains the job. */
static int found(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r)
{
	r->missing = 0;
	for (size_t i = 0; i < n; i++)
		r->missing += b[i].missing;
	return jetwatt_regain(b, n, r);
}

int jetwatt_refine_more(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r)
{
	double score;
	int rc;

	for (size_t i = 0; i < n; i++)
		r->model.told |= b[i].lost > 0;
	jetwatt_beats_sharpen(b, n);
	rc = jetwatt_decode(b, n, &r->model, &score);
	if (rc || score < r->score - WORSE || isinf(score))
		return rc;
	if (r->k == 1) {
		jetwatt_remark_caught_up(b, n);
		jetwatt_remark_alike(b, n);
	}
	beginnings(b, n);
	if (!explains(b, n, r->k, score, r->least))
		return 0;
	rc = found(b, n, r);
	return rc ? rc : 1;
}

int jetwatt_refine(struct jetwatt_beat *b, size_t n, struct jetwatt_rhythm *r)
{
	struct refine_work w = { .room = malloc((n + 1) * sizeof(*w.room)),
			  .some = malloc((n + 1) * sizeof(*w.some)), .shared = r->shared,
			  .why = r->why };
	struct jetwatt_beat *guess = malloc(n * sizeof(*guess));
	struct jetwatt_motif m;
	double score, least;
	int rc = -ENOMEM, k, guessed;

	if (!w.room || !w.some || !guess)
		goto out;
	rc = 0;
	places(b, n);
	if (n < WAITS_MIN)
		goto out;
	memcpy(guess, b, n * sizeof(*guess));
	for (size_t i = 0; i < n; i++)
		w.told |= b[i].lost > 0;
	jetwatt_beats_sharpen(b, n);
	rc = settle(b, n, r->k, &w, &m, &score);
	if (!rc)
		rc = try_peaks(b, guess, n, r, &w, &m, &score);
	k = r->k;
	if (!rc)
		rc = try_long_gaps(b, n, r, &w, &m, &score);
	guessed = r->k;
	if (!rc)
		rc = try_several(b, n, r, &w, &m, &score);
	least = r->k != guessed ? SCORE_MIN_PARTS : SCORE_MIN;
	if (rc)
		goto out;
	if (!m.train.k || !explains(b, n, r->k, score, least)) {
		memcpy(b, guess, n * sizeof(*guess));
		r->k = k;
		goto out;
	}
	r->model = m;
	r->score = score;
	r->least = least;
	rc = found(b, n, r);
out:
	free(w.room);
	free(w.some);
	free(guess);
	return rc;
}
