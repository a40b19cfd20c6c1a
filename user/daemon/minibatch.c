// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record the job's minibatches as they end, with the energy between their ends, for the histograms
 * and for quick checks. The online detection may take an evaluation that waits for the GPU in the
 * same way for a minibatch; readings of modes therefore do not use it (measure/mode.h).
 */
#include "daemon/loop.h"

#include <stdlib.h>
#include <string.h>

#include "measure/block_mean.h"
#include "minibatch/minibatch.h"
#include "util/clock.h"

/* Maximum number of ends of minibatches that wait for a power sample: samples arrive later than
 * waits, and both arrive in batches of up to a quarter of a second. */
#define ENDS	4096
/* A minibatch longer than this multiple of the usual length contains a pause. */
#define PAUSE	4
/* A minibatch deviates if its length and the usual length differ by more than this factor. */
#define DEVIATION	1.25
/* Number of consecutive deviating minibatches that count as a change of the job. */
#define STRANGE	8
/* The first FIRST minibatches in a mode (at least FEW) are the reference with which later ones
 * are compared. The very first minibatch is left out, because the switch delays it. */
#define FIRST	8
#define FEW	3
/* Interval at which the period of the minibatches is determined again while no length deviates;
 * each time that the period is the same, the interval doubles, up to LEARN_MOST_NS. Determining the
 * period dominates the CPU use of this file. */
#define LEARN_NS	20000000000ull
#define LEARN_MOST_NS	160000000000ull
/* Maximum number of minibatches in a mean, and length of the blocks whose scatter gives its error
 * (measure/block_mean.h). */
#define KEPT	2048
#define BLOCK_NS	50e6

/**
 * struct jetwattd_minibatch - the recorder
 * @r: the loop
 * @track: online detection of minibatch boundaries
 * @end: ends of minibatches that wait for a power sample, in order of time
 * @ends: number of elements of @end
 * @t_ns: time of the last power sample, ns, 0: there was none
 * @begin_ns: end of the last minibatch, ns; 0: none since waits or samples were lost or the period
 *	became new or unknown
 * @usual_ns: usual length of a minibatch, ns, 0: unknown
 * @was_ns: value of @usual_ns when the mean was started
 * @learned_ns: time at which the period was last determined, ns
 * @again_ns: time from @learned_ns until the period is determined again, ns
 * @w: total power of the last sample, in W
 * @uj: energy up to the last sample, in uJ
 * @begin_uj: energy up to @begin_ns, in uJ
 * @took_ns: durations of the minibatches in the mean, in ns
 * @took_uj: energies of the minibatches in the mean, in uJ
 * @kept: number of minibatches in the mean
 * @deviated: 1: the length of a minibatch has deviated since the period was last determined
 * @strange: number of consecutive minibatches that deviate from @was_ns
 * @here: minibatches in the applied mode
 * @here.since_ns: time of the switch to the applied mode, ns
 * @here.first_ns: lengths of the first minibatches in this mode, ns, sorted
 * @here.n: number of elements of @here.first_ns
 * @here.far: number of consecutive minibatches that deviate from the median of @here.first_ns
 */
struct jetwattd_minibatch {
	struct jetwattd_run *r;
	struct jetwatt_batch_track *track;
	uint64_t end[ENDS];
	int ends;
	uint64_t t_ns, begin_ns, usual_ns, was_ns, learned_ns, again_ns;
	double w, uj, begin_uj, took_ns[KEPT], took_uj[KEPT];
	size_t kept;
	int deviated, strange;
	struct {
		uint64_t since_ns, first_ns[FIRST];
		int n, far;
	} here;
};

/* Add the duration and the energy of a minibatch to the mean, up to KEPT minibatches. */
static void mean_add(struct jetwattd_minibatch *m, double took_ns, double uj)
{
	if (m->kept == KEPT)
		return;
	m->took_ns[m->kept] = took_ns;
	m->took_uj[m->kept++] = uj;
}

/* Return: 1 if the two lengths differ by more than the factor DEVIATION. */
static int deviates_by_ratio(uint64_t took, uint64_t usual)
{
	return took > DEVIATION * usual || DEVIATION * took < usual;
}

/* Compare a minibatch with the first ones in the applied mode, or add it to them. @since_ns: time of
 * the switch to this mode. */
static void compare_in_mode(struct jetwattd_minibatch *m, uint64_t since_ns, uint64_t took)
{
	int at = m->here.n;

	if (m->here.since_ns != since_ns) {
		memset(&m->here, 0, sizeof(m->here));
		m->here.since_ns = since_ns;
	} else if (at >= FEW && deviates_by_ratio(took, m->here.first_ns[at / 2])) {
		m->here.far++;
	} else {
		m->here.far = 0;
		if (at == FIRST)
			return;
		for (; at && m->here.first_ns[at - 1] > took; at--)
			m->here.first_ns[at] = m->here.first_ns[at - 1];
		m->here.first_ns[at] = took;
		m->here.n++;
	}
}

/* A minibatch has ended at @end_ns; @uj: total energy up to @end_ns, in uJ. */
static void minibatch_ended(struct jetwattd_minibatch *m, uint64_t end_ns, double uj)
{
	struct jetwattd *d = m->r->d;
	uint64_t took = end_ns - m->begin_ns;

	if (!m->usual_ns)
		m->usual_ns = jetwatt_batch_track_ns(m->track);
	m->deviated |= m->begin_ns && deviates_by_ratio(took, m->usual_ns);
	m->strange = m->begin_ns && m->was_ns && deviates_by_ratio(took, m->was_ns) ? m->strange + 1 : 0;
	if (m->begin_ns && took < PAUSE * m->usual_ns) {
		mean_add(m, took, uj - m->begin_uj);
		pthread_mutex_lock(&d->lock);
		if (m->begin_ns > d->act.switched_ns)
			compare_in_mode(m, d->act.switched_ns, took);
		jetwattd_metrics_minibatch(d, d->key, took * 1e-9, (uj - m->begin_uj) * 1e-6);
		pthread_mutex_unlock(&d->lock);
	}
	m->begin_ns = end_ns;
	m->begin_uj = uj;
}

static void minibatch_on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwattd_minibatch *m = arg;
	double w = jetwatt_session_total(&m->r->session, p), part, uj;
	int done = 0;

	if (p->gap)
		m->begin_ns = m->t_ns = 0;
	for (; done < m->ends && m->end[done] <= p->time_ns; done++) {
		if (!m->t_ns || m->end[done] < m->t_ns) {
			m->begin_ns = 0;
			continue;
		}
		part = (m->end[done] - m->t_ns) * 1e-3;
		uj = m->w + (w - m->w) * (m->end[done] - m->t_ns) / (p->time_ns - m->t_ns);
		minibatch_ended(m, m->end[done], m->uj + (m->w + uj) / 2 * part);
	}
	m->ends -= done;
	memmove(m->end, m->end + done, (size_t)m->ends * sizeof(*m->end));
	if (m->t_ns)
		m->uj += (m->w + w) / 2 * (p->time_ns - m->t_ns) * 1e-3;
	m->t_ns = p->time_ns;
	m->w = w;
}

void jetwattd_minibatch_wait(struct jetwattd_minibatch *m, const struct jetwatt_sync *s)
{
	if (s->lost || m->ends == ENDS) {
		m->begin_ns = 0;
		m->ends = 0;
	}
	if (jetwatt_batch_track_add(m->track, s, 0) == 1)
		m->end[m->ends++] = s->exit_ns;
}

void jetwattd_minibatch_learn(struct jetwattd_minibatch *m)
{
	uint64_t now = jetwatt_clock_ns();
	int deviated = m->deviated;
	size_t period;

	if (!m->r->session.pid || (m->usual_ns && !deviated && now - m->learned_ns < m->again_ns))
		return;
	m->deviated = 0;
	m->learned_ns = now;
	period = jetwatt_batch_track_period(m->track);
	m->again_ns = 2 * m->again_ns < LEARN_MOST_NS ? 2 * m->again_ns : LEARN_MOST_NS;
	if (deviated || m->again_ns < LEARN_NS)
		m->again_ns = LEARN_NS;
	/* After the period was determined again, boundaries may lie at other waits, and the
	 * period may be another multiple, so start over. */
	if (jetwatt_batch_track_learn(m->track))
		m->begin_ns = 0;
	if (jetwatt_batch_track_period(m->track) != period) {
		m->again_ns = LEARN_NS;
		m->begin_ns = 0;
		m->strange = 0;
		memset(&m->here, 0, sizeof(m->here));
	}
	m->usual_ns = jetwatt_batch_track_ns(m->track);
}

void jetwattd_minibatch_start_mean(struct jetwattd_minibatch *m)
{
	m->kept = 0;
	m->strange = 0;
	m->was_ns = m->usual_ns;
}

int jetwattd_minibatch_deviates(const struct jetwattd_minibatch *m)
{
	return m->strange >= STRANGE;
}

double jetwattd_minibatch_last_deviates(const struct jetwattd_minibatch *m)
{
	const uint64_t *first = m->here.first_ns;
	struct jetwattd *d = m->r->d;
	int here;

	pthread_mutex_lock(&d->lock);
	here = m->here.since_ns == d->act.switched_ns;
	pthread_mutex_unlock(&d->lock);
	/* Return 0 if no minibatch that began in the applied mode has ended, or if the first minibatches
	 * differ from each other by more than DEVIATION too. */
	if (!here || !m->here.far || deviates_by_ratio(first[0], first[m->here.n - 1]))
		return 0;
	return first[m->here.n / 2] * 1e-6;
}

size_t jetwattd_minibatch_mean(const struct jetwattd_minibatch *m, struct jetwatt_row *row)
{
	if (row)
		jetwatt_block_mean(m->took_ns, m->took_uj, m->kept, BLOCK_NS, row);
	return m->kept;
}

struct jetwattd_minibatch *jetwattd_minibatch_new(struct jetwattd_run *r)
{
	struct jetwattd_minibatch *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->r = r;
	m->track = jetwatt_batch_track_new();
	if (!m->track) {
		free(m);
		return NULL;
	}
	r->session.on_power = minibatch_on_power;
	r->session.arg = m;
	return m;
}

void jetwattd_minibatch_forget(struct jetwattd_minibatch *m)
{
	jetwatt_batch_track_reset(m->track);
	m->ends = 0;
	m->begin_ns = m->usual_ns = m->again_ns = 0;
	m->kept = 0;
	memset(&m->here, 0, sizeof(m->here));
}

void jetwattd_minibatch_free(struct jetwattd_minibatch *m)
{
	if (!m)
		return;
	jetwatt_batch_track_free(m->track);
	free(m);
}
