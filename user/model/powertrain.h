/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The networks of PowerTrain (FGCS 2024, arXiv 2407.13944): one for time, one
 * for power; from scratch, or transferred from a reference workload that was
 * measured in all its modes.
 *
 * What the paper leaves open, and what is taken here. Targets are standardised
 * logarithms everywhere, 10 % of the rows are held out, Adam takes steps of 1e-3:
 *	reference  batch 32, dropout 0.1, MSE, 100 epochs
 *	transfer   batch 16, dropout 0.1, MSE (MAPE across boards), 100 epochs or
 *		   as many as make 600 steps; no layer is frozen
 *	plain      batch 4, dropout 0.35, MAPE, 100 epochs or 6,000 steps
 */
#ifndef JETWATT_POWERTRAIN_H
#define JETWATT_POWERTRAIN_H

#include "model/predictor.h"
#include "model/net.h"

/**
 * struct jetwatt_powertrain - a pair of networks
 * @most: the highest step of each knob among the modes that it knows
 */
struct jetwatt_powertrain {
	struct jetwatt_net time, power;
	size_t inputs;
	struct jetwatt_mode most;
};

/* From scratch on a whole reference workload. Return: 0; -EINVAL: a row that is
 * not finite and positive, or none; -EDOM; -ENOMEM. */
int jetwatt_powertrain_reference(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
				 uint64_t seed);

/* From scratch on few rows: the plain network that the paper compares with. */
int jetwatt_powertrain_plain(struct jetwatt_powertrain *pt, const struct jetwatt_corpus *c,
			     uint64_t seed);

/**
 * jetwatt_powertrain_transfer() - to a new workload
 * @from: the reference; across boards, told by the highest step of any knob, the
 *	loss is MAPE, as in section 4.4, else MSE
 * @c: its few rows, @most: the highest steps of the board they are of
 *
 * Return: as above.
 */
int jetwatt_powertrain_transfer(struct jetwatt_powertrain *pt,
				const struct jetwatt_powertrain *from,
				const struct jetwatt_corpus *c, const struct jetwatt_mode *most,
				uint64_t seed);

/* @batch: may be NULL. Spreads are 0: unknown. Return: 0, -ENOMEM. */
int jetwatt_powertrain_predict(const struct jetwatt_powertrain *pt,
			       const struct jetwatt_mode *mode, const uint32_t *batch, size_t n,
			       struct jetwatt_prediction *out);
void jetwatt_powertrain_free(struct jetwatt_powertrain *pt);

#endif
