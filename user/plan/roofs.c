// SPDX-License-Identifier: GPL-2.0-only
#include "roofs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A kernel so far from the balance point lies under one roof alone; near it both
 * kinds of work get in each other's way. */
#define CLEAR	1.5
/* Rounds until kernels stay on their side. */
#define ROUNDS	20

static double lie(const struct jetwatt_roofs_kernel *k, const struct jetwatt_roofs *r)
{
	return fmax(k->flop / r->flop_s, k->bytes / r->byte_s);
}

/* Mean rate of those that are clearly under a roof: geometric, as errors are relative.
 * Return: 0: there are none. */
static double rate(const struct jetwatt_roofs_kernel *k, size_t n, const struct jetwatt_roofs *r,
		   int compute)
{
	double sum = 0, balance = r->flop_s / r->byte_s;
	size_t some = 0;

	for (size_t i = 0; i < n; i++) {
		double work = compute ? k[i].flop : k[i].bytes;
		int clear = compute ? k[i].flop >= CLEAR * balance * k[i].bytes :
				      k[i].flop * CLEAR <= balance * k[i].bytes;

		if (!clear || !(work > 0))
			continue;
		sum += log(work / (k[i].time_ms * 1e-3));
		some++;
	}
	return some ? exp(sum / some) : 0;
}

static int time_roof(const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r)
{
	r->flop_s = r->byte_s = 0;
	for (size_t i = 0; i < n; i++) {
		r->flop_s = fmax(r->flop_s, k[i].flop / (k[i].time_ms * 1e-3));
		r->byte_s = fmax(r->byte_s, k[i].bytes / (k[i].time_ms * 1e-3));
	}
	if (!(r->flop_s > 0 && r->byte_s > 0))
		return -ENODATA;
	for (int round = 0; round < ROUNDS; round++) {
		double f = rate(k, n, r, 1), b = rate(k, n, r, 0);

		if (!(f > 0 && b > 0))
			return -ENODATA;
		if (fabs(f / r->flop_s - 1) < 1e-12 && fabs(b / r->byte_s - 1) < 1e-12)
			break;
		r->flop_s = f;
		r->byte_s = b;
	}
	return 0;
}

enum { FLOP, BYTES, ALONG, TERMS };

/**
 * struct sums - the normal equations of a mode's energy, of relative errors
 * @unit: of each term, so that all are of the size of one
 * @x: joules for an operation and for a byte, watts all along; in these units
 */
struct sums {
	double a[TERMS][TERMS], b[TERMS], n, unit[TERMS], x[TERMS];
};

static void gather(const struct jetwatt_roofs_kernel *k, size_t n, const struct jetwatt_roofs *r,
		   struct sums *s)
{
	*s = (struct sums){ .n = (double)n, .unit = { 1 / r->flop_s, 1 / r->byte_s, 1 } };
	for (size_t i = 0; i < n; i++) {
		double t = k[i].time_ms * 1e-3, e = k[i].power_w * t;
		double v[TERMS] = { k[i].flop * s->unit[FLOP] / e, k[i].bytes * s->unit[BYTES] / e,
				    t / e };

		for (int p = 0; p < TERMS; p++) {
			s->b[p] += v[p];
			for (int q = 0; q < TERMS; q++)
				s->a[p][q] += v[p] * v[q];
		}
	}
}

/* The terms in @in, with all others as they are in @x. Return: 0: they cannot be told
 * apart. */
static int solve(const struct sums *s, unsigned int in, double *x)
{
	double m[TERMS][TERMS + 1];
	int at[TERMS], n = 0;

	for (int i = 0; i < TERMS; i++)
		if (in >> i & 1)
			at[n++] = i;
	for (int i = 0; i < n; i++) {
		m[i][n] = s->b[at[i]];
		for (int k = 0; k < n; k++)
			m[i][k] = s->a[at[i]][at[k]];
		for (int k = 0; k < TERMS; k++)
			m[i][n] -= in >> k & 1 ? 0 : s->a[at[i]][k] * x[k];
	}
	for (int i = 0; i < n; i++) {
		/* Positive definite: no rows need to change places. */
		if (!(m[i][i] > 1e-9 * s->a[at[i]][at[i]]))
			return 0;
		for (int r = 0; r < n; r++) {
			double by = m[r][i] / m[i][i];

			for (int c = i; c <= n && r != i; c++)
				m[r][c] -= by * m[i][c];
		}
	}
	for (int i = 0; i < n; i++)
		x[at[i]] = m[i][n] / m[i][i];
	return 1;
}

/* Least squares, where nothing gives energy back: of all sets of the terms in @open with
 * none negative the one that fits best. Return: 0; -ENODATA: there is none. */
static int fit(struct sums *s, unsigned int open)
{
	double best = INFINITY, x[TERMS], found[TERMS];

	for (unsigned int in = 1; in < 1 << TERMS; in++) {
		double off = s->n;

		if (in & ~open)
			continue;
		for (int p = 0; p < TERMS; p++)
			x[p] = open >> p & 1 ? 0 : s->x[p];
		if (!solve(s, in, x) || x[FLOP] < 0 || x[BYTES] < 0 || x[ALONG] < 0)
			continue;
		for (int p = 0; p < TERMS; p++) {
			off -= 2 * x[p] * s->b[p];
			for (int q = 0; q < TERMS; q++)
				off += x[p] * x[q] * s->a[p][q];
		}
		/* More terms where they are no worse. */
		if (off > best + 1e-12 * s->n)
			continue;
		best = off;
		for (int p = 0; p < TERMS; p++)
			found[p] = x[p];
	}
	for (int p = 0; p < TERMS && isfinite(best); p++)
		s->x[p] = found[p];
	return isfinite(best) ? 0 : -ENODATA;
}

/* How much a mode's kernels say of term @p, when those in @open are to be found too. */
static double told(const struct sums *s, unsigned int open, int p)
{
	struct sums t = *s;
	double x[TERMS] = { 0 };

	double left = s->a[p][p];

	/* What the others cannot make up for. */
	for (int q = 0; q < TERMS; q++)
		t.b[q] = s->a[q][p];
	if (!solve(&t, open & ~(1u << p), x))
		return 0;
	for (int q = 0; q < TERMS; q++)
		left -= x[q] * s->a[p][q];
	return fmax(left, 0);
}

/* Term @p is one and the same in all modes with the same clock: their mean, by how much
 * each says. The other terms in @open are found anew. */
static int pool(struct sums *s, const struct jetwatt_mode *mode, size_t n, unsigned int open, int p)
{
	double *value = malloc((n ? n : 1) * sizeof(*value));
	int err = value ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		double sum = 0, weight = 0;

		for (size_t k = 0; k < n; k++) {
			double w;

			if (p == FLOP ? mode[k].gpu_hz != mode[i].gpu_hz :
					mode[k].emc_hz != mode[i].emc_hz)
				continue;
			w = told(&s[k], open, p) / (s[k].unit[p] * s[k].unit[p]);
			sum += w * s[k].x[p] * s[k].unit[p];
			weight += w;
		}
		value[i] = weight > 0 ? sum / weight / s[i].unit[p] : s[i].x[p];
	}
	for (size_t i = 0; i < n && !err; i++) {
		s[i].x[p] = value[i];
		err = fit(&s[i], open & ~(1u << p));
	}
	free(value);
	return err;
}

static void finish(const struct jetwatt_roofs_kernel *k, size_t n, const struct sums *s,
		   struct jetwatt_roofs *r)
{
	r->eps_flop = s->x[FLOP] * s->unit[FLOP];
	r->eps_mem = s->x[BYTES] * s->unit[BYTES];
	r->pi0 = s->x[ALONG];
	r->time_off = r->energy_off = 0;
	for (size_t i = 0; i < n; i++) {
		double t = k[i].time_ms * 1e-3, e = k[i].power_w * t;

		r->time_off += fabs(lie(&k[i], r) / t - 1) / n;
		r->energy_off += fabs((r->eps_flop * k[i].flop + r->eps_mem * k[i].bytes + r->pi0 * t) /
				      e - 1) / n;
	}
}

int jetwatt_roofs_fit(const struct jetwatt_mode *mode, size_t modes,
		      const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r)
{
	struct sums *s = malloc((modes ? modes : 1) * sizeof(*s));
	unsigned int all = (1 << TERMS) - 1;
	int err = s ? 0 : -ENOMEM;

	for (size_t i = 0; i < modes * n && !err; i++)
		if (!(k[i].flop >= 0 && k[i].bytes > 0 && k[i].time_ms > 0 && k[i].power_w > 0 &&
		      isfinite(k[i].flop + k[i].bytes + k[i].time_ms + k[i].power_w)))
			err = -EINVAL;
	if (!err && n < JETWATT_ROOFS_KERNELS)
		err = -ENODATA;
	for (size_t i = 0; i < modes && !err; i++) {
		r[i].mode = mode[i];
		err = time_roof(k + i * n, n, &r[i]);
		if (err)
			break;
		gather(k + i * n, n, &r[i], &s[i]);
		err = fit(&s[i], all);
	}
	if (!err)
		err = pool(s, mode, modes, all, BYTES);
	if (!err)
		err = pool(s, mode, modes, all & ~(1u << BYTES), FLOP);
	for (size_t i = 0; i < modes && !err; i++)
		finish(k + i * n, n, &s[i], &r[i]);
	free(s);
	return err;
}

double jetwatt_roofs_time_balance(const struct jetwatt_roofs *r)
{
	return r->flop_s / r->byte_s;
}

/* Where the paper's effective balance B^(I) = eta B_eps + (1 - eta) max(0, beta - I) is I. */
double jetwatt_roofs_energy_balance(const struct jetwatt_roofs *r)
{
	double active = r->eps_flop > 0 ? r->eps_flop / (r->eps_flop + r->pi0 / r->flop_s) : 0;
	double beta = jetwatt_roofs_time_balance(r), eps = active * (r->eps_flop > 0 ?
								     r->eps_mem / r->eps_flop : 0);
	double below = (eps + (1 - active) * beta) / (2 - active);

	return below <= beta ? below : eps;
}

void jetwatt_roofs_cost(const struct jetwatt_roofs *r, const struct jetwatt_work *work, size_t n,
			struct jetwatt_roofs_cost *c)
{
	*c = (struct jetwatt_roofs_cost){ 0, 0, 0 };
	for (size_t i = 0; i < n; i++) {
		double bytes = work[i].bytes + work[i].param_bytes;
		double compute = work[i].flop / r->flop_s, traffic = bytes / r->byte_s;

		c->time_s += fmax(compute, traffic);
		c->compute += compute > traffic ? compute : 0;
		c->energy_j += r->eps_flop * work[i].flop + r->eps_mem * bytes;
	}
	c->energy_j += r->pi0 * c->time_s;
	c->compute = c->time_s > 0 ? c->compute / c->time_s : 0;
}

void jetwatt_roofs_tune(const struct jetwatt_roofs_cost *c, size_t n, double slower,
			struct jetwatt_roofs_answer *a)
{
	*a = (struct jetwatt_roofs_answer){ 0, 0, 0 };
	for (size_t i = 1; i < n; i++) {
		/* Where the clock that does not bind is higher, time is the same. */
		if (c[i].time_s < c[a->fastest].time_s * (1 - 1e-9) ||
		    (c[i].time_s <= c[a->fastest].time_s && c[i].energy_j > c[a->fastest].energy_j))
			a->fastest = i;
		if (c[i].energy_j < c[a->frugal].energy_j)
			a->frugal = i;
	}
	a->tuned = a->fastest;
	for (size_t i = 0; i < n; i++)
		if (c[i].time_s <= c[a->fastest].time_s * (1 + slower) &&
		    c[i].energy_j < c[a->tuned].energy_j)
			a->tuned = i;
}
