// SPDX-License-Identifier: GPL-2.0-only
/* Reads the logs of the simulated board. */
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int truth_energy(const char *path, uint64_t t0_ns, uint64_t t1_ns, double *uj)
{
	FILE *f = fopen(path, "r");
	uint64_t t, e, last_t = 0, last_e = 0, at[2] = { t0_ns, t1_ns };
	double value[2];
	int found = 0;
	char line[128];

	if (!f)
		return -errno;
	while (found < 2 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNu64 ",%" SCNu64, &t, &e) != 2)
			continue;
		while (found < 2 && last_t && at[found] >= last_t && at[found] <= t) {
			double part = t > last_t ? (double)(at[found] - last_t) / (t - last_t) : 0;

			value[found++] = last_e + part * (e - last_e);
		}
		last_t = t;
		last_e = e;
	}
	fclose(f);
	if (found < 2)
		return -ENODATA;
	*uj = value[1] - value[0];
	return 0;
}

long truth_minibatches(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long n, last = -ENODATA;

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%ld,", &n) == 1)
			last = n;
	fclose(f);
	return last;
}
