// SPDX-License-Identifier: GPL-2.0-only
/*
 * Standardisation of inputs and target around the dense network.
 */
#include "model/net.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE	JETWATT_NET_INPUTS_MAX
/* Number of rows that are predicted in one block. */
#define CHUNK	256
/* Largest predicted logarithm, as in nn.c; a larger one comes from a diverging network. */
#define EXPONENT_MAX	30

void jetwatt_net_point(double x[STRIDE], const struct jetwatt_mode *mode, uint32_t batch)
{
	for (int k = 0; k < STRIDE - 1; k++)
		x[k] = jetwatt_mode_get(mode, (enum jetwatt_knob)k);
	x[STRIDE - 1] = batch ? log(batch) : 0;
}

/* Mean and standard deviation of a column; a constant column gets standard deviation 1. */
static void net_moments(const double *v, size_t stride, size_t n, double *mean, double *sd)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i * stride] / n;
	for (size_t i = 0; i < n; i++)
		square += (v[i * stride] - sum) * (v[i * stride] - sum) / n;
	*mean = sum;
	*sd = sqrt(square);
	if (!(*sd > 1e-9 * fabs(sum)))
		*sd = 1;
}

static void net_standardise(const struct jetwatt_net *net, const double *x, size_t n, float *out)
{
	size_t in = net->nn.width[0];

	for (size_t i = 0; i < n; i++)
		for (size_t d = 0; d < in; d++)
			out[i * in + d] = (x[i * STRIDE + d] - net->mean[d]) / net->sd[d];
}

/* Set the conversion @scale from outputs to values by the mean and standard deviation of the
 * targets: values or their logarithms. Return: 0, -ENOMEM. */
static int net_set_scale(struct jetwatt_net *net, const double *value, size_t n)
{
	double *v = malloc(n * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = net->scale.log ? log(value[i]) : value[i];
	net_moments(v, 1, n, &net->scale.mean, &net->scale.sd);
	free(v);
	return 0;
}

static int net_train(struct jetwatt_net *net, const double *x, const double *value, size_t n,
		     const struct jetwatt_nn_training *how)
{
	float *z = malloc(n * net->nn.width[0] * sizeof(*z));
	int err = z ? net_set_scale(net, value, n) : -ENOMEM;

	if (!err) {
		net_standardise(net, x, n, z);
		err = jetwatt_nn_train(&net->nn, z, value, n, &net->scale, how);
	}
	free(z);
	if (err)
		jetwatt_net_free(net);
	return err;
}

static int net_values_valid(const double *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(value[i]) || value[i] <= 0)
			return 0;
	return n > 0;
}

int jetwatt_net_fit(struct jetwatt_net *net, const double *x, const double *value, size_t n,
		    size_t inputs, int log, const struct jetwatt_nn_training *how)
{
	/* The random initial parameters use a seed other than that of the training. */
	uint64_t seed = ~how->seed;
	int err;

	*net = (struct jetwatt_net){ .scale.log = log };
	if (!net_values_valid(value, n) || inputs > STRIDE)
		return -EINVAL;
	err = jetwatt_nn_init(&net->nn, inputs, &seed);
	if (err)
		return err;
	for (size_t d = 0; d < inputs; d++)
		net_moments(x + d, STRIDE, n, &net->mean[d], &net->sd[d]);
	return net_train(net, x, value, n, how);
}

int jetwatt_net_transfer(struct jetwatt_net *net, const struct jetwatt_net *from, const double *x,
			 const double *value, size_t n, const struct jetwatt_nn_training *how)
{
	uint64_t seed = ~how->seed;
	int err;

	*net = *from;
	net->nn.p = NULL;
	if (!net_values_valid(value, n))
		return -EINVAL;
	err = jetwatt_nn_copy(&net->nn, &from->nn);
	if (err)
		return err;
	jetwatt_nn_refresh(&net->nn, JETWATT_NN_LAYERS - 1, &seed);
	return net_train(net, x, value, n, how);
}

int jetwatt_net_predict(const struct jetwatt_net *net, const double *x, size_t n, double *out)
{
	struct jetwatt_nn_work w;
	int err = jetwatt_nn_work_init(&w, &net->nn, CHUNK);

	if (err)
		return err;
	for (size_t at = 0; at < n; at += CHUNK) {
		size_t k = n - at < CHUNK ? n - at : CHUNK;

		net_standardise(net, x + at * STRIDE, k, w.act[0]);
		jetwatt_nn_forward(&net->nn, &w, k, 0, NULL);
		for (size_t i = 0; i < k; i++) {
			double z = w.act[JETWATT_NN_LAYERS][i];
			double v = net->scale.mean + net->scale.sd * z;

			out[at + i] = net->scale.log ? exp(fmin(v, EXPONENT_MAX)) : v;
		}
	}
	jetwatt_nn_work_free(&w);
	return 0;
}

void jetwatt_net_free(struct jetwatt_net *net)
{
	jetwatt_nn_free(&net->nn);
}
