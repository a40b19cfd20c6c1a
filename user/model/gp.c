// SPDX-License-Identifier: GPL-2.0-only
#include "gp.h"

#include <math.h>

void jetwatt_gp_cov(const struct jetwatt_gp *gp, const struct jetwatt_point *a, size_t na,
		    const struct jetwatt_point *b, size_t nb, double *k)
{
	double inv[JETWATT_DIMS], var = gp->amp * gp->amp;
	double own = gp->noise * gp->noise;

	for (int d = 0; d < JETWATT_DIMS; d++)
		inv[d] = 5 / (gp->len[d] * gp->len[d]);
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++) {
			double r2 = 0, r;

			for (int d = 0; d < JETWATT_DIMS; d++) {
				double h = a[i].lg[d] - b[j].lg[d];

				r2 += h * h * inv[d];
			}
			r = sqrt(r2);
			k[i * nb + j] = var * (1 + r + r2 / 3) * exp(-r);
			if (r2 == 0)
				k[i * nb + j] += own;
		}
}
