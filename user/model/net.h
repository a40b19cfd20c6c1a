/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One quantity of a power mode (time or power) predicted by a network. Callers pass and get values
 * in the unit of the quantity; the network computes with standardised numbers. powertrain.h pairs a
 * network of time with a network of power.
 */
#ifndef JETWATT_NET_H
#define JETWATT_NET_H

#include "model/model.h"
#include "model/nn.h"

/* Inputs: the knobs that are not optional, and the logarithm of the minibatch size. */
#define JETWATT_NET_INPUTS_MAX	5

/**
 * struct jetwatt_net - a network, and the conversion of its inputs and output from and to units
 * @nn: the network
 * @mean: mean of each input over the rows of the first training
 * @sd: standard deviation of each input over the rows of the first training
 * @scale: conversion of the network's output to time or power
 */
struct jetwatt_net {
	struct jetwatt_nn nn;
	double mean[JETWATT_NET_INPUTS_MAX], sd[JETWATT_NET_INPUTS_MAX];
	struct jetwatt_nn_scale scale;
};

/* Set the inputs @x of a mode. @batch: samples in a minibatch; 0: the fifth input, which stands for
 * the minibatch size, is 0. */
void jetwatt_net_point(double x[JETWATT_NET_INPUTS_MAX], const struct jetwatt_mode *mode,
		       uint32_t batch);

/**
 * jetwatt_net_fit() - train a network from random parameters
 * @net: the network; empty on error
 * @x: @n x JETWATT_NET_INPUTS_MAX inputs, of which the first @inputs are used
 * @value: @n values, finite and positive
 * @n: number of rows
 * @inputs: number of inputs
 * @log: 1: the target is the logarithm of the value; 0: the value. Either target is standardised
 * @how: parameters of the training
 *
 * Return: 0; -EINVAL if a value is not finite and positive or an argument is out of range; -EDOM if
 * training diverges; -ENOMEM.
 */
int jetwatt_net_fit(struct jetwatt_net *net, const double *x, const double *value, size_t n,
		    size_t inputs, int log, const struct jetwatt_nn_training *how);

/**
 * jetwatt_net_transfer() - fine-tune a network on another workload (PowerTrain, section 4.3)
 * @net: the new network; empty on error
 * @from: network trained on the reference workload
 * @x: inputs, as for jetwatt_net_fit()
 * @value: array of @n values of time or power of the other workload
 * @n: number of rows
 * @how: parameters of the training
 *
 * The last layer is replaced by a random one; then the layers from how->first on are trained. Inputs
 * keep the standardisation of the reference, because the hidden layers were trained with it; the
 * target is standardised by the rows of the other workload.
 *
 * Return: as jetwatt_net_fit().
 */
int jetwatt_net_transfer(struct jetwatt_net *net, const struct jetwatt_net *from, const double *x,
			 const double *value, size_t n, const struct jetwatt_nn_training *how);

/* Set @out to @n predicted values, in the unit of the values that the network was trained on.
 * Return: 0, -ENOMEM. */
int jetwatt_net_predict(const struct jetwatt_net *net, const double *x, size_t n, double *out);
/* Free the network. */
void jetwatt_net_free(struct jetwatt_net *net);

#endif
