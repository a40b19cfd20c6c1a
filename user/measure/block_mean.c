// SPDX-License-Identifier: GPL-2.0-only
/* Mean time and power of minibatches by the method of batch means. */
#include "measure/block_mean.h"

#include <math.h>

unsigned int jetwatt_block_mean(const double *time_ns, const double *uj, size_t n, double block_ns,
			  struct jetwatt_row *row)
{
	double sum_t = 0, sum_e = 0, rt = 0, re = 0, per_batch;
	unsigned int blocks = 0;

	for (size_t i = 0; i < n; i++) {
		sum_t += time_ns[i];
		sum_e += uj[i];
	}
	per_batch = n ? sum_t / n : 0;
	row->time_ms = per_batch * 1e-6;
	row->power_w = sum_t > 0 ? sum_e / sum_t * 1e3 : 0;
	row->time_sd = row->power_sd = 0;
	/* Mean time and mean power are ratios of sums, so their errors are computed from the
	 * residuals of the blocks. */
	for (size_t i = 0; i < n;) {
		double t = 0, e = 0, k = 0;

		for (; i < n && (!k || t < block_ns); i++, k++) {
			t += time_ns[i];
			e += uj[i];
		}
		rt += (t - k * per_batch) * (t - k * per_batch);
		re += (e - t * sum_e / sum_t) * (e - t * sum_e / sum_t);
		blocks++;
	}
	if (blocks > 1) {
		row->time_sd = sqrt(rt * blocks / (blocks - 1)) / sum_t;
		row->power_sd = sum_e > 0 ? sqrt(re * blocks / (blocks - 1)) / sum_e : 0;
	}
	return blocks;
}
