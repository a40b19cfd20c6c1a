// SPDX-License-Identifier: GPL-2.0-only
#include "twin.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"

/* They say what the surface looks like; more of them cost more than they tell. */
#define ROWS_MAX	64

/*
 * Round figures for boards of one kind (leakage differs from chip to chip, and so does
 * cooling): how far one is from the others in all modes alike, and in one mode more than
 * in another. Own rows put the first right; they correct both where they are larger.
 */
struct apart {
	double all, each;
};
static const struct apart time_apart = { 0.02, 0.01 };
static const struct apart power_apart = { 0.05, 0.015 };

/* So many standard deviations are another workload. */
#define STRANGE	4

int jetwatt_twin_learn(struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	size_t keep = n < ROWS_MAX ? n : ROWS_MAX;
	int err;

	*t = (struct jetwatt_twin){ NULL, NULL, 0 };
	err = jetwatt_model_fit(&t->m, row, n, seed);
	if (err)
		return err;
	t->row = malloc(keep * sizeof(*t->row));
	if (!t->row) {
		jetwatt_twin_forget(t);
		return -ENOMEM;
	}
	/* What all of them together say there: the noise of one is out of it. */
	for (size_t i = 0; i < keep && !err; i++) {
		struct jetwatt_prediction p;

		t->row[i] = row[i * n / keep];
		err = jetwatt_model_predict(t->m, &t->row[i].mode, 1, &p);
		t->row[i].time_ms = p.time_ms;
		t->row[i].power_w = p.power_w;
		t->row[i].time_sd = p.time_sd;
		t->row[i].power_sd = p.power_sd;
	}
	t->n = keep;
	if (err)
		jetwatt_twin_forget(t);
	return err;
}

void jetwatt_twin_forget(struct jetwatt_twin *t)
{
	jetwatt_model_free(t->m);
	free(t->row);
	*t = (struct jetwatt_twin){ NULL, NULL, 0 };
}

/**
 * struct shift - from the others to this board, in logarithms
 * @by: in all modes alike; @sd: what is left of a row's doubt
 */
struct shift {
	double by, sd;
};

/* @off: by how much @n own rows are above what the others let expect; @var: of that.
 * Return: 0; 1: they are no rows of the same workload. */
static int find_shift(const double *off, const double *var, size_t n, const struct apart *a,
		      struct shift *s)
{
	double weight = 1 / (a->all * a->all), sum = 0, over = 0, strange = 0;

	for (size_t i = 0; i < n; i++) {
		double v = var[i] + a->each * a->each;

		weight += 1 / v;
		sum += off[i] / v;
	}
	s->by = sum / weight;
	for (size_t i = 0; i < n; i++) {
		double left = off[i] - s->by, v = var[i] + a->each * a->each;

		over += (left * left - v) / n;
		strange += left * left / v / n;
	}
	s->sd = sqrt(a->each * a->each + 1 / weight + fmax(over, 0));
	return strange > STRANGE * STRANGE || fabs(s->by) > STRANGE * a->all;
}

static int same_mode(const struct jetwatt_mode *a, const struct jetwatt_mode *b)
{
	return a->cores == b->cores && a->cpu_khz == b->cpu_khz && a->gpu_hz == b->gpu_hz &&
	       a->emc_hz == b->emc_hz;
}

static int here(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < n; i++)
		if (same_mode(&row[i].mode, mode))
			return 1;
	return 0;
}

static double square(double sd)
{
	sd = sd > 0 ? sd : JETWATT_SD_UNKNOWN;
	return sd * sd;
}

/* Both shifts. Return: 0; 1: another workload; negative errno. */
static int shifts(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		  struct shift *time, struct shift *power)
{
	double *v = calloc(4 * n, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_prediction p;

		err = jetwatt_model_predict(t->m, &row[i].mode, 1, &p);
		if (err)
			break;
		v[i] = log(row[i].time_ms / p.time_ms);
		v[n + i] = p.time_sd * p.time_sd + square(row[i].time_sd);
		v[2 * n + i] = log(row[i].power_w / p.power_w);
		v[3 * n + i] = p.power_sd * p.power_sd + square(row[i].power_sd);
	}
	if (!err)
		err = find_shift(v, v + n, n, &time_apart, time) ||
		      find_shift(v + 2 * n, v + 3 * n, n, &power_apart, power);
	free(v);
	return err;
}

int jetwatt_twin_join(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_row *out)
{
	struct shift time, power;
	size_t all = n;
	int err;

	memcpy(out, row, n * sizeof(*row));
	for (size_t i = 1; i < n; i++)
		if (row[i].batch != row[0].batch)
			return (int)n;
	if (!n || !t->m)
		return (int)n;
	err = shifts(t, row, n, &time, &power);
	if (err)
		return err < 0 ? err : (int)n;
	for (size_t i = 0; i < t->n; i++) {
		struct jetwatt_row r = t->row[i];

		if (here(row, n, &r.mode))
			continue;
		r.time_ms *= exp(time.by);
		r.power_w *= exp(power.by);
		r.time_sd = sqrt(square(r.time_sd) + time.sd * time.sd);
		r.power_sd = sqrt(square(r.power_sd) + power.sd * power.sd);
		r.batch = row[0].batch;
		out[all++] = r;
	}
	return (int)all;
}
