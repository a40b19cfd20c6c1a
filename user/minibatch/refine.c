// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a first estimate of a job's minibatches to the most probable labels: learns a hidden Markov
 * model from the estimate, decodes the waits, and repeats both steps with the decoded labels.
 */
#include "minibatch/viterbi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES		3	/* maximum number of passes of learning and decoding */
#define SAME		0.02	/* stop if the mean log-likelihood changes by less than this */
#define WORSE		0.3	/* reject the model if the score of new waits is this much lower */
#define WAITS_MIN	40	/* minimum number of waits for learning a model */

/*
 * A model explains a job if its score is high enough (mean log-likelihood of a wait; 5 % jitter
 * gives 2), and few waits are outliers, are in no cycle, or follow an incomplete minibatch.
 */
#define SCORE_MIN	1.5
#define SCORE_MIN_PARTS	1.0	/* minimum score if the cycle found first was split into minibatches */
#define OUTLIER_MAX	0.06
#define MATTERS		0.05	/* a gap below this fraction of its cycle may be an outlier */
#define NONE_MAX	0.3
#define BROKEN_MAX	0.005
#define ORDER		1.2	/* gain in score that the order of several minibatches may bring */
#define PER_INDEX	2.0	/* cost in score of a phase index: 4 parameters, log(n) / 2 each */

/* Log-probability that a minibatch ends early; higher in the first pass, which knows no other phase yet. */
#define ABORT_FIRST	(-5.0)
#define ABORT		(-7.0)
#define WHOLE_MIN	3	/* minimum number of lost minibatches; fewer may be stalls */
#define EXTRAS_MIN	3	/* minimum number of additional waits; fewer may be chance */
#define EXTRA_GAP_SD	0.6	/* maximum scatter of the gaps before additional waits */
#define EXTRA_WAIT_SD	0.8	/* maximum scatter of the lengths of additional waits */
#define EVAL_MIN	12	/* minimum number of waits in another phase */
#define EVAL_RUN	4	/* minimum mean number of waits in a sequence of another phase */
#define EVAL_GAP_SD	0.5	/* maximum scatter of the gaps of an evaluation cycle */
#define EVAL_WAIT_SD	0.3	/* maximum scatter of the wait lengths of an evaluation cycle */

/* Compute the phase indices of initial labels that contain only the starts of minibatches. */
static void number_waits(struct jetwatt_batch_wait *b, size_t n)
{
	uint8_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at = b[i].starts_minibatch || (i && b[i].other_phase != b[i - 1].other_phase) ? 0 :
		     at + 1 < JETWATT_PHASE_INDEX_EXTRA ? at + 1 : at;
		b[i].phase_index = at;
		b[i].missing = 0;
		b[i].outlier = 0;
	}
}

/* Compute the starts of minibatches from the phase indices. */
static void label_starts(struct jetwatt_batch_wait *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b[i].starts_minibatch = !b[i].phase_index ||
					(b[i].phase_index == JETWATT_PHASE_INDEX_NONE &&
					 (!i || b[i - 1].phase_index != JETWATT_PHASE_INDEX_NONE));
}

/* Return the size of the groups that contain most waits of the other phase; 0 if there are no groups. */
static int usual_size(const struct jetwatt_batch_wait *b, size_t n)
{
	size_t count[JETWATT_PERIOD_MAX + 1] = { 0 }, end;
	int best = 0;

	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1;
		     end < n && !b[end].starts_minibatch && b[end].other_phase == b[i].other_phase;
		     end++)
			;
		if (b[i].other_phase && end - i <= JETWATT_PERIOD_MAX)
			count[end - i]++;
	}
	for (int k = 1; k <= JETWATT_PERIOD_MAX; k++)
		if (count[k] * (size_t)k > (best ? count[best] * (size_t)best : 0))
			best = k;
	return best;
}

/* Check that gaps and waits scatter so little around the emissions of @c that @c is a cycle. */
static bool is_regular(const struct jetwatt_cycle *c)
{
	for (int p = 0; p < c->k; p++)
		if (c->emission[p].gap_sd > EVAL_GAP_SD || c->emission[p].wait_sd > EVAL_WAIT_SD)
			return false;
	return c->k > 0;
}

/* Return whether the other phase has enough waits, in total and on average per sequence. */
static bool has_other_phase(const struct jetwatt_batch_wait *b, size_t n)
{
	size_t count = 0, runs = 0;

	for (size_t i = 0; i < n; i++) {
		count += b[i].other_phase;
		runs += b[i].other_phase && (!i || !b[i - 1].other_phase);
	}
	return count >= EVAL_MIN && count >= EVAL_RUN * runs;
}

/* Find the period of the other phase and label its waits. */
static int label_other_phase(struct jetwatt_batch_wait *b, size_t n, bool shared,
			     struct jetwatt_batch_wait *some)
{
	struct jetwatt_period r = { .shared = shared };
	size_t count = 0, at = 0;
	int rc;

	if (!has_other_phase(b, n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (b[i].other_phase)
			some[count++] = b[i];
	rc = jetwatt_period_estimate(some, count, JETWATT_PERIOD_BY_ANY, &r);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (!b[i].other_phase)
			continue;
		b[i].starts_minibatch = some[at++].starts_minibatch || !i || !b[i - 1].other_phase;
		b[i].phase_index =
			b[i].starts_minibatch || b[i - 1].phase_index + 1 >= JETWATT_PERIOD_MAX
				? 0
				: b[i - 1].phase_index + 1;
	}
	return 0;
}

/* Counts of rare events. */
struct rare_counts {
	size_t missing, whole_lost, outlier, extras, after;
};

static struct rare_counts count_rare(const struct jetwatt_batch_wait *b, size_t n, int k)
{
	struct rare_counts s = { 0 };

	for (size_t i = 1; i < n; i++) {
		s.missing += b[i].missing;
		s.whole_lost += b[i].missing && b[i].missing % k == 0;
		s.outlier +=
			!b[i].missing && !b[i].phase_index && !b[i].other_phase && b[i].outlier;
		if (b[i].phase_index & JETWATT_PHASE_INDEX_EXTRA) {
			s.extras++;
			s.after += !(b[i - 1].outlier & JETWATT_OUTLIER_WAIT);
		}
	}
	return s;
}

/*
 * Estimate the probabilities of rare events. Unless the probe reports losses, passes after the first
 * model lost minibatches only if these are at least twice as many as other long gaps: only a gap shows
 * them. An additional wait must follow one of usual length; else it makes up for a long wait.
 */
static void learn_rates(const struct jetwatt_batch_wait *b, size_t n, struct jetwatt_wait_hmm *m,
			bool first, double *scratch)
{
	struct rare_counts s = count_rare(b, n, m->train.k);
	double groups = (double)n / m->train.k;

	m->stall = jetwatt_template_stalls(b, n, &m->train);
	m->lost = ((double)s.missing + 1) / ((double)n + 200);
	m->whole_lost = first || m->losses_reported ||
			(s.whole_lost >= WHOLE_MIN && s.whole_lost >= 2 * s.outlier);
	m->abort = first ? ABORT_FIRST : ABORT;
	m->extra_rate = ((double)s.extras + 0.5) / (groups + 100);
	m->extras = s.extras >= EXTRAS_MIN;
	if (m->extras)
		jetwatt_template_extra(b, n, m, scratch);
	if (m->extras ? m->extra.gap_sd > EXTRA_GAP_SD || m->extra.wait_sd > EXTRA_WAIT_SD ||
			s.after * 10 < s.extras * 9 : !first)
		m->extra_rate = 0;
}

static void learn_model(struct jetwatt_batch_wait *b, size_t n, int k, struct jetwatt_wait_hmm *m,
			bool first, double *scratch)
{
	int size;

	if (jetwatt_template_learn(b, n, k, false, &m->train, scratch))
		return;
	size = has_other_phase(b, n) ? usual_size(b, n) : 0;
	m->eval.k = 0;
	if (size && size != k && !jetwatt_template_learn(b, n, size, true, &m->eval, scratch)) {
		int parts = jetwatt_relabel_several(b, n, &m->eval, true);

		if (parts && jetwatt_template_learn(b, n, parts, true, &m->eval, scratch))
			m->eval.k = 0;
	}
	if (m->eval.k != k && is_regular(&m->eval))
		jetwatt_template_shift(b, n, &m->train, &m->eval, scratch);
	else
		m->eval.k = 0;
	learn_rates(b, n, m, first, scratch);
}

/* Arguments and scratch memory that the functions of this file share. */
struct refine_work {
	struct jetwatt_batch_wait *some;
	double *scratch;
	bool losses_reported, shared, why;
};

/* Learn and decode alternately. @b is labelled; @score is the score of the last decoding. */
static int learn_and_decode(struct jetwatt_batch_wait *b, size_t n, int k, struct refine_work *w,
			    struct jetwatt_wait_hmm *m, double *score)
{
	double last = INFINITY;
	int rc = 0;

	*m = (struct jetwatt_wait_hmm){ .losses_reported = w->losses_reported, .why = w->why };
	*score = -INFINITY;
	jetwatt_relabel_sizes(b, n, k);
	for (int pass = 0; pass < PASSES && !rc; pass++) {
		learn_model(b, n, k, m, !pass, w->scratch);
		if (!m->train.k)
			break;
		rc = jetwatt_decode(b, n, m, score);
		if (rc || isinf(*score))
			break;
		if (k == 1) {
			jetwatt_relabel_caught_up(b, n);
			jetwatt_relabel_alike(b, n);
		}
		label_starts(b, n);
		if (pass + 1 == PASSES || fabs(*score - last) < SAME)
			break;
		last = *score;
		jetwatt_relabel_sizes(b, n, k);
		jetwatt_relabel_parts(b, n, &m->train);
		if (!m->eval.k)
			rc = label_other_phase(b, n, w->shared, w->some);
	}
	return rc;
}

/* Return whether the gain in score exceeds the penalty for the additional parameters. */
static bool is_better(double score, int k, double than, int other, size_t n)
{
	return (score - than) * (double)n > PER_INDEX * (k - other) * log((double)n);
}

/* Try labels that follow from long gaps; if their score is better, copy them to @b. */
static int try_long_gaps(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r,
			 struct refine_work *w, struct jetwatt_wait_hmm *m, double *score)
{
	struct jetwatt_batch_wait *copy = malloc(n * sizeof(*copy));
	struct jetwatt_wait_hmm other;
	int k, rc = 0;
	double new_score;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, b, n * sizeof(*copy));
	k = jetwatt_relabel_long_gaps(copy, n);
	if (k && r->k == 1)
		k = jetwatt_relabel_check_long_gaps(copy, n, k, w->scratch);
	if (k && r->shared && !jetwatt_starts_are_own(copy, n, w->scratch))
		k = 0;
	if (k && k != r->k) {
		number_waits(copy, n);
		rc = learn_and_decode(copy, n, k, w, &other, &new_score);
		if (!rc && other.train.k && is_better(new_score, k, *score, r->k, n)) {
			memcpy(b, copy, n * sizeof(*copy));
			*m = other;
			*score = new_score;
			r->k = k;
		}
	}
	free(copy);
	return rc;
}

/*
 * Return whether the model explains the job. The model does not explain the job if many waits are
 * outliers without an obvious disturbance, or in no cycle, or if minibatches are often incomplete.
 */
static bool explains(const struct jetwatt_batch_wait *b, size_t n, int k, double score,
		     double least)
{
	size_t outlier = 0, none = 0, broken = 0;

	for (size_t i = 1; i < n; i++) {
		bool end = b[i - 1].phase_index & JETWATT_PHASE_INDEX_EXTRA ||
			   b[i - 1].phase_index + 1 >= k;

		none += b[i].phase_index == JETWATT_PHASE_INDEX_NONE;
		if (!b[i].other_phase && !b[i].missing &&
		    !(b[i].phase_index & JETWATT_PHASE_INDEX_EXTRA))
			outlier += b[i].outlier & JETWATT_OUTLIER_WAIT ||
				   (b[i].outlier && b[i].phase_index &&
				    b[i].gap_ns > MATTERS * b[i].cycle_ns);
		broken += !b[i - 1].other_phase && !end && !b[i].missing &&
			  (b[i].other_phase || b[i].phase_index != b[i - 1].phase_index + 1);
	}
	return score > least && (double)outlier <= OUTLIER_MAX * (double)n &&
	       (double)none <= NONE_MAX * (double)n && (double)broken <= BROKEN_MAX * (double)n + 1;
}

/*
 * Label the waits by the visible peaks, whose period @r->other_k the estimate has replaced by that
 * of fold.c. @initial: the waits with their first labels. Copy a better result to @b and @initial.
 */
static int try_peaks(struct jetwatt_batch_wait *b, struct jetwatt_batch_wait *initial, size_t n,
		     struct jetwatt_period *r, struct refine_work *w, struct jetwatt_wait_hmm *m,
		     double *score)
{
	struct jetwatt_period other = { .shared = r->shared };
	struct jetwatt_batch_wait *copy;
	struct jetwatt_wait_hmm model;
	double new_score;
	int rc;

	if (!r->other_k)
		return 0;
	copy = malloc(2 * n * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, initial, n * sizeof(*copy));
	rc = jetwatt_period_estimate(copy, n, JETWATT_PERIOD_BY_PEAKS, &other);
	if (rc || other.k == 1)
		goto out;
	number_waits(copy, n);
	memcpy(copy + n, copy, n * sizeof(*copy));
	jetwatt_wait_logs(copy, n);
	rc = learn_and_decode(copy, n, other.k, w, &model, &new_score);
	if (!rc && model.train.k && is_better(new_score, other.k, *score, r->k, n) &&
	    explains(copy, n, other.k, new_score, SCORE_MIN)) {
		memcpy(b, copy, n * sizeof(*copy));
		memcpy(initial, copy + n, n * sizeof(*copy));
		*m = model;
		*score = new_score;
		r->k = other.k;
	}
out:
	free(copy);
	return rc;
}

/* Try whether the usual cycle consists of several minibatches. Return: 0; -ENOMEM. */
static int try_several(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r,
		       struct refine_work *w, struct jetwatt_wait_hmm *m, double *score)
{
	struct jetwatt_batch_wait *copy = malloc(n * sizeof(*copy));
	struct jetwatt_wait_hmm other;
	double new_score;
	int rc = 0, k;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, b, n * sizeof(*copy));
	k = m->train.k ? jetwatt_relabel_several(copy, n, &m->train, false) : 0;
	if (k)
		rc = learn_and_decode(copy, n, k, w, &other, &new_score);
	/* The old, larger cycle also models the order of minibatches: subtract that gain from its score. */
	if (k && !rc && other.train.k && new_score > *score - ORDER) {
		memcpy(b, copy, n * sizeof(*copy));
		*m = other;
		*score = new_score;
		r->k = k;
	}
	free(copy);
	return rc;
}

/* Complete the result after the model was found to explain the job. */
static int complete_result(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	r->missing = 0;
	for (size_t i = 0; i < n; i++)
		r->missing += b[i].missing;
	return jetwatt_regain(b, n, r);
}

int jetwatt_refine_more(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	double score;
	int rc;

	for (size_t i = 0; i < n; i++)
		r->model.losses_reported |= b[i].lost > 0;
	jetwatt_wait_logs(b, n);
	rc = jetwatt_decode(b, n, &r->model, &score);
	if (rc || score < r->score - WORSE || isinf(score))
		return rc;
	if (r->k == 1) {
		jetwatt_relabel_caught_up(b, n);
		jetwatt_relabel_alike(b, n);
	}
	label_starts(b, n);
	if (!explains(b, n, r->k, score, r->min_score))
		return 0;
	rc = complete_result(b, n, r);
	return rc ? rc : 1;
}

int jetwatt_refine(struct jetwatt_batch_wait *b, size_t n, struct jetwatt_period *r)
{
	struct refine_work w = { .scratch = malloc((n + 1) * sizeof(*w.scratch)),
			  .some = malloc((n + 1) * sizeof(*w.some)), .shared = r->shared,
			  .why = r->why };
	struct jetwatt_batch_wait *initial = malloc(n * sizeof(*initial));
	struct jetwatt_wait_hmm m;
	double score, least;
	int rc = -ENOMEM, k, before;

	if (!w.scratch || !w.some || !initial)
		goto out;
	rc = 0;
	number_waits(b, n);
	if (n < WAITS_MIN)
		goto out;
	memcpy(initial, b, n * sizeof(*initial));
	for (size_t i = 0; i < n; i++)
		w.losses_reported |= b[i].lost > 0;
	jetwatt_wait_logs(b, n);
	rc = learn_and_decode(b, n, r->k, &w, &m, &score);
	if (!rc)
		rc = try_peaks(b, initial, n, r, &w, &m, &score);
	k = r->k;
	if (!rc && !r->single)
		rc = try_long_gaps(b, n, r, &w, &m, &score);
	before = r->k;
	if (!rc && !r->single)
		rc = try_several(b, n, r, &w, &m, &score);
	least = r->k != before ? SCORE_MIN_PARTS : SCORE_MIN;
	if (rc)
		goto out;
	if (!m.train.k || !explains(b, n, r->k, score, least)) {
		memcpy(b, initial, n * sizeof(*initial));
		r->k = k;
		goto out;
	}
	r->model = m;
	r->score = score;
	r->min_score = least;
	rc = complete_result(b, n, r);
out:
	free(w.scratch);
	free(w.some);
	free(initial);
	return rc;
}
