// SPDX-License-Identifier: GPL-2.0-only
/* Computes mean powers over the newest samples; the energy between two samples follows from the
 * trapezoidal rule. */
#include "daemon/moving_mean.h"

#include <math.h>

static size_t ring_index(const struct jetwattd_window *s, size_t i)
{
	return (s->first + i) % JETWATTD_SAMPLES;
}

void jetwattd_window_add(struct jetwattd_window *s, uint64_t time_ns, double w, double late_uj, int gap)
{
	double uj = 0;

	if (gap)
		s->nr = 0;
	if (s->nr) {
		size_t last = ring_index(s, s->nr - 1);

		uj = s->uj[last] + (w + s->w) / 2 * (time_ns - s->t[last]) * 1e-3;
	}
	if (s->nr == JETWATTD_SAMPLES)
		s->first = (s->first + 1) % JETWATTD_SAMPLES;
	else
		s->nr++;
	s->t[ring_index(s, s->nr - 1)] = time_ns;
	s->uj[ring_index(s, s->nr - 1)] = uj;
	s->late_uj[ring_index(s, s->nr - 1)] = late_uj;
	s->w = w;
}

/* Return the energy drawn from sample @i to the newest one, in uJ. */
static double energy_since(const struct jetwattd_window *s, size_t i)
{
	size_t last = ring_index(s, s->nr - 1), at = ring_index(s, i);

	return s->uj[last] - s->uj[at] + s->late_uj[last] - s->late_uj[at];
}

uint64_t jetwattd_window_now(const struct jetwattd_window *s)
{
	return s->t[ring_index(s, s->nr - 1)];
}

double jetwattd_window_mean(const struct jetwattd_window *s, uint64_t ns, uint64_t *span)
{
	size_t last = ring_index(s, s->nr - 1), lo = 0, hi = s->nr - 1;
	double uj;

	while (lo < hi) {
		size_t mid = lo + (hi - lo + 1) / 2;

		if (s->t[last] - s->t[ring_index(s, mid)] >= ns)
			lo = mid;
		else
			hi = mid - 1;
	}
	*span = s->t[last] - s->t[ring_index(s, lo)];
	if (!*span)
		return s->w;
	uj = *span < s->filter_ns / 2 ? s->uj[last] - s->uj[ring_index(s, lo)] : energy_since(s, lo);
	return uj * 1e3 / *span;
}

uint64_t jetwattd_window_above(const struct jetwattd_window *s, double w, uint64_t window,
			       uint64_t known, double budget_w)
{
	size_t last = ring_index(s, s->nr - 1);
	uint64_t most = 0;

	for (size_t i = 0; i < s->nr; i++) {
		uint64_t gone = s->t[last] - s->t[ring_index(s, i)], to = window - gone;
		double uj = energy_since(s, i) + w * to * 1e-3;

		if (gone <= known && to > most && uj > budget_w * window * 1e-3)
			most = to;
	}
	return most;
}

double jetwattd_window_debt(const struct jetwattd_window *s, uint64_t window, double budget_w)
{
	size_t last = ring_index(s, s->nr - 1);
	double most = 0;

	for (size_t i = s->nr; i-- > 0;) {
		uint64_t gone = s->t[last] - s->t[ring_index(s, i)];

		if (gone > window)
			break;
		most = fmax(most, energy_since(s, i) * 1e-6 - budget_w * gone * 1e-9);
	}
	return most;
}
