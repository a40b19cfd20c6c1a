// SPDX-License-Identifier: GPL-2.0-only
/* Decides when power has settled after a change of mode, or predicts its level. */
#include "measure/power_settle.h"

#include <errno.h>
#include <math.h>

#define SETTLE_MAX_S	6
/*
 * If power differs from the power before the change of mode by less than this fraction, it has
 * settled after AVERAGING_NS, the averaging time of the chip. The decision needs samples of another
 * SMALL_CHANGE_SAMPLES_NS.
 */
#define SMALL_CHANGE		0.03
#define AVERAGING_NS		200000000ull
#define SMALL_CHANGE_SAMPLES_NS	1000000000ull
/* Maximum relative error of a predicted power; and the maximum if the prediction is at least FAR
 * standard errors away from the power limit. */
#define PREDICTED	0.012
#define PREDICTED_FAR	0.025
#define FAR		3

struct jetwatt_settle jetwatt_settle_samples(const struct jetwatt_session *session,
					     uint64_t since_ns, uint64_t *t, double *w)
{
	struct jetwatt_settle s = { t, w, 0, since_ns };

	for (size_t i = 0; i < session->nr_power; i++) {
		if (session->power[i].time_ns < since_ns)
			continue;
		t[s.n] = session->power[i].time_ns;
		w[s.n++] = jetwatt_session_total(session, &session->power[i]);
	}
	return s;
}

/* Return: 1 if power differs little from that before the change of mode; 0 if not, or if unknown. */
static int hardly_changed(const struct jetwatt_settle *s, double before_w)
{
	double sum = 0, some = 0;

	if (!(before_w > 0) || !s->n ||
	    s->t[s->n - 1] - s->since_ns < AVERAGING_NS + SMALL_CHANGE_SAMPLES_NS)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->t[i] - s->since_ns >= AVERAGING_NS) {
			sum += s->w[i];
			some++;
		}
	return fabs(sum / some / before_w - 1) < SMALL_CHANGE;
}

uint64_t jetwatt_settle_time(const struct jetwatt_settle *s, uint64_t minibatch_ns,
			      const struct jetwatt_measure_limits *limits, int *settled)
{
	uint64_t max_ns = (limits->settle_s > 0 ? limits->settle_s : SETTLE_MAX_S) * 1e9;
	long at = s->n ? jetwatt_batch_settled_over(s->t, s->w, s->n, minibatch_ns) : -ENODATA;

	*settled = at >= 0;
	if (at >= 0)
		return s->t[at];
	*settled = hardly_changed(s, limits->before_w);
	if (*settled)
		return s->since_ns + AVERAGING_NS;
	/* Power may never settle within its noise. After the time limit, use the unsettled power
	 * from the middle of the time limit on. */
	return s->n && s->t[s->n - 1] - s->since_ns > max_ns ? s->since_ns + max_ns / 2 : 0;
}

/* Predict the settled level of power from the samples from @from_ns on. Return: as
 * jetwatt_batch_level(). */
static int fit_level(const struct jetwatt_settle *s, uint64_t from_ns, uint64_t minibatch_ns,
		     const struct jetwatt_measure_limits *limits, struct jetwatt_batch_level *l)
{
	size_t i = 0;

	if (!limits->decay)
		return -ENODATA;
	from_ns = from_ns > s->since_ns + AVERAGING_NS ? from_ns : s->since_ns + AVERAGING_NS;
	while (i < s->n && s->t[i] < from_ns)
		i++;
	return jetwatt_batch_level(s->t + i, s->w + i, s->n - i, minibatch_ns, limits->decay, l);
}

int jetwatt_settle_decisive(double time_ms, double w, double sd, const struct jetwatt_measure_limits *limits)
{
	return time_ms < limits->good_ms && fabs(w - limits->limit_w) < FAR * sd;
}

/* Return whether the error of the predicted power is small enough. */
static int is_accurate(const struct jetwatt_batch_level *l, double time_ms,
		       const struct jetwatt_measure_limits *limits)
{
	if (jetwatt_settle_decisive(time_ms, l->w, l->sd, limits))
		return l->sd < fmin(JETWATT_POWER_ERROR_DECISIVE, limits->target) * l->w;
	if (limits->limit_w > 0 && fabs(l->w - limits->limit_w) > FAR * l->sd)
		return l->sd < PREDICTED_FAR * l->w;
	return l->sd < fmin(PREDICTED, limits->target) * l->w;
}

int jetwatt_settle_predict(const struct jetwatt_settle *s, uint64_t from_ns, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits, struct jetwatt_row *row)
{
	struct jetwatt_batch_level l;

	if (fit_level(s, from_ns, minibatch_ns, limits, &l) ||
	    !is_accurate(&l, row->time_ms, limits))
		return -ENODATA;
	jetwatt_batch_decay_add(limits->decay, &l.decay);
	row->power_w = l.w;
	row->power_sd = l.sd / l.w;
	return 0;
}

void jetwatt_settle_learn(const struct jetwatt_settle *s, uint64_t minibatch_ns,
		       const struct jetwatt_measure_limits *limits)
{
	struct jetwatt_batch_level l;

	if (!fit_level(s, s->since_ns, minibatch_ns, limits, &l))
		jetwatt_batch_decay_add(limits->decay, &l.decay);
}
