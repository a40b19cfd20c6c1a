// SPDX-License-Identifier: GPL-2.0-only
/*
 * Some boards' clocks of CPU and GPU only go down until the next boot (POMACS
 * 2022, doi 10.1145/3570604, section 3): there the modes of a profile are a
 * stair from top to bottom, a step of one clock and then of the other, with
 * cores and memory changed on the way as evenly as can be.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>

#include "model/form.h"

struct span {
	double lo, hi;
};

/* An optional knob that the mode leaves has no logarithm. */
static double lg(const struct jetwatt_mode *m, int d)
{
	uint64_t v = jetwatt_mode_get(m, (enum jetwatt_knob)d);

	return v ? log(v) : 0;
}

static double share(const struct jetwatt_mode *m, int d, const struct span *s)
{
	return s->hi > s->lo ? (lg(m, d) - s->lo) / (s->hi - s->lo) : 0;
}

static int measured(const struct jetwatt_mode *m, const struct jetwatt_row *row, size_t rows)
{
	for (size_t j = 0; j < rows; j++)
		if (jetwatt_mode_same(m, &row[j].mode))
			return 1;
	return 0;
}

/* May it still be reached? */
static int below(const struct jetwatt_mode *m, const struct jetwatt_row *row, size_t rows)
{
	for (size_t j = 0; j < rows; j++)
		if (m->cpu_khz > row[j].mode.cpu_khz || m->gpu_hz > row[j].mode.gpu_hz)
			return 0;
	return 1;
}

int jetwatt_plan_down(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, size_t most, struct jetwatt_plan_next *next)
{
	struct span s[JETWATT_KNOBS];
	double want[JETWATT_KNOBS], best = INFINITY, stairs = most > 1 ? most - 1 : 1;

	if (!n)
		return -EINVAL;
	if (rows >= most)
		return 1;
	for (int d = 0; d < JETWATT_KNOBS; d++) {
		s[d] = (struct span){ INFINITY, -INFINITY };
		for (size_t i = 0; i < n; i++) {
			s[d].lo = fmin(s[d].lo, lg(&mode[i], d));
			s[d].hi = fmax(s[d].hi, lg(&mode[i], d));
		}
	}
	/* The GPU goes first, the CPU follows a step behind. */
	want[JETWATT_GPU] = 1 - (rows + 1) / 2 * 2 / stairs;
	want[JETWATT_CPU] = 1 - rows / 2 * 2 / stairs;
	/* Multiples of two irrational numbers: spread, and never in step. */
	want[JETWATT_CORES] = fmod(1 + rows * 0.6180339887, 1.0001);
	want[JETWATT_EMC] = fmod(1 + rows * 0.4142135624, 1.0001);
	for (int d = JETWATT_DIMS; d < JETWATT_KNOBS; d++)
		want[d] = s[d].hi > s[d].lo ? fmod(1 + rows * 0.7320508076, 1.0001) : 0;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		if (!below(&mode[i], row, rows) || measured(&mode[i], row, rows))
			continue;
		for (int d = 0; d < JETWATT_KNOBS; d++) {
			double off = share(&mode[i], d, &s[d]) - want[d];

			/* A clock that has gone too far does not come back. */
			sum += off * off * (d == JETWATT_CPU || d == JETWATT_GPU ? 4 : 1);
		}
		if (sum < best) {
			best = sum;
			next->index = i;
		}
	}
	next->why = "a step down";
	return isfinite(best) ? 0 : 1;
}
