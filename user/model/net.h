/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One quantity of a power mode (time or power) by a network: units outside,
 * standardised numbers inside.
 */
#ifndef JETWATT_NET_H
#define JETWATT_NET_H

#include "model/model.h"
#include "model/nn.h"

/* The papers' inputs: every knob that is not optional, and the logarithm of the batch size. */
#define JETWATT_NET_INPUTS_MAX	5

/**
 * struct jetwatt_net - network and what its numbers mean
 * @mean, @sd: of each input over the rows it was first trained on
 * @scale: of its output
 */
struct jetwatt_net {
	struct jetwatt_nn nn;
	double mean[JETWATT_NET_INPUTS_MAX], sd[JETWATT_NET_INPUTS_MAX];
	struct jetwatt_nn_scale scale;
};

/* @batch: 0: the fifth input is zero. */
void jetwatt_net_point(double x[JETWATT_NET_INPUTS_MAX], const struct jetwatt_mode *mode,
		       uint32_t batch);

/**
 * jetwatt_net_fit() - train from scratch
 * @x: @n x JETWATT_NET_INPUTS_MAX, of which the first @inputs are used
 * @value: @n, finite and positive
 * @log: the target is the value's logarithm, else the value; standardised
 *	either way
 *
 * Return: 0; -EINVAL; -EDOM; -ENOMEM. On failure @net holds nothing.
 */
int jetwatt_net_fit(struct jetwatt_net *net, const double *x, const double *value, size_t n,
		    size_t inputs, int log, const struct jetwatt_nn_training *how);

/**
 * jetwatt_net_transfer() - PowerTrain's transfer (section 4.3)
 * @from: trained on the reference workload
 *
 * The body is @from's, the last layer a fresh one, all of it is fine-tuned
 * unless how->first says otherwise. Inputs keep the reference's standardisation,
 * which the body has learnt; the target gets its own.
 * Return: as jetwatt_net_fit().
 */
int jetwatt_net_transfer(struct jetwatt_net *net, const struct jetwatt_net *from, const double *x,
			 const double *value, size_t n, const struct jetwatt_nn_training *how);

/* @out: @n values in their own unit. Return: 0, -ENOMEM. */
int jetwatt_net_predict(const struct jetwatt_net *net, const double *x, size_t n, double *out);
void jetwatt_net_free(struct jetwatt_net *net);

#endif
