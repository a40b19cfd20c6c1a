/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same workload on other boards of this kind: rows that count almost like own
 * ones, once it is seen how far this board is from the others.
 */
#ifndef JETWATT_TWIN_H
#define JETWATT_TWIN_H

#include "model/model.h"

/**
 * struct jetwatt_twin - the workload elsewhere
 * @m: fitted to all of it, and has heard what was measured there: a surface evens
 *	out what is peculiar to a mode; NULL: there is nothing
 * @row, @n: what the surface says in an even selection of the modes
 */
struct jetwatt_twin {
	struct jetwatt_model *m;
	struct jetwatt_row *row;
	size_t n;
};

/* Return: as jetwatt_model_fit(). */
int jetwatt_twin_learn(struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n, uint64_t seed);
void jetwatt_twin_forget(struct jetwatt_twin *t);

/* Can @n rows be of the same workload? None speaks against it. */
int jetwatt_twin_fits(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n);

/**
 * jetwatt_twin_join() - own rows, and behind them those of elsewhere as they would be here
 * @out: max(1, @n + t->n) entries, of which the first @n become @row
 *
 * Own rows say by which factors this board differs; what they scatter beyond that
 * becomes the others' error. Where they cannot be those of the same workload, there
 * are no others. A mode that was measured here needs nobody else's word.
 * Return: how many in all; -ENOMEM, -EINVAL: a mode that is none.
 */
int jetwatt_twin_join(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_row *out);

/**
 * jetwatt_twin_tell() - to a model what was measured elsewhere, as it would be here
 *
 * But of the modes of @n own rows, and nothing if they cannot be of the same workload.
 * Return: 0; as jetwatt_twin_join().
 */
int jetwatt_twin_tell(const struct jetwatt_twin *t, const struct jetwatt_row *row, size_t n,
		      struct jetwatt_model *m);

/* @p of a mode, with what @m has heard of it. */
void jetwatt_twin_heard(const struct jetwatt_model *m, const struct jetwatt_mode *mode,
			uint32_t batch, struct jetwatt_prediction *p);

#endif
