/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well the energy of single minibatches is known.
 */
#ifndef JETWATT_MEASURE_ENERGY_ERROR_H
#define JETWATT_MEASURE_ENERGY_ERROR_H

#include "energy/energy.h"
#include "measure/session.h"
#include "minibatch/minibatch.h"

#define JETWATT_QUALITY_MARKS	8192	/* ends of waits, the last ones: 11 MB */

/**
 * struct jetwatt_quality - running integrals, and what they were at each wait
 * @added_ns: samples up to here are in @sum
 */
struct jetwatt_quality {
	struct jetwatt_batch_sum *sum;
	struct jetwatt_batch_sensor sensor[JETWATT_RAILS_MAX];
	struct jetwatt_batch_mark *mark;
	size_t nr;
	uint64_t added_ns;
};

/**
 * struct jetwatt_quality_figures - of the minibatches that it could be told for
 * @error_pct: half-width of what covers nine in ten, median, in percent of a
 *	minibatch's energy
 * @samples: fresh ones in a minibatch, median
 * @grade: of the median minibatch; @grades: how many have A, B, C, D
 */
struct jetwatt_quality_figures {
	size_t n, grades[4];
	double error_pct, samples;
	char grade;
};

/* Without memory for it there is no quality, and no error. */
void jetwatt_quality_begin(struct jetwatt_quality *q, struct jetwatt_watch *w);
/* Note the integrals at @ns, which does not go back. */
void jetwatt_quality_note(struct jetwatt_quality *q, const struct jetwatt_watch *w, uint64_t ns);
/* Before samples up to @ns are forgotten. */
void jetwatt_quality_add(struct jetwatt_quality *q, const struct jetwatt_watch *w, uint64_t ns);
/* What one minibatch has drawn and how well that is known. Return: 0; -ENODATA: it
 * is too long ago, or no minibatch. */
int jetwatt_quality_of(const struct jetwatt_quality *q, const struct jetwatt_batch_bound *b,
		       struct jetwatt_batch_cost *c);
void jetwatt_quality_end(const struct jetwatt_quality *q, const struct jetwatt_batch_bound *b,
			 int n, struct jetwatt_quality_figures *f);
void jetwatt_quality_free(struct jetwatt_quality *q);

#endif
