/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The networks of PowerTrain (FGCS 2024, arXiv 2407.13944): one for time, one for power, trained
 * from random parameters or transferred from a completely measured reference workload. Used by the
 * predictors "powertrain" and "nn" and by the strategy "als".
 *
 * Choices that the paper leaves open: targets are standardised logarithms, 10 % of the rows are
 * held out, the learning rate of Adam is 1e-3, and
 *
 *	reference  batch 32, dropout 0.1, MSE, 100 epochs
 *	transfer   batch 16, dropout 0.1, MSE (MAPE between boards), 100 epochs, or more for 600
 *	           steps; no layer is frozen
 *	plain      batch 4, dropout 0.35, MAPE, 100 epochs, or more for 6,000 steps
 *
 * Steps are counted as if no row were held out, so fewer may be made.
 */
#ifndef JETWATT_POWERTRAIN_H
#define JETWATT_POWERTRAIN_H

#include "model/predictor.h"
#include "model/net.h"

/**
 * struct jetwatt_powertrain - a pair of networks
 * @time: network that predicts the time of a minibatch, in milliseconds
 * @power: network that predicts power, in watts
 * @inputs: number of inputs: 4, or 5 with the minibatch size
 * @highest: highest level of each knob in the rows; after a transfer, of the board
 */
struct jetwatt_powertrain {
	struct jetwatt_net time, power;
	size_t inputs;
	struct jetwatt_mode highest;
};

/*
 * Train on a completely measured reference workload. Return: 0; -EINVAL if a row is not finite and
 * positive, a required knob is 0 or there is no row; -EDOM if training diverges; -ENOMEM.
 */
int jetwatt_powertrain_reference(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
				 uint64_t seed);

/*
 * Train the plain networks, without a reference, on few rows: the baseline that the paper compares
 * with. Return: as jetwatt_powertrain_reference().
 */
int jetwatt_powertrain_plain(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
			     uint64_t seed);

/**
 * jetwatt_powertrain_transfer() - fine-tune the networks of a reference on a new workload
 * @pt: set to the new networks
 * @from: networks trained on the reference workload
 * @c: rows of the new workload
 * @highest: highest level of each knob of the board that the rows @c are from. If the levels differ
 *	from those of @from, @c is from another board and the loss is MAPE (section 4.4 of the
 *	paper), else MSE
 * @seed: seed of all random choices
 *
 * Return: as jetwatt_powertrain_reference().
 */
int jetwatt_powertrain_transfer(struct jetwatt_powertrain *pt,
				const struct jetwatt_powertrain *from,
				const struct jetwatt_corpus *c, const struct jetwatt_mode *highest,
				uint64_t seed);

/*
 * Set @out to @n predictions; standard deviations are 0 (unknown). @batch: minibatch size of each
 * mode; may be NULL. Return: 0; -EINVAL if a required knob of a mode is 0; -ENOMEM.
 */
int jetwatt_powertrain_predict(const struct jetwatt_powertrain *pt,
			       const struct jetwatt_mode *mode, const uint32_t *batch, size_t n,
			       struct jetwatt_prediction *out);
/* Free both networks. */
void jetwatt_powertrain_free(struct jetwatt_powertrain *pt);

#endif
