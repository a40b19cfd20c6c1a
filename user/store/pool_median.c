// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merge the measurements of one workload by several devices: median polish of the logarithms of
 * time and power (Tukey, Exploratory Data Analysis, 1977, chapter 11). First, the offset by which
 * the logarithms of a device deviate in all modes alike is removed. After the offsets are removed,
 * each mode gets the median of its measurements.
 */
#include "store/pool.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/order.h"

/* Maximum number of iterations, and the change of a logarithm below which the iteration stops
 * (0.1 %). Devices that share few modes converge slowly. */
#define ROUNDS	40
#define SETTLED	1e-3
/* Ratio of the variance of a measurement (2 % standard deviation) to the variance of the devices
 * (5 %), rounded. The ratio SHRINK reduces the offset of a device towards 0 if it has few
 * measurements. */
#define SHRINK	0.15

/* Indices of the measurements, sorted, and the end of each group of measurements with the same
 * mode or device. */
struct runs {
	size_t *at, *end, nr;
};

/**
 * struct polish - state of the median polish
 * @row, @source, @n: the measurements and their devices
 * @modes, @sources: groups with the same mode, and with the same device
 * @y: logarithm of time or power in each measurement
 * @mode: effect of each measurement's mode on the logarithm
 * @offset: effect of each measurement's device on the logarithm
 * @scratch: memory for @n values
 */
struct polish {
	const struct jetwatt_row *row;
	const int64_t *source;
	size_t n;
	struct runs modes, sources;
	double *y, *mode, *offset, *scratch;
};

static int compare_mode(const void *a, const void *b, void *arg)
{
	const struct polish *p = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = jetwatt_mode_order(&p->row[i].mode, &p->row[j].mode);

	return order ? order : (i > j) - (i < j);
}

static int compare_source(const void *a, const void *b, void *arg)
{
	const struct polish *p = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (p->source[i] != p->source[j])
		return p->source[i] < p->source[j] ? -1 : 1;
	return (i > j) - (i < j);
}

static double polish_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), jetwatt_order_doubles);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static int group_runs(struct polish *p, struct runs *r,
		      int (*order)(const void *, const void *, void *))
{
	r->at = malloc((p->n + 1) * sizeof(*r->at));
	r->end = malloc((p->n + 1) * sizeof(*r->end));
	if (!r->at || !r->end)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		r->at[i] = i;
	qsort_r(r->at, p->n, sizeof(*r->at), order, p);
	for (size_t i = 0; i < p->n; i++) {
		size_t a = r->at[i], b = i + 1 < p->n ? r->at[i + 1] : a;

		if (i + 1 == p->n ||
		    (order == compare_mode ? !jetwatt_mode_same(&p->row[a].mode, &p->row[b].mode)
					   : p->source[a] != p->source[b]))
			r->end[r->nr++] = i + 1;
	}
	return 0;
}

/*
 * Set @effect of each group to the median of y - @other, times n / (n + @shrink) for n
 * measurements. Return: the largest change.
 */
static double update_effects(struct polish *p, const struct runs *r, const double *other,
			     double *effect, double shrink)
{
	double max_change = 0;

	for (size_t k = 0, i = 0; k < r->nr; k++) {
		size_t n = r->end[k] - i;
		double v;

		for (size_t j = 0; j < n; j++)
			p->scratch[j] = p->y[r->at[i + j]] - other[r->at[i + j]];
		v = polish_median(p->scratch, n) * n / (n + shrink);
		max_change = fmax(max_change, fabs(v - effect[r->at[i]]));
		for (; i < r->end[k]; i++)
			effect[r->at[i]] = v;
	}
	return max_change;
}

/* Compute the effects of the modes (member mode) on the logarithms (member y). */
static void polish_modes(struct polish *p)
{
	memset(p->offset, 0, p->n * sizeof(*p->offset));
	for (int i = 0; i < ROUNDS; i++) {
		double max_change = update_effects(p, &p->modes, p->offset, p->mode, 0);

		if (fmax(max_change, update_effects(p, &p->sources, p->mode, p->offset, SHRINK)) <
		    SETTLED)
			break;
	}
	update_effects(p, &p->modes, p->offset, p->mode, 0);
}

/* Return the median of a member of struct jetwatt_row over group @k of modes, which begins at
 * @i. */
static double median_of_run(struct polish *p, size_t i, size_t k, size_t member)
{
	size_t n = p->modes.end[k] - i;

	for (size_t j = 0; j < n; j++)
		memcpy(&p->scratch[j], (const char *)&p->row[p->modes.at[i + j]] + member,
		       sizeof(double));
	return polish_median(p->scratch, n);
}

static void polish_member(struct polish *p, struct jetwatt_row *out, size_t member)
{
	for (size_t i = 0; i < p->n; i++) {
		memcpy(&p->y[i], (const char *)&p->row[i] + member, sizeof(double));
		p->y[i] = log(p->y[i]);
	}
	polish_modes(p);
	for (size_t k = 0, i = 0; k < p->modes.nr; i = p->modes.end[k++]) {
		double v = exp(p->mode[p->modes.at[i]]);

		memcpy((char *)&out[k] + member, &v, sizeof(v));
	}
}

int jetwatt_pool_merge(struct jetwatt_row *row, const int64_t *source, size_t n)
{
	struct polish p = { .row = row, .source = source, .n = n, .y = calloc(4 * n + 1, sizeof(double)) };
	struct jetwatt_row *out = calloc(n + 1, sizeof(*out));
	int err = p.y && out ? 0 : -ENOMEM;

	p.mode = p.y + n;
	p.offset = p.mode + n;
	p.scratch = p.offset + n;
	if (!err)
		err = group_runs(&p, &p.modes, compare_mode);
	if (!err)
		err = group_runs(&p, &p.sources, compare_source);
	if (!err) {
		polish_member(&p, out, offsetof(struct jetwatt_row, time_ms));
		polish_member(&p, out, offsetof(struct jetwatt_row, power_w));
		for (size_t k = 0, i = 0; k < p.modes.nr; i = p.modes.end[k++]) {
			out[k].mode = row[p.modes.at[i]].mode;
			out[k].time_sd =
				median_of_run(&p, i, k, offsetof(struct jetwatt_row, time_sd));
			out[k].power_sd =
				median_of_run(&p, i, k, offsetof(struct jetwatt_row, power_sd));
		}
		memcpy(row, out, p.modes.nr * sizeof(*row));
		err = (int)p.modes.nr;
	}
	free(p.modes.at);
	free(p.modes.end);
	free(p.sources.at);
	free(p.sources.end);
	free(p.y);
	free(out);
	return err;
}
