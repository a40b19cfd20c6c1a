// SPDX-License-Identifier: GPL-2.0-only
/* BLAS compared with naive loops. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/linalg.h"
#include "search_run.h"

#define N	37
#define K	5

static double spd[N * N];

static void make_spd(void)
{
	static double b[N * N];
	uint64_t s = 3;

	for (int i = 0; i < N * N; i++)
		b[i] = search_normal(&s);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double v = i == j;

			for (int k = 0; k < N; k++)
				v += b[i * N + k] * b[j * N + k];
			spd[i * N + j] = v;
		}
}

TEST(factor_times_its_transpose_is_the_matrix)
{
	double l[N * N];

	make_spd();
	memcpy(l, spd, sizeof(l));
	ASSERT_EQ(0, jetwatt_linalg_chol(l, N));
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double v = 0;

			for (int k = 0; k < N; k++)
				v += l[i * N + k] * l[j * N + k];
			EXPECT_LT(fabs(v - spd[i * N + j]), 1e-10);
			if (j > i)
				EXPECT_EQ(0, l[i * N + j]);
		}
}

TEST(solve_inverts_the_product)
{
	double l[N * N], b[N * K], x[N * K];
	uint64_t s = 4;

	make_spd();
	memcpy(l, spd, sizeof(l));
	ASSERT_EQ(0, jetwatt_linalg_chol(l, N));
	for (int i = 0; i < N * K; i++)
		x[i] = b[i] = search_normal(&s);
	jetwatt_linalg_lower(l, N, x, K);
	jetwatt_linalg_upper(l, N, x, K);
	for (int i = 0; i < N; i++)
		for (int c = 0; c < K; c++) {
			double v = 0;

			for (int j = 0; j < N; j++)
				v += spd[i * N + j] * x[j * K + c];
			EXPECT_LT(fabs(v - b[i * K + c]), 1e-9);
		}
}

TEST(determinant_of_a_known_matrix)
{
	double a[] = { 4, 2, 2, 5 };

	ASSERT_EQ(0, jetwatt_linalg_chol(a, 2));
	EXPECT_LT(fabs(jetwatt_linalg_logdet(a, 2) - log(16)), 1e-12);
}

TEST(refuses_an_indefinite_matrix)
{
	double neg[] = { 1, 2, 2, 1 }, nan[] = { NAN, 0, 0, 1 }, zero[] = { 0 };

	EXPECT_EQ(-EDOM, jetwatt_linalg_chol(neg, 2));
	EXPECT_EQ(-EDOM, jetwatt_linalg_chol(nan, 2));
	EXPECT_EQ(-EDOM, jetwatt_linalg_chol(zero, 1));
	EXPECT_EQ(0, jetwatt_linalg_chol(zero, 0));
}

TEST_HARNESS_MAIN
