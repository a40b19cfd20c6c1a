// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forward pass, loss and backward pass of the dense network.
 */
#include "model/nn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cblas.h>

#include "model/random.h"

/* Index of the network's output in the array of activations. */
#define LAST	JETWATT_NN_LAYERS

/* Largest predicted logarithm; a larger one comes from a diverging network. */
#define EXPONENT_MAX	30

/* Random numbers that dropout draws at a time; a multiple of four. */
#define DROPOUT_DRAWS	256

size_t jetwatt_nn_offset(const struct jetwatt_nn *nn, int layer)
{
	size_t at = 0;

	for (int l = 0; l < layer; l++)
		at += (nn->width[l] + 1) * nn->width[l + 1];
	return at;
}

void jetwatt_nn_refresh(struct jetwatt_nn *nn, int layer, uint64_t *seed)
{
	float *p = nn->p + jetwatt_nn_offset(nn, layer);
	size_t weights = nn->width[layer] * nn->width[layer + 1];
	double bound = sqrt(6.0 / (nn->width[layer] + nn->width[layer + 1]));

	for (size_t i = 0; i < weights; i++)
		p[i] = (2 * jetwatt_random_unit(seed) - 1) * bound;
	memset(p + weights, 0, nn->width[layer + 1] * sizeof(*p));
}

int jetwatt_nn_init(struct jetwatt_nn *nn, size_t inputs, uint64_t *seed)
{
	*nn = (struct jetwatt_nn){ .width = { inputs, 256, 128, 64, 1 } };
	if (!inputs)
		return -EINVAL;
	nn->size = jetwatt_nn_offset(nn, LAST);
	nn->p = malloc(nn->size * sizeof(*nn->p));
	if (!nn->p)
		return -ENOMEM;
	for (int l = 0; l < LAST; l++)
		jetwatt_nn_refresh(nn, l, seed);
	return 0;
}

int jetwatt_nn_copy(struct jetwatt_nn *to, const struct jetwatt_nn *from)
{
	*to = *from;
	to->p = malloc(from->size * sizeof(*to->p));
	if (!to->p)
		return -ENOMEM;
	memcpy(to->p, from->p, from->size * sizeof(*to->p));
	return 0;
}

void jetwatt_nn_free(struct jetwatt_nn *nn)
{
	free(nn->p);
	nn->p = NULL;
}

int jetwatt_nn_work_init(struct jetwatt_nn_work *w, const struct jetwatt_nn *nn, size_t rows)
{
	size_t widest = 0;

	*w = (struct jetwatt_nn_work){ .rows = rows };
	for (int l = 0; l <= LAST; l++) {
		w->act[l] = malloc(rows * nn->width[l] * sizeof(float));
		if (!w->act[l])
			goto fail;
		widest = nn->width[l] > widest ? nn->width[l] : widest;
	}
	for (int i = 0; i < 2; i++) {
		w->delta[i] = malloc(rows * widest * sizeof(float));
		if (!w->delta[i])
			goto fail;
	}
	return 0;
fail:
	jetwatt_nn_work_free(w);
	return -ENOMEM;
}

void jetwatt_nn_work_free(struct jetwatt_nn_work *w)
{
	for (int l = 0; l <= LAST; l++)
		free(w->act[l]);
	free(w->delta[0]);
	free(w->delta[1]);
	*w = (struct jetwatt_nn_work){ 0 };
}

/* ReLU, then dropout. 16 random bits decide whether a unit is dropped; the bits are drawn
 * beforehand, so that the dropout loop has no branches. */
static void nn_relu_dropout(float *a, size_t n, double dropout, uint64_t *seed)
{
	float keep = 1 / (1 - dropout);
	int limit = dropout * 65536;
	int draw[DROPOUT_DRAWS];

	if (!limit) {
		for (size_t i = 0; i < n; i++)
			a[i] = a[i] > 0 ? a[i] : 0;
		return;
	}
	for (size_t from = 0; from < n; from += DROPOUT_DRAWS, a += DROPOUT_DRAWS) {
		size_t k = n - from < DROPOUT_DRAWS ? n - from : DROPOUT_DRAWS;

		for (size_t i = 0; i < k; i += 4) {
			uint64_t bits = jetwatt_random(seed);

			for (int j = 0; j < 4; j++)
				draw[i + j] = bits >> 16 * j & 0xffff;
		}
		for (size_t i = 0; i < k; i++) {
			float on = a[i] > 0 ? a[i] * keep : 0;

			a[i] = draw[i] >= limit ? on : 0;
		}
	}
}

void jetwatt_nn_forward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			double dropout, uint64_t *seed)
{
	for (int l = 0; l < LAST; l++) {
		size_t in = nn->width[l], out = nn->width[l + 1];
		const float *weight = nn->p + jetwatt_nn_offset(nn, l), *bias = weight + in * out;
		float *a = w->act[l + 1];

		for (size_t i = 0; i < n; i++)
			memcpy(a + i * out, bias, out * sizeof(*a));
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, out, in, 1, w->act[l], in,
			    weight, out, 1, a, out);
		if (l < LAST - 1)
			nn_relu_dropout(a, n * out, l < JETWATT_NN_DROPOUTS ? dropout : 0, seed);
	}
}

double jetwatt_nn_loss(const float *output, const double *value, size_t n,
		       enum jetwatt_nn_loss loss, const struct jetwatt_nn_scale *scale,
		       float *by_output)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double z = output[i], v = scale->mean + scale->sd * z, e, slope;

		if (loss == JETWATT_NN_MSE) {
			double want = scale->log ? log(value[i]) : value[i];

			e = z - (want - scale->mean) / scale->sd;
			slope = 2 * e;
			e *= e;
		} else {
			/* Derivative of the value with respect to the output. */
			slope = scale->sd;
			if (scale->log) {
				slope *= v < EXPONENT_MAX ? exp(v) : 0;
				v = exp(fmin(v, EXPONENT_MAX));
			}
			e = v / value[i] - 1;
			slope *= (e > 0 ? 1 : e < 0 ? -1 : 0) / value[i];
			e = fabs(e);
		}
		sum += e;
		if (by_output)
			by_output[i] = slope / n;
	}
	return sum / n;
}

/* Propagate derivatives back through dropout and ReLU: a unit with output 0 passes nothing back,
 * whether ReLU or dropout made the output 0. */
static void nn_relu_backward(float *delta, const float *act, size_t n, float keep)
{
	for (size_t i = 0; i < n; i++)
		delta[i] = act[i] > 0 ? delta[i] * keep : 0;
}

void jetwatt_nn_backward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			 double dropout, int first, float *grad)
{
	float *delta = w->delta[0], *below = w->delta[1];

	for (int l = LAST - 1; l >= first; l--) {
		size_t in = nn->width[l], out = nn->width[l + 1], at = jetwatt_nn_offset(nn, l);
		float *bias = grad + at + in * out, *t;

		cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, n, 1, w->act[l], in,
			    delta, out, 0, grad + at, out);
		memset(bias, 0, out * sizeof(*bias));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < out; j++)
				bias[j] += delta[i * out + j];
		if (l == first)
			break;
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, in, out, 1, delta, out,
			    nn->p + at, out, 0, below, in);
		nn_relu_backward(below, w->act[l], n * in,
				 l <= JETWATT_NN_DROPOUTS ? 1 / (1 - dropout) : 1);
		t = delta;
		delta = below;
		below = t;
	}
}
