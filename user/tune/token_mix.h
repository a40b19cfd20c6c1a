/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and energy per token of a server of a language model in a power mode, for the mix of prefill
 * and decode that the server has. The mix is that of several measurements together: the work of a token
 * does not depend on the mode, and the requests that arrive during the measurement of one mode differ
 * from those of another. Pure: uses no clock and no descriptor.
 */
#ifndef JETWATT_TUNE_TOKEN_MIX_H
#define JETWATT_TUNE_TOKEN_MIX_H

#include "measure/step_costs.h"
#include "model/model.h"

/**
 * struct jetwatt_token_mix - work per token
 * @work: typical steps of each kind per token: their total time divided by the typical time of a step
 *	in the same mode
 * @gap_ms: time per token between steps, ms
 * @per_prompt: typical prefill steps per prompt
 * @per_step: mean time of a decode step, relative to the typical time
 * @step_gap_ms: mean time from the end of the previous step to the first launch of a decode step, ms
 * @slower: typical time of a prefill step, relative to that of a decode step in the same mode; mean
 *	over the modes that have both, 0: none has
 */
struct jetwatt_token_mix {
	double work[JETWATT_STEP_KINDS], gap_ms, per_prompt, per_step, step_gap_ms, slower;
};

/**
 * struct jetwatt_token_figures - a mode with a mix
 * @row: ms per token of the server and mean power, with their errors; @row's mode is unchanged
 * @ttft_ms: mean time to first token: the time of the prefill of a prompt, without queueing, ms; 0:
 *	there is no prefill
 * @tpot_ms: mean time per output token of a request: the time of a decode step and of the gap before
 *	it, ms
 * @ttft_sd, @tpot_sd: their relative standard errors
 */
struct jetwatt_token_figures {
	struct jetwatt_row row;
	double ttft_ms, tpot_ms, ttft_sd, tpot_sd;
};

/* Compute the mix of the steps of @n measurements. @tokens: number of tokens generated in them.
 * Return: 0; -ENODATA: no decode step or no token is known. */
int jetwatt_token_mix_of(const struct jetwatt_step_costs *c, size_t n, double tokens,
			 struct jetwatt_token_mix *mix);

/* Compute the figures of a mode. If no prefill was measured in the mode, the time of a prefill is
 * @slower of @mix times that of a decode step, and its power is taken as equal. */
void jetwatt_token_figures_of(const struct jetwatt_step_costs *c, const struct jetwatt_token_mix *mix,
			      struct jetwatt_token_figures *f);

#endif
