/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares the true energy of minibatches of simulated boards with the energy that jetwatt
 * computes. */
#ifndef JETWATT_TESTS_COST_RUN_H
#define JETWATT_TESTS_COST_RUN_H

#include "energy/energy.h"
#include "minibatch/minibatch.h"
#include "plant.h"

static const struct plant_shape cost_shapes[] = {
	{ "10 ms", 10, 6, 2, 0, 0, 1000, 0.1, 0.5, 0 },
	{ "20 ms", 20, 8, 3, 0, 0, 1000, 0.1, 0.5, 0 },
	{ "50 ms", 50, 15, 4, 0, 0, 1000, 0.1, 0.5, 0 },
	{ "80 ms, many kernels", 80, 20, 20, 0, 0, 1000, 0.1, 0.5, 0 },
	{ "200 ms", 200, 40, 6, 0, 0, 1000, 0.1, 0.5, 0 },
	{ "500 ms, still", 500, 100, 1, 0, 0, 1000, 0.02, 0.3, 0 },
	{ "50 ms, averaged 4", 50, 15, 4, 0, 1, 1000, 0.1, 0.5, 0 },
	{ "50 ms, 332 us", 50, 15, 4, 2, 0, 1000, 0.1, 0.5, 0 },
	{ "80 ms, loss", 80, 20, 5, 0, 0, 1000, 0.1, 0.5, 0.01 },
	{ "100 ms at 200 Hz", 100, 30, 5, 1, 0, 200, 0.1, 0.5, 0 },
};

#define COST_SHAPES	(sizeof(cost_shapes) / sizeof(cost_shapes[0]))
#define COST_MAX	40000

/*
 * struct cost_run - values per minibatch, and numbers of minibatches
 * @width, @off: stated and actual error, relative to the true energy
 * @off_50ms: actual errors at a sample rate of 1 kHz and the shortest conversion time, for
 * minibatches of 50 ms or more
 * @off_10ms: actual errors for minibatches shorter than 20 ms
 * @longer, @shortest: number of entries of @off_50ms and of @off_10ms
 * @covered: number of minibatches, of @all, whose actual error is within the stated error
 */
struct cost_run {
	double width[COST_MAX], off[COST_MAX], off_50ms[COST_MAX], off_10ms[COST_MAX];
	size_t all, covered, longer, shortest;
};

static int cost_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cost_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), cost_by_value);
	return n ? v[n / 2] : 0;
}

static double cost_true_uj(const struct plant *p, uint64_t a, uint64_t b)
{
	double j = 0;

	for (int r = 0; r < PLANT_RAILS; r++)
		j += plant_energy(p, r, (double)b * 1e-9) - plant_energy(p, r, (double)a * 1e-9);
	return j * 1e6;
}

static void cost_sensors(const struct plant *p, struct jetwatt_batch_sensor *s)
{
	for (int r = 0; r < PLANT_RAILS; r++) {
		s[r] = jetwatt_batch_sensor(&p->rail[r], &p->chip, plant_rail[r].volt * 1e6);
		s[r].counts = 1;
	}
}

/* Add the minibatches of one simulated board to @r. Return: 0 or a negative errno. */
static int cost_run_add(struct cost_run *r, const struct plant_shape *h, uint64_t seed)
{
	struct jetwatt_batch_sensor s[PLANT_RAILS];
	struct jetwatt_batch_energy_result c;
	struct plant p;
	int err = 0;

	plant_make(&p, h, seed);
	cost_sensors(&p, s);
	for (size_t b = 2; b + 3 < p.bounds && r->all < COST_MAX && !err; b++) {
		struct jetwatt_batch_bound o = { .start_ns = p.bound_ns[b], .end_ns = p.bound_ns[b + 1] };
		double uj = cost_true_uj(&p, o.start_ns, o.end_ns), off, width;

		/* Skip minibatches that the samples do not cover: readings lag behind the true
		 * power by up to 20 ms. */
		if (o.start_ns < p.power[0].time_ns ||
		    o.end_ns + 20000000 > p.power[p.samples - 1].time_ns)
			continue;
		err = jetwatt_batch_energy_result(p.power, p.samples, s, PLANT_RAILS, &o, &c);
		off = fabs(c.total_uj - uj) / uj;
		width = JETWATT_BATCH_COVER * c.total_sd_uj / uj;
		r->covered += off <= width;
		r->width[r->all] = width;
		r->off[r->all++] = off;
		if (h->rate_hz >= 1000 && !h->ct && h->batch_ms >= 50)
			r->off_50ms[r->longer++] = off;
		if (h->batch_ms < 20)
			r->off_10ms[r->shortest++] = off;
	}
	plant_free(&p);
	return err;
}

#endif
