// SPDX-License-Identifier: GPL-2.0-only
/* Combines the costs of prefill and decode steps with the number of steps per token. */
#include "tune/token_mix.h"

#include <errno.h>
#include <math.h>

/* Relative standard error of time and power of a prefill that was not measured in the mode. */
#define UNSEEN_SD	0.3

int jetwatt_token_mix_of(const struct jetwatt_step_costs *c, size_t n, double tokens,
			 struct jetwatt_token_mix *mix)
{
	const struct jetwatt_phase_cost *k;
	double steps[JETWATT_STEP_KINDS] = { 0 }, prompts = 0, prompt_work = 0, slower = 0, seen = 0;

	*mix = (struct jetwatt_token_mix){ .gap_ms = 0 };
	for (size_t i = 0; i < n; i++) {
		for (int kind = 0; kind < JETWATT_STEP_KINDS; kind++) {
			k = &c[i].kind[kind];
			mix->gap_ms += k->gap_ms;
			if (!k->used)
				continue;
			mix->work[kind] += k->total_ms / k->ms;
			steps[kind] += k->steps;
		}
		mix->step_gap_ms += c[i].kind[JETWATT_DECODE].gap_ms;
		if (!c[i].kind[JETWATT_PREFILL].used || !c[i].kind[JETWATT_DECODE].used)
			continue;
		prompts += c[i].prompts;
		prompt_work += c[i].prompts_ms / c[i].kind[JETWATT_PREFILL].ms;
		slower += c[i].kind[JETWATT_PREFILL].ms / c[i].kind[JETWATT_DECODE].ms;
		seen++;
	}
	if (!(steps[JETWATT_DECODE] > 0) || !(tokens > 0))
		return -ENODATA;
	mix->per_step = mix->work[JETWATT_DECODE] / steps[JETWATT_DECODE];
	mix->step_gap_ms /= steps[JETWATT_DECODE];
	mix->per_prompt = prompts > 0 ? prompt_work / prompts : 0;
	mix->slower = seen > 0 ? slower / seen : 0;
	mix->gap_ms /= tokens;
	for (int kind = 0; kind < JETWATT_STEP_KINDS; kind++)
		mix->work[kind] /= tokens;
	return 0;
}

void jetwatt_token_figures_of(const struct jetwatt_step_costs *c, const struct jetwatt_token_mix *mix,
			      struct jetwatt_token_figures *f)
{
	const struct jetwatt_phase_cost *decode = &c->kind[JETWATT_DECODE];
	struct jetwatt_phase_cost prefill = c->kind[JETWATT_PREFILL];
	double t = mix->gap_ms, mj = mix->gap_ms * c->gap_w, var_t = 0, var_mj = 0;

	if (!prefill.used)
		prefill = (struct jetwatt_phase_cost){ .ms = mix->slower * decode->ms, .ms_sd = UNSEEN_SD,
						       .power_w = decode->power_w, .power_sd = UNSEEN_SD };
	for (int kind = 0; kind < JETWATT_STEP_KINDS; kind++) {
		const struct jetwatt_phase_cost *k = kind == JETWATT_DECODE ? decode : &prefill;
		double ms = mix->work[kind] * k->ms;

		t += ms;
		mj += ms * k->power_w;
		var_t += pow(ms * k->ms_sd, 2);
		var_mj += pow(ms * k->power_w * k->power_sd, 2);
	}
	f->row.time_ms = t;
	f->row.power_w = mj / t;
	f->row.time_sd = sqrt(var_t) / t;
	f->row.power_sd = sqrt(var_mj) / mj;
	f->ttft_ms = mix->per_prompt * prefill.ms;
	f->ttft_sd = prefill.ms_sd;
	f->tpot_ms = mix->per_step * decode->ms + mix->step_gap_ms;
	f->tpot_sd = decode->ms_sd;
}
