/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * optimize --per: the power mode of a running language model's server with the least time or energy
 * per token, or the least power, within limits of power, of the time per token and of both latencies
 * (to first token, per output token). The server's own counter gives the number of generated tokens;
 * time and power are measured separately for prefill and decode, and combined in the proportions of
 * the server's work (token_mix.h).
 */
#ifndef JETWATT_TUNE_TOKEN_SEARCH_H
#define JETWATT_TUNE_TOKEN_SEARCH_H

#include "measure/unit_count.h"
#include "measure/unit_reader.h"
#include "out/json.h"
#include "tune/preset_compare.h"
#include "tune/token_mix.h"
#include "tune/verify.h"

/**
 * struct jetwatt_tokens - query, measurements and answer
 * @units: the counter of generated tokens; no counter: there is no query
 * @q: objective and limits; its time is that per token of the server
 * @ttft_ms: limit for the mean time to first token, ms; 0: no limit
 * @tpot_ms: limit for the mean time per output token of a request, ms; 0: no limit
 * @reader: reads the counter
 * @count: units counted since the start of the search
 * @why: why the last reading has no count; "": it has one, or there was no reading yet
 * @cost: costs of the steps of each measured row of the tuner
 * @max_costs: allocated length of @cost
 * @since_ns: time of the last change of mode, ns; 0: there was none
 * @mix: work per token, from all measured rows
 */
struct jetwatt_tokens {
	struct jetwatt_units units;
	struct jetwatt_plan_objective q;
	double ttft_ms, tpot_ms;
	struct jetwatt_unit_reader reader;
	struct jetwatt_unit_count count;
	char why[80];
	struct jetwatt_step_costs *cost;
	size_t max_costs;
	uint64_t since_ns;
	struct jetwatt_token_mix mix;
};

/**
 * jetwatt_token_search() - measure modes, choose one, and verify it
 * @t: the query; the counter's host is known (jetwatt_units_resolve()). Call jetwatt_tokens_free()
 *	also after an error
 * @l: candidates; session and guard are set, and there is no row
 * @most: largest number of modes to measure
 * @c: receives the chosen mode
 *
 * Return: 0 with the board in the chosen mode; exit code. JETWATT_EXIT_INFEASIBLE has been explained.
 */
int jetwatt_token_search(struct jetwatt_tokens *t, struct jetwatt_tuner *l, unsigned int most,
			 struct jetwatt_verify *c);

/*
 * Measure candidate @index, and append its row. @why: reason for the report. @verify: 1: for longer, to
 * verify the mode. Earlier rows change too, because the mix changes. Return: 0, exit code.
 */
int jetwatt_token_measure(struct jetwatt_tokens *t, struct jetwatt_tuner *l, size_t index, const char *why,
			  int verify);

/* Compute the figures of the last measurement of a mode. Return: 1; 0: the mode was not measured. */
int jetwatt_token_reading(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			  const struct jetwatt_mode *mode, struct jetwatt_token_figures *f);

/* Print the chosen mode, and the presets. */
void jetwatt_token_print(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			 const struct jetwatt_preset_compare *b, const struct jetwatt_verify *c);
/* Write the object "tokens". @chosen: NULL: no mode was chosen. */
void jetwatt_token_json(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			const struct jetwatt_mode *chosen, struct jetwatt_json *j);

/* End the reader, and free the memory. */
void jetwatt_tokens_free(struct jetwatt_tokens *t);

#endif
