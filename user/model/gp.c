// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matern-5/2 covariances, with a cache of the factors of each feature.
 */
#include "model/gp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of slots in the cache of covariance factors of one feature. A knob has about 30 frequency
 * levels, so one factor is computed for each level and point instead of one for each pair of
 * points. */
#define SLOTS	64

/**
 * struct gp_cache - cached covariance factors of one feature
 * @at: logarithm of the feature for which the slot holds factors; NAN: the slot is empty
 * @factor: covariance factors between that logarithm and all points of the first set
 */
struct gp_cache {
	double at[SLOTS];
	double *factor[SLOTS];
};

static double gp_matern(double h, double len)
{
	double r = fabs(h) * sqrt(5) / len;

	return (1 + r + r * r / 3) * exp(-r);
}

static unsigned int gp_cache_slot(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits * 0x9e3779b97f4a7c15ull >> 58;
}

/* Return: the covariance factors of feature @d between its logarithm @v and the @na points of
 * @a. */
static const double *gp_factors(const struct jetwatt_gp *gp, struct gp_cache *c, int d, double v,
				const struct jetwatt_features *a, size_t na)
{
	unsigned int s = gp_cache_slot(v);

	if (c->at[s] != v) {
		for (size_t i = 0; i < na; i++)
			c->factor[s][i] = gp_matern(a[i].lg[d] - v, gp->len[d]);
		c->at[s] = v;
	}
	return c->factor[s];
}

int jetwatt_gp_cov(const struct jetwatt_gp *gp, const struct jetwatt_features *a, size_t na,
		   const struct jetwatt_features *b, size_t nb, double *k)
{
	struct gp_cache *c = malloc(JETWATT_FEATURES * sizeof(*c));
	double *mem = malloc((JETWATT_FEATURES * SLOTS + 1) * na * sizeof(*mem)), *scale = mem;
	double var = gp->amp * gp->amp, own = gp->noise * gp->noise;
	int err = c && mem ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (int d = 0; d < JETWATT_FEATURES; d++)
		for (int s = 0; s < SLOTS; s++) {
			c[d].at[s] = NAN;
			c[d].factor[s] = mem + ((size_t)d * SLOTS + s + 1) * na;
		}
	for (size_t i = 0; i < na; i++)
		scale[i] = jetwatt_gp_scale(gp, &a[i]);
	for (size_t j = 0; j < nb; j++) {
		const double *f[JETWATT_FEATURES];

		for (int d = 0; d < JETWATT_FEATURES; d++)
			f[d] = gp_factors(gp, &c[d], d, b[j].lg[d], a, na);
		for (size_t i = 0; i < na; i++) {
			double v = f[0][i];
			double s = scale[i] * jetwatt_gp_scale(gp, &b[j]);

			for (int d = 1; d < JETWATT_FEATURES; d++)
				v *= f[d][i];
			/* The product of the covariance factors is 1 only if all features are
			 * equal: the two points then have the same mode and minibatch size and
			 * share the nugget. */
			k[i * nb + j] = s * (v < 1 ? var * v : var + own);
		}
	}
out:
	free(c);
	free(mem);
	return err;
}
