// SPDX-License-Identifier: GPL-2.0-only
/* Integrates power to energy along a run, stores the energy at the end of each wait and at each
 * mark, and finds the minibatches. */
#include "measure/run_energy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "minibatch/phases.h"

void jetwatt_run_energy_begin(struct jetwatt_run_energy *m, struct jetwatt_session *w)
{
	memset(m, 0, sizeof(*m));
	m->session = w;
	m->begun_ns = m->at_ns = w->begun_ns;
	/* Skip the waits before the start of the run: the energy at these times is not measured. */
	while (m->waits < w->nr_sync && w->sync[m->waits].exit_ns <= m->begun_ns)
		m->waits++;
	m->at_wait = calloc(m->waits + 1, sizeof(*m->at_wait));
	m->max = m->at_wait ? m->waits + 1 : 0;
	m->failed = !m->at_wait;
	jetwatt_energy_error_begin(&m->error, w);
}

/* Integrate the total power up to the time @to_ns. */
static void integrate_total(struct jetwatt_run_energy *m, uint64_t to_ns)
{
	const struct jetwatt_session *w = m->session;
	uint64_t covered = 0;
	double uj = 0;

	if (to_ns <= m->at_ns || jetwatt_batch_energy(w->power, w->nr_power, w->total, w->nr_total,
						      m->at_ns, to_ns, &uj, &covered))
		return;
	m->uj += uj;
	m->covered_ns += covered;
	m->at_ns = to_ns;
}

/* Integrate each rail. */
static void integrate_rails(struct jetwatt_run_energy *m, uint64_t from_ns, uint64_t to_ns)
{
	const struct jetwatt_session *w = m->session;
	double uj;

	for (int r = 0; r < w->nr_rails && to_ns > from_ns; r++)
		if (!jetwatt_batch_energy(w->power, w->nr_power, &r, 1, from_ns, to_ns, &uj, NULL))
			m->rail_uj[r] += uj;
}

/* Append the energy of the run so far to an array. */
static int append_energy(struct jetwatt_run_energy *m, double **at, size_t *n, size_t *max)
{
	if (*n == *max) {
		size_t more = *max ? 2 * *max : 64;
		double *p = reallocarray(*at, more, sizeof(*p));

		if (!p)
			return -ENOMEM;
		*at = p;
		*max = more;
	}
	(*at)[(*n)++] = m->uj;
	return 0;
}

static uint64_t end_of_next(const struct jetwatt_sync *s, size_t i, size_t n)
{
	return i < n ? s[i].exit_ns : UINT64_MAX;
}

/* Store the energy at the waits and marks up to @until_ns, in order of time. */
static void note_ends(struct jetwatt_run_energy *m, uint64_t until_ns)
{
	struct jetwatt_session *w = m->session;

	while (!m->failed) {
		uint64_t wait = end_of_next(w->sync, m->waits, w->nr_sync);
		uint64_t mark = end_of_next(w->mark, m->marks, w->nr_mark);

		if ((wait < mark ? wait : mark) > until_ns ||
		    (m->waits == w->nr_sync && m->marks == w->nr_mark))
			break;
		integrate_total(m, wait < mark ? wait : mark);
		jetwatt_energy_error_mark(&m->error, w, wait < mark ? wait : mark);
		m->failed = wait < mark ? append_energy(m, &m->at_wait, &m->waits, &m->max) :
					  append_energy(m, &m->at_mark, &m->marks, &m->max_marks);
	}
}

/* The interval excludes the time @from_ns: a sample at that time belongs to the interval before. */
static void sum_telemetry(struct jetwatt_run_energy *m, uint64_t from_ns, uint64_t to_ns)
{
	const struct jetwatt_session *w = m->session;

	for (size_t i = 0; i < w->nr_power; i++)
		if (w->power[i].time_ns > from_ns && w->power[i].time_ns <= to_ns)
			jetwatt_telemetry_add(&m->telemetry, &w->power[i].telemetry);
}

static void integrate_to(struct jetwatt_run_energy *m, uint64_t until_ns)
{
	uint64_t from = m->at_ns;

	note_ends(m, until_ns);
	/* The join delivers waits and samples in order of time, so no wait that arrives later
	 * ends before this sample. */
	integrate_total(m, until_ns);
	jetwatt_energy_error_add(&m->error, m->session, m->at_ns);
	integrate_rails(m, from, m->at_ns);
	sum_telemetry(m, from, m->at_ns);
}

void jetwatt_run_energy_to(struct jetwatt_run_energy *m, uint64_t ns)
{
	integrate_to(m, ns);
}

void jetwatt_run_energy_run(void *run)
{
	struct jetwatt_run_energy *m = run;
	uint64_t last = m->session->power_ns, age = jetwatt_energy_error_age(&m->error, m->session);

	/* The error of the energy at a wait needs samples that are later by the age of a value. */
	last = last > age ? last - age : 0;
	integrate_to(m, m->hold_ns && m->hold_ns < last ? m->hold_ns : last);
	jetwatt_session_discard(m->session, m->at_ns);
}

int jetwatt_run_energy_end(struct jetwatt_run_energy *m, uint64_t end_ns)
{
	struct jetwatt_session *w = m->session;

	integrate_to(m, end_ns < w->power_ns ? end_ns : w->power_ns);
	/* For waits and marks after the end of the run, store its final energy. */
	while (!m->failed && m->waits < w->nr_sync)
		m->failed = append_energy(m, &m->at_wait, &m->waits, &m->max) != 0;
	while (!m->failed && m->marks < w->nr_mark)
		m->failed = append_energy(m, &m->at_mark, &m->marks, &m->max_marks) != 0;
	m->bound = calloc(2 * w->nr_sync + w->nr_mark + 1, sizeof(*m->bound));
	if (w->explain)
		m->why = calloc(w->nr_sync + 1, sizeof(*m->why));
	if (m->failed || !m->bound || (w->explain && !m->why))
		return -ENOMEM;
	m->bounds = jetwatt_user_marks_bounds(m);
	if (!m->bounds)
		m->bounds = jetwatt_batch_segment_why(w->sync, w->nr_sync, m->bound, &m->info, m->why);
	if (m->bounds == -ENODATA)
		m->bounds = 0;
	if (m->bounds < 0)
		return m->bounds;
	m->phases = jetwatt_batch_phases(m->bound, m->bounds);
	return m->phases < 0 ? m->phases : 0;
}

/* Find the wait that ends at @exit_ns. Return: index of the wait; -1 if no wait ends then. */
static long wait_index(const struct jetwatt_sync *s, size_t n, uint64_t exit_ns)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].exit_ns < exit_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && s[lo].exit_ns == exit_ns ? (long)lo : -1;
}

double jetwatt_run_energy_bound(const struct jetwatt_run_energy *m, const struct jetwatt_batch_bound *b)
{
	const struct jetwatt_session *w = m->session;
	const struct jetwatt_sync *s = m->marked ? w->mark : w->sync;
	const double *uj = m->marked ? m->at_mark : m->at_wait;
	size_t n = m->marked ? w->nr_mark : w->nr_sync;
	long from = wait_index(s, n, b->start_ns), to = wait_index(s, n, b->end_ns);

	if (from < 0 || to < 0 || b->start_ns < m->begun_ns || b->end_ns > m->at_ns)
		return -1;
	return uj[to] - uj[from];
}

bool jetwatt_run_energy_counts(const struct jetwatt_run_energy *m, const struct jetwatt_batch_bound *b)
{
	return m->phases > 1 ? b->phase == 1 : b->kind == JETWATT_BATCH_TRAIN;
}

size_t jetwatt_run_energy_minibatches(const struct jetwatt_run_energy *m)
{
	size_t n = 0;

	for (int i = 0; i < m->bounds; i++)
		n += m->bound[i].kind == JETWATT_BATCH_TRAIN;
	return n;
}

void jetwatt_run_energy_free(struct jetwatt_run_energy *m)
{
	jetwatt_energy_error_free(&m->error);
	free(m->at_wait);
	free(m->at_mark);
	free(m->bound);
	free(m->why);
}
