// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cholesky factor from dot products of rows; triangular solves by BLAS.
 */
#include "model/linalg.h"

#include <errno.h>
#include <math.h>
#include <cblas.h>

/* Left-looking Cholesky factorisation: row i needs only the rows above row i, each with one dot
 * product. */
int jetwatt_linalg_chol(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *r = a + i * n, d;

		for (size_t j = 0; j < i; j++)
			r[j] = (r[j] - cblas_ddot(j, r, 1, a + j * n, 1)) / a[j * n + j];
		d = r[i] - cblas_ddot(i, r, 1, r, 1);
		if (!(d > 0) || !isfinite(d))
			return -EDOM;
		r[i] = sqrt(d);
		for (size_t j = i + 1; j < n; j++)
			r[j] = 0;
	}
	return 0;
}

void jetwatt_linalg_lower(const double *l, size_t n, double *b, size_t k)
{
	if (n && k == 1)
		cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l, n, b, 1);
	else if (n && k)
		cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, k,
			    1.0, l, n, b, k);
}

void jetwatt_linalg_upper(const double *l, size_t n, double *b, size_t k)
{
	if (n && k == 1)
		cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, l, n, b, 1);
	else if (n && k)
		cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, k,
			    1.0, l, n, b, k);
}

double jetwatt_linalg_logdet(const double *l, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += log(l[i * n + i]);
	return 2 * s;
}
