// SPDX-License-Identifier: GPL-2.0-only
/* Adam (Kingma and Ba, ICLR 2015, algorithm 1) over shuffled batches. */
#include "model/nn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/random.h"

#define BETA1	0.9f
#define BETA2	0.999f
#define EPSILON	1e-8f
/* Keeps the mean of a unit that is dead from fading into denormals, on which
 * processors are a hundred times slower; moves nothing by more than 1e-17. */
#define TINY	1e-22f
/* Below it a tenth is no row. */
#define SPLIT_MIN	5
/* Rows of a pass that only looks: what it needs stays in the cache. */
#define LOOK	64

/**
 * struct trainer - a training under way
 * @at: all rows, shuffled once; the first @train are trained on, the others
 *	validate. The first part is shuffled again for each epoch
 * @grad, @m, @v, @best: of nn.size each, one piece of memory from @grad
 * @value: of the batch
 */
struct trainer {
	const struct jetwatt_nn_training *how;
	const struct jetwatt_nn_scale *scale;
	const float *x;
	const double *all;
	struct jetwatt_nn nn;
	struct jetwatt_nn_work work;
	size_t *at, train, held;
	float *grad, *m, *v, *best;
	double *value;
	double beta1, beta2;
	uint64_t seed;
};

static void gather(struct trainer *t, const size_t *at, size_t n)
{
	size_t in = t->nn.width[0];

	for (size_t i = 0; i < n; i++) {
		memcpy(t->work.act[0] + i * in, t->x + at[i] * in, in * sizeof(float));
		t->value[i] = t->all[at[i]];
	}
}

static void adam(float *restrict p, const float *restrict grad, float *restrict m,
		 float *restrict v, size_t n, float rate, float unbias)
{
	for (size_t i = 0; i < n; i++) {
		m[i] = BETA1 * m[i] + (1 - BETA1) * (grad[i] + TINY);
		v[i] = BETA2 * v[i] + (1 - BETA2) * grad[i] * grad[i];
		p[i] -= rate * m[i] / (sqrtf(v[i]) * unbias + EPSILON);
	}
}

static double step(struct trainer *t, const size_t *at, size_t n)
{
	const struct jetwatt_nn_training *how = t->how;
	size_t from = jetwatt_nn_offset(&t->nn, how->first);
	double loss;

	gather(t, at, n);
	jetwatt_nn_forward(&t->nn, &t->work, n, how->dropout, &t->seed);
	loss = jetwatt_nn_loss(t->work.act[JETWATT_NN_LAYERS], t->value, n, how->loss, t->scale,
			       t->work.delta[0]);
	jetwatt_nn_backward(&t->nn, &t->work, n, how->dropout, how->first, t->grad);
	t->beta1 *= BETA1;
	t->beta2 *= BETA2;
	adam(t->nn.p + from, t->grad + from, t->m + from, t->v + from, t->nn.size - from,
	     how->rate / (1 - t->beta1), 1 / sqrt(1 - t->beta2));
	return loss;
}

static double look(struct trainer *t, const size_t *at, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += LOOK) {
		size_t k = n - i < LOOK ? n - i : LOOK;

		gather(t, at + i, k);
		jetwatt_nn_forward(&t->nn, &t->work, k, 0, NULL);
		sum += k * jetwatt_nn_loss(t->work.act[JETWATT_NN_LAYERS], t->value, k,
					   t->how->loss, t->scale, NULL);
	}
	return sum / n;
}

static int run(struct trainer *t)
{
	size_t batch = t->how->batch;
	double best = INFINITY;

	for (unsigned int epoch = 0; epoch < t->how->epochs; epoch++) {
		double loss = 0;

		jetwatt_random_draw(&t->seed, t->at, t->train, t->train);
		for (size_t i = 0; i < t->train; i += batch)
			loss += step(t, t->at + i, t->train - i < batch ? t->train - i : batch);
		if (!isfinite(loss))
			return -EDOM;
		if (!t->held)
			continue;
		loss = look(t, t->at + t->train, t->held);
		if (loss < best) {
			best = loss;
			memcpy(t->best, t->nn.p, t->nn.size * sizeof(float));
		}
	}
	if (isfinite(best))
		memcpy(t->nn.p, t->best, t->nn.size * sizeof(float));
	for (size_t i = 0; i < t->nn.size; i++)
		if (!isfinite(t->nn.p[i]))
			return -EDOM;
	return 0;
}

int jetwatt_nn_train(struct jetwatt_nn *nn, const float *x, const double *value, size_t n,
		     const struct jetwatt_nn_scale *scale, const struct jetwatt_nn_training *how)
{
	struct trainer t = { .how = how, .scale = scale, .x = x, .all = value,
			     .beta1 = 1, .beta2 = 1, .seed = how->seed };
	size_t rows = how->batch > LOOK ? how->batch : LOOK;
	int err;

	if (!n || !how->batch || how->dropout < 0 || how->dropout >= 1 || how->first < 0 ||
	    how->first >= JETWATT_NN_LAYERS || !(how->validation >= 0 && how->validation < 1))
		return -EINVAL;
	err = jetwatt_nn_copy(&t.nn, nn);
	if (!err)
		err = jetwatt_nn_work_init(&t.work, nn, rows);
	if (err)
		goto out;
	err = -ENOMEM;
	t.at = malloc(n * sizeof(*t.at));
	t.value = malloc(rows * sizeof(*t.value));
	t.grad = calloc(4 * nn->size, sizeof(*t.grad));
	if (!t.at || !t.value || !t.grad)
		goto out;
	t.m = t.grad + nn->size;
	t.v = t.m + nn->size;
	t.best = t.v + nn->size;
	for (size_t i = 0; i < n; i++)
		t.at[i] = i;
	jetwatt_random_draw(&t.seed, t.at, n, n);
	t.held = n >= SPLIT_MIN ? (size_t)(how->validation * n + 0.5) : 0;
	t.train = n - t.held;
	err = t.train ? run(&t) : -EINVAL;
	if (!err)
		memcpy(nn->p, t.nn.p, nn->size * sizeof(*nn->p));
out:
	free(t.at);
	free(t.value);
	free(t.grad);
	jetwatt_nn_work_free(&t.work);
	jetwatt_nn_free(&t.nn);
	return err;
}
