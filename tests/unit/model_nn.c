// SPDX-License-Identifier: GPL-2.0-only
/* The neural networks: outputs compared with plain loops in double precision, gradients with finite
 * differences. Also tested: what every predictor must do. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "model/predictor.h"
#include "model/nn.h"
#include "model/powertrain.h"
#include "model/random.h"

#define ROWS	7
#define INPUTS	4

static const struct jetwatt_nn_scale scales[] = { { 3, 0.5, 1 }, { 40, 9, 0 } };

/* Return the output of the network for one row, computed by plain loops in double precision without
 * BLAS. */
static double twin_output(const struct jetwatt_nn *nn, const double *p, const float *x)
{
	double a[256], b[256];

	for (size_t d = 0; d < nn->width[0]; d++)
		a[d] = x[d];
	for (int l = 0; l < JETWATT_NN_LAYERS; l++) {
		size_t in = nn->width[l], out = nn->width[l + 1];

		for (size_t j = 0; j < out; j++) {
			b[j] = p[in * out + j];
			for (size_t i = 0; i < in; i++)
				b[j] += a[i] * p[i * out + j];
			if (l < JETWATT_NN_LAYERS - 1 && b[j] < 0)
				b[j] = 0;
		}
		memcpy(a, b, out * sizeof(*a));
		p += (in + 1) * out;
	}
	return a[0];
}

static double twin_loss(const struct jetwatt_nn *nn, const double *p, const float *x,
			const double *value, enum jetwatt_nn_loss loss,
			const struct jetwatt_nn_scale *s)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++) {
		double z = twin_output(nn, p, x + i * INPUTS), v = s->mean + s->sd * z;

		if (loss == JETWATT_NN_MSE)
			sum += pow((v - (s->log ? log(value[i]) : value[i])) / s->sd, 2);
		else
			sum += fabs((s->log ? exp(v) : v) / value[i] - 1);
	}
	return sum / ROWS;
}

struct fixture {
	struct jetwatt_nn nn;
	struct jetwatt_nn_work work;
	float x[ROWS * INPUTS], *grad;
	double value[ROWS], *p;
};

static int fixture(struct fixture *f, uint64_t seed)
{
	int err = jetwatt_nn_init(&f->nn, INPUTS, &seed);

	if (err)
		return err;
	err = jetwatt_nn_work_init(&f->work, &f->nn, ROWS);
	f->grad = calloc(f->nn.size, sizeof(*f->grad));
	f->p = calloc(f->nn.size, sizeof(*f->p));
	if (err || !f->grad || !f->p)
		return -ENOMEM;
	for (size_t i = 0; i < f->nn.size; i++)
		f->p[i] = f->nn.p[i];
	for (int i = 0; i < ROWS * INPUTS; i++)
		f->work.act[0][i] = f->x[i] = 4 * jetwatt_random_unit(&seed) - 2;
	for (int i = 0; i < ROWS; i++)
		f->value[i] = 20 + 30 * jetwatt_random_unit(&seed);
	return 0;
}

static void fixture_free(struct fixture *f)
{
	jetwatt_nn_free(&f->nn);
	jetwatt_nn_work_free(&f->work);
	free(f->grad);
	free(f->p);
}

TEST(outputs_and_gradients_equal_the_reference)
{
	for (int k = 0; k < 4; k++) {
		const struct jetwatt_nn_scale *s = &scales[k / 2];
		enum jetwatt_nn_loss loss = k % 2;
		struct fixture f = { 0 };
		uint64_t seed = 5;
		double got;

		ASSERT_EQ(0, fixture(&f, k + 1));
		jetwatt_nn_forward(&f.nn, &f.work, ROWS, 0, NULL);
		for (int i = 0; i < ROWS; i++)
			EXPECT_LT(fabs(twin_output(&f.nn, f.p, f.x + i * INPUTS) -
				       f.work.act[JETWATT_NN_LAYERS][i]), 1e-5);
		got = jetwatt_nn_loss(f.work.act[JETWATT_NN_LAYERS], f.value, ROWS, loss, s,
				      f.work.delta[0]);
		EXPECT_LT(fabs(got / twin_loss(&f.nn, f.p, f.x, f.value, loss, s) - 1), 1e-5);
		jetwatt_nn_backward(&f.nn, &f.work, ROWS, 0, 0, f.grad);
		for (int l = 0; l < JETWATT_NN_LAYERS; l++) {
			size_t lo = jetwatt_nn_offset(&f.nn, l), hi = jetwatt_nn_offset(&f.nn, l + 1);

			for (int i = 0; i < 40; i++) {
				/* The last parameters of a layer are its biases: 10 of the 40
				 * checks are for biases. */
				size_t at = i < 30 ? lo + (size_t)(jetwatt_random_unit(&seed) * (hi - lo)) :
						     hi - 1 - (i - 30) % f.nn.width[l + 1];
				double keep = f.p[at], h = 1e-6, up, down;

				f.p[at] = keep + h;
				up = twin_loss(&f.nn, f.p, f.x, f.value, loss, s);
				f.p[at] = keep - h;
				down = twin_loss(&f.nn, f.p, f.x, f.value, loss, s);
				f.p[at] = keep;
				EXPECT_LT(fabs((up - down) / (2 * h) - f.grad[at]),
					  1e-4 + 1e-3 * fabs(f.grad[at]));
			}
		}
		fixture_free(&f);
	}
}

static double total(const float *v, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

TEST(dropout_keeps_the_mean)
{
	struct fixture f = { 0 };
	double sum = 0, zero = 0, all = 0, full;
	uint64_t seed = 9;

	ASSERT_EQ(0, fixture(&f, 3));
	jetwatt_nn_forward(&f.nn, &f.work, 1, 0, NULL);
	full = total(f.work.act[1], 256);
	for (int k = 0; k < 400; k++) {
		jetwatt_nn_forward(&f.nn, &f.work, 1, 0.25, &seed);
		sum += total(f.work.act[1], 256) / 400;
		for (int i = 0; i < 256; i++)
			zero += f.work.act[1][i] == 0;
		all += 256;
	}
	EXPECT_LT(fabs(sum / full - 1), 0.03);
	EXPECT_LT(0.25, zero / all);
	fixture_free(&f);
}

static struct jetwatt_nn_training some_training(void)
{
	return (struct jetwatt_nn_training){ .epochs = 3, .batch = 2, .rate = 1e-3, .dropout = 0.1,
					     .validation = 0.2, .seed = 4 };
}

TEST(training_is_deterministic_and_keeps_frozen_layers)
{
	struct jetwatt_nn_training how = some_training();
	struct fixture f = { 0 }, g = { 0 };
	double before;
	size_t frozen;

	ASSERT_EQ(0, fixture(&f, 1));
	ASSERT_EQ(0, fixture(&g, 1));
	frozen = jetwatt_nn_offset(&f.nn, 2);
	before = twin_loss(&f.nn, f.p, f.x, f.value, JETWATT_NN_MSE, &scales[0]);
	how.epochs = 40;
	how.first = 2;
	ASSERT_EQ(0, jetwatt_nn_train(&f.nn, f.x, f.value, ROWS, &scales[0], &how));
	ASSERT_EQ(0, jetwatt_nn_train(&g.nn, g.x, g.value, ROWS, &scales[0], &how));
	EXPECT_EQ(0, memcmp(f.nn.p, g.nn.p, f.nn.size * sizeof(float)));
	for (size_t i = 0; i < frozen; i++)
		ASSERT_EQ((float)f.p[i], f.nn.p[i]);
	for (size_t i = 0; i < f.nn.size; i++)
		f.p[i] = f.nn.p[i];
	EXPECT_LT(twin_loss(&f.nn, f.p, f.x, f.value, JETWATT_NN_MSE, &scales[0]), 0.5 * before);
	how.seed++;
	ASSERT_EQ(0, jetwatt_nn_train(&g.nn, g.x, g.value, ROWS, &scales[0], &how));
	EXPECT_NE(0, memcmp(f.nn.p, g.nn.p, f.nn.size * sizeof(float)));
	fixture_free(&f);
	fixture_free(&g);
}

TEST(training_refuses_invalid_arguments)
{
	struct jetwatt_nn_training how = some_training();
	struct fixture f = { 0 };

	ASSERT_EQ(0, fixture(&f, 1));
	EXPECT_EQ(-EINVAL, jetwatt_nn_train(&f.nn, f.x, f.value, 0, &scales[0], &how));
	how.batch = 0;
	EXPECT_EQ(-EINVAL, jetwatt_nn_train(&f.nn, f.x, f.value, ROWS, &scales[0], &how));
	how = some_training();
	how.dropout = 1;
	EXPECT_EQ(-EINVAL, jetwatt_nn_train(&f.nn, f.x, f.value, ROWS, &scales[0], &how));
	how = some_training();
	how.rate = 1e30;
	EXPECT_EQ(-EDOM, jetwatt_nn_train(&f.nn, f.x, f.value, ROWS, &scales[0], &how));
	for (size_t i = 0; i < f.nn.size; i++)
		ASSERT_EQ((float)f.p[i], f.nn.p[i]);
	fixture_free(&f);
}

/* Return a plausible row. */
static struct jetwatt_row some_row(uint64_t *s)
{
	double fc = 0.2 + 2 * jetwatt_random_unit(s), fg = 0.1 + 1.2 * jetwatt_random_unit(s);
	double fe = 0.5 + 2.5 * jetwatt_random_unit(s);
	int cores = 1 + jetwatt_random_unit(s) * 12;

	return (struct jetwatt_row){
		.mode = { cores, fc * 1e6, fg * 1e9, fe * 1e9 },
		.time_ms = 20 + 40 / fg + 20 / fe + 60 / (cores * fc),
		.power_w = 9 + 12 * fg + 0.7 * cores * fc + 2 * fe,
	};
}

/* Each predictor has its own test variant, because training is slow and a test has a time limit. */
FIXTURE(method)
{
	const struct jetwatt_predictor *m;
	struct jetwatt_row row[12], turned[12];
	struct jetwatt_predictor_input in;
	void *prior;
};

FIXTURE_VARIANT(method)
{
	const char *name;
};

#define VARIANT(by)	FIXTURE_VARIANT_ADD(method, by) { .name = #by };
JETWATT_MODEL_PREDICTORS(VARIANT)

FIXTURE_SETUP(method)
{
	struct jetwatt_corpus c = { self->row, NULL, 12 };
	uint64_t s = 1;

	self->m = jetwatt_predictor_find(variant->name);
	ASSERT_NE(NULL, self->m);
	for (int i = 0; i < 12; i++)
		self->row[i] = self->turned[11 - i] = some_row(&s);
	self->prior = NULL;
	if (self->m->prior)
		ASSERT_EQ(0, self->m->prior(&self->prior, &c, 1, 1));
	self->in = (struct jetwatt_predictor_input){
		.sample = c, .highest = jetwatt_predictor_highest(self->row, 12),
		.prior = self->prior, .seed = 1,
	};
}

FIXTURE_TEARDOWN(method)
{
	if (self->m->prior)
		self->m->prior_free(self->prior);
}

/* The test trains twice, which is slow with sanitizers. */
TEST_F_TIMEOUT(method, knows_no_order, 120)
{
	const struct jetwatt_predictor *m = self->m;
	void *a, *b;

	ASSERT_EQ(0, m->fit(&a, &self->in));
	self->in.sample.row = self->turned;
	ASSERT_EQ(0, m->fit(&b, &self->in));
	for (int i = 0; i < 12; i++) {
		struct jetwatt_prediction p, q;

		ASSERT_EQ(0, m->predict(a, &self->row[i].mode, NULL, 1, &p));
		ASSERT_EQ(0, m->predict(b, &self->row[i].mode, NULL, 1, &q));
		EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
		EXPECT_TRUE(p.time_ms > 0 && isfinite(p.time_ms));
		EXPECT_TRUE(p.power_w > 0 && isfinite(p.power_w));
	}
	m->free(a);
	m->free(b);
}

TEST_F(method, refuses_bad_rows)
{
	static const double bad[] = { NAN, INFINITY, 0, -1 };
	void *a;

	for (int k = 0; k < 4; k++) {
		double keep = self->row[3].power_w;

		self->row[3].power_w = bad[k];
		EXPECT_EQ(-EINVAL, self->m->fit(&a, &self->in));
		EXPECT_EQ(NULL, a);
		self->row[3].power_w = keep;
	}
	/* A fit to zero rows succeeds only if the predictor can predict from references alone. */
	self->in.sample.n = 0;
	if (self->m->references_cover &&
	    self->m->references_cover(self->in.prior, &self->in.highest, &self->in.highest)) {
		EXPECT_EQ(0, self->m->fit(&a, &self->in));
		self->m->free(a);
	} else {
		EXPECT_GT(0, self->m->fit(&a, &self->in));
	}
}

/* A predictor either refuses a single row with -ENODATA, or fits it. */
TEST_F(method, one_row_is_refused_or_fitted)
{
	struct jetwatt_prediction p;
	void *a;
	int err;

	self->in.sample.n = 1;
	err = self->m->fit(&a, &self->in);
	if (err) {
		EXPECT_EQ(-ENODATA, err);
		EXPECT_EQ(NULL, a);
		return;
	}
	ASSERT_EQ(0, self->m->predict(a, &self->row[0].mode, NULL, 1, &p));
	EXPECT_LT(fabs(p.time_ms / self->row[0].time_ms - 1), 0.1);
	EXPECT_LT(fabs(p.power_w / self->row[0].power_w - 1), 0.1);
	self->m->free(a);
}

TEST(every_predictor_is_tested)
{
	const struct jetwatt_predictor *m;
	size_t fit = 0;

	for (size_t i = 0; (m = jetwatt_predictor_at(i)); i++) {
		EXPECT_EQ(m, jetwatt_predictor_find(m->name));
		EXPECT_TRUE(!m->fit == !m->predict && !m->fit == !m->free && !m->prior == !m->prior_free);
		EXPECT_TRUE(!m->load || (m->save && m->seen));
		fit += m->fit != NULL;
	}
#define ONE(by)	1 +
	EXPECT_EQ(JETWATT_MODEL_PREDICTORS(ONE) 0, fit);
	EXPECT_EQ(NULL, jetwatt_predictor_find("oracle"));
}

TEST_HARNESS_MAIN
