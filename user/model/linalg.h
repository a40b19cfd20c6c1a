/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The little linear algebra that the models need, on OpenBLAS. Row-major.
 */
#ifndef JETWATT_LINALG_H
#define JETWATT_LINALG_H

#include <stddef.h>

/**
 * jetwatt_linalg_chol() - lower Cholesky factor in place
 * @a: n x n, symmetric; its lower triangle becomes L, the upper one zero
 *
 * Return: 0; -EDOM: not positive definite (@a is then undefined).
 */
int jetwatt_linalg_chol(double *a, size_t n);

/* @b (n x k) = L^-1 @b and L^-T @b. */
void jetwatt_linalg_lower(const double *l, size_t n, double *b, size_t k);
void jetwatt_linalg_upper(const double *l, size_t n, double *b, size_t k);

/* Logarithm of the determinant of L L'. */
double jetwatt_linalg_logdet(const double *l, size_t n);

#endif
