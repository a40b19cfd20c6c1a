/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The dense network of PowerTrain (FGCS 2024, arXiv 2407.13944, section 4): layers of 256, 128, 64
 * and 1 unit, ReLU after the first three, dropout after the first two. Single precision on
 * OpenBLAS; matrices are row-major. net.h adds units and standardisation.
 *
 * Choices that the paper leaves open: with dropout p, training drops each unit with probability p and
 * scales the others by 1 / (1 - p); initial weights are uniform within +-sqrt(6 / (inputs + outputs
 * of the layer)) (Glorot and Bengio, AISTATS 2010), initial biases are 0.
 *
 * The functions keep no state of their own; a network and its scratch arrays belong to one thread
 * at a time.
 */
#ifndef JETWATT_NN_H
#define JETWATT_NN_H

#include <stddef.h>
#include <stdint.h>

/* Number of layers of the network that have parameters. */
#define JETWATT_NN_LAYERS	4
/* Number of layers, from the first on, that are followed by dropout. */
#define JETWATT_NN_DROPOUTS	2

/**
 * struct jetwatt_nn - a network
 * @width: number of inputs, of units in the three hidden layers, and of outputs (1)
 * @size: number of parameters
 * @p: all parameters in one array, so that optimiser, checkpoint and copy are one loop each over
 *	this array. Layer by layer: weights (inputs x outputs), then biases
 */
struct jetwatt_nn {
	size_t width[JETWATT_NN_LAYERS + 1];
	size_t size;
	float *p;
};

/**
 * enum jetwatt_nn_loss - what a training minimises
 * @JETWATT_NN_MSE: mean squared error of the standardised outputs
 * @JETWATT_NN_MAPE: mean absolute relative error of the values
 */
enum jetwatt_nn_loss { JETWATT_NN_MSE, JETWATT_NN_MAPE };

/**
 * struct jetwatt_nn_scale - conversion of the network's output z to a value
 * @mean: offset of the conversion v = mean + sd z
 * @sd: factor of the conversion
 * @log: 1: the value of the quantity is exp(v); 0: the value is v
 */
struct jetwatt_nn_scale {
	double mean, sd;
	int log;
};

/**
 * struct jetwatt_nn_work - scratch arrays for a batch
 * @rows: largest batch, in rows
 * @act: outputs of each layer, @rows x width[l]; @act[0] is the input
 * @delta: derivatives of the loss with respect to the outputs of two neighbouring layers
 */
struct jetwatt_nn_work {
	size_t rows;
	float *act[JETWATT_NN_LAYERS + 1];
	float *delta[2];
};

/**
 * jetwatt_nn_init() - create a network with random parameters
 * @nn: the network
 * @inputs: number of inputs, 1 or more
 * @seed: state of the random numbers, advanced by the call
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int jetwatt_nn_init(struct jetwatt_nn *nn, size_t inputs, uint64_t *seed);
/* Set the weights of layer @layer (0 to JETWATT_NN_LAYERS - 1) to new random values, its biases to
 * 0. */
void jetwatt_nn_refresh(struct jetwatt_nn *nn, int layer, uint64_t *seed);
/* Copy a network. Return: 0, -ENOMEM. */
int jetwatt_nn_copy(struct jetwatt_nn *to, const struct jetwatt_nn *from);
/* Free the parameters of a network. */
void jetwatt_nn_free(struct jetwatt_nn *nn);
/*
 * Return: index in @p of the first parameter of layer @layer; for JETWATT_NN_LAYERS the number of
 * parameters.
 */
size_t jetwatt_nn_offset(const struct jetwatt_nn *nn, int layer);

/* Allocate scratch arrays for batches of up to @rows rows. Return: 0, -ENOMEM. */
int jetwatt_nn_work_init(struct jetwatt_nn_work *w, const struct jetwatt_nn *nn, size_t rows);
/* Free the scratch arrays. */
void jetwatt_nn_work_free(struct jetwatt_nn_work *w);

/**
 * jetwatt_nn_forward() - compute the outputs of a batch
 * @nn: the network
 * @w: inputs in @w->act[0]; outputs in @w->act[JETWATT_NN_LAYERS]
 * @n: number of rows, at most @w->rows
 * @dropout: share of units that dropout leaves out; 0: no dropout
 * @seed: state of the random numbers; may be NULL if @dropout is 0
 */
void jetwatt_nn_forward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			double dropout, uint64_t *seed);

/**
 * jetwatt_nn_loss() - compute the mean loss of a batch
 * @output: outputs of jetwatt_nn_forward()
 * @value: @n true values, in the unit of the quantity
 * @n: number of rows
 * @loss: kind of loss
 * @scale: conversion of outputs to values
 * @by_output: set to the derivative of the loss with respect to each output; may be NULL
 *
 * With JETWATT_NN_MAPE, a prediction above e^30 is taken as e^30 if @scale->log is set.
 *
 * Return: the loss; a MAPE is a ratio, not a percentage.
 */
double jetwatt_nn_loss(const float *output, const double *value, size_t n,
		       enum jetwatt_nn_loss loss, const struct jetwatt_nn_scale *scale,
		       float *by_output);

/**
 * jetwatt_nn_backward() - compute the gradient of the loss with respect to all parameters
 * @nn: the network
 * @w: scratch arrays as jetwatt_nn_forward() has left them, with the derivatives by the outputs in
 *	@w->delta[0]
 * @n: number of rows
 * @dropout: as in jetwatt_nn_forward()
 * @first: first layer whose gradient is computed; the gradients of the layers before @first are not
 *	written
 * @grad: @nn->size entries
 */
void jetwatt_nn_backward(const struct jetwatt_nn *nn, struct jetwatt_nn_work *w, size_t n,
			 double dropout, int first, float *grad);

/**
 * struct jetwatt_nn_training - parameters of a training
 * @epochs: number of passes over the rows
 * @batch: rows in a minibatch
 * @rate: learning rate of Adam (beta 0.9 and 0.999, epsilon 1e-8)
 * @dropout: share of units that are left out, 0 to less than 1
 * @validation: share of the rows held out for validation; the parameters of the epoch with the
 *	lowest validation loss are kept. With fewer than 5 rows, or if the share rounds to 0
 *	rows, no row is held out, and the parameters of the last epoch are kept
 * @loss: loss function of training and validation
 * @first: first layer that is trained; the layers before it are frozen
 * @seed: seed of split, order of the rows, and dropout
 */
struct jetwatt_nn_training {
	unsigned int epochs, batch;
	double rate, dropout, validation;
	enum jetwatt_nn_loss loss;
	int first;
	uint64_t seed;
};

/**
 * jetwatt_nn_train() - train a network in place
 * @nn: the network; changed only on success
 * @x: @n x width[0] standardised inputs
 * @value: @n true values, in the unit of the quantity
 * @n: number of rows
 * @scale: conversion of outputs to values
 * @how: parameters of the training
 *
 * With one BLAS thread, equal arguments in equal order give an equal network bit for bit.
 *
 * Return: 0; -EINVAL if @n or the batch size is 0, or a parameter is out of range; -EDOM if the
 * loss or a parameter of @nn does not stay finite; -ENOMEM.
 */
int jetwatt_nn_train(struct jetwatt_nn *nn, const float *x, const double *value, size_t n,
		     const struct jetwatt_nn_scale *scale, const struct jetwatt_nn_training *how);

#endif
