/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and power of a new workload as a weighted sum of those of other workloads, by
 * their models, and a Gaussian process on the rest (Alvarez, Rosasco and Lawrence 2012,
 * doi 10.1561/2200000036, section 4: the linear model of coregionalization, with one
 * output known). What workloads of one board have in common is more than the
 * parameters of a form: where voltages step, what cores cost.
 */
#ifndef JETWATT_TRANSFER_H
#define JETWATT_TRANSFER_H

#include "model/model.h"

/* The models of the references; used by several at once, and counted. */
struct jetwatt_transfer;

/* With room for @n references. Return: NULL: no memory. */
struct jetwatt_transfer *jetwatt_transfer_new(size_t n);
/* @m, fitted to @n rows of one batch size, becomes a reference: it is the transfer's own from here
 * on. */
void jetwatt_transfer_add(struct jetwatt_transfer *t, struct jetwatt_model *m,
			  const struct jetwatt_row *row, size_t n);
/* How many there are. */
size_t jetwatt_transfer_count(const struct jetwatt_transfer *t);
struct jetwatt_transfer *jetwatt_transfer_get(struct jetwatt_transfer *t);
void jetwatt_transfer_put(struct jetwatt_transfer *t);

/* Fitted to rows of the new workload. */
struct jetwatt_transferred;

/**
 * jetwatt_transfer_fit() - what the references say where @n rows were measured
 * @row: finite and positive, all of one batch size; none is enough
 *
 * Return: 0, -EINVAL: a mode with a knob at zero, -EDOM, -ENOMEM.
 */
int jetwatt_transfer_fit(struct jetwatt_transferred **f, struct jetwatt_transfer *t,
			 const struct jetwatt_row *row, size_t n);
void jetwatt_transferred_free(struct jetwatt_transferred *f);

/* The references that it was fitted with. */
struct jetwatt_transfer *jetwatt_transferred_by(const struct jetwatt_transferred *f);

/* Logarithm of the probability of the times and of the powers, as struct
 * jetwatt_surface has it. */
void jetwatt_transferred_evidence(const struct jetwatt_transferred *f, double *time, double *power);

/* @out: @n entries. Return: 0, -EINVAL: a mode with a knob at zero, -ENOMEM. */
int jetwatt_transferred_predict(const struct jetwatt_transferred *f, const struct jetwatt_mode *mode,
				size_t n, struct jetwatt_prediction *out);

/* Were the references measured from @lo to @hi of each knob, or nearly so? Boards of another
 * kind have other ranges. */
int jetwatt_transfer_covers(const struct jetwatt_transfer *t, const struct jetwatt_mode *lo,
			    const struct jetwatt_mode *hi);

/* The middle of the modes that the references were measured in. */
struct jetwatt_mode jetwatt_transfer_middle(const struct jetwatt_transfer *t);

#endif
