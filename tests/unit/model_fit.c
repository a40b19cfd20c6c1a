// SPDX-License-Identifier: GPL-2.0-only
/* The model: input that it refuses, input that it tolerates, and its prediction errors. */
#include <math.h>

#include "kselftest_harness.h"
#include "model/fit.h"
#include "synth.h"

struct error {
	double time, power, cover_time, cover_power;
};

/* Fit a model to @k random rows. Compute the mean absolute relative error over all rows, and the
 * share of rows within the 95 % interval. */
static int error_at(const struct jetwatt_row *row, size_t n, size_t k, uint64_t seed,
		    struct error *e)
{
	struct jetwatt_prediction *p = malloc(n * sizeof(*p));
	struct jetwatt_mode *mode = malloc(n * sizeof(*mode));
	struct jetwatt_row some[64];
	struct jetwatt_model *m = NULL;
	uint64_t s = seed;
	int err = p && mode ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		mode[i] = row[i].mode;
	for (size_t i = 0; i < k && !err; i++) {
		some[i] = row[(size_t)(search_uniform(&s) * n)];
		some[i].time_ms *= exp(0.01 * search_normal(&s));
		some[i].power_w *= exp(0.01 * search_normal(&s));
		some[i].time_sd = some[i].power_sd = 0.01;
	}
	if (!err)
		err = jetwatt_model_fit(&m, some, k, 1);
	if (!err)
		err = jetwatt_model_predict(m, mode, n, p);
	*e = (struct error){ 0 };
	for (size_t i = 0; i < n && !err; i++) {
		double t = log(p[i].time_ms / row[i].time_ms);
		double w = log(p[i].power_w / row[i].power_w);

		e->time += fabs(expm1(t)) / n;
		e->power += fabs(expm1(w)) / n;
		e->cover_time += (fabs(t) < 1.96 * hypot(p[i].time_sd, 0.01)) / (double)n;
		e->cover_power += (fabs(w) < 1.96 * hypot(p[i].power_sd, 0.01)) / (double)n;
	}
	jetwatt_model_free(m);
	free(mode);
	free(p);
	return err;
}

static struct jetwatt_row some_row(uint64_t *s)
{
	static struct synth w;
	struct jetwatt_row r;
	double fc = 0.2 + 2 * search_uniform(s), fg = 0.1 + 1.2 * search_uniform(s);
	double fe = 0.5 + 2.5 * search_uniform(s);
	int cores = 1 + search_uniform(s) * 12;

	if (!w.cores)
		synth_make(&w, 1, 0);
	r = synth_row(&w, cores, fc, fg, fe, 0.8);
	r.mode = (struct jetwatt_mode){ cores, fc * 1e6, fg * 1e9, fe * 1e9 };
	return r;
}

static int usable(const struct jetwatt_model *m, const struct jetwatt_mode *mode)
{
	struct jetwatt_prediction p;

	return !jetwatt_model_predict(m, mode, 1, &p) && isfinite(p.time_ms) && p.time_ms > 0 &&
	       isfinite(p.power_w) && p.power_w > 0 && isfinite(p.time_sd) && p.time_sd > 0 &&
	       isfinite(p.power_sd) && p.power_sd > 0;
}

TEST(refuses_invalid_rows)
{
	static const double bad[] = { NAN, INFINITY, 0, -1 };
	struct jetwatt_row row[4];
	struct jetwatt_model *m;
	uint64_t s = 1;

	for (int i = 0; i < 4; i++)
		row[i] = some_row(&s);
	EXPECT_EQ(-ENODATA, jetwatt_model_fit(&m, row, 2, 1));
	EXPECT_EQ(-ENODATA, jetwatt_model_fit(&m, NULL, 0, 1));
	for (int b = 0; b < 4; b++) {
		struct jetwatt_row keep = row[2];

		row[2].time_ms = bad[b];
		EXPECT_EQ(-EINVAL, jetwatt_model_fit(&m, row, 4, 1));
		row[2] = keep;
		row[2].power_w = bad[b];
		EXPECT_EQ(-EINVAL, jetwatt_model_fit(&m, row, 4, 1));
		row[2] = keep;
	}
	row[1].power_sd = -1;
	EXPECT_EQ(-EINVAL, jetwatt_model_fit(&m, row, 4, 1));
	row[1].power_sd = 0;
	row[3].mode.emc_hz = 0;
	EXPECT_EQ(-EINVAL, jetwatt_model_fit(&m, row, 4, 1));
	EXPECT_EQ(NULL, m);
}

TEST(tolerates_duplicates_contradictions_and_one_level)
{
	struct jetwatt_row row[12];
	struct jetwatt_model *m;
	uint64_t s = 2;

	for (int i = 0; i < 12; i++)
		row[i] = some_row(&s);
	/* Three rows have the same mode but different times and powers. */
	row[1].mode = row[2].mode = row[0].mode;
	row[1].time_ms = 3 * row[0].time_ms;
	row[2].power_w = row[0].power_w / 4;
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 12, 1));
	EXPECT_TRUE(usable(m, &row[7].mode));
	jetwatt_model_free(m);
	/* All twelve rows are equal. */
	for (int i = 1; i < 12; i++)
		row[i] = row[0];
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 12, 1));
	EXPECT_TRUE(usable(m, &row[0].mode));
	jetwatt_model_free(m);
	/* Different modes, all at one EMC clock, have the same time and power. */
	for (int i = 0; i < 12; i++) {
		row[i] = some_row(&s);
		row[i].mode.emc_hz = 2133000000;
		row[i].time_ms = 100;
		row[i].power_w = 20;
	}
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 12, 1));
	EXPECT_TRUE(usable(m, &row[5].mode));
	jetwatt_model_free(m);
	/* All times and powers have extreme magnitudes. */
	for (int i = 0; i < 12; i++) {
		row[i] = some_row(&s);
		row[i].time_ms *= i % 2 ? 1e9 : 1e-9;
		row[i].power_w *= i % 3 ? 1e-6 : 1e6;
	}
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 12, 1));
	EXPECT_TRUE(usable(m, &row[5].mode));
	jetwatt_model_free(m);
}

TEST(model_does_not_depend_on_the_order_of_rows)
{
	struct jetwatt_row row[20], turned[20];
	struct jetwatt_prediction p, q;
	struct jetwatt_model *a, *b;
	uint64_t s = 3;

	for (int i = 0; i < 20; i++)
		row[i] = turned[19 - i] = some_row(&s);
	ASSERT_EQ(0, jetwatt_model_fit(&a, row, 20, 7));
	ASSERT_EQ(0, jetwatt_model_fit(&b, turned, 20, 7));
	for (int i = 0; i < 50; i++) {
		struct jetwatt_row r = some_row(&s);

		ASSERT_EQ(0, jetwatt_model_predict(a, &r.mode, 1, &p));
		ASSERT_EQ(0, jetwatt_model_predict(b, &r.mode, 1, &q));
		EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
	}
	jetwatt_model_free(a);
	jetwatt_model_free(b);
}

FIXTURE(big) { int none; };
FIXTURE_SETUP(big) { self->none = 0; }
FIXTURE_TEARDOWN(big) { self->none = 0; }

/* A fit to a million rows, more than any board has modes, takes seconds and little more memory than
 * the rows. The timeout is long because sanitizers on a busy machine are slower. */
TEST_F_TIMEOUT(big, a_million_rows, 200)
{
	size_t n = 1000000;
	struct jetwatt_row *row = malloc(n * sizeof(*row));
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double worst = 0;
	uint64_t s = 4;

	ASSERT_NE(NULL, row);
	for (size_t i = 0; i < n; i++)
		row[i] = some_row(&s);
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, n, 1));
	EXPECT_LE(jetwatt_model_rows(m), JETWATT_FIT_MAX);
	for (size_t i = 0; i < 50; i++) {
		ASSERT_EQ(0, jetwatt_model_predict(m, &row[i].mode, 1, &p));
		worst = fmax(worst, fabs(log(p.time_ms / row[i].time_ms)));
	}
	EXPECT_LT(worst, 0.2);
	jetwatt_model_free(m);
	free(row);
}

/* The reference gives the relative times of the modes; the single row gives the absolute time of
 * this workload. */
TEST(one_row_is_enough_with_a_reference)
{
	struct jetwatt_row row[60], one;
	struct jetwatt_prior *prior;
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double sum = 0;
	uint64_t s = 6;

	for (int i = 0; i < 60; i++)
		row[i] = some_row(&s);
	one = row[7];
	one.time_ms *= 3;
	ASSERT_EQ(0, jetwatt_prior_learn(&prior, &(struct jetwatt_reference){ row, 60 }, 1, 1));
	ASSERT_EQ(0, jetwatt_model_fit_prior(&m, &one, 1, prior, 1));
	for (int i = 0; i < 60; i++) {
		ASSERT_EQ(0, jetwatt_model_predict(m, &row[i].mode, 1, &p));
		EXPECT_LT(fabs(log(p.time_ms / (3 * row[i].time_ms))), 4 * p.time_sd);
		sum += fabs(log(p.time_ms / (3 * row[i].time_ms))) / 60;
	}
	TH_LOG("off by %.0f %% on average", 100 * expm1(sum));
	EXPECT_LT(sum, 0.4);
	jetwatt_model_free(m);
	jetwatt_prior_free(prior);
}

/* A row whose power reads two thirds too low must not much change predictions of other modes. */
TEST(one_outlier_in_twenty_rows)
{
	struct jetwatt_row row[20];
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	double sum = 0;
	uint64_t s = 5;

	for (int i = 0; i < 20; i++)
		row[i] = some_row(&s);
	row[9].power_w /= 3;
	ASSERT_EQ(0, jetwatt_model_fit(&m, row, 20, 1));
	for (int i = 0; i < 100; i++) {
		struct jetwatt_row r = some_row(&s);

		ASSERT_EQ(0, jetwatt_model_predict(m, &r.mode, 1, &p));
		sum += fabs(p.power_w / r.power_w - 1) / 100;
	}
	EXPECT_LT(sum, 0.06);
	jetwatt_model_free(m);
}

TEST(predicts_simulated_boards)
{
	struct error sum = { 0 }, e;
	int boards = 6;

	for (int w = 1; w <= boards; w++) {
		struct jetwatt_row *row;
		struct synth synth;
		long n;

		synth_make(&synth, w, w % 2);
		n = synth_rows(&synth, &row, 0, w);
		ASSERT_LT(0, n);
		/* Keep only every seventh row of the grid of modes. */
		for (long i = 0; i < n / 7; i++)
			row[i] = row[i * 7];
		ASSERT_EQ(0, error_at(row, n / 7, 20, w, &e));
		sum.time += e.time / boards;
		sum.power += e.power / boards;
		sum.cover_time += e.cover_time / boards;
		sum.cover_power += e.cover_power / boards;
		free(row);
	}
	TH_LOG("error from 20 modes: time %.1f %%, power %.1f %%; in 95 %%: %.0f %%, %.0f %%",
	       100 * sum.time, 100 * sum.power, 100 * sum.cover_time, 100 * sum.cover_power);
	EXPECT_LT(sum.time, 0.08);
	EXPECT_LT(sum.power, 0.04);
	EXPECT_GT(sum.cover_time, 0.80);
	EXPECT_GT(sum.cover_power, 0.80);
}

TEST(predicts_measured_boards)
{
	static const char *const file[] = { "orin-agx-resnet18-train.csv",
					    "orin-agx-mobilenetv3-train.csv",
					    "orin-agx-lstm-train.csv" };
	const char *dir = getenv("JETWATT_SHARED_DATA");

	if (!dir || access(dir, R_OK))
		SKIP(return, "JETWATT_SHARED_DATA names no readable directory");
	for (int f = 0; f < 3; f++) {
		struct jetwatt_row *row;
		struct error e, sum = { 0 };
		char path[512];
		long n;

		snprintf(path, sizeof(path), "%s/%s", dir, file[f]);
		n = search_read(path, &row);
		ASSERT_LT(0, n);
		for (int seed = 1; seed <= 4; seed++) {
			ASSERT_EQ(0, error_at(row, n, 20, seed, &e));
			sum.time += e.time / 4;
			sum.power += e.power / 4;
		}
		TH_LOG("%s: 20 random modes: time %.1f %%, power %.1f %%", file[f], 100 * sum.time,
		       100 * sum.power);
		/* The limits are half of the lowest error that a plain Gaussian process reaches on
		 * these files. */
		EXPECT_LT(sum.time, 0.08);
		EXPECT_LT(sum.power, 0.05);
		free(row);
	}
}

TEST_HARNESS_MAIN
