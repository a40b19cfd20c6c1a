// SPDX-License-Identifier: GPL-2.0-only
/* Weighted sum of the references, with a Gaussian process on the residuals. */
#include "model/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "model/fit.h"
#include "model/linalg.h"
#include "model/order.h"
#include "model/transfer_refs.h"

/* Prior standard deviations, for log time and then for log power. @weight: of a reference's weight
 * around 1 / n, times the square root of the number n of references; @level: of an offset of all
 * modes; @slope: of the residual's exponent in a knob; @own: of the rest of the residual. */
struct transfer_range {
	double weight, level, slope, own;
};
static const struct transfer_range range_of[] = { { 0.7, 3, 0.08, 0.2 }, { 0.7, 0.15, 0.03, 0.08 } };
/* Length scale of the rest of the residual, in units of the natural logarithm of a knob. */
#define TRANSFER_LEN	1.2
/* Standard deviation whose square is added to the variance of each measured logarithm. */
#define NOISE	0.01
/* Candidates for the scale of the residual terms. SCALE_SD: prior sd of this scale's logarithm. */
static const double scale[] = { 0.5, 1, 2, 4 };
#define SCALE_SD	0.7
/* Smallest number of rows with which outliers are weighted down; largest number of passes. */
#define OUTLIER_ROWS	4
#define OUTLIER_PASSES	3

/**
 * struct transfer_points - modes as the references predict them, for time and for power
 * @f: for each of the @n modes @features numbers: the predicted log of each reference minus its
 *	mean over the reference's rows, then @lg of struct jetwatt_features
 * @mean, @var: equally weighted sum of the references and its variance, for each mode
 */
struct transfer_points {
	size_t n, features;
	double *f[SIDES], *mean[SIDES], *var[SIDES];
};

static void transfer_points_free(struct transfer_points *p)
{
	free(p->f[TIME]);
}

static int transfer_points_of(struct jetwatt_transfer *t, const struct jetwatt_mode *mode,
			      size_t n, struct transfer_points *p)
{
	size_t features = t->n + JETWATT_FEATURES, all = n * (features + 2);
	struct jetwatt_prediction *said = malloc((n * t->n + 1) * sizeof(*said));
	double *v = calloc(SIDES * all + 1, sizeof(*v)), level[SIDES] = { 0 };
	int err = said && v ? jetwatt_transfer_said(t, mode, n, said) : -ENOMEM;

	*p = (struct transfer_points){ .n = n, .features = features };
	for (int s = 0; s < SIDES && v; s++) {
		p->f[s] = v + (size_t)s * all;
		p->mean[s] = p->f[s] + n * features;
		p->var[s] = p->mean[s] + n;
	}
	for (size_t r = 0; r < t->n; r++)
		for (int s = 0; s < SIDES; s++)
			level[s] += t->ref[r].mean[s] / t->n;
	for (size_t r = 0; r < t->n; r++)
		for (size_t i = 0; i < n && !err; i++) {
			const struct jetwatt_prediction *by = &said[i * t->n + r];
			double is[SIDES] = { log(by->time_ms), log(by->power_w) };
			double sd[SIDES] = { by->time_sd, by->power_sd };

			for (int s = 0; s < SIDES; s++) {
				double off = is[s] - t->ref[r].mean[s];

				p->f[s][i * features + r] = off;
				p->mean[s][i] += off / t->n;
				p->var[s][i] += sd[s] * sd[s] / (t->n * t->n);
			}
		}
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_features x;

		err = jetwatt_features_of(&x, &mode[i]);
		for (int s = 0; s < SIDES && !err; s++) {
			p->mean[s][i] += level[s];
			memcpy(p->f[s] + i * features + t->n, x.lg, sizeof(x.lg));
		}
	}
	free(said);
	if (err)
		transfer_points_free(p);
	return err;
}

/**
 * struct transfer_side - the fit of time or of power
 * @y, @noise, @outlier_weight: for each row: the logarithm of time or power, the noise variance of
 *	that logarithm, and the factor on the noise variance (1: not an outlier)
 * @l, @alpha: Cholesky factor of the covariance of the rows; the product l^-1 (y - mean)
 * @by, @evidence: scale of the residual terms; log evidence before outliers got less weight
 */
struct transfer_side {
	double *y, *noise, *outlier_weight, *l, *alpha;
	double by, evidence;
};

struct jetwatt_transferred {
	struct jetwatt_transfer *t;
	struct transfer_points at;
	struct transfer_side side[SIDES];
};

/* Return: covariance of the feature vectors @a and @b, with the residual terms scaled by @by. */
static double transfer_covariance(const struct jetwatt_transferred *f, int s, double by,
				  const double *a, const double *b)
{
	const struct transfer_range *r = &range_of[s];
	double same = 0, slope = 0, far = 0;

	for (size_t i = 0; i < f->t->n; i++)
		same += a[i] * b[i];
	for (size_t i = f->t->n; i < f->at.features; i++) {
		double d = (a[i] - b[i]) / TRANSFER_LEN;

		slope += a[i] * b[i];
		far += d * d;
	}
	return r->weight * r->weight / f->t->n * same + r->level * r->level +
	       by * by * (r->slope * r->slope * slope + r->own * r->own * exp(-far / 2));
}

/* Compute @l and @alpha of @d. Return: 0, -EDOM. */
static int transfer_factor(const struct jetwatt_transferred *f, int s, double by,
			   struct transfer_side *d)
{
	size_t n = f->at.n, features = f->at.features;
	int err;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++)
			d->l[i * n + j] = transfer_covariance(f, s, by, f->at.f[s] + i * features,
							      f->at.f[s] + j * features);
		d->l[i * n + i] += d->noise[i] * d->outlier_weight[i];
		d->alpha[i] = d->y[i] - f->at.mean[s][i];
	}
	err = jetwatt_linalg_chol(d->l, n);
	if (!err)
		jetwatt_linalg_lower(d->l, n, d->alpha, 1);
	return err;
}

static double transfer_evidence_of(const struct transfer_side *d, size_t n, double by)
{
	double z = log(by) / SCALE_SD;

	return -(cblas_ddot((int)n, d->alpha, 1, d->alpha, 1) + jetwatt_linalg_logdet(d->l, n) + z * z) / 2;
}

/* Set the scale of the residual terms to the one with the largest evidence. Return: 0, -EDOM. */
static int transfer_choose_scale(const struct jetwatt_transferred *f, int s,
				 struct transfer_side *d)
{
	double best = -INFINITY;

	for (size_t i = 0; i < sizeof(scale) / sizeof(*scale); i++) {
		double e;

		if (transfer_factor(f, s, scale[i], d))
			continue;
		e = transfer_evidence_of(d, f->at.n, scale[i]);
		if (e > best) {
			best = e;
			d->by = scale[i];
		}
	}
	d->evidence = best;
	return d->by > 0 ? transfer_factor(f, s, d->by, d) : -EDOM;
}

/* Raise the outlier weight of rows that contradict the other rows, as hyperparams.c does. Return: 1
 * if a weight was raised and is below its bound of 400, else 0; -ENOMEM. */
static int transfer_weigh_outliers(const struct jetwatt_transferred *f, struct transfer_side *d)
{
	size_t n = f->at.n;
	double *inv = calloc(n * n + n, sizeof(*inv)), *al = inv + n * n;
	int any = 0;

	if (!inv)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		inv[i * n + i] = 1;
	jetwatt_linalg_lower(d->l, n, inv, n);
	memcpy(al, d->alpha, n * sizeof(*al));
	jetwatt_linalg_upper(d->l, n, al, 1);
	for (size_t i = 0; i < n; i++) {
		double k = 0, z2;

		for (size_t j = i; j < n; j++)
			k += inv[j * n + i] * inv[j * n + i];
		z2 = al[i] * al[i] / k;
		if (z2 > 4) {
			d->outlier_weight[i] = fmin(d->outlier_weight[i] * (4 + z2) / 5, 400);
			any |= d->outlier_weight[i] < 400;
		}
	}
	free(inv);
	return any;
}

static int transfer_fit_side(const struct jetwatt_transferred *f, int s, struct transfer_side *d)
{
	double first;
	int err;

	if (!f->at.n) {
		d->by = 1;
		return 0;
	}
	err = transfer_choose_scale(f, s, d);
	first = d->evidence;
	for (int round = 0; !err && f->at.n >= OUTLIER_ROWS && round < OUTLIER_PASSES; round++) {
		int any = transfer_weigh_outliers(f, d);

		err = any > 0 ? transfer_choose_scale(f, s, d) : any;
		if (any <= 0)
			break;
	}
	/* Keep the first evidence: it must not rise because outliers get less weight. */
	d->evidence = first;
	return err;
}

int jetwatt_transfer_fit(struct jetwatt_transferred **out, struct jetwatt_transfer *t,
			 const struct jetwatt_row *row, size_t n)
{
	struct jetwatt_mode *mode = malloc((n + 1) * sizeof(*mode));
	struct jetwatt_row *r = malloc((n + 1) * sizeof(*r));
	struct jetwatt_transferred *f = calloc(1, sizeof(*f));
	double *v = calloc(SIDES * (4 * n + n * n) + 1, sizeof(*v));
	int err = mode && r && f && v ? 0 : -ENOMEM;

	*out = NULL;
	/* Sort, as the result must not depend on the caller's order. */
	for (size_t i = 0; i < n && !err; i++)
		r[i] = row[i];
	if (!err)
		qsort(r, n, sizeof(*r), jetwatt_order_rows);
	for (size_t i = 0; i < n && !err; i++)
		mode[i] = r[i].mode;
	if (!err)
		err = transfer_points_of(t, mode, n, &f->at);
	free(mode);
	if (err) {
		free(f);
		free(v);
		free(r);
		return err;
	}
	f->t = jetwatt_transfer_get(t);
	for (int s = 0; s < SIDES; s++) {
		struct transfer_side *d = &f->side[s];

		d->y = v + (size_t)s * (4 * n + n * n);
		d->noise = d->y + n;
		d->outlier_weight = d->noise + n;
		d->alpha = d->outlier_weight + n;
		d->l = d->alpha + n;
		for (size_t i = 0; i < n; i++) {
			double sd = s == TIME ? r[i].time_sd : r[i].power_sd;

			d->y[i] = log(s == TIME ? r[i].time_ms : r[i].power_w);
			d->noise[i] = sd * sd + NOISE * NOISE + f->at.var[s][i];
			d->outlier_weight[i] = 1;
		}
	}
	free(r);
	for (int s = 0; s < SIDES && !err; s++)
		err = transfer_fit_side(f, s, &f->side[s]);
	if (err)
		jetwatt_transferred_free(f);
	else
		*out = f;
	return err;
}

void jetwatt_transferred_free(struct jetwatt_transferred *f)
{
	if (!f)
		return;
	jetwatt_transfer_put(f->t);
	transfer_points_free(&f->at);
	free(f->side[TIME].y);
	free(f);
}

struct jetwatt_transfer *jetwatt_transferred_by(const struct jetwatt_transferred *f)
{
	return f->t;
}

void jetwatt_transferred_evidence(const struct jetwatt_transferred *f, double *time, double *power)
{
	*time = f->side[TIME].evidence;
	*power = f->side[POWER].evidence;
}

/* Predict time or power (@s) of the modes @p. @k: scratch array of f->at.n x p->n entries. */
static void transfer_predict_side(const struct jetwatt_transferred *f, int s,
				  const struct transfer_points *p, double *k, double *mean,
				  double *sd)
{
	size_t n = f->at.n, features = f->at.features;
	const struct transfer_side *d = &f->side[s];

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < p->n; j++)
			k[i * p->n + j] = transfer_covariance(
				f, s, d->by, f->at.f[s] + i * features, p->f[s] + j * features);
	jetwatt_linalg_lower(d->l, n, k, p->n);
	for (size_t j = 0; j < p->n; j++) {
		const double *at = p->f[s] + j * features;
		double var = transfer_covariance(f, s, d->by, at, at) + p->var[s][j];

		mean[j] = p->mean[s][j];
		for (size_t i = 0; i < n; i++) {
			mean[j] += k[i * p->n + j] * d->alpha[i];
			var -= k[i * p->n + j] * k[i * p->n + j];
		}
		sd[j] = sqrt(fmax(var, 1e-6));
	}
}

int jetwatt_transferred_predict(const struct jetwatt_transferred *f, const struct jetwatt_mode *mode,
				size_t n, struct jetwatt_prediction *out)
{
	double *v = malloc((n * f->at.n + 2 * n + 1) * sizeof(*v)), *k = v + 2 * n;
	struct transfer_points p;
	int err = v ? transfer_points_of(f->t, mode, n, &p) : -ENOMEM;

	for (int s = 0; s < SIDES && !err; s++) {
		transfer_predict_side(f, s, &p, k, v, v + n);
		for (size_t i = 0; i < n; i++) {
			*(s == TIME ? &out[i].time_ms : &out[i].power_w) = exp(v[i]);
			*(s == TIME ? &out[i].time_sd : &out[i].power_sd) = v[n + i];
		}
	}
	if (!err)
		transfer_points_free(&p);
	free(v);
	return err;
}
