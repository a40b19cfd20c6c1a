// SPDX-License-Identifier: GPL-2.0-only
/* Stores the running integrals at the end of each wait and mark, and computes the energy error from them. */
#include "measure/energy_error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"

#define CHIPS_MAX	JETWATT_RAILS_MAX

void jetwatt_energy_error_begin(struct jetwatt_energy_error *q, struct jetwatt_session *w)
{
	struct jetwatt_chip live[CHIPS_MAX];
	/* A replayed session has no connection to a module. */
	const struct jetwatt_chip *chip = w->jw ? live : w->chip;
	int n = w->jw ? jetwatt_chips(w->jw, live, CHIPS_MAX) : w->nr_chips;

	memset(q, 0, sizeof(*q));
	for (int r = 0; r < w->nr_rails; r++) {
		const struct jetwatt_chip *c = NULL;

		for (int i = 0; i < n && i < CHIPS_MAX; i++)
			if (chip[i].id == w->rail[r].chip)
				c = &chip[i];
		q->sensor[r] = jetwatt_batch_sensor(&w->rail[r], c, w->bus_uv[r]);
		q->sensor[r].idle_uw = -1;
	}
	for (int i = 0; i < w->nr_total; i++)
		q->sensor[w->total[i]].counts = 1;
	for (int r = 0; r < w->nr_rails; r++)
		q->sensor[r].silent = !w->rail[r].enabled && !q->sensor[r].counts;
	q->sum = jetwatt_batch_sum_new(q->sensor, w->nr_rails);
	q->mark = calloc(JETWATT_ENERGY_ERROR_MARKS, sizeof(*q->mark));
	if (!q->sum || !q->mark)
		jetwatt_energy_error_free(q);
}

/* Return the index of the session's first sample that has not been added to the integrals. */
static size_t first_new(const struct jetwatt_energy_error *q, const struct jetwatt_session *w)
{
	size_t lo = 0, hi = w->nr_power;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->power[mid].time_ns <= q->added_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_sample(struct jetwatt_energy_error *q, const struct jetwatt_power *p)
{
	jetwatt_batch_sum_add(q->sum, p);
	q->added_ns = p->time_ns;
}

int jetwatt_energy_error_at(struct jetwatt_energy_error *q, const struct jetwatt_session *w,
			    uint64_t ns, struct jetwatt_energy_mark *mark)
{
	size_t i;
	int err;

	if (!q->sum)
		return -ENODATA;
	/* The running integrals can be evaluated only at times within their last stored
	 * readings, so add only the samples up to @ns before they are evaluated. */
	for (i = first_new(q, w); i < w->nr_power && w->power[i].time_ns <= ns; i++)
		add_sample(q, &w->power[i]);
	while ((err = jetwatt_batch_sum_at(q->sum, ns, mark)) == -EAGAIN && i < w->nr_power)
		add_sample(q, &w->power[i++]);
	return err;
}

void jetwatt_energy_error_mark(struct jetwatt_energy_error *q, const struct jetwatt_session *w, uint64_t ns)
{
	struct jetwatt_energy_mark *m;

	if (!q->sum)
		return;
	m = &q->mark[q->nr % JETWATT_ENERGY_ERROR_MARKS];
	if (!jetwatt_energy_error_at(q, w, ns, m))
		q->nr++;
}

uint64_t jetwatt_energy_error_age(const struct jetwatt_energy_error *q,
				  const struct jetwatt_session *w)
{
	double age = 0;

	for (int r = 0; r < w->nr_rails; r++)
		age = q->sensor[r].age_ns > age ? q->sensor[r].age_ns : age;
	return (uint64_t)age;
}

void jetwatt_energy_error_add(struct jetwatt_energy_error *q, const struct jetwatt_session *w, uint64_t ns)
{
	for (size_t i = q->sum ? first_new(q, w) : w->nr_power;
	     i < w->nr_power && w->power[i].time_ns <= ns; i++)
		add_sample(q, &w->power[i]);
}

/* Find the stored integrals at the time @ns. Return: NULL: they are not stored. */
static const struct jetwatt_energy_mark *mark_at(const struct jetwatt_energy_error *q, uint64_t ns)
{
	size_t hi = q->nr;
	size_t lo = hi > JETWATT_ENERGY_ERROR_MARKS ? hi - JETWATT_ENERGY_ERROR_MARKS : 0;
	const struct jetwatt_energy_mark *m;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (q->mark[mid % JETWATT_ENERGY_ERROR_MARKS].time_ns < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	m = &q->mark[lo % JETWATT_ENERGY_ERROR_MARKS];
	return lo < q->nr && m->time_ns == ns ? m : NULL;
}

/* As jetwatt_energy_error_of(), but of a bound of any kind. */
static int error_of_bound(const struct jetwatt_energy_error *q, const struct jetwatt_batch_bound *b,
			  struct jetwatt_batch_energy_result *c)
{
	const struct jetwatt_energy_mark *from, *to;

	if (!q->sum)
		return -ENODATA;
	from = mark_at(q, b->start_ns);
	to = mark_at(q, b->end_ns);
	if (!from || !to)
		return -ENODATA;
	jetwatt_batch_cost_between(from, to, q->sensor, b, c);
	return c->grade >= 'A' && c->grade <= 'D' && c->total_uj > 0 ? 0 : -ENODATA;
}

int jetwatt_energy_error_of(const struct jetwatt_energy_error *q, const struct jetwatt_batch_bound *b,
		       struct jetwatt_batch_energy_result *c)
{
	return b->kind == JETWATT_BATCH_OTHER ? -ENODATA : error_of_bound(q, b, c);
}

void jetwatt_energy_error_end(const struct jetwatt_energy_error *q, const struct jetwatt_batch_bound *b,
			 int n, uint32_t phase, struct jetwatt_energy_errors *f)
{
	double *error = calloc(n + 1, sizeof(*error)), *samples = calloc(n + 1, sizeof(*samples));
	size_t seen = 0;

	memset(f, 0, sizeof(*f));
	f->grade = '-';
	for (int i = 0; i < n && error && samples; i++) {
		struct jetwatt_batch_energy_result c;

		if ((phase ? b[i].phase != phase : b[i].kind != JETWATT_BATCH_TRAIN) ||
		    error_of_bound(q, &b[i], &c))
			continue;
		f->grades[c.grade - 'A']++;
		samples[f->n] = c.samples;
		error[f->n++] = 100 * JETWATT_BATCH_COVER * c.total_sd_uj / c.total_uj;
	}
	if (f->n) {
		qsort(error, f->n, sizeof(*error), jetwatt_order_doubles);
		qsort(samples, f->n, sizeof(*samples), jetwatt_order_doubles);
		f->error_pct = error[f->n / 2];
		f->samples = samples[f->n / 2];
		for (int g = 0; g < 4 && f->grade == '-'; g++) {
			seen += f->grades[g];
			if (2 * seen >= f->n)
				f->grade = 'A' + g;
		}
	}
	free(error);
	free(samples);
}

void jetwatt_energy_error_free(struct jetwatt_energy_error *q)
{
	if (q->sum)
		jetwatt_batch_sum_free(q->sum);
	free(q->mark);
	q->sum = NULL;
	q->mark = NULL;
}
