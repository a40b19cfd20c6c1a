// SPDX-License-Identifier: GPL-2.0-only
/*
 * The job's minibatches as they end, with the energy between their ends, for the
 * histograms. Counted while the job runs, so an evaluation between two of them that
 * waits as they do is one too; what a reading of a mode rests on is measured apart. But
 * it shows whether there is something to measure.
 */
#include "daemon/loop.h"

#include <stdlib.h>
#include <string.h>

#include "measure/block_mean.h"
#include "minibatch/minibatch.h"
#include "util/clock.h"

/* Ends whose energy is not known yet: samples come later than waits, and both in one go after
 * a quarter of a second. */
#define ENDS	4096
/* What takes so many times as long as the median is a pause. */
#define PAUSE	4
/* One that is so far from the median may end elsewhere; else it is looked so often whether
 * they still end there, for to look is most of what we cost. */
#define ODD	1.25
/* So many in a row that are so far from what they were: that is another job now. */
#define STRANGE	8
/* In a mode the first ones, FEW at least, are as they are there, but the very first, which a
 * switch delays. */
#define FIRST	8
#define FEW	3
#define LEARN_NS	20000000000ull
/* So many are kept for their mean, which errs by what blocks of them differ. */
#define KEPT	2048
#define BLOCK_NS	50e6

/**
 * struct jetwattd_minibatch - where we are
 * @end: ends of minibatches, in order of time, that no sample lies behind yet
 * @t_ns, @w, @uj: the last sample, and the energy up to it
 * @here: in the mode that the board is in @since_ns: lengths of the @n first ones in order, but of
 *	the very first, and how many in a row were @far from them afterwards
 * @begin_ns, @begin_uj: the end of the minibatch before; 0: there is none, or something
 *	is missing since
 */
struct jetwattd_minibatch {
	struct jetwattd_run *r;
	struct jetwatt_batch_track *track;
	uint64_t end[ENDS];
	int ends;
	uint64_t t_ns, begin_ns, usual_ns, was_ns, learned_ns;
	double w, uj, begin_uj, took_ns[KEPT], took_uj[KEPT];
	size_t kept;
	int odd, strange;
	struct {
		uint64_t since_ns, first_ns[FIRST];
		int n, far;
	} here;
};

static void keep(struct jetwattd_minibatch *m, double took_ns, double uj)
{
	if (m->kept == KEPT)
		return;
	m->took_ns[m->kept] = took_ns;
	m->took_uj[m->kept++] = uj;
}

static int far(uint64_t took, uint64_t usual)
{
	return took > ODD * usual || ODD * took < usual;
}

/* One more that began in the mode that the board is in since @since_ns. */
static void compare(struct jetwattd_minibatch *m, uint64_t since_ns, uint64_t took)
{
	int at = m->here.n;

	if (m->here.since_ns != since_ns) {
		memset(&m->here, 0, sizeof(m->here));
		m->here.since_ns = since_ns;
	} else if (at >= FEW && far(took, m->here.first_ns[at / 2])) {
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

/* A minibatch has ended, @uj since we began to count. */
static void ended(struct jetwattd_minibatch *m, uint64_t end_ns, double uj)
{
	struct jetwattd *d = m->r->d;
	uint64_t took = end_ns - m->begin_ns;

	if (!m->usual_ns)
		m->usual_ns = jetwatt_batch_track_ns(m->track);
	m->odd |= m->begin_ns && far(took, m->usual_ns);
	m->strange = m->begin_ns && m->was_ns && far(took, m->was_ns) ? m->strange + 1 : 0;
	if (m->begin_ns && took < PAUSE * m->usual_ns) {
		keep(m, took, uj - m->begin_uj);
		pthread_mutex_lock(&d->lock);
		if (m->begin_ns > d->act.switched_ns)
			compare(m, d->act.switched_ns, took);
		jetwattd_metrics_minibatch(d, d->key, took * 1e-9, (uj - m->begin_uj) * 1e-6);
		pthread_mutex_unlock(&d->lock);
	}
	m->begin_ns = end_ns;
	m->begin_uj = uj;
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwattd_minibatch *m = arg;
	double w = jetwatt_watch_total(&m->r->watch, p), part, uj;
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
		ended(m, m->end[done], m->uj + (m->w + uj) / 2 * part);
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
	size_t period;

	if (!m->r->watch.pid || (m->usual_ns && !m->odd && now - m->learned_ns < LEARN_NS))
		return;
	m->odd = 0;
	m->learned_ns = now;
	period = jetwatt_batch_track_period(m->track);
	/* Where they end may be another place now, and twice as many may be one. */
	if (jetwatt_batch_track_learn(m->track))
		m->begin_ns = 0;
	if (jetwatt_batch_track_period(m->track) != period) {
		m->begin_ns = 0;
		m->strange = 0;
		memset(&m->here, 0, sizeof(m->here));
	}
	m->usual_ns = jetwatt_batch_track_ns(m->track);
}

void jetwattd_minibatch_anew(struct jetwattd_minibatch *m)
{
	m->kept = 0;
	m->strange = 0;
	m->was_ns = m->usual_ns;
}

int jetwattd_minibatch_strange(const struct jetwattd_minibatch *m)
{
	return m->strange >= STRANGE;
}

double jetwattd_minibatch_jumped(const struct jetwattd_minibatch *m)
{
	const uint64_t *first = m->here.first_ns;

	/* Where they scatter so among themselves, that says nothing. */
	if (!m->here.far || far(first[0], first[m->here.n - 1]))
		return 0;
	return first[m->here.n / 2] * 1e-6;
}

size_t jetwattd_minibatch_mean(const struct jetwattd_minibatch *m, struct jetwatt_row *row)
{
	if (row)
		jetwatt_mean(m->took_ns, m->took_uj, m->kept, BLOCK_NS, row);
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
	r->watch.on_power = on_power;
	r->watch.arg = m;
	return m;
}

void jetwattd_minibatch_forget(struct jetwattd_minibatch *m)
{
	jetwatt_batch_track_forget(m->track);
	m->ends = 0;
	m->begin_ns = m->usual_ns = 0;
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
