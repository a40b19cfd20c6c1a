// SPDX-License-Identifier: GPL-2.0-only
#include "model/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "model/fit.h"
#include "model/linalg.h"
#include "model/order.h"

/*
 * Round figures, of logarithms: how far the references' weights are from equal ones, all of
 * them together; the level of all modes, which of time nobody else can know; how much more
 * or less each knob does, for a factor e of it; and what is peculiar to modes.
 */
struct transfer_range {
	double weight, level, slope, own;
};
static const struct transfer_range range_of[] = { { 0.7, 3, 0.08, 0.2 }, { 0.7, 0.15, 0.03, 0.08 } };
/* Modes that are alike: a factor of each knob, as a logarithm. */
#define LEN	1.2
/* The least error of a reading that says nothing else. */
#define NOISE	0.01
/* The rest may be so many times as much; with the spread of what is thought of that, as a
 * logarithm. */
static const double scale[] = { 0.5, 1, 2, 4 };
#define SCALE_SD	0.7
/* From so many rows on, one that the others contradict counts less. */
#define DOUBT_ROWS	4
#define DOUBT_ROUNDS	3

/* References are measured near the ends of the ranges of a board of their kind, if no further than
 * this factor from them. */
#define NEARLY		1.5

enum { TIME, POWER, SIDES };

struct jetwatt_transfer {
	unsigned int users;
	size_t n;
	struct {
		struct jetwatt_model *m;
		struct jetwatt_mode lo, hi, middle;
		double mean[SIDES];
	} ref[];
};

struct jetwatt_transfer *jetwatt_transfer_new(size_t n)
{
	struct jetwatt_transfer *t = calloc(1, sizeof(*t) + n * sizeof(t->ref[0]));

	if (t)
		t->users = 1;
	return t;
}

/* The mode of the most ordinary power, which is somewhere in the middle of the knobs too. */
static struct jetwatt_mode middle_of(const struct jetwatt_row *row, size_t n, double power)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		if (fabs(log(row[i].power_w) - power) < fabs(log(row[at].power_w) - power))
			at = i;
	return row[at].mode;
}

void jetwatt_transfer_add(struct jetwatt_transfer *t, struct jetwatt_model *m,
			  const struct jetwatt_row *row, size_t n)
{
	double mean[SIDES] = { 0 };

	for (size_t i = 0; i < n; i++) {
		mean[TIME] += log(row[i].time_ms) / n;
		mean[POWER] += log(row[i].power_w) / n;
	}
	t->ref[t->n].m = m;
	t->ref[t->n].lo = t->ref[t->n].hi = row[0].mode;
	for (size_t i = 1; i < n; i++) {
		jetwatt_mode_lower(&t->ref[t->n].lo, &row[i].mode);
		jetwatt_mode_raise(&t->ref[t->n].hi, &row[i].mode);
	}
	t->ref[t->n].middle = middle_of(row, n, mean[POWER]);
	memcpy(t->ref[t->n++].mean, mean, sizeof(mean));
}

int jetwatt_transfer_covers(const struct jetwatt_transfer *t, const struct jetwatt_mode *lo,
			    const struct jetwatt_mode *hi)
{
	struct jetwatt_mode low = t->ref[0].lo, high = t->ref[0].hi;

	for (size_t r = 1; r < t->n; r++) {
		jetwatt_mode_lower(&low, &t->ref[r].lo);
		jetwatt_mode_raise(&high, &t->ref[r].hi);
	}
	jetwatt_each_knob(k)
		if (jetwatt_mode_get(&low, k) > NEARLY * jetwatt_mode_get(lo, k) ||
		    NEARLY * jetwatt_mode_get(&high, k) < jetwatt_mode_get(hi, k))
			return 0;
	return 1;
}

size_t jetwatt_transfer_count(const struct jetwatt_transfer *t)
{
	return t ? t->n : 0;
}

struct jetwatt_transfer *jetwatt_transfer_get(struct jetwatt_transfer *t)
{
	if (t)
		__atomic_add_fetch(&t->users, 1, __ATOMIC_RELAXED);
	return t;
}

void jetwatt_transfer_put(struct jetwatt_transfer *t)
{
	if (!t || __atomic_sub_fetch(&t->users, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < t->n; i++)
		jetwatt_model_free(t->ref[i].m);
	free(t);
}

struct jetwatt_mode jetwatt_transfer_middle(const struct jetwatt_transfer *t)
{
	return t->ref[0].middle;
}

/**
 * struct places - modes as the references see them
 * @f: @n rows of @features: each reference's logarithm over its mean, then the knobs
 * @mean, @var: of the references alike, and their doubt
 */
struct places {
	size_t n, features;
	double *f[SIDES], *mean[SIDES], *var[SIDES];
};

static void places_free(struct places *p)
{
	free(p->f[TIME]);
}

static int places_of(const struct jetwatt_transfer *t, const struct jetwatt_mode *mode, size_t n,
		     struct places *p)
{
	size_t features = t->n + JETWATT_FEATURES, all = n * (features + 2);
	struct jetwatt_prediction *said = malloc((n + 1) * sizeof(*said));
	double *v = calloc(SIDES * all + 1, sizeof(*v)), level[SIDES] = { 0 };
	int err = said && v ? 0 : -ENOMEM;

	*p = (struct places){ .n = n, .features = features };
	for (int s = 0; s < SIDES && v; s++) {
		p->f[s] = v + (size_t)s * all;
		p->mean[s] = p->f[s] + n * features;
		p->var[s] = p->mean[s] + n;
	}
	for (size_t r = 0; r < t->n; r++)
		for (int s = 0; s < SIDES; s++)
			level[s] += t->ref[r].mean[s] / t->n;
	for (size_t r = 0; r < t->n && !err; r++) {
		err = jetwatt_model_predict(t->ref[r].m, mode, n, said);
		for (size_t i = 0; i < n && !err; i++) {
			double is[SIDES] = { log(said[i].time_ms), log(said[i].power_w) };
			double sd[SIDES] = { said[i].time_sd, said[i].power_sd };

			for (int s = 0; s < SIDES; s++) {
				double off = is[s] - t->ref[r].mean[s];

				p->f[s][i * features + r] = off;
				p->mean[s][i] += off / t->n;
				p->var[s][i] += sd[s] * sd[s] / (t->n * t->n);
			}
		}
	}
	for (size_t i = 0; i < n && !err; i++) {
		struct jetwatt_point x;

		err = jetwatt_point_of(&x, &mode[i]);
		for (int s = 0; s < SIDES && !err; s++) {
			p->mean[s][i] += level[s];
			memcpy(p->f[s] + i * features + t->n, x.lg, sizeof(x.lg));
		}
	}
	free(said);
	if (err)
		places_free(p);
	return err;
}

/**
 * struct side - time or power
 * @noise: of each row, @heavy times as much if the others contradict it
 * @l: Cholesky factor; @alpha: l^-1 (y - mean)
 * @by: how many times as much the rest is
 */
struct side {
	double *y, *noise, *heavy, *l, *alpha;
	double by, evidence;
};

struct jetwatt_transferred {
	struct jetwatt_transfer *t;
	struct places at;
	struct side side[SIDES];
};

/* Of two places, the rest @by times as much. */
static double covariance(const struct jetwatt_transferred *f, int s, double by, const double *a,
			 const double *b)
{
	const struct transfer_range *r = &range_of[s];
	double same = 0, slope = 0, far = 0;

	for (size_t i = 0; i < f->t->n; i++)
		same += a[i] * b[i];
	for (size_t i = f->t->n; i < f->at.features; i++) {
		double d = (a[i] - b[i]) / LEN;

		slope += a[i] * b[i];
		far += d * d;
	}
	return r->weight * r->weight / f->t->n * same + r->level * r->level +
	       by * by * (r->slope * r->slope * slope + r->own * r->own * exp(-far / 2));
}

/* l and alpha. Return: 0, -EDOM. */
static int factor(const struct jetwatt_transferred *f, int s, double by, struct side *d)
{
	size_t n = f->at.n, features = f->at.features;
	int err;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++)
			d->l[i * n + j] = covariance(f, s, by, f->at.f[s] + i * features,
						     f->at.f[s] + j * features);
		d->l[i * n + i] += d->noise[i] * d->heavy[i];
		d->alpha[i] = d->y[i] - f->at.mean[s][i];
	}
	err = jetwatt_linalg_chol(d->l, n);
	if (!err)
		jetwatt_linalg_lower(d->l, n, d->alpha, 1);
	return err;
}

static double evidence_of(const struct side *d, size_t n, double by)
{
	double z = log(by) / SCALE_SD;

	return -(cblas_ddot((int)n, d->alpha, 1, d->alpha, 1) + jetwatt_linalg_logdet(d->l, n) + z * z) / 2;
}

/* The most likely scale of the rest. */
static int choose(const struct jetwatt_transferred *f, int s, struct side *d)
{
	double best = -INFINITY;

	for (size_t i = 0; i < sizeof(scale) / sizeof(*scale); i++) {
		double e;

		if (factor(f, s, scale[i], d))
			continue;
		e = evidence_of(d, f->at.n, scale[i]);
		if (e > best) {
			best = e;
			d->by = scale[i];
		}
	}
	d->evidence = best;
	return d->by > 0 ? factor(f, s, d->by, d) : -EDOM;
}

/* As in tune.c: a row that the others contradict has a heavier tail. Return: 1: one has now;
 * 0; -ENOMEM. */
static int doubt(const struct jetwatt_transferred *f, struct side *d)
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
			d->heavy[i] = fmin(d->heavy[i] * (4 + z2) / 5, 400);
			any |= d->heavy[i] < 400;
		}
	}
	free(inv);
	return any;
}

static int fit_side(const struct jetwatt_transferred *f, int s, struct side *d)
{
	double first;
	int err;

	if (!f->at.n) {
		d->by = 1;
		return 0;
	}
	err = choose(f, s, d);
	first = d->evidence;
	for (int round = 0; !err && f->at.n >= DOUBT_ROWS && round < DOUBT_ROUNDS; round++) {
		int any = doubt(f, d);

		if (any <= 0)
			return any;
		err = choose(f, s, d);
	}
	/* A belief must not look better by doubting more points. */
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
	/* In an order of their own: the result must not depend on the caller's. */
	for (size_t i = 0; i < n && !err; i++)
		r[i] = row[i];
	if (!err)
		qsort(r, n, sizeof(*r), jetwatt_order_rows);
	for (size_t i = 0; i < n && !err; i++)
		mode[i] = r[i].mode;
	if (!err)
		err = places_of(t, mode, n, &f->at);
	free(mode);
	if (err) {
		free(f);
		free(v);
		free(r);
		return err;
	}
	f->t = jetwatt_transfer_get(t);
	for (int s = 0; s < SIDES; s++) {
		struct side *d = &f->side[s];

		d->y = v + (size_t)s * (4 * n + n * n);
		d->noise = d->y + n;
		d->heavy = d->noise + n;
		d->alpha = d->heavy + n;
		d->l = d->alpha + n;
		for (size_t i = 0; i < n; i++) {
			double sd = s == TIME ? r[i].time_sd : r[i].power_sd;

			d->y[i] = log(s == TIME ? r[i].time_ms : r[i].power_w);
			d->noise[i] = sd * sd + NOISE * NOISE + f->at.var[s][i];
			d->heavy[i] = 1;
		}
	}
	free(r);
	for (int s = 0; s < SIDES && !err; s++)
		err = fit_side(f, s, &f->side[s]);
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
	places_free(&f->at);
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

/* One side of @n places; @k: room for as many rows of theirs. */
static void predict(const struct jetwatt_transferred *f, int s, const struct places *p, double *k,
		    double *mean, double *sd)
{
	size_t n = f->at.n, features = f->at.features;
	const struct side *d = &f->side[s];

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < p->n; j++)
			k[i * p->n + j] = covariance(f, s, d->by, f->at.f[s] + i * features,
						     p->f[s] + j * features);
	jetwatt_linalg_lower(d->l, n, k, p->n);
	for (size_t j = 0; j < p->n; j++) {
		const double *at = p->f[s] + j * features;
		double var = covariance(f, s, d->by, at, at) + p->var[s][j];

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
	struct places p;
	int err = v ? places_of(f->t, mode, n, &p) : -ENOMEM;

	for (int s = 0; s < SIDES && !err; s++) {
		predict(f, s, &p, k, v, v + n);
		for (size_t i = 0; i < n; i++) {
			*(s == TIME ? &out[i].time_ms : &out[i].power_w) = exp(v[i]);
			*(s == TIME ? &out[i].time_sd : &out[i].power_sd) = v[n + i];
		}
	}
	if (!err)
		places_free(&p);
	free(v);
	return err;
}
