/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy of single minibatches with its error and grade, during a run. For run_energy.c.
 */
#ifndef JETWATT_MEASURE_ENERGY_ERROR_H
#define JETWATT_MEASURE_ENERGY_ERROR_H

#include "energy/energy.h"
#include "measure/session.h"
#include "minibatch/minibatch.h"

/* Number of waits and marks at which energy is stored: 11 MB. */
#define JETWATT_ENERGY_ERROR_MARKS	8192

/**
 * struct jetwatt_energy_error - running energy of all rails, and its values at the last waits and marks
 * @sum: running energy; NULL: memory could not be allocated, so the energy errors are unknown
 * @sensor: accuracy of each rail's readings
 * @mark: ring buffer with the energy of all rails up to the end of each recent wait or mark
 * @nr: number of entries of @mark written so far
 * @added_ns: time of the last sample added to @sum
 */
struct jetwatt_energy_error {
	struct jetwatt_batch_sum *sum;
	struct jetwatt_batch_sensor sensor[JETWATT_RAILS_MAX];
	struct jetwatt_energy_mark *mark;
	size_t nr;
	uint64_t added_ns;
};

/**
 * struct jetwatt_energy_errors - errors of the minibatches of a run
 * @n: number of minibatches whose error is known
 * @grades: number of minibatches with grade A, B, C, D
 * @error_pct: median of the 90 % error of a minibatch's energy, in percent
 * @samples: median number of new sensor values in a minibatch
 * @grade: median grade; '-': no minibatch has a grade
 */
struct jetwatt_energy_errors {
	size_t n, grades[4];
	double error_pct, samples;
	char grade;
};

/* Begin a run. If memory cannot be allocated, all other functions do nothing and the errors are
 * unknown. */
void jetwatt_energy_error_begin(struct jetwatt_energy_error *q, struct jetwatt_session *w);
/* Store the integrals at the time @ns, which must not decrease from call to call. */
void jetwatt_energy_error_mark(struct jetwatt_energy_error *q, const struct jetwatt_session *w, uint64_t ns);
/*
 * Compute the integrals at the time @ns. @ns must be at most a few readings older than the last
 * time up to which samples were added or for which the integrals were stored. Return: 0; -EAGAIN:
 * the session has no sample yet that is later than @ns by the age of a sensor value; -ENODATA: the
 * integrals are unknown.
 */
int jetwatt_energy_error_at(struct jetwatt_energy_error *q, const struct jetwatt_session *w,
			    uint64_t ns, struct jetwatt_energy_mark *mark);
/* Return: mean age of a sensor value when it is read, ns, of the rail with the oldest values. The
 * integrals at a time need samples that are later by up to this age. */
uint64_t jetwatt_energy_error_age(const struct jetwatt_energy_error *q,
				  const struct jetwatt_session *w);
/* Add the samples up to the time @ns to the integrals, before the session discards the samples. */
void jetwatt_energy_error_add(struct jetwatt_energy_error *q, const struct jetwatt_session *w, uint64_t ns);
/*
 * Compute the energy of a minibatch with its error. Return: 0; -ENODATA: the integrals at its begin
 * or end are not stored (any more), @b is not a minibatch, or its energy is not positive.
 */
int jetwatt_energy_error_of(const struct jetwatt_energy_error *q, const struct jetwatt_batch_bound *b,
		       struct jetwatt_batch_energy_result *c);
/* Compute the errors of the minibatches of phase @phase among the @n bounds @b; of the training
 * minibatches if @phase is 0. */
void jetwatt_energy_error_end(const struct jetwatt_energy_error *q, const struct jetwatt_batch_bound *b,
			 int n, uint32_t phase, struct jetwatt_energy_errors *f);
/* Free the memory. */
void jetwatt_energy_error_free(struct jetwatt_energy_error *q);

#endif
