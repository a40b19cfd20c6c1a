// SPDX-License-Identifier: GPL-2.0-only
/*
 * On some boards the CPU and GPU clocks can only be lowered until the next boot (POMACS 2022, doi
 * 10.1145/3570604, section 3). On these boards a profile descends from the highest mode in a
 * staircase: a step of one clock, then one of the other, while cores and memory clock vary as
 * evenly as possible.
 */
#include "plan/search.h"

#include <errno.h>
#include <math.h>

#include "model/form.h"

/* Range of the logarithm of a knob. */
struct chain_span {
	double lo, hi;
};

/* Return: log of a knob; 0 for an optional knob that the mode does not set. */
static double chain_log(const struct jetwatt_mode *m, int d)
{
	uint64_t v = jetwatt_mode_get(m, (enum jetwatt_knob)d);

	return v ? log(v) : 0;
}

/* Return: position of a knob in its range, 0 to 1 on a logarithmic scale. */
static double chain_position(const struct jetwatt_mode *m, int d, const struct chain_span *s)
{
	return s->hi > s->lo ? (chain_log(m, d) - s->lo) / (s->hi - s->lo) : 0;
}

static int chain_measured(const struct jetwatt_mode *m, const struct jetwatt_row *row, size_t rows)
{
	for (size_t j = 0; j < rows; j++)
		if (jetwatt_mode_same(m, &row[j].mode))
			return 1;
	return 0;
}

/* Return: 1 if neither the CPU nor the GPU clock has to be raised from any measured row to @m, else
 * 0. */
static int chain_reachable(const struct jetwatt_mode *m, const struct jetwatt_row *row, size_t rows)
{
	for (size_t j = 0; j < rows; j++)
		if (m->cpu_khz > row[j].mode.cpu_khz || m->gpu_hz > row[j].mode.gpu_hz)
			return 0;
	return 1;
}

int jetwatt_plan_descend(const struct jetwatt_mode *mode, size_t n, const struct jetwatt_row *row,
		      size_t rows, size_t most, struct jetwatt_plan_next *next)
{
	struct chain_span s[JETWATT_KNOBS];
	double want[JETWATT_KNOBS], best = INFINITY, stairs = most > 1 ? most - 1 : 1;

	if (!n)
		return -EINVAL;
	if (rows >= most)
		return 1;
	for (int d = 0; d < JETWATT_KNOBS; d++) {
		s[d] = (struct chain_span){ INFINITY, -INFINITY };
		for (size_t i = 0; i < n; i++) {
			s[d].lo = fmin(s[d].lo, chain_log(&mode[i], d));
			s[d].hi = fmax(s[d].hi, chain_log(&mode[i], d));
		}
	}
	/* The GPU clock is lowered first, the CPU clock follows one row later. */
	want[JETWATT_GPU] = 1 - (rows + 1) / 2 * 2 / stairs;
	want[JETWATT_CPU] = 1 - rows / 2 * 2 / stairs;
	/* Cores, memory clock and optional knobs follow multiples of irrational numbers modulo 1,
	 * which are evenly spread and never in step with each other. */
	want[JETWATT_CORES] = fmod(1 + rows * 0.6180339887, 1.0001);
	want[JETWATT_EMC] = fmod(1 + rows * 0.4142135624, 1.0001);
	for (int d = JETWATT_DIMS; d < JETWATT_KNOBS; d++)
		want[d] = s[d].hi > s[d].lo ? fmod(1 + rows * 0.7320508076, 1.0001) : 0;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		if (!chain_reachable(&mode[i], row, rows) || chain_measured(&mode[i], row, rows))
			continue;
		for (int d = 0; d < JETWATT_KNOBS; d++) {
			double off = chain_position(&mode[i], d, &s[d]) - want[d];

			/* After a step to a clock that is too low, the clock cannot be raised
			 * again, so the squared deviations of the CPU and GPU clocks have four
			 * times the weight of the others. */
			sum += off * off * (d == JETWATT_CPU || d == JETWATT_GPU ? 4 : 1);
		}
		if (sum < best) {
			best = sum;
			next->index = i;
		}
	}
	next->why = "next lower clocks";
	return isfinite(best) ? 0 : 1;
}
