// SPDX-License-Identifier: GPL-2.0-only
/* The result of optimize --per, as text and JSON. */
#include <stdio.h>

#include "out/terminal.h"
#include "tune/token_search.h"

static void print_latency(const char *name, double ms, double limit_ms)
{
	printf("  %-22s %8.4g ms", name, ms);
	if (limit_ms > 0)
		printf("   limit %g ms", limit_ms);
	printf("\n");
}

static void print_presets(const struct jetwatt_preset_compare *b, const struct jetwatt_tuner *l, const char *unit)
{
	if (!b->presets || !l->prediction)
		return;
	printf("presets of this board    ms/%-8.8s       W   J/%-8.8s\n", unit, unit);
	for (size_t i = 0; i < b->presets->nr; i++) {
		const struct jetwatt_preset *p = &b->presets->preset[i];
		struct jetwatt_prediction is;
		int measured = jetwatt_preset_compare_reading(b, l, i, &is);

		printf("%c%2d %-18.18s %11.2f %9.2f %10.4f  %s%s\n", p->id == b->presets->chosen ? '*' : ' ',
		       p->id, p->name, is.time_ms, is.power_w, is.time_ms * is.power_w * 1e-3,
		       measured ? "measured" : "predicted", b->reboot[i] ? ", gates parts" : "");
	}
}

void jetwatt_token_print(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			 const struct jetwatt_preset_compare *b, const struct jetwatt_verify *c)
{
	const char *unit = t->units.unit[0].name, *on = jetwatt_terminal_color(l->args, 'g');
	const struct jetwatt_row *r = &c->proof;
	struct jetwatt_token_figures f;
	char name[96] = "", mode[64];

	jetwatt_board_mode_format(&l->mode[c->index], name, sizeof(name));
	printf("\n%s%s%s  %s\n", on, name, jetwatt_terminal_color_end(l->args),
	       jetwatt_terminal_mode(&l->mode[c->index], mode, sizeof(mode)));
	printf("  %.4g J/%s, %.4g %s per second\n", r->time_ms * r->power_w * 1e-3, unit, 1e3 / r->time_ms, unit);
	printf("  measured   %10.2f ms/%s +- %.1f %%   %6.2f W +- %.1f %%\n", r->time_ms, unit,
	       100 * r->time_sd, r->power_w, 100 * r->power_sd);
	printf("  predicted  %10.2f ms/%s +- %.1f %%   %6.2f W +- %.1f %%\n", c->predicted.time_ms, unit,
	       100 * c->predicted.time_sd, c->predicted.power_w, 100 * c->predicted.power_sd);
	if (jetwatt_token_reading(t, l, &l->mode[c->index], &f)) {
		if (f.ttft_ms > 0)
			print_latency("time to first token", f.ttft_ms, t->ttft_ms);
		print_latency("time per output token", f.tpot_ms, t->tpot_ms);
	}
	print_presets(b, l, unit);
}

void jetwatt_token_json(const struct jetwatt_tokens *t, const struct jetwatt_tuner *l,
			const struct jetwatt_mode *chosen, struct jetwatt_json *j)
{
	struct jetwatt_token_figures f;
	struct jetwatt_row row;

	jetwatt_json_object(j, "tokens");
	jetwatt_json_string(j, "unit", t->units.unit[0].name);
	jetwatt_json_real(j, "counted", t->count.units, 9);
	jetwatt_json_real(j, "prefill_work", t->mix.work[JETWATT_PREFILL], 6);
	jetwatt_json_real(j, "decode_work", t->mix.work[JETWATT_DECODE], 6);
	jetwatt_json_real(j, "gap_ms", t->mix.gap_ms, 6);
	if (t->q.time_ms > 0)
		jetwatt_json_real(j, "time_limit_ms", t->q.time_ms, 7);
	if (t->ttft_ms > 0)
		jetwatt_json_real(j, "ttft_limit_ms", t->ttft_ms, 7);
	if (t->tpot_ms > 0)
		jetwatt_json_real(j, "tpot_limit_ms", t->tpot_ms, 7);
	if (chosen && jetwatt_plan_reading(chosen, l->row, l->nr_rows, &row) &&
	    jetwatt_token_reading(t, l, chosen, &f)) {
		jetwatt_json_real(j, "energy_j", row.time_ms * row.power_w * 1e-3, 7);
		jetwatt_json_real(j, "units_per_s", 1e3 / row.time_ms, 7);
		if (f.ttft_ms > 0)
			jetwatt_json_real(j, "ttft_ms", f.ttft_ms, 7);
		jetwatt_json_real(j, "tpot_ms", f.tpot_ms, 7);
	}
	jetwatt_json_end(j);
}
