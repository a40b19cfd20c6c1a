// SPDX-License-Identifier: GPL-2.0-only
/*
 * The job's minibatches as they end, with the energy between their ends, for the
 * histograms. Counted while the job runs, so an evaluation between two of them that
 * waits as they do is one too; what a reading of a mode rests on is measured apart.
 */
#include "loop.h"

#include <stdlib.h>
#include <string.h>

#include "batch/batch.h"

/* Ends whose energy is not known yet: samples come later than waits. */
#define ENDS	64
/* What takes so many times as long as the median is a pause. */
#define PAUSE	4

/**
 * struct jetwattd_minibatch - where we are
 * @end: ends of minibatches, in order of time, that no sample lies behind yet
 * @t_ns, @w, @uj: the last sample, and the energy up to it
 * @begin_ns, @begin_uj: the end of the minibatch before; 0: there is none, or something
 *	is missing since
 */
struct jetwattd_minibatch {
	struct jetwattd_run *r;
	struct jetwatt_batch_track *track;
	uint64_t end[ENDS];
	int ends;
	uint64_t t_ns, begin_ns;
	double w, uj, begin_uj;
};

/* A minibatch has ended, @uj since we began to count. */
static void ended(struct jetwattd_minibatch *m, uint64_t end_ns, double uj)
{
	struct jetwattd *d = m->r->d;
	uint64_t took = end_ns - m->begin_ns;

	if (m->begin_ns && took < PAUSE * jetwatt_batch_track_ns(m->track)) {
		pthread_mutex_lock(&d->lock);
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
	/* Where they end may be another place now. */
	if (m->r->watch.pid && jetwatt_batch_track_learn(m->track))
		m->begin_ns = 0;
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
	m->begin_ns = 0;
}

void jetwattd_minibatch_free(struct jetwattd_minibatch *m)
{
	if (!m)
		return;
	jetwatt_batch_track_free(m->track);
	free(m);
}
