// SPDX-License-Identifier: GPL-2.0-only
/* Gradient-boosted trees: they learn a step in the time, which a power law cannot represent. */
#include <math.h>

#include "../../user/model/trees.c"

#include "kselftest_harness.h"
#include "search_run.h"

#define MODES	240

static struct jetwatt_row row[MODES];

/* Create rows that follow power laws of three knobs; above a GPU clock of 0.9 GHz, the time is
 * multiplied, and the power divided, by @step. */
static size_t made(double step)
{
	size_t n = 0;

	for (unsigned int c = 2; c <= 12; c += 2)
		for (unsigned int f = 5; f <= 20; f += 5)
			for (unsigned int g = 4; g <= 13; g++, n++) {
				double by = g > 9 ? step : 1;

				row[n] = (struct jetwatt_row){
					.mode = { c, f * 100000, g * 100000000u, 3200000000u },
					.time_ms = 400 * by * pow(c, -0.3) * pow(f, -0.2) * pow(g, -0.8),
					.power_w = 5 / by * pow(c, 0.1) * pow(f, 0.1) * pow(g, 0.5),
				};
			}
	return n;
}

/* Return the mean error of the logarithm of time over the modes that were not used in the fit,
 * which used every @nth mode. */
static double error(const struct jetwatt_row *seen, size_t k, size_t n, size_t nth, int batch)
{
	struct jetwatt_predictor_input in = { .sample = { seen, NULL, k }, .seed = 1 };
	uint32_t size[MODES];
	struct jetwatt_prediction p;
	double sum = 0;
	size_t left = 0;
	void *m;

	for (size_t i = 0; i < k; i++)
		size[i] = seen[i].batch;
	if (batch)
		in.sample.batch = size;
	if (trees_bare_fit(&m, &in))
		return NAN;
	for (size_t i = 0; i < n; i++) {
		if (i % nth == 0)
			continue;
		if (trees_bare_predict(m, &row[i].mode, batch ? &row[i].batch : NULL, 1, &p))
			return NAN;
		sum += fabs(log(p.time_ms / row[i].time_ms));
		left++;
	}
	free(m);
	return sum / left;
}

static size_t every(struct jetwatt_row *seen, size_t n, size_t nth)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i += nth)
		seen[k++] = row[i];
	return k;
}

TEST(power_laws_are_learned_from_few_rows)
{
	struct jetwatt_row seen[MODES];
	size_t n = made(1), k = every(seen, n, 11);

	EXPECT_GT(0.02, error(seen, k, n, 11, 0));
}

/* With a step in the time, a regression without trees has more than twice the error of the
 * trees. */
TEST(trees_learn_a_step)
{
	struct jetwatt_row seen[MODES];
	size_t n = made(2), k = every(seen, n, 3);
	struct jetwatt_predictor_input in = { .sample = { seen, NULL, k } };
	struct trees *m;
	double law = 0, all = error(seen, k, n, 3, 0), x[DIMS];
	size_t left = 0;

	ASSERT_EQ(0, trees_bare_fit((void **)&m, &in));
	memset(m->time.tree, 0, sizeof(m->time.tree));
	for (size_t i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		ASSERT_EQ(0, trees_features(x, &row[i].mode, 0));
		law += fabs(trees_value(&m->time, x) - log(row[i].time_ms));
		left++;
	}
	free(m);
	law /= left;
	EXPECT_GT(0.1, all) TH_LOG("%f", all);
	EXPECT_GT(law, 2 * all) TH_LOG("%f, and %f without trees", all, law);
}

/* A leaf holds no row or at least LEAF_ROWS rows, and the absolute value of a leaf is at most RATE
 * times the highest absolute value of the rows. */
TEST(leaves_have_enough_rows)
{
	struct jetwatt_row seen[MODES];
	size_t n = made(2), k = every(seen, n, 2), in_leaf[LEAVES] = { 0 };
	struct tree tree = { .dim = { 0 } };
	struct trees_table t;
	double most = 0;

	ASSERT_EQ(0, trees_table_make(&t, seen, k, 0));
	for (size_t i = 0; i < k; i++) {
		t.y[i] = log(seen[i].time_ms) - 4;
		most = fmax(most, fabs(t.y[i]));
	}
	/* Mode 0 is an extreme value, so the best fit would be a leaf with that mode alone. */
	t.y[0] = most = 100;
	trees_grow(&t, &tree);
	for (size_t i = 0; i < k; i++) {
		EXPECT_EQ(t.node[i] - NODES, trees_leaf_of(&tree, t.x[i]));
		in_leaf[trees_leaf_of(&tree, t.x[i])]++;
	}
	for (size_t i = 0; i < LEAVES; i++) {
		EXPECT_TRUE(!in_leaf[i] || in_leaf[i] >= LEAF_ROWS);
		EXPECT_GE(RATE * most, fabs(tree.leaf[i]));
	}
	trees_table_free(&t);
}

/* In the rows of this test, a minibatch of twice the size takes twice as long, and the power
 * depends on the mode only. */
TEST(batch_size_is_a_feature)
{
	struct jetwatt_row seen[MODES];
	size_t n = made(1), k;

	for (size_t i = 0; i < n; i++) {
		row[i].batch = 1u << i % 4;
		row[i].time_ms *= row[i].batch;
	}
	k = every(seen, n, 7);
	EXPECT_GT(0.05, error(seen, k, n, 7, 1));
	EXPECT_LT(0.3, error(seen, k, n, 7, 0));
}

/* Fitting is not random: another seed and another order of the rows give the same model. */
TEST(same_rows_same_model)
{
	struct jetwatt_row seen[MODES], turned[MODES];
	size_t n = made(2), k = every(seen, n, 4);
	struct jetwatt_predictor_input a = { .sample = { seen, NULL, k }, .seed = 1 };
	struct jetwatt_predictor_input b = { .sample = { turned, NULL, k }, .seed = 2 };
	void *x, *y;

	for (size_t i = 0; i < k; i++)
		turned[i] = seen[k - 1 - i];
	ASSERT_EQ(0, trees_bare_fit(&x, &a));
	ASSERT_EQ(0, trees_bare_fit(&y, &b));
	EXPECT_EQ(0, memcmp(x, y, sizeof(struct trees)));
	free(x);
	free(y);
}

TEST(invalid_input_is_refused)
{
	struct jetwatt_predictor_input in = { .sample = { row, NULL, 5 } };
	struct jetwatt_mode none = { 4, 0, 500000000, 2133000000 };
	struct jetwatt_prediction p;
	void *m;

	made(1);
	row[2].time_ms = NAN;
	EXPECT_EQ(-EINVAL, trees_bare_fit(&m, &in));
	EXPECT_EQ(NULL, m);
	row[2].time_ms = 10;
	row[1].mode.gpu_hz = 0;
	EXPECT_EQ(-EINVAL, trees_bare_fit(&m, &in));
	row[1].mode.gpu_hz = 500000000;
	in.sample.n = 0;
	EXPECT_EQ(-ENODATA, trees_bare_fit(&m, &in));
	in.sample.n = 5;
	ASSERT_EQ(0, trees_bare_fit(&m, &in));
	EXPECT_EQ(-EINVAL, trees_bare_predict(m, &none, NULL, 1, &p));
	free(m);
}

TEST_HARNESS_MAIN
