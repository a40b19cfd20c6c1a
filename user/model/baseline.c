// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two baselines of `jetwatt eval` that use no model.
 */
#include "model/predictor.h"

const struct jetwatt_predictor jetwatt_predictor_rnd = {
	.name = "rnd", .does = "the best measured mode",
	.kind = JETWATT_PREDICTOR_OBSERVED,
};

const struct jetwatt_predictor jetwatt_predictor_maxn = {
	.name = "maxn", .does = "the highest mode",
	.kind = JETWATT_PREDICTOR_FIXED,
};
