// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfer of rows of the same workload from other devices: fits a model to these rows, estimates
 * the factors between the other devices and this board, and converts the rows.
 */
#include "model/cross_device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fit.h"

/* Largest number of rows of other devices that are fitted, and of transferred rows that are
 * appended: the cost of a fit grows with the cube of their number. */
#define ROWS_MAX	128

/**
 * struct device_range - prior standard deviations between boards of one kind, as logarithms
 * @all: standard deviation of the factor that is common to all modes
 * @each: standard deviation of the factor of a single mode, divided by the common factor
 *
 * Leakage and cooling differ from module to module; the values are round numbers. The rows of this
 * board determine the common factor; their scatter around it, at least @each, is added to the
 * errors of the transferred rows.
 */
struct device_range {
	double all, each;
};
static const struct device_range time_apart = { 0.02, 0.01 };
static const struct device_range power_apart = { 0.05, 0.015 };

/* The rows of the other devices belong to another workload if the common factor, or the root mean
 * square deviation of the rows from it, exceeds this number of standard deviations. */
#define OTHER_WORKLOAD_SD	4

static int device_by_mode(const void *a, const void *b)
{
	const struct jetwatt_mode *x = &((const struct jetwatt_row *)a)->mode;
	const struct jetwatt_mode *y = &((const struct jetwatt_row *)b)->mode;

	return jetwatt_mode_order(x, y);
}

/* Sort rows by mode and replace the rows of a mode by their geometric mean. Return: the number of
 * modes, which is the number of rows that remain. */
static size_t device_merge_modes(struct jetwatt_row *row, size_t n)
{
	size_t out = 0, end;

	qsort(row, n, sizeof(*row), device_by_mode);
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

int jetwatt_cross_device_learn(struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n, uint64_t seed)
{
	size_t nr_kept = n < ROWS_MAX ? n : ROWS_MAX;
	int err;

	*t = (struct jetwatt_cross_device){ NULL };
	err = n < 3 ? -ENODATA : jetwatt_fit_subset(&t->m, row, n, ROWS_MAX, NULL, seed);
	if (err)
		return err;
	t->row = malloc(nr_kept * sizeof(*t->row));
	t->m->transferred = malloc(n * sizeof(*t->m->transferred));
	if (!t->row || !t->m->transferred) {
		jetwatt_cross_device_free(t);
		return -ENOMEM;
	}
	/* The rows that a fit appends are predictions of @m, not measurements: predictions lack the
	 * noise of single rows. */
	for (size_t i = 0; i < nr_kept && !err; i++) {
		struct jetwatt_prediction p;

		t->row[i] = row[i * n / nr_kept];
		err = jetwatt_model_predict(t->m, &t->row[i].mode, 1, &p);
		t->row[i].time_ms = p.time_ms;
		t->row[i].power_w = p.power_w;
		t->row[i].time_sd = p.time_sd;
		t->row[i].power_sd = p.power_sd;
	}
	t->n = nr_kept;
	memcpy(t->m->transferred, row, n * sizeof(*row));
	t->m->nr_transferred =
		jetwatt_one_batch(row, n) ? device_merge_modes(t->m->transferred, n) : 0;
	if (err)
		jetwatt_cross_device_free(t);
	return err;
}

void jetwatt_cross_device_free(struct jetwatt_cross_device *t)
{
	jetwatt_model_free(t->m);
	free(t->row);
	*t = (struct jetwatt_cross_device){ NULL };
}

/**
 * struct device_shift - conversion of a quantity from the other boards to this one
 * @by: logarithm of the factor between the other boards and this board that is common to all modes
 * @sd: standard deviation that the conversion adds to log time or log power of a row
 */
struct device_shift {
	double by, sd;
};

/* Estimate the conversion @s from @n rows of this board. @off: logarithm of measurement over
 * prediction, for each row; @var: variances of @off; @a: prior standard deviations. Return: 0; 1 if
 * the rows are not of the same workload. */
static int device_find_shift(const double *off, const double *var, size_t n,
			     const struct device_range *a, struct device_shift *s)
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
	return strange > OTHER_WORKLOAD_SD * OTHER_WORKLOAD_SD ||
	       fabs(s->by) > OTHER_WORKLOAD_SD * a->all;
}

static int device_measured_here(const struct jetwatt_row *row, size_t n,
				const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < n; i++)
		if (jetwatt_mode_same(&row[i].mode, mode))
			return 1;
	return 0;
}

/* Return: the square of the standard error @sd, or of JETWATT_SD_UNKNOWN if @sd is 0. */
static double device_variance(double sd)
{
	sd = sd > 0 ? sd : JETWATT_SD_UNKNOWN;
	return sd * sd;
}

/* Estimate the conversions of time and of power. Return: 0; 1 if the rows are of another workload;
 * negative errno. */
static int device_find_shifts(const struct jetwatt_cross_device *t,
			      const struct jetwatt_row *row, size_t n,
			      struct device_shift *time, struct device_shift *power)
{
	double *v = calloc(4 * n + 1, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_prediction p;

		err = jetwatt_model_predict(t->m, &row[i].mode, 1, &p);
		if (err)
			break;
		v[i] = log(row[i].time_ms / p.time_ms);
		v[n + i] = p.time_sd * p.time_sd + device_variance(row[i].time_sd);
		v[2 * n + i] = log(row[i].power_w / p.power_w);
		v[3 * n + i] = p.power_sd * p.power_sd + device_variance(row[i].power_sd);
	}
	if (!err)
		err = device_find_shift(v, v + n, n, &time_apart, time) ||
		      device_find_shift(v + 2 * n, v + 3 * n, n, &power_apart, power);
	free(v);
	return err;
}

int jetwatt_cross_device_agrees(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n)
{
	struct device_shift time, power;

	return t->m && !device_find_shifts(t, row, n, &time, &power);
}

/* Return: a row of another device converted to this board. */
static struct jetwatt_row device_convert_row(struct jetwatt_row r, const struct device_shift *time,
					     const struct device_shift *power, uint32_t batch)
{
	r.time_ms *= exp(time->by);
	r.power_w *= exp(power->by);
	r.time_sd = sqrt(device_variance(r.time_sd) + time->sd * time->sd);
	r.power_sd = sqrt(device_variance(r.power_sd) + power->sd * power->sd);
	r.batch = batch;
	return r;
}

/* Estimate how time and power of the other devices convert to this board, by its @n rows. Return: 0;
 * 1 if the rows are of another workload or of several minibatch sizes, or @t is empty; negative
 * errno. */
static int device_conversion(const struct jetwatt_cross_device *t,
			     const struct jetwatt_row *row, size_t n,
			     struct device_shift *time, struct device_shift *power)
{
	return t->m && jetwatt_one_batch(row, n) ? device_find_shifts(t, row, n, time, power) : 1;
}

int jetwatt_cross_device_join(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_row *out)
{
	struct device_shift time, power;
	size_t all = n;
	int err = device_conversion(t, row, n, &time, &power);

	if (n)
		memcpy(out, row, n * sizeof(*row));
	if (err)
		return err < 0 ? err : (int)n;
	for (size_t i = 0; i < t->n; i++)
		if (!device_measured_here(row, n, &t->row[i].mode))
			out[all++] =
				device_convert_row(t->row[i], &time, &power, n ? row[0].batch : 0);
	return (int)all;
}

int jetwatt_cross_device_transfer(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_model *m)
{
	struct device_shift time, power;
	int err = device_conversion(t, row, n, &time, &power);

	if (err)
		return err < 0 ? err : 0;
	m->transferred = malloc((t->m->nr_transferred + 1) * sizeof(*m->transferred));
	if (!m->transferred)
		return -ENOMEM;
	for (size_t i = 0; i < t->m->nr_transferred; i++)
		if (!device_measured_here(row, n, &t->m->transferred[i].mode))
			m->transferred[m->nr_transferred++] =
				device_convert_row(t->m->transferred[i], &time, &power,
						   n ? row[0].batch : 0);
	return 0;
}

/* Combine two estimates of a quantity, weighted by inverse variances of the logarithms. */
static void device_combine(double *v, double *sd, double other, double other_sd)
{
	double a = 1 / (*sd * *sd), b = 1 / (other_sd * other_sd);

	*v = exp((a * log(*v) + b * log(other)) / (a + b));
	*sd = sqrt(1 / (a + b));
}

void jetwatt_cross_device_combine(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			uint32_t batch, struct jetwatt_prediction *p)
{
	struct jetwatt_row key = { .mode = *mode };
	const struct jetwatt_row *r;

	r = !m->nr_transferred ? NULL :
	    bsearch(&key, m->transferred, m->nr_transferred, sizeof(key), device_by_mode);
	if (!r || r->batch != batch)
		return;
	device_combine(&p->time_ms, &p->time_sd, r->time_ms, sqrt(device_variance(r->time_sd)));
	device_combine(&p->power_w, &p->power_sd, r->power_w, sqrt(device_variance(r->power_sd)));
}
