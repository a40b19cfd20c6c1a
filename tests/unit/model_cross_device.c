// SPDX-License-Identifier: GPL-2.0-only
/* A cross-device profile: rows of the same workload measured on other devices. The profile saves
 * measurements, and the model ignores a profile that contradicts the rows of this device. */
#include <math.h>
#include <string.h>

#include "kselftest_harness.h"
#include "model/estimator.h"
#include "synth.h"

#define FEW	3

/* Store the rows of a simulated workload on this board in @here, and rows that another board of the
 * same kind measured in some modes in @there. */
static long elsewhere(uint64_t seed, double slow, double hot, struct jetwatt_row **here,
		      struct jetwatt_row **there, size_t *nr)
{
	struct synth w;
	long n, step;

	synth_make(&w, seed, SYNTH_NANO);
	n = synth_rows(&w, here, 0, seed);
	if (n < 0 || synth_rows(&w, there, 0, seed) != n)
		return -1;
	step = n / 120;
	*nr = (size_t)(n / step);
	for (size_t i = 0; i < *nr; i++) {
		(*there)[i] = (*there)[i * step + i * 7 % step];
		(*there)[i].time_ms *= slow;
		(*there)[i].power_w *= hot;
	}
	return n;
}

/* Compute the mean relative errors of time and power of a model fitted to @few rows of this
 * board. */
static void errors(const struct jetwatt_row *row, long n, int few, const struct jetwatt_prior *prior,
		   double *time, double *power)
{
	struct jetwatt_row some[FEW];
	struct jetwatt_prediction p;
	struct jetwatt_model *m;

	*time = *power = NAN;
	for (int i = 0; i < few; i++)
		some[i] = row[(2 * i + 1) * n / (2 * FEW) + 7 * i];
	if (jetwatt_model_fit_prior(&m, some, few, prior, 1))
		return;
	*time = *power = 0;
	for (long i = 0; i < n; i++) {
		if (jetwatt_model_predict(m, &row[i].mode, 1, &p))
			*time = NAN;
		*time += fabs(p.time_ms / row[i].time_ms - 1) / n;
		*power += fabs(p.power_w / row[i].power_w - 1) / n;
	}
	jetwatt_model_free(m);
}

TEST(three_rows_are_enough_with_a_cross_device_profile)
{
	double time = 0, power = 0, alone = 0;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct jetwatt_row *here, *there;
		struct jetwatt_prior *prior = NULL;
		double t, w;
		size_t nr;
		long n = elsewhere(seed, 1.01, 0.94, &here, &there, &nr);

		ASSERT_GT(n, 0);
		ASSERT_EQ(0, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
		errors(here, n, FEW, prior, &t, &w);
		time += t / 4;
		power += w / 4;
		errors(here, n, FEW, NULL, &t, &w);
		alone += t / 4;
		jetwatt_prior_free(prior);
		free(here);
		free(there);
	}
	TH_LOG("time off by %.1f %%, power by %.1f %%; without these rows time by %.1f %%", 100 * time,
	       100 * power, 100 * alone);
	EXPECT_LT(time, 0.04);
	EXPECT_LT(power, 0.04);
	EXPECT_LT(time, 0.5 * alone);
}

/* A profile with twice the time and half the power belongs to another workload, so it must have no
 * effect. */
TEST(contradicting_profile_is_ignored)
{
	struct jetwatt_row *here, *there;
	struct jetwatt_prior *prior = NULL;
	struct jetwatt_model *with, *without;
	struct jetwatt_prediction p, q;
	size_t nr;
	long n = elsewhere(5, 2, 0.5, &here, &there, &nr);

	ASSERT_GT(n, 40);
	ASSERT_EQ(0, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
	ASSERT_EQ(0, jetwatt_model_fit_prior(&with, here, 3, prior, 1));
	ASSERT_EQ(0, jetwatt_model_fit(&without, here, 3, 1));
	for (long i = 0; i < n; i += 17) {
		ASSERT_EQ(0, jetwatt_model_predict(with, &here[i].mode, 1, &p));
		ASSERT_EQ(0, jetwatt_model_predict(without, &here[i].mode, 1, &q));
		EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
	}
	jetwatt_model_free(with);
	jetwatt_model_free(without);
	jetwatt_prior_free(prior);
	free(here);
	free(there);
}

/* Each mode of the other device deviates by up to 6 % from the response surface. The prediction for
 * this device must keep the deviations, which the response surface alone would smooth out. */
/* A search for training predicts from a sample of parameters while rows are few, but not if a profile of
 * the same workload agrees with them. */
TEST(few_rows_of_a_search_do_not_replace_the_profile)
{
	struct jetwatt_estimator plain = { .prior = NULL }, search;
	struct jetwatt_row *here, *there;
	size_t nr;
	long n = elsewhere(2, 1.01, 0.97, &here, &there, &nr);

	ASSERT_GT(n, 0);
	ASSERT_EQ(0, jetwatt_estimator_add_cross_device(&plain, there, nr, 1));
	search = plain;
	search.particles = 1;
	for (size_t rows = 1; rows <= 7; rows++) {
		struct jetwatt_prediction p, q;
		struct jetwatt_fitted *a, *b;
		struct jetwatt_row some[7];

		for (size_t i = 0; i < rows; i++)
			some[i] = here[(2 * i + 1) * n / 14];
		ASSERT_EQ(1, jetwatt_estimator_cross_device_agrees(&plain, some, rows));
		ASSERT_EQ(0, jetwatt_estimator_fit(&a, &plain, some, rows, 0, 1));
		ASSERT_EQ(0, jetwatt_estimator_fit(&b, &search, some, rows, 0, 1));
		for (long i = 0; i < n; i += n / 50) {
			ASSERT_EQ(0, jetwatt_fitted_predict(a, &here[i].mode, NULL, 1, &p));
			ASSERT_EQ(0, jetwatt_fitted_predict(b, &here[i].mode, NULL, 1, &q));
			ASSERT_EQ(0, memcmp(&p, &q, sizeof(p))) TH_LOG("%zu rows: %g ms, %g ms", rows, p.time_ms, q.time_ms);
		}
		jetwatt_fitted_free(a);
		jetwatt_fitted_free(b);
	}
	jetwatt_estimator_forget(&plain);
	free(here);
	free(there);
}

/* References are used as if there was no profile, if the profile contradicts the rows. */
TEST(contradicting_profile_does_not_hide_references)
{
	struct jetwatt_estimator with = { .prior = NULL }, without = { .prior = NULL };
	struct jetwatt_row *here, *there, *other, some[FEW];
	struct jetwatt_prediction p, q;
	struct jetwatt_fitted *a, *b;
	struct jetwatt_corpus ref;
	size_t nr;
	long n = elsewhere(3, 1.6, 1, &here, &there, &nr);

	ASSERT_GT(n, 0);
	/* The other workload takes half as long in each mode, as with half of the data. */
	other = malloc(nr * sizeof(*other));
	ASSERT_NE(NULL, other);
	for (size_t i = 0; i < nr; i++) {
		other[i] = there[i];
		other[i].time_ms *= 0.5 / 1.6;
	}
	ref = (struct jetwatt_corpus){ other, NULL, nr };
	for (int i = 0; i < FEW; i++)
		some[i] = here[(2 * i + 1) * n / (2 * FEW)];
	ASSERT_EQ(0, jetwatt_estimator_learn(&with, &ref, 1, 1));
	ASSERT_EQ(0, jetwatt_estimator_add_cross_device(&with, there, nr, 1));
	ASSERT_EQ(0, jetwatt_estimator_learn(&without, &ref, 1, 1));
	ASSERT_EQ(0, jetwatt_estimator_cross_device_agrees(&with, some, FEW));
	ASSERT_EQ(0, jetwatt_estimator_fit(&a, &with, some, FEW, 0, 1));
	ASSERT_EQ(0, jetwatt_estimator_fit(&b, &without, some, FEW, 0, 1));
	EXPECT_LT(0.5, jetwatt_fitted_reference_weight(b));
	EXPECT_EQ(jetwatt_fitted_reference_weight(b), jetwatt_fitted_reference_weight(a));
	for (long i = 0; i < n; i += n / 50) {
		ASSERT_EQ(0, jetwatt_fitted_predict(a, &here[i].mode, NULL, 1, &p));
		ASSERT_EQ(0, jetwatt_fitted_predict(b, &here[i].mode, NULL, 1, &q));
		ASSERT_EQ(0, memcmp(&p, &q, sizeof(p)));
	}
	jetwatt_fitted_free(a);
	jetwatt_fitted_free(b);
	jetwatt_estimator_forget(&with);
	jetwatt_estimator_forget(&without);
	free(other);
	free(here);
	free(there);
}

TEST(peculiar_mode_is_known_from_the_profile)
{
	struct jetwatt_row *here, *there, few[FEW];
	struct jetwatt_prior *prior = NULL;
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double time = 0, power = 0;
	size_t nr, odd = 0;
	long n = elsewhere(7, 1, 1, &here, &there, &nr);

	ASSERT_GT(n, 0);
	few[0] = here[n / 2];
	few[1] = here[n / 4];
	few[2] = here[3 * n / 4];
	for (size_t i = 0; i < nr; i++) {
		double by = 1 + 0.06 * sin(2.3 * i * i);

		there[i].time_ms *= by;
		there[i].power_w /= by;
	}
	ASSERT_EQ(0, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
	ASSERT_EQ(0, jetwatt_model_fit_prior(&m, few, FEW, prior, 1));
	for (size_t i = 0; i < nr; i++) {
		if (jetwatt_mode_same(&there[i].mode, &few[0].mode) ||
		    jetwatt_mode_same(&there[i].mode, &few[1].mode) ||
		    jetwatt_mode_same(&there[i].mode, &few[2].mode))
			continue;
		ASSERT_EQ(0, jetwatt_model_predict(m, &there[i].mode, 1, &p));
		time += fabs(log(p.time_ms / there[i].time_ms));
		power += fabs(log(p.power_w / there[i].power_w));
		odd++;
	}
	TH_LOG("off by %.1f and %.1f %%", 100 * time / odd, 100 * power / odd);
	EXPECT_LT(time / odd, 0.03);
	EXPECT_LT(power / odd, 0.03);
	jetwatt_model_free(m);
	jetwatt_prior_free(prior);
	free(here);
	free(there);
}

TEST(local_rows_take_precedence)
{
	struct jetwatt_row *here, *there;
	struct jetwatt_prior *prior = NULL;
	struct jetwatt_row few[FEW];
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	size_t nr;
	long n = elsewhere(6, 1, 1, &here, &there, &nr);

	ASSERT_GT(n, 0);
	/* In the mode of row nr / 2, this board differs from the boards of the profile. */
	there[nr / 2] = here[n / 2];
	there[nr / 2].time_ms *= 1.1;
	few[0] = here[n / 2];
	few[1] = here[n / 4];
	few[2] = here[3 * n / 4];
	ASSERT_EQ(0, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
	ASSERT_EQ(0, jetwatt_model_fit_prior(&m, few, FEW, prior, 1));
	ASSERT_EQ(0, jetwatt_model_predict(m, &few[0].mode, 1, &p));
	TH_LOG("off by %.1f %%", 100 * fabs(log(p.time_ms / few[0].time_ms)));
	EXPECT_LT(fabs(log(p.time_ms / few[0].time_ms)), 0.03);
	jetwatt_model_free(m);
	jetwatt_prior_free(prior);
	prior = NULL;
	there[3].power_w = NAN;
	EXPECT_EQ(-EINVAL, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
	EXPECT_EQ(-ENODATA, jetwatt_prior_add_cross_device(&prior, here, 2, 1));
	EXPECT_EQ(NULL, prior);
	free(here);
	free(there);
}

/* A fit to many rows of this board and of others has no more rows than a saved model can have. */
TEST(model_with_many_rows_is_saved_and_loaded)
{
	struct jetwatt_row *here, *there;
	struct jetwatt_prior *prior = NULL;
	struct jetwatt_model *m, *again;
	unsigned char *bytes;
	size_t nr, len;

	long n = elsewhere(1, 1.01, 0.94, &here, &there, &nr);

	ASSERT_LT(700, n);
	for (int i = 0; i < 350; i++)
		here[i] = here[i * (n / 350)];
	ASSERT_EQ(0, jetwatt_prior_add_cross_device(&prior, there, nr, 1));
	ASSERT_EQ(0, jetwatt_model_fit_prior(&m, here, 350, prior, 1));
	EXPECT_EQ(JETWATT_FIT_MAX, jetwatt_model_rows(m));
	ASSERT_EQ(0, jetwatt_model_save(m, &bytes, &len));
	EXPECT_EQ(0, jetwatt_model_load(&again, bytes, len));
	jetwatt_model_free(again);
	jetwatt_model_free(m);
	free(bytes);
	jetwatt_prior_free(prior);
	free(here);
	free(there);
}

TEST_HARNESS_MAIN
