// SPDX-License-Identifier: GPL-2.0-only
/* Collects samples and minibatches in order of time, and computes the energy of the minibatches. */
#include "python/native/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"

/* A running job keeps this many waits or more, whose times may be bounds of a minibatch. */
#define WAITS_KEPT	4096

static void *append(struct jetwatt_stream *s, struct array *a, const void *entry, size_t size)
{
	if (a->n == a->max) {
		size_t max = a->max ? 2 * a->max : 256;
		void *p = reallocarray(a->at, max, size);

		if (!p) {
			s->err = -ENOMEM;
			return NULL;
		}
		a->at = p;
		a->max = max;
	}
	return memcpy((char *)a->at + size * a->n++, entry, size);
}

/* Return: the last sample of this step, or of an earlier one; valid if s->any. */
static const struct jetwatt_power *last_power(const struct jetwatt_stream *s)
{
	const struct jetwatt_power *power = s->power.at;

	return s->power.n ? power + s->power.n - 1 : &s->last;
}

/* Return: energy from the last sample to @t_ns, which is not after the sample @p, uJ. */
static double energy_until(const struct jetwatt_stream *s, const struct jetwatt_power *p, uint64_t t_ns)
{
	const struct jetwatt_power *last = last_power(s);

	return jetwatt_batch_energy_between(last, p, s->total, s->nr_total, last->time_ns, t_ns);
}

/* Return: energy from the first sample to a time at which a wait or mark has ended; NAN: unknown. */
static double energy_at(const struct jetwatt_stream *s, uint64_t t_ns)
{
	const struct jetwatt_sync *wait = s->wait.at;
	size_t lo = 0, hi = s->known;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (wait[mid].exit_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->known && wait[lo].exit_ns == t_ns ? ((double *)s->at_wait.at)[lo] : NAN;
}

void jetwatt_stream_add(struct jetwatt_stream *s, const struct jetwatt_stream_minibatch *m)
{
	struct jetwatt_stream_minibatch *f = append(s, &s->found, m, sizeof(*m));

	if (f)
		f->uj = energy_at(s, m->end_ns) - energy_at(s, m->start_ns);
}

/* Compute the energy from the first sample to the end of each wait that ends at or before the sample @p,
 * and add the minibatches that end by then. */
static void reach_waits(struct jetwatt_stream *s, const struct jetwatt_power *p)
{
	const struct jetwatt_sync *wait = s->wait.at;
	struct jetwatt_stream_minibatch *open = s->open.at;
	size_t done = 0;

	for (; s->known < s->wait.n && wait[s->known].exit_ns <= p->time_ns; s->known++) {
		uint64_t t = wait[s->known].exit_ns;
		double uj = s->any && t >= last_power(s)->time_ns ? s->uj + energy_until(s, p, t) : NAN;

		if (!append(s, &s->at_wait, &uj, sizeof(uj)))
			return;
	}
	while (done < s->open.n && open[done].end_ns <= p->time_ns)
		jetwatt_stream_add(s, &open[done++]);
	if (done)
		memmove(open, open + done, (s->open.n -= done) * sizeof(*open));
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct jetwatt_stream *s = arg;

	reach_waits(s, p);
	if (s->any)
		s->uj += energy_until(s, p, p->time_ns);
	s->any |= append(s, &s->power, p, sizeof(*p)) != NULL;
}

/* Forget the oldest waits of a running job if there are more than 2 * WAITS_KEPT. */
static void trim_waits(struct jetwatt_stream *s)
{
	struct jetwatt_sync *wait = s->wait.at;
	double *uj = s->at_wait.at;
	size_t gone = s->wait.n > 2 * WAITS_KEPT ? s->wait.n - WAITS_KEPT : 0;

	if (!gone || gone > s->known)
		return;
	memmove(wait, wait + gone, (s->wait.n -= gone) * sizeof(*wait));
	memmove(uj, uj + gone, (s->at_wait.n -= gone) * sizeof(*uj));
	s->known -= gone;
}

/* Add a minibatch to s->open if it ends with this wait or mark of a running job. */
static void track_wait(struct jetwatt_stream *s, const struct jetwatt_sync *w)
{
	struct jetwatt_stream_minibatch m = { .end_ns = w->exit_ns, .tgid = w->tgid };

	if (w->call == JETWATT_SYNC_MARK_BEGIN)
		return;
	m.marked = w->call == JETWATT_SYNC_MARK;
	if (jetwatt_batch_track_add(s->track, w, 0) == 1) {
		m.start_ns = m.marked ? jetwatt_batch_mark_start(s->wait.at, s->wait.n - 1) : s->bound_ns;
		if (m.start_ns)
			append(s, &s->open, &m, sizeof(m));
		s->bound_ns = w->exit_ns;
	}
	jetwatt_batch_track_learn(s->track);
	trim_waits(s);
}

static void on_sync(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_stream *s = arg;

	if (append(s, &s->wait, w, sizeof(*w)) && s->track)
		track_wait(s, w);
}

void jetwatt_stream_samples(const struct jetwatt_samples *b, void *stream)
{
	struct jetwatt_stream *s = stream;

	s->samples_lost += b->gap;
	if (s->join)
		jetwatt_join_samples(b, s->join);
}

void jetwatt_stream_find_total(struct jetwatt_stream *s)
{
	for (int r = 0; r < s->nr_rails; r++)
		if (s->rail[r].in_total)
			s->total[s->nr_total++] = r;
}

struct jetwatt_stream *jetwatt_stream_new(void)
{
	struct jetwatt_stream *s = calloc(1, sizeof(*s));

	if (s)
		s->fd = s->epoll = s->pidfd = -1;
	return s;
}

void jetwatt_stream_join(struct jetwatt_stream *s)
{
	jetwatt_join_set(s->join, on_power, on_sync, s);
}
