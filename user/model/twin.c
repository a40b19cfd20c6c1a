// SPDX-License-Identifier: GPL-2.0-only
#include "model/twin.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fit.h"

/* They say what the surface looks like; more of them cost more than they tell. */
#define ROWS_MAX	128

/*
 * Round figures for boards of one kind (leakage differs from chip to chip, and so does
 * cooling): how far one is from the others in all modes alike, and in one mode more than
 * in another. Own rows put the first right; they correct both where they are larger.
 */
struct twin_range {
	double all, each;
};
static const struct twin_range time_apart = { 0.02, 0.01 };
static const struct twin_range power_apart = { 0.05, 0.015 };

/* So many standard deviations are another workload. */
#define STRANGE	4

static int by_mode(const void *a, const void *b)
{
	const struct jetwatt_mode *x = &((const struct jetwatt_row *)a)->mode;
	const struct jetwatt_mode *y = &((const struct jetwatt_row *)b)->mode;

	return jetwatt_mode_order(x, y);
}

/* The rows by mode, each mode once: the mean of what there is of it. Return: how many. */
static size_t each_once(struct jetwatt_row *row, size_t n)
{
	size_t out = 0, end;

	qsort(row, n, sizeof(*row), by_mode);
	for (size_t i = 0; i < n; i = end) {
		struct jetwatt_row one = row[i];
		double time = 0, power = 0;

		for (end = i; end < n && jetwatt_mode_same(&row[i].mode, &row[end].mode); end++) {
			time += log(row[end].time_ms);
			power += log(row[end].power_w);
		}
		one.time_ms = exp(time / (end - i));
		one.power_w = exp(power / (end - i));
		row[out++] = one;
	}
	return out;
}

int jetwatt_twin_learn(struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	size_t keep = n < ROWS_MAX ? n : ROWS_MAX;
	int err;

	*t = (struct jetwatt_twin){ NULL };
	err = n < 3 ? -ENODATA : jetwatt_fit_few(&t->m, row, n, ROWS_MAX, NULL, seed);
	if (err)
		return err;
	t->row = malloc(keep * sizeof(*t->row));
	t->m->heard = malloc(n * sizeof(*t->m->heard));
	if (!t->row || !t->m->heard) {
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
	memcpy(t->m->heard, row, n * sizeof(*row));
	t->m->nr_heard = jetwatt_one_batch(row, n) ? each_once(t->m->heard, n) : 0;
	if (err)
		jetwatt_twin_forget(t);
	return err;
}

void jetwatt_twin_forget(struct jetwatt_twin *t)
{
	jetwatt_model_free(t->m);
	free(t->row);
	*t = (struct jetwatt_twin){ NULL };
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
static int find_shift(const double *off, const double *var, size_t n, const struct twin_range *a,
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

static int here(const struct jetwatt_row *row, size_t n, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < n; i++)
		if (jetwatt_mode_same(&row[i].mode, mode))
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
	double *v = calloc(4 * n + 1, sizeof(*v));
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

int jetwatt_twin_fits(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n)
{
	struct shift time, power;

	return t->m && !shifts(t, row, n, &time, &power);
}

/* A row of elsewhere as it would be here. */
static struct jetwatt_row shifted(struct jetwatt_row r, const struct shift *time,
				  const struct shift *power, uint32_t batch)
{
	r.time_ms *= exp(time->by);
	r.power_w *= exp(power->by);
	r.time_sd = sqrt(square(r.time_sd) + time->sd * time->sd);
	r.power_sd = sqrt(square(r.power_sd) + power->sd * power->sd);
	r.batch = batch;
	return r;
}

/* From elsewhere to here, as @n own rows say. Return: 0; 1: they are of another workload, or
 * of several batch sizes; negative errno. */
static int way_here(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		    struct shift *time, struct shift *power)
{
	return t->m && jetwatt_one_batch(row, n) ? shifts(t, row, n, time, power) : 1;
}

int jetwatt_twin_join(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_row *out)
{
	struct shift time, power;
	size_t all = n;
	int err = way_here(t, row, n, &time, &power);

	if (n)
		memcpy(out, row, n * sizeof(*row));
	if (err)
		return err < 0 ? err : (int)n;
	for (size_t i = 0; i < t->n; i++)
		if (!here(row, n, &t->row[i].mode))
			out[all++] = shifted(t->row[i], &time, &power, n ? row[0].batch : 0);
	return (int)all;
}

int jetwatt_twin_tell(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_model *m)
{
	struct shift time, power;
	int err = way_here(t, row, n, &time, &power);

	if (err)
		return err < 0 ? err : 0;
	m->heard = malloc((t->m->nr_heard + 1) * sizeof(*m->heard));
	if (!m->heard)
		return -ENOMEM;
	for (size_t i = 0; i < t->m->nr_heard; i++)
		if (!here(row, n, &t->m->heard[i].mode))
			m->heard[m->nr_heard++] = shifted(t->m->heard[i], &time, &power,
							  n ? row[0].batch : 0);
	return 0;
}

/* Two words for one figure, each as far as it is sure. */
static void agree(double *v, double *sd, double other, double other_sd)
{
	double a = 1 / (*sd * *sd), b = 1 / (other_sd * other_sd);

	*v = exp((a * log(*v) + b * log(other)) / (a + b));
	*sd = sqrt(1 / (a + b));
}

void jetwatt_twin_heard(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			uint32_t batch, struct jetwatt_prediction *p)
{
	struct jetwatt_row key = { .mode = *mode };
	const struct jetwatt_row *r;

	r = m->nr_heard ? bsearch(&key, m->heard, m->nr_heard, sizeof(key), by_mode) : NULL;
	if (!r || r->batch != batch)
		return;
	agree(&p->time_ms, &p->time_sd, r->time_ms, sqrt(square(r->time_sd)));
	agree(&p->power_w, &p->power_sd, r->power_w, sqrt(square(r->power_sd)));
}
