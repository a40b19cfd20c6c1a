/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cross-device profile: rows of the same workload on other boards of this kind. Once a few rows of
 * this board have shown the ratio of its time and power to those of the other boards, the
 * transferred rows have only slightly larger errors than rows of this board. prior.c stores the
 * profile, fit.c uses it.
 */
#ifndef JETWATT_CROSS_DEVICE_H
#define JETWATT_CROSS_DEVICE_H

#include "model/model.h"

/**
 * struct jetwatt_cross_device - rows of the workload from other devices
 * @m: model fitted to at most 128 rows of the other devices, evenly spread; its transferred rows
 *	are all measurements (the geometric mean of each mode), because a fitted model smooths out
 *	what is peculiar to a mode; none if the rows have several minibatch sizes. NULL: other
 *	devices have no rows, or too few
 * @row: predictions of the model @m for the modes of at most 128 evenly spread rows
 * @n: number of entries of @row
 */
struct jetwatt_cross_device {
	struct jetwatt_model *m;
	struct jetwatt_row *row;
	size_t n;
};

/*
 * Set @t from the @n rows @row of other devices; @n is at least 3. Return: as jetwatt_model_fit().
 * On error, @t is empty.
 */
int jetwatt_cross_device_learn(struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n, uint64_t seed);
/* Free the contents of @t and make it empty. */
void jetwatt_cross_device_free(struct jetwatt_cross_device *t);

/*
 * Check whether the @n rows @row of this board can be of the same workload as the rows in @t.
 * Return: 1 if the rows can be of the same workload, or if @n is 0 and @t is not empty; 0 if they
 * cannot, if @t is empty, or on an error.
 */
int jetwatt_cross_device_agrees(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n);

/**
 * jetwatt_cross_device_join() - append transferred rows to the rows of this board
 * @t: rows of other devices
 * @row: rows of this board
 * @n: number of rows of this board
 * @out: max(1, @n + t->n) entries; the first @n become @row
 *
 * The rows of this board determine a common factor of time and one of power. The uncertainty
 * of a factor and the scatter around it are added, in quadrature, to the standard errors of the
 * transferred rows. Modes that were measured on this board are not appended. Nothing is appended if
 * @t is empty, or the rows @row contradict the assumption of the same workload or have several
 * minibatch sizes.
 *
 * Return: the number of entries in @out; -EINVAL if a required knob of a mode is 0; -ENOMEM.
 */
int jetwatt_cross_device_join(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_row *out);

/**
 * jetwatt_cross_device_transfer() - give a model the transferred rows
 * @t: rows of other devices
 * @row: rows of this board
 * @n: number of rows of this board
 * @m: the model; its @transferred and @nr_transferred are set
 *
 * Transferred rows of modes that were measured on this board are left out. No member of @m is set
 * if @t is empty, or the rows @row contradict the assumption of the same workload or have several
 * minibatch sizes.
 *
 * Return: 0; else as jetwatt_cross_device_join().
 */
int jetwatt_cross_device_transfer(const struct jetwatt_cross_device *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_model *m);

/*
 * Combine the prediction @p of @mode with the transferred row of that mode in @m, if there is one
 * of minibatch size @batch: the mean of their logarithms, weighted by inverse variances.
 */
void jetwatt_cross_device_combine(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			uint32_t batch, struct jetwatt_prediction *p);

#endif
