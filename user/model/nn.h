/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The dense network of PowerTrain (FGCS 2024, arXiv 2407.13944, section 4):
 * inputs-256-128-64-1, ReLU behind the first three layers, dropout behind the
 * first two. Single precision on OpenBLAS; matrices are row-major.
 *
 * What the paper leaves open, and what is taken here: dropout keeps 1 - p of a
 * layer and scales it by 1 / (1 - p) while training; weights and biases start
 * uniform within +-sqrt(6 / (inputs + outputs of the layer)) (Glorot and Bengio,
 * AISTATS 2010) and at zero.
 */
#ifndef JETWATT_NN_H
#define JETWATT_NN_H

#include <stddef.h>
#include <stdint.h>

#define JETWATT_NN_LAYERS	4
/* How many of the first layers are followed by dropout. */
#define JETWATT_NN_DROPOUTS	2

/**
 * struct jetwatt_nn - a network
 * @width: inputs, the three hidden layers, one output
 * @size: of @p
 * @p: all parameters in one piece, so that optimiser, checkpoint and copy are a
 *	loop each: layer by layer, weights (inputs x outputs), then biases
 */
struct jetwatt_nn {
	size_t width[JETWATT_NN_LAYERS + 1];
	size_t size;
	float *p;
};

enum jetwatt_nn_loss { JETWATT_NN_MSE, JETWATT_NN_MAPE };

/**
 * struct jetwatt_nn_scale - from the network's output z to what it means
 * @mean, @sd: value = mean + sd z
 * @log: and that is the logarithm of the value
 */
struct jetwatt_nn_scale {
	double mean, sd;
	int log;
};

/**
 * struct jetwatt_nn_work - room for a batch; nothing in it outlives a call
 * @rows: the largest batch
 * @act: rows x width[l] outputs of each layer; @act[0] is the input
 * @delta: derivatives of the loss by the outputs of two neighbouring layers
 */
struct jetwatt_nn_work {
	size_t rows;
	float *act[JETWATT_NN_LAYERS + 1];
	float *delta[2];
};

/**
 * jetwatt_nn_init() - a network with fresh parameters
 * @inputs: 1 or more
 * @seed: moves on, as everywhere here
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int jetwatt_nn_init(struct jetwatt_nn *nn, size_t inputs, uint64_t *seed);
/* Fresh parameters for one layer, 0 to JETWATT_NN_LAYERS - 1. */
void jetwatt_nn_refresh(struct jetwatt_nn *nn, int layer, uint64_t *seed);
/* Return: 0, -ENOMEM. */
int jetwatt_nn_copy(struct jetwatt_nn *to, const struct jetwatt_nn *from);
void jetwatt_nn_free(struct jetwatt_nn *nn);
/* Where a layer's parameters begin; of layer JETWATT_NN_LAYERS: where they end. */
size_t jetwatt_nn_offset(const struct jetwatt_nn *nn, int layer);

/* Return: 0, -ENOMEM. */
int jetwatt_nn_work_init(struct jetwatt_nn_work *w, const struct jetwatt_nn *nn, size_t rows);
void jetwatt_nn_work_free(struct jetwatt_nn_work *w);

/**
 * jetwatt_nn_forward() - outputs of a batch
 * @n: rows in @w->act[0], at most @w->rows; results: @w->act[JETWATT_NN_LAYERS]
 * @dropout: share of units left out, 0: none; needs @seed only if not 0
 */
void jetwatt_nn_forward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			double dropout, uint64_t *seed);

/**
 * jetwatt_nn_loss() - mean loss of a batch after jetwatt_nn_forward()
 * @value: @n true values, in the units of @scale's value
 * @by_output: d loss / d output of each row, or NULL
 *
 * MSE is that of the outputs (standardised), MAPE that of the values, as a
 * share of 1. A prediction beyond e^30 counts as e^30.
 */
double jetwatt_nn_loss(const float *output, const double *value, size_t n,
		       enum jetwatt_nn_loss loss, const struct jetwatt_nn_scale *scale,
		       float *by_output);

/**
 * jetwatt_nn_backward() - gradient of the loss by all parameters
 * @w: as jetwatt_nn_forward() left it, with d loss / d output in @w->delta[0]
 * @dropout: as it was then
 * @first: layers below stay as they are: their gradient is not written
 * @grad: nn->size entries
 */
void jetwatt_nn_backward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			 double dropout, int first, float *grad);

/**
 * struct jetwatt_nn_training - how to train
 * @epochs, @batch, @rate: of Adam (beta 0.9, 0.999, epsilon 1e-8)
 * @dropout: 0 to less than 1
 * @loss: what is minimised, and what picks the checkpoint
 * @first: the first layer that is trained, the ones below are frozen
 * @validation: share of the rows held out; the parameters of the epoch that did
 *	best on them are kept. Fewer than 5 rows: none is held out, the last
 *	parameters are kept
 * @seed: of split, order and dropout
 */
struct jetwatt_nn_training {
	unsigned int epochs, batch;
	double rate, dropout, validation;
	enum jetwatt_nn_loss loss;
	int first;
	uint64_t seed;
};

/**
 * jetwatt_nn_train() - train in place
 * @x: @n x width[0], standardised
 * @value: @n, in the units of @scale's value
 *
 * The same arguments in the same order give the same network to the bit with
 * one thread of BLAS.
 * Return: 0; -EINVAL: no row, no batch; -EDOM: the loss did not stay finite;
 * -ENOMEM. @nn is only changed on success.
 */
int jetwatt_nn_train(struct jetwatt_nn *nn, const float *x, const double *value, size_t n,
		     const struct jetwatt_nn_scale *scale, const struct jetwatt_nn_training *how);

#endif
