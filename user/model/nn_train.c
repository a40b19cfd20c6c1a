// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training by Adam (Kingma and Ba, ICLR 2015, algorithm 1) over shuffled minibatches, with the
 * checkpoint of the lowest validation loss.
 */
#include "model/nn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/random.h"

#define BETA1	0.9f
#define BETA2	0.999f
#define EPSILON	1e-8f
/* Constant added to the gradient: it keeps the running mean of the gradient of a dead unit out of
 * the denormal numbers, on which processors are about 100 times slower. At a
 * learning rate of 1e-3, the constant changes no parameter by more than 1e-17 per step. */
#define TINY	1e-22f
/* Smallest number of rows with which some rows are held out for validation. */
#define SPLIT_MIN	5
/* Rows per block of the validation pass: the activations stay in the cache. */
#define VALIDATION_ROWS	64

/**
 * struct trainer - state of a training
 * @how: parameters of the training
 * @scale: conversion of outputs to values
 * @x: inputs of all rows
 * @all: true values of all rows
 * @nn: the network that is trained, a copy of the caller's network
 * @work: scratch arrays
 * @at: indices of all rows, shuffled once: first @train rows for training, shuffled again in each
 *	epoch, then @held rows for validation
 * @grad: gradient; @m, @v and @best follow it in the same allocation, @nn.size entries each
 * @m: running mean of the gradient of each parameter (Adam)
 * @v: running mean of the squared gradient of each parameter (Adam)
 * @best: parameters with the lowest validation loss
 * @value: true values of the rows of the current batch
 * @beta1: BETA1 to the power of the number of steps so far, for Adam's bias correction
 * @beta2: BETA2 to the same power
 * @seed: state of the random numbers
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

/* Copy @n rows into the scratch arrays. */
static void train_gather(struct trainer *t, const size_t *at, size_t n)
{
	size_t in = t->nn.width[0];

	for (size_t i = 0; i < n; i++) {
		memcpy(t->work.act[0] + i * in, t->x + at[i] * in, in * sizeof(float));
		t->value[i] = t->all[at[i]];
	}
}

static void train_adam(float *restrict p, const float *restrict grad, float *restrict m,
		       float *restrict v, size_t n, float rate, float unbias)
{
	for (size_t i = 0; i < n; i++) {
		m[i] = BETA1 * m[i] + (1 - BETA1) * (grad[i] + TINY);
		v[i] = BETA2 * v[i] + (1 - BETA2) * grad[i] * grad[i];
		p[i] -= rate * m[i] / (sqrtf(v[i]) * unbias + EPSILON);
	}
}

/* Train on one minibatch. Return: its loss. */
static double train_step(struct trainer *t, const size_t *at, size_t n)
{
	const struct jetwatt_nn_training *how = t->how;
	size_t from = jetwatt_nn_offset(&t->nn, how->first);
	double loss;

	train_gather(t, at, n);
	jetwatt_nn_forward(&t->nn, &t->work, n, how->dropout, &t->seed);
	loss = jetwatt_nn_loss(t->work.act[JETWATT_NN_LAYERS], t->value, n, how->loss, t->scale,
			       t->work.delta[0]);
	jetwatt_nn_backward(&t->nn, &t->work, n, how->dropout, how->first, t->grad);
	t->beta1 *= BETA1;
	t->beta2 *= BETA2;
	train_adam(t->nn.p + from, t->grad + from, t->m + from, t->v + from, t->nn.size - from,
		   how->rate / (1 - t->beta1), 1 / sqrt(1 - t->beta2));
	return loss;
}

/* Return: the loss of @n rows without dropout. */
static double train_loss(struct trainer *t, const size_t *at, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += VALIDATION_ROWS) {
		size_t k = n - i < VALIDATION_ROWS ? n - i : VALIDATION_ROWS;

		train_gather(t, at + i, k);
		jetwatt_nn_forward(&t->nn, &t->work, k, 0, NULL);
		sum += k * jetwatt_nn_loss(t->work.act[JETWATT_NN_LAYERS], t->value, k,
					   t->how->loss, t->scale, NULL);
	}
	return sum / n;
}

/* Train for all epochs. Return: 0, -EDOM. */
static int train_run(struct trainer *t)
{
	size_t batch = t->how->batch;
	double best = INFINITY;

	for (unsigned int epoch = 0; epoch < t->how->epochs; epoch++) {
		double loss = 0;

		jetwatt_random_draw(&t->seed, t->at, t->train, t->train);
		for (size_t i = 0; i < t->train; i += batch)
			loss += train_step(t, t->at + i,
					   t->train - i < batch ? t->train - i : batch);
		if (!isfinite(loss))
			return -EDOM;
		if (!t->held)
			continue;
		loss = train_loss(t, t->at + t->train, t->held);
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
	size_t rows = how->batch > VALIDATION_ROWS ? how->batch : VALIDATION_ROWS;
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
	err = t.train ? train_run(&t) : -EINVAL;
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
