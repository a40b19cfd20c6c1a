// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fits the time roofline of each mode, predicts the cost of a network from the rooflines, and
 * chooses modes by this cost.
 */
#include "plan/roofs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan/roofs_energy.h"

/* A kernel is clearly limited by one resource if its intensity differs from the balance by this
 * factor; closer to the balance, arithmetic and memory traffic slow each other down. */
#define CLEAR	1.5
/* Largest number of iterations until the assignment of kernels is stable. */
#define ROUNDS	20
/* Largest relative difference between equal times. */
#define EQUAL	1e-9

/* Return: time of a kernel on the roofline, in seconds. */
static double roofs_time(const struct jetwatt_roofs_kernel *k, const struct jetwatt_roofs *r)
{
	return fmax(k->flop / r->flop_s, k->bytes / r->byte_s);
}

/* Return: geometric mean of the rate of kernels clearly limited by arithmetic (@compute) or by
 * memory; 0 if no kernel is. The mean is geometric, since errors are relative. */
static double roofs_rate(const struct jetwatt_roofs_kernel *k, size_t n,
			 const struct jetwatt_roofs *r, int compute)
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

static int roofs_fit_time(const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r)
{
	r->flop_s = r->byte_s = 0;
	for (size_t i = 0; i < n; i++) {
		r->flop_s = fmax(r->flop_s, k[i].flop / (k[i].time_ms * 1e-3));
		r->byte_s = fmax(r->byte_s, k[i].bytes / (k[i].time_ms * 1e-3));
	}
	if (!(r->flop_s > 0 && r->byte_s > 0))
		return -ENODATA;
	for (int round = 0; round < ROUNDS; round++) {
		double f = roofs_rate(k, n, r, 1), b = roofs_rate(k, n, r, 0);

		if (!(f > 0 && b > 0))
			return -ENODATA;
		if (fabs(f / r->flop_s - 1) < 1e-12 && fabs(b / r->byte_s - 1) < 1e-12)
			break;
		r->flop_s = f;
		r->byte_s = b;
	}
	return 0;
}

/* Set the mean relative errors of the times and energies of the fit. */
static void roofs_set_errors(const struct jetwatt_roofs_kernel *k, size_t n,
			     struct jetwatt_roofs *r)
{
	r->time_off = r->energy_off = 0;
	for (size_t i = 0; i < n; i++) {
		double t = k[i].time_ms * 1e-3, e = k[i].power_w * t;

		r->time_off += fabs(roofs_time(&k[i], r) / t - 1) / n;
		r->energy_off += fabs((r->eps_flop * k[i].flop + r->eps_mem * k[i].bytes + r->pi0 * t) /
				      e - 1) / n;
	}
}

int jetwatt_roofs_fit(const struct jetwatt_mode *mode, size_t modes,
		      const struct jetwatt_roofs_kernel *k, size_t n, struct jetwatt_roofs *r)
{
	int err = n < JETWATT_ROOFS_KERNELS ? -ENODATA : 0;

	for (size_t i = 0; i < modes * n; i++)
		if (!(k[i].flop >= 0 && k[i].bytes > 0 && k[i].time_ms > 0 && k[i].power_w > 0 &&
		      isfinite(k[i].flop + k[i].bytes + k[i].time_ms + k[i].power_w)))
			return -EINVAL;
	for (size_t i = 0; i < modes && !err; i++) {
		r[i].mode = mode[i];
		err = roofs_fit_time(k + i * n, n, &r[i]);
	}
	if (!err)
		err = jetwatt_roofs_energy(mode, modes, k, n, r);
	for (size_t i = 0; i < modes && !err; i++)
		roofs_set_errors(k + i * n, n, &r[i]);
	return err;
}

double jetwatt_roofs_time_balance(const struct jetwatt_roofs *r)
{
	return r->flop_s / r->byte_s;
}

/* Solves B^(I) = I for the effective balance of the paper, B^(I) = eta B_eps + (1 - eta) max(0,
 * beta - I). */
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
			struct jetwatt_roofs_choice *a)
{
	*a = (struct jetwatt_roofs_choice){ .fastest = 0 };
	for (size_t i = 1; i < n; i++) {
		/* Modes that differ only in the clock that does not limit the network have equal
		 * times. */
		if (c[i].time_s < c[a->fastest].time_s * (1 - EQUAL) ||
		    (c[i].time_s <= c[a->fastest].time_s && c[i].energy_j > c[a->fastest].energy_j))
			a->fastest = i;
		if (c[i].energy_j < c[a->frugal].energy_j)
			a->frugal = i;
	}
	a->race = c[a->frugal].time_s <= c[a->fastest].time_s * (1 + EQUAL);
	a->tuned = a->fastest;
	for (size_t i = 0; i < n; i++)
		if (c[i].time_s <= c[a->fastest].time_s * (1 + slower) &&
		    c[i].energy_j < c[a->tuned].energy_j)
			a->tuned = i;
}
