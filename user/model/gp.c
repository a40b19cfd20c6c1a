// SPDX-License-Identifier: GPL-2.0-only
#include "model/gp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A knob has some 30 steps: one factor per step and point, not one per pair. */
#define SLOTS	64

struct cache {
	double at[SLOTS];
	double *factor[SLOTS];
};

static double matern(double h, double len)
{
	double r = fabs(h) * sqrt(5) / len;

	return (1 + r + r * r / 3) * exp(-r);
}

static unsigned int slot_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits * 0x9e3779b97f4a7c15ull >> 58;
}

/* Factors of one knob between value @v and all points of @a. */
static const double *factors(const struct jetwatt_gp *gp, struct cache *c, int d, double v,
			     const struct jetwatt_point *a, size_t na)
{
	unsigned int s = slot_of(v);

	if (c->at[s] != v) {
		for (size_t i = 0; i < na; i++)
			c->factor[s][i] = matern(a[i].lg[d] - v, gp->len[d]);
		c->at[s] = v;
	}
	return c->factor[s];
}

int jetwatt_gp_cov(const struct jetwatt_gp *gp, const struct jetwatt_point *a, size_t na,
		   const struct jetwatt_point *b, size_t nb, double *k)
{
	struct cache *c = malloc(JETWATT_FEATURES * sizeof(*c));
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
			f[d] = factors(gp, &c[d], d, b[j].lg[d], a, na);
		for (size_t i = 0; i < na; i++) {
			double v = f[0][i];
			double s = scale[i] * jetwatt_gp_scale(gp, &b[j]);

			for (int d = 1; d < JETWATT_FEATURES; d++)
				v *= f[d][i];
			/* All factors are 1 only where all features are the same. */
			k[i * nb + j] = s * (v < 1 ? var * v : var + own);
		}
	}
out:
	free(c);
	free(mem);
	return err;
}
