// SPDX-License-Identifier: GPL-2.0-only
/*
 * The HTML report of jetwatt optimize, predict, eval and roofline: text and tables around the plots
 * of plot.h.
 */
#include "out/report.h"

#include <stdbool.h>

#include "out/plot.h"
#include "util/error.h"

static const char style[] =
":root{--back:#fff;--text:#1b1f24;--soft:#5d6673;--line:#e3e6ea;--cloud:#c3c9d1;--front:#2463b5;"
"--measured:#c2571a;--chosen:#14794a;--budget:#b3261e;--preset:#7b3fa0;color-scheme:light dark}\n"
"@media(prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--soft:#98a2af;"
"--line:#2b3037;--cloud:#4a525d;--front:#6ea8ef;--measured:#f0925a;--chosen:#4fc78c;"
"--budget:#ff8a80;--preset:#c79be8}}\n"
"*{box-sizing:border-box}body{margin:0 auto;padding:16px;max-width:900px;background:var(--back);"
"color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
"h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.1rem;margin:1.6em 0 .3em}p{margin:.4em 0}"
".soft{color:var(--soft)}.big{display:flex;flex-wrap:wrap;gap:8px 28px;margin:1em 0}"
".big b{display:block;font-size:1.6rem;line-height:1.2}\n"
".plot,.wide{overflow-x:auto}svg{display:block;width:100%;min-width:520px;height:auto}"
"svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg path{fill:none}\n"
".grid{stroke:var(--line)}.cloud{stroke:var(--cloud);stroke-width:3;stroke-linecap:round}"
".front{stroke:var(--front);stroke-width:2}.measured{fill:var(--measured)}"
".bars{stroke:var(--measured)}.chosen{fill:none;stroke:var(--chosen);stroke-width:3}\n"
".budget{stroke:var(--budget);stroke-width:1.5;stroke-dasharray:6 4}"
"svg .preset{fill:var(--preset)}svg .preset-text{fill:var(--preset)}"
"svg .band{fill:var(--soft);opacity:.2}.ideal{stroke:var(--soft)}"
".dots{stroke:var(--front);stroke-width:3;stroke-linecap:round}"
".heavy{stroke:var(--budget);stroke-width:5;stroke-linecap:round}"
".line0{stroke:var(--front);stroke-width:2}.line1{stroke:var(--measured);stroke-width:2}"
"svg .budget-text{fill:var(--budget)}.envelope{stroke:var(--cloud)}"
".mean{stroke:var(--front);stroke-width:1.5}.bound{stroke:var(--soft)}"
".mark{stroke:var(--measured);stroke-dasharray:2 3;opacity:.7}"
"svg .mark-text{font-size:10px;fill:var(--measured)}\n"
".key{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:.85rem;color:var(--soft)}"
".key i{display:inline-block;width:10px;height:10px;border-radius:50%;margin-right:6px}"
"table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
"th,td{padding:3px 14px 3px 0;text-align:right;border-bottom:1px solid var(--line);"
"white-space:nowrap}th{color:var(--soft);font-weight:500}.facts td{text-align:left;"
"white-space:normal}.facts td:first-child{color:var(--soft)}tr.best td{color:var(--chosen);"
"font-weight:600}\n";

static void html_tagged(FILE *f, const char *open, const char *text, const char *close)
{
	fputs(open, f);
	jetwatt_plot_text(f, text);
	fputs(close, f);
}

static void html_head(FILE *f, const struct jetwatt_report *r)
{
	const char *title = r->title ? r->title : "jetwatt report";

	fprintf(f, "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
		"<meta name='viewport' content='width=device-width,initial-scale=1'/>\n");
	html_tagged(f, "<title>", title, "</title>\n<style>");
	fputs(style, f);
	html_tagged(f, "</style></head><body>\n<h1>", title, "</h1>\n<p class='soft'>");
	if (r->board)
		jetwatt_plot_text(f, r->board);
	if (r->kernel)
		html_tagged(f, " &middot; kernel ", r->kernel, "");
	if (r->workload)
		html_tagged(f, " &middot; ", r->workload, "");
	fputs("</p>\n", f);
	if (r->note)
		html_tagged(f, "<p>", r->note, "</p>\n");
}

/* Return: a clock in MHz, or a number of cores. */
static double knob_display_value(const struct jetwatt_mode *m, enum jetwatt_knob k)
{
	const struct jetwatt_knob_row *row = jetwatt_knob_row(k);

	return jetwatt_mode_get(m, k) * (row->hz == 1000 ? 1e-3 : row->hz ? row->hz * 1e-6 : 1);
}

static int html_has_knob(const struct jetwatt_row *row, size_t n, enum jetwatt_knob k)
{
	int is = !jetwatt_knob_row(k)->optional;

	for (size_t i = 0; i < n && !is; i++)
		is = jetwatt_mode_get(&row[i].mode, k) != 0;
	return is;
}

static bool is_measured(const struct jetwatt_report *r, const struct jetwatt_mode *mode)
{
	for (size_t i = 0; i < r->nr_measured; i++)
		if (jetwatt_mode_same(&r->measured[i].mode, mode))
			return true;
	return false;
}

static void html_chosen(FILE *f, const struct jetwatt_report *r)
{
	const struct jetwatt_row *c = r->chosen;

	if (!c) {
		if (!r->only_predicted)
			fprintf(f, "<p>No mode was chosen.</p>\n");
		return;
	}
	fprintf(f, "<div class='big'><span><b>%.2f W</b>%s", c->power_w,
		r->promise || is_measured(r, &c->mode) ? "measured" : "predicted");
	if (r->budget_w > 0)
		fprintf(f, ", budget %g W", r->budget_w);
	fprintf(f, "</span><span><b>%.2f ms</b>per minibatch</span><span><b>%u cores</b>", c->time_ms,
		c->mode.cores);
	for (enum jetwatt_knob k = JETWATT_KNOB_CPU; k < JETWATT_KNOBS; k = JETWATT_KNOB_NEXT(k))
		if (html_has_knob(c, 1, k))
			fprintf(f, "%s%s %.0f", k > JETWATT_KNOB_CPU ? ", " : "",
				jetwatt_knob_row(k)->label, knob_display_value(&c->mode, k));
	fprintf(f, " MHz</span></div>\n");
	if (r->promise)
		fprintf(f, "<p class='soft'>Predicted for this mode: %.2f ms &plusmn; %.1f %%, "
			"%.2f W &plusmn; %.1f %%.</p>\n", r->promise->time_ms,
			100 * r->promise->time_sd, r->promise->power_w, 100 * r->promise->power_sd);
}

static void html_legend(FILE *f, const char *color, const char *text)
{
	fprintf(f, "<span><i style='background:var(--%s)'></i>%s</span>", color, text);
}

static void html_measured(FILE *f, const struct jetwatt_report *r)
{
	if (!r->nr_measured)
		return;
	fprintf(f, "<h2>Measured modes</h2>\n<div class='wide'><table><tr><th>#</th>");
	jetwatt_each_knob(k)
		if (html_has_knob(r->measured, r->nr_measured, k))
			fprintf(f, "<th>%s%s</th>", jetwatt_knob_row(k)->label,
				jetwatt_knob_row(k)->hz ? " MHz" : "");
	fprintf(f, "<th>ms</th><th>&plusmn; %%</th><th>W</th><th>&plusmn; %%</th></tr>\n");
	for (size_t i = 0; i < r->nr_measured; i++) {
		const struct jetwatt_row *m = &r->measured[i];

		fprintf(f, "<tr%s><td>%zu</td>",
			r->chosen && jetwatt_mode_same(&r->chosen->mode, &m->mode) ? " class='best'" : "",
			i + 1);
		jetwatt_each_knob(k)
			if (html_has_knob(r->measured, r->nr_measured, k))
				fprintf(f, "<td>%.0f</td>", knob_display_value(&m->mode, k));
		fprintf(f, "<td>%.2f</td><td>%.1f</td><td>%.2f</td><td>%.1f</td></tr>\n", m->time_ms,
			100 * m->time_sd, m->power_w, 100 * m->power_sd);
	}
	fprintf(f, "</table></div>\n");
}

static void html_facts(FILE *f, const struct jetwatt_report *r)
{
	if (!r->nr_facts)
		return;
	fprintf(f, "<h2>Figures</h2>\n<div class='wide'><table class='facts'>\n");
	for (size_t i = 0; i < r->nr_facts; i++) {
		html_tagged(f, "<tr><td>", r->fact[i].name, "</td>");
		html_tagged(f, "<td>", r->fact[i].value, "</td></tr>\n");
	}
	fprintf(f, "</table></div>\n");
}

/* Plots of prediction errors. */
static int html_prediction_error(FILE *f, const struct jetwatt_report *r)
{
	int err = 0;

	if (r->nr_curve) {
		fprintf(f, "<h2>Error against measured modes</h2>\n");
		err = jetwatt_plot_curve(f, r);
		fprintf(f, "<p class='key'>");
		html_legend(f, "front", "time");
		html_legend(f, "measured",
			    "power; lines: median of all repeats, shaded: between the quartiles");
		fprintf(f, "</p>\n");
	}
	for (int what = 0; what < 2 && r->nr_fit && !err; what++) {
		fprintf(f, "<h2>%s, predicted against measured</h2>\n", what ? "Power" : "Time");
		err = jetwatt_plot_fit(f, r, what);
	}
	return err;
}

/* Plots of the time and energy roofs. */
static int html_roofs(FILE *f, const struct jetwatt_report *r)
{
	static const char *const colour[] = { "front", "front", "measured" };
	int err = 0;

	for (int energy = 0; energy < 2 && r->nr_roofs && !err; energy++) {
		fprintf(f, "<h2>%s</h2>\n", energy ? "Energy" : "Time");
		err = jetwatt_plot_roofs(f, r, energy);
	}
	fprintf(f, "<p class='key'>");
	for (size_t i = 0; i < r->nr_roofs; i++) {
		fprintf(f, "<span><i style='background:var(--%s)%s'></i>", colour[i % 3],
			i % 3 == 1 ? ";opacity:.5" : "");
		jetwatt_plot_text(f, r->roof[i].name);
		fprintf(f, "</span>");
	}
	if (r->nr_layers) {
		html_legend(f, "cloud", "layers, on the first mode's roof");
		html_legend(f, "budget",
			    "layers with more than 10 % of the largest layer's operations");
	}
	fprintf(f, "</p>\n");
	return err;
}

int jetwatt_report_html(FILE *f, const struct jetwatt_report *r)
{
	int err = 0;

	html_head(f, r);
	if (r->nr_roofs)
		err = html_roofs(f, r);
	else if (!r->nr_fit && !r->nr_curve)
		html_chosen(f, r);
	if (!err && (r->nr_predicted || r->nr_measured)) {
		fprintf(f, "<h2>Modes</h2>\n");
		err = jetwatt_plot_modes(f, r);
		fprintf(f, "<p class='key'>");
		html_legend(f, "cloud", "predicted");
		html_legend(f, "front", "Pareto front of the prediction");
		html_legend(f, "measured", "measured, &plusmn; 2 standard errors");
		if (!r->only_predicted)
			html_legend(f, "chosen", "chosen");
		if (r->nr_presets)
			html_legend(f, "preset", "presets");
		fprintf(f, "</p>\n");
	}
	if (!err && r->nr_samples > 1) {
		fprintf(f, "<h2>Power over time</h2>\n");
		err = jetwatt_plot_timeline(f, r);
		fprintf(f, "<p class='key'>");
		html_legend(f, "front", "mean");
		html_legend(f, "cloud", "lowest to highest sample");
		html_legend(f, "measured", "mode switch");
		html_legend(f, "soft", r->nr_bounds > 400 ? "minibatches (not all shown)" :
			    "minibatches");
		fprintf(f, "</p>\n");
	}
	if (!err)
		err = html_prediction_error(f, r);
	html_measured(f, r);
	html_facts(f, r);
	fprintf(f, "</body></html>\n");
	return err ? err : jetwatt_error_flush(f);
}
