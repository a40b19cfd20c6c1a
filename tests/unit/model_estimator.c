// SPDX-License-Identifier: GPL-2.0-only
/* The estimator gives the predictions of every predictor an uncertainty that a search can use. */
#include <errno.h>
#include <math.h>

#include "kselftest_harness.h"
#include "plan/explain.h"
#include "plan/strategy.h"
#include "search_run.h"

#define MODES	144
#define SEEN	24

static struct jetwatt_row row[MODES];

/* Create rows whose time and power are sums of a few terms of the knobs, with a few percent of
 * noise per mode. */
static void board(void)
{
	uint64_t s = 5;
	size_t n = 0;

	for (unsigned int c = 4; c <= 12; c += 4)
		for (unsigned int f = 8; f <= 20; f += 6)
			for (unsigned int g = 3; g <= 13; g += 2)
				for (unsigned int e = 1; e <= 2 && n < MODES; e++, n++)
					row[n] = (struct jetwatt_row){
						.mode = { c, f * 100000, g * 100000000u, e * 1600000000u },
						.time_ms = (60.0 / g + 40.0 / f / sqrt(c) + 5.0 / e) *
							   (0.97 + 0.06 * search_uniform(&s)),
						.power_w = (8 + 0.15 * g * g + 0.02 * c * f + e) *
							   (0.98 + 0.04 * search_uniform(&s)),
					};
}

static size_t boards(void)
{
	size_t n = 0;

	board();
	while (n < MODES && row[n].mode.cores)
		n++;
	return n;
}

/* Copy every fifth row to @seen, from the second row on. Return: number of rows copied. */
static size_t some(struct jetwatt_row *seen, size_t n)
{
	size_t k = 0;

	for (size_t i = 1; i < n && k < SEEN; i += 5)
		seen[k++] = row[i];
	return k;
}

/* What powertrain has learned from the references, which takes seconds, and the status of that. Each test has a
 * process of its own, forked later. */
static struct jetwatt_estimator referred;
static int referred_err;

static void __attribute__((constructor)) learn_references(void)
{
	struct jetwatt_row other[MODES];
	size_t n = boards();

	memcpy(other, row, sizeof(other));
	for (size_t i = 0; i < n; i++)
		other[i].time_ms *= 3;
	referred.by = jetwatt_predictor_find("powertrain");
	referred_err = jetwatt_estimator_learn(&referred, &(struct jetwatt_corpus){ other, NULL, n }, 1, 1);
}

FIXTURE(any)
{
	struct jetwatt_estimator by;
	struct jetwatt_row seen[SEEN];
	size_t n, k;
};

FIXTURE_VARIANT(any)
{
	const char *name;
};

#define VARIANT(method)	FIXTURE_VARIANT_ADD(any, method) { .name = #method };
JETWATT_MODEL_PREDICTORS(VARIANT)

/* Each test fits a predictor many times. This takes minutes if each fit trains neural networks
 * without references to start from. */
#define SKIP_SLOW() do {									\
	if ((self->by.by->kind & (JETWATT_PREDICTOR_SLOW | JETWATT_PREDICTOR_REFERENCE)) ==	\
	    JETWATT_PREDICTOR_SLOW)								\
		SKIP(return, "a fit of %s is too slow for this test", variant->name);		\
} while (0)

FIXTURE_SETUP(any)
{
	self->n = boards();
	self->k = some(self->seen, self->n);
	self->by = (struct jetwatt_estimator){ .by = jetwatt_predictor_find(variant->name) };
	ASSERT_NE(NULL, self->by.by);
	if (!(self->by.by->kind & JETWATT_PREDICTOR_REFERENCE))
		return;
	ASSERT_EQ(0, referred_err);
	ASSERT_EQ(referred.by, self->by.by);
	self->by = referred;
}

FIXTURE_TEARDOWN(any)
{
	jetwatt_estimator_forget(&self->by);
}

/* More than 80 % of the prediction errors must be within the stated 95 % interval, and the interval
 * must not be unreasonably wide. */
TEST_F_TIMEOUT(any, intervals_cover_the_errors, 240)
{
	struct jetwatt_prediction p[MODES];
	struct jetwatt_fitted *f;
	size_t in[2] = { 0, 0 }, left = 0;
	double wide = 0, off = 0;

	SKIP_SLOW();
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &self->by, self->seen, self->k, 0, 1));
	EXPECT_EQ(self->k, f->n);
	for (size_t i = 0; i < self->n; i++) {
		ASSERT_EQ(0, jetwatt_fitted_predict(f, &row[i].mode, NULL, 1, &p[i]));
		ASSERT_TRUE(p[i].time_sd > 0 && isfinite(p[i].time_sd));
		ASSERT_TRUE(p[i].power_sd > 0 && isfinite(p[i].power_sd));
		if (i % 5 == 1)
			continue;
		in[0] += fabs(log(p[i].time_ms / row[i].time_ms)) <= 1.96 * p[i].time_sd;
		in[1] += fabs(log(p[i].power_w / row[i].power_w)) <= 1.96 * p[i].power_sd;
		wide += p[i].time_sd;
		off += fabs(log(p[i].time_ms / row[i].time_ms));
		left++;
	}
	EXPECT_GT(in[0], 0.8 * left);
	EXPECT_GT(in[1], 0.8 * left);
	EXPECT_LT(wide, 6 * off);
	jetwatt_fitted_free(f);
}

/* The predictions must not depend on the order of the rows. */
TEST_F_TIMEOUT(any, predictions_do_not_depend_on_the_order_of_rows, 240)
{
	struct jetwatt_row turned[SEEN];
	struct jetwatt_prediction p, q;
	struct jetwatt_fitted *a, *b;

	SKIP_SLOW();
	for (size_t i = 0; i < self->k; i++)
		turned[i] = self->seen[self->k - 1 - i];
	ASSERT_EQ(0, jetwatt_estimator_fit(&a, &self->by, self->seen, self->k, 0, 1));
	ASSERT_EQ(0, jetwatt_estimator_fit(&b, &self->by, turned, self->k, 0, 1));
	for (size_t i = 0; i < self->n; i += 7) {
		ASSERT_EQ(0, jetwatt_fitted_predict(a, &row[i].mode, NULL, 1, &p));
		ASSERT_EQ(0, jetwatt_fitted_predict(b, &row[i].mode, NULL, 1, &q));
		EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
	}
	jetwatt_fitted_free(a);
	jetwatt_fitted_free(b);
}

/* A mode without a required knob cannot be predicted. */
TEST_F_TIMEOUT(any, incomplete_modes_are_refused, 240)
{
	struct jetwatt_mode mode[2] = { row[0].mode, row[1].mode };
	struct jetwatt_prediction p[2];
	struct jetwatt_fitted *f;

	SKIP_SLOW();
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &self->by, self->seen, self->k, 0, 1));
	EXPECT_EQ(0, jetwatt_fitted_predict(f, mode, NULL, 2, p));
	mode[1].gpu_hz = 0;
	EXPECT_EQ(-EINVAL, jetwatt_fitted_predict(f, mode, NULL, 2, p));
	jetwatt_fitted_free(f);
}

/* With a power budget, the search finds one of the fastest modes within the budget. Without a
 * budget, the search measures modes with several numbers of cores; if it repeats a mode, it says
 * so. */
TEST_F_TIMEOUT(any, a_search_goes_by_it, 300)
{
	struct jetwatt_mode mode[MODES];
	struct jetwatt_row seen[16];
	struct jetwatt_plan_next next;
	double budget = 20, best = INFINITY, found = INFINITY;
	unsigned int cores = 0;
	size_t k = 0;
	int err;

	SKIP_SLOW();
	for (size_t i = 0; i < self->n; i++) {
		mode[i] = row[i].mode;
		if (row[i].power_w <= budget)
			best = fmin(best, row[i].time_ms);
	}
	while (k < 12 && !(err = jetwatt_plan_next(mode, self->n, seen, k, &self->by, budget, 10, 1,
						   &next))) {
		seen[k++] = row[next.index];
		if (row[next.index].power_w <= budget)
			found = fmin(found, row[next.index].time_ms);
	}
	EXPECT_LE(0, k < 12 ? err : 0);
	EXPECT_LT(found, 1.2 * best);
	for (k = 0; k < 8; k++) {
		ASSERT_EQ(0, jetwatt_plan_next(mode, self->n, seen, k, &self->by, 0, 8, 1, &next));
		seen[k] = row[next.index];
		cores |= 1u << seen[k].mode.cores;
		for (size_t i = 0; i < k; i++)
			if (strncmp(next.why, "again", 5))
				EXPECT_NE(0, memcmp(&seen[i].mode, &seen[k].mode, sizeof(seen[k].mode)));
	}
	EXPECT_LE(2, __builtin_popcount(cores)) TH_LOG("numbers of cores: mask %#x", cores);
}

/* A search strategy adds rows to its model by a refit if the predictor supports refits, else by a
 * new fit. */
TEST_F_TIMEOUT(any, refit_follows_added_rows, 240)
{
	struct jetwatt_prediction p;
	struct jetwatt_fitted *few, *all;

	SKIP_SLOW();
	ASSERT_EQ(0, jetwatt_estimator_fit(&few, &self->by, self->seen, self->k / 2, 8, 1));
	ASSERT_EQ(0, jetwatt_estimator_refit(&all, &self->by, few, self->seen, self->k, 1));
	EXPECT_EQ(self->k, all->n);
	for (size_t i = 0; i < self->n; i += 11) {
		ASSERT_EQ(0, jetwatt_fitted_predict(all, &row[i].mode, NULL, 1, &p));
		EXPECT_LT(fabs(log(p.time_ms / row[i].time_ms)), 0.7);
	}
	jetwatt_fitted_free(few);
	jetwatt_fitted_free(all);
}

/* A predictor that returns the geometric means of time and power, so that cross-validation can be
 * computed by hand. */
struct flat {
	double time, power;
};

static int flat_fit(void **model, const struct jetwatt_predictor_input *in)
{
	struct flat *f = calloc(1, sizeof(*f));

	for (size_t i = 0; f && i < in->sample.n; i++) {
		f->time += log(in->sample.row[i].time_ms) / in->sample.n;
		f->power += log(in->sample.row[i].power_w) / in->sample.n;
	}
	*model = f;
	return f ? 0 : -ENOMEM;
}

static int flat_predict(const void *model, const struct jetwatt_mode *mode, const uint32_t *batch,
			size_t n, struct jetwatt_prediction *out)
{
	const struct flat *f = model;

	(void)mode;
	(void)batch;
	for (size_t i = 0; i < n; i++)
		out[i] = (struct jetwatt_prediction){ exp(f->time), exp(f->power), 0, 0 };
	return 0;
}

static const struct jetwatt_predictor flat = {
	.name = "flat", .fit = flat_fit, .predict = flat_predict, .free = free,
};

/* The expected uncertainty is computed by hand. Each of the five folds has one mode, which is
 * predicted as the mean of the other four. The variance consists of the squared errors of the
 * folds, a prior of 10 % with the weight of two rows, and the variance of the five means. */
TEST(uncertainty_comes_from_cross_validation)
{
	const struct jetwatt_estimator by = { .by = &flat };
	double y[5], all = 0, squares = 0, mean = 0, between = 0, sd;
	struct jetwatt_prediction p;
	struct jetwatt_fitted *f;

	boards();
	for (int i = 0; i < 5; i++) {
		y[i] = log(row[i].time_ms);
		all += y[i];
	}
	for (int i = 0; i < 5; i++) {
		double others = (all - y[i]) / 4, by_mean = others - all / 5;

		squares += (y[i] - others) * (y[i] - others);
		mean += others / 5;
		between += by_mean * by_mean / 5;
	}
	sd = sqrt((2 * 0.01 + squares) / (2 + 5) + between);
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &by, row, 5, 0, 1));
	ASSERT_EQ(0, jetwatt_fitted_predict(f, &row[70].mode, NULL, 1, &p));
	EXPECT_LT(fabs(log(p.time_ms) - mean), 1e-9);
	EXPECT_LT(fabs(p.time_sd / sd - 1), 1e-9);
	EXPECT_TRUE(jetwatt_fitted_beyond(f, &row[70].mode, 0));
	EXPECT_FALSE(jetwatt_fitted_beyond(f, &row[3].mode, 0));
	jetwatt_fitted_free(f);
}

/* In cross-validation, both readings of a mode that was measured twice are left out together, so
 * that neither predicts the other. */
TEST(readings_of_a_mode_are_in_one_fold)
{
	const struct jetwatt_estimator by = { .by = &flat };
	struct jetwatt_row r[4];
	struct jetwatt_prediction p;
	struct jetwatt_fitted *f;

	boards();
	r[0] = r[1] = row[0];
	r[2] = r[3] = row[1];
	r[2].time_ms = r[3].time_ms = M_E * r[0].time_ms;
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &by, r, 4, 0, 1));
	ASSERT_EQ(0, jetwatt_fitted_predict(f, &row[2].mode, NULL, 1, &p));
	/* All four errors are 1 (in logarithms); the predictions of the two folds differ from their
	 * mean by 0.5. */
	EXPECT_LT(fabs(p.time_sd / sqrt((2 * 0.01 + 4) / 6 + 0.25) - 1), 1e-9);
	jetwatt_fitted_free(f);
}

/* With rows of one mode only, cross-validation is not possible, so the uncertainty must be
 * large. */
TEST(one_mode_gives_a_large_uncertainty)
{
	struct jetwatt_estimator by = { .by = jetwatt_predictor_find("linreg") };
	struct jetwatt_prediction p;
	struct jetwatt_fitted *f;
	struct jetwatt_row twice[2];

	boards();
	twice[0] = twice[1] = row[3];
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &by, twice, 2, 0, 1));
	ASSERT_EQ(0, jetwatt_fitted_predict(f, &row[9].mode, NULL, 1, &p));
	EXPECT_GE(p.time_sd, 0.3);
	jetwatt_fitted_free(f);
}

TEST(unsupported_operations_are_refused)
{
	struct jetwatt_estimator lin = { .by = jetwatt_predictor_find("linreg") };
	struct jetwatt_estimator fixed = { .by = jetwatt_predictor_find("maxn") };
	struct jetwatt_row seen[SEEN];
	size_t n = boards(), k = some(seen, n), len;
	struct jetwatt_corpus c = { row, NULL, n };
	struct jetwatt_mode mode[MODES];
	struct jetwatt_prediction p[MODES];
	struct jetwatt_fitted *f;
	struct jetwatt_explain e;
	unsigned char *bytes;

	EXPECT_EQ(-ENOTSUP, jetwatt_estimator_fit(&f, &fixed, seen, k, 0, 1));
	EXPECT_EQ(NULL, f);
	EXPECT_EQ(-ENOTSUP, jetwatt_estimator_learn(&lin, &c, 1, 1));
	EXPECT_EQ(-ENOTSUP, jetwatt_estimator_add_cross_device(&lin, row, n, 1));
	EXPECT_FALSE(jetwatt_estimator_cross_device_agrees(&lin, seen, k));
	EXPECT_FALSE(jetwatt_estimator_enough(&lin, 0));
	EXPECT_TRUE(jetwatt_estimator_enough(&lin, 1));
	EXPECT_FALSE(jetwatt_estimator_enough(NULL, 2));
	seen[2].batch = 4;
	EXPECT_EQ(-ENOTSUP, jetwatt_estimator_fit(&f, &lin, seen, k, 0, 1));
	seen[2].batch = 0;
	seen[2].power_w = NAN;
	EXPECT_EQ(-EINVAL, jetwatt_estimator_fit(&f, &lin, seen, k, 0, 1));
	EXPECT_EQ(NULL, f);
	seen[2].power_w = 15;
	ASSERT_EQ(0, jetwatt_estimator_fit(&f, &lin, seen, k, 0, 1));
	EXPECT_EQ(-ENOTSUP, jetwatt_fitted_save(f, &bytes, &len));
	for (size_t i = 0; i < n; i++)
		mode[i] = row[i].mode;
	ASSERT_EQ(0, jetwatt_fitted_predict(f, mode, NULL, n, p));
	/* The effect of one level of a knob (steps) is computed from predictions, so it is
	 * available with any predictor. The bottleneck (parts) needs the parametric model, so
	 * linreg reports none. */
	ASSERT_EQ(0, jetwatt_explain(f, mode, p, n, n / 2, &e));
	EXPECT_FALSE(e.parts);
	EXPECT_LT(3, e.steps);
	jetwatt_fitted_free(f);
}

TEST(references_without_batch_sizes_are_refused)
{
	struct jetwatt_estimator pt = { .by = jetwatt_predictor_find("powertrain") };
	struct jetwatt_row seen[SEEN];
	size_t n = boards(), k = some(seen, n);
	struct jetwatt_fitted *f;

	ASSERT_EQ(0, jetwatt_estimator_learn(&pt, &(struct jetwatt_corpus){ row, NULL, 8 }, 1, 1));
	for (size_t i = 0; i < k; i++)
		seen[i].batch = 1 + i % 2;
	EXPECT_EQ(-ENOTSUP, jetwatt_estimator_fit(&f, &pt, seen, k, 0, 1));
	jetwatt_estimator_forget(&pt);
	EXPECT_EQ(NULL, pt.prior);
}

TEST_HARNESS_MAIN
