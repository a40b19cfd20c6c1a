/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linear algebra of the models, on OpenBLAS. Matrices are row-major.
 */
#ifndef JETWATT_LINALG_H
#define JETWATT_LINALG_H

#include <stddef.h>

/**
 * jetwatt_linalg_chol() - lower Cholesky factor, in place
 * @a: @n x @n symmetric matrix; its lower triangle becomes L, its upper triangle zero
 * @n: number of rows
 *
 * Return: 0; -EDOM if @a is not positive definite (its contents are then undefined).
 */
int jetwatt_linalg_chol(double *a, size_t n);

/*
 * jetwatt_linalg_lower() replaces @b (@n x @k) by L^-1 @b, jetwatt_linalg_upper() by L^-T @b.
 * @l: L, @n x @n.
 */
void jetwatt_linalg_lower(const double *l, size_t n, double *b, size_t k);
void jetwatt_linalg_upper(const double *l, size_t n, double *b, size_t k);

/* Return: log determinant of L L'. */
double jetwatt_linalg_logdet(const double *l, size_t n);

#endif
