// SPDX-License-Identifier: GPL-2.0-only
/* The HTML page of jetwatt report: text and the table of figures around the plots of one run. */
#include "out/run_page.h"

#include <string.h>

#include "out/plot.h"
#include "util/error.h"

/* Minimum number of minibatches with which the page has plots of minibatches. */
#define MINIBATCHES_MIN	8

static const char style[] =
":root{--back:#fff;--text:#1b1f24;--soft:#5d6673;--line:#e3e6ea;--cloud:#d4d7db;--r0:#2463b5;--r1:#5fa35a;"
"--r2:#d8a13a;--r3:#9a6fb0;--r4:#c2571a;--r5:#4aa5b5;--r6:#b5547a;--r7:#7d8590;--mean:#b3261e;"
"--alarm:#b3261e;color-scheme:light dark}\n"
"@media screen and (prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--soft:#98a2af;"
"--line:#2b3037;--cloud:#3a4048;--mean:#ff8a80;--alarm:#ff8a80}}\n"
"*{box-sizing:border-box}body{margin:0 auto;padding:16px;max-width:900px;background:var(--back);"
"color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
"h1{font-size:1.4rem;margin:.2em 0;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:1.6em 0 .3em}"
"p{margin:.4em 0}.soft{color:var(--soft)}.big{display:flex;flex-wrap:wrap;gap:8px 28px;margin:1em 0}"
".big b{display:block;font-size:1.6rem;line-height:1.2}\n"
".plot,.wide{overflow-x:auto}svg{display:block;width:100%;min-width:520px;height:auto}"
"svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg path{fill:none}\n"
".grid{stroke:var(--line)}svg .rail{stroke:none;opacity:.85}"
"svg .r0{fill:var(--r0)}svg .r1{fill:var(--r1)}svg .r2{fill:var(--r2)}svg .r3{fill:var(--r3)}"
"svg .r4{fill:var(--r4)}svg .r5{fill:var(--r5)}svg .r6{fill:var(--r6)}svg .r7{fill:var(--r7)}\n"
".envelope{stroke:var(--cloud)}.bound{stroke:var(--text);stroke-width:.8}"
".gap{fill:var(--soft);opacity:.35}.alarm{fill:var(--alarm);opacity:.25}"
"svg .band-text{font-size:10px;fill:var(--alarm)}.clock{stroke-width:1.5}"
".c0{stroke:var(--r1)}.c1{stroke:var(--r0)}.c2{stroke:var(--r2)}\n"
".bar{fill:var(--r0)}.mean{stroke:var(--mean);stroke-width:1.8}"
".dots{stroke:var(--r0);stroke-width:3;stroke-linecap:round;opacity:.45}\n"
".key{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:.85rem;color:var(--soft)}"
".key i{display:inline-block;width:10px;height:10px;margin-right:6px}"
"table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
"td{padding:3px 24px 3px 0;border-bottom:1px solid var(--line)}td:first-child{color:var(--soft)}\n"
"@media print{body{max-width:none;padding:0;font-size:11pt}svg{min-width:0}"
".plot,table,h2{break-inside:avoid}h2{break-after:avoid}"
"*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

static void page_tagged(FILE *f, const char *open, const char *text, const char *close)
{
	fputs(open, f);
	jetwatt_plot_text(f, text);
	fputs(close, f);
}

static void page_head(FILE *f, const struct jetwatt_page *p)
{
	const char *title = p->command && *p->command ? p->command : "A recorded run";

	fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
	      "<meta name='viewport' content='width=device-width,initial-scale=1'/>\n"
	      "<link rel='icon' href='data:,'/>\n", f);
	page_tagged(f, "<title>", title, " - jetwatt</title>\n<style>");
	fputs(style, f);
	page_tagged(f, "</style></head><body>\n<h1>", title, "</h1>\n<p class='soft'>");
	if (p->board)
		jetwatt_plot_text(f, p->board);
	if (p->kernel && *p->kernel)
		page_tagged(f, " &middot; kernel ", p->kernel, "");
	if (p->when && *p->when)
		page_tagged(f, " &middot; ", p->when, "");
	fputs("</p>\n", f);
	if (p->note && *p->note)
		page_tagged(f, "<p><b>", p->note, "</b></p>\n");
}

static const struct jetwatt_page_figure *page_find_figure(const struct jetwatt_page *p,
							  const char *key)
{
	for (size_t i = 0; i < p->nr_figures; i++)
		if (!strcmp(p->figure[i].key, key))
			return &p->figure[i];
	return NULL;
}

static void page_headline(FILE *f, const struct jetwatt_page *p)
{
	static const char *const key[] = { "energy_j", "time_ms", "power_w", "total_j" };

	fputs("<div class='big'>", f);
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		const struct jetwatt_page_figure *g = page_find_figure(p, key[i]);

		if (!g)
			continue;
		page_tagged(f, "<span><b>", g->shown, "</b>");
		page_tagged(f, "", g->name, "</span>");
	}
	fputs("</div>\n", f);
}

static void page_legend(FILE *f, const char *color, const char *text)
{
	fprintf(f, "<span><i style='background:var(--%s)'></i>", color);
	jetwatt_plot_text(f, text);
	fputs("</span>", f);
}

static void page_figures_table(FILE *f, const struct jetwatt_page *p)
{
	fputs("<h2>Figures</h2>\n<div class='wide'><table>\n", f);
	for (size_t i = 0; i < p->nr_figures; i++) {
		const struct jetwatt_page_figure *g = &p->figure[i];

		page_tagged(f, "<tr><td>", g->name, "</td><td><data id='");
		jetwatt_plot_text(f, g->key);
		page_tagged(f, "' value='", g->value, "'>");
		page_tagged(f, "", g->shown, "</data></td></tr>\n");
	}
	fputs("</table></div>\n", f);
}

int jetwatt_page_write(FILE *f, const struct jetwatt_page *p)
{
	char color[16];
	int err = 0;

	page_head(f, p);
	page_headline(f, p);
	if (p->nr_columns) {
		fputs("<h2>Power over time</h2>\n", f);
		jetwatt_page_timeline(f, p);
		fputs("<p class='key'>", f);
		for (int r = p->nr_rails - 1; r >= 0; r--) {
			snprintf(color, sizeof(color), "r%d", r);
			page_legend(f, color, p->rail[r]);
		}
		page_legend(f, "cloud", "highest sample");
		page_legend(f, "text", p->nr_bounds > 400 ? "ticks: minibatches (not all shown)" :
			    "ticks: minibatches");
		page_legend(f, "soft", "samples lost");
		if (p->nr_bands)
			page_legend(f, "alarm", "alarm");
		fputs("</p>\n", f);
	}
	if (p->nr_minibatches >= MINIBATCHES_MIN) {
		const char *which = p->phases > 1 ? ", phase 1" : "";

		fprintf(f, "<h2>Energy per minibatch%s</h2>\n", which);
		err = jetwatt_page_spread(f, p);
		fprintf(f, "<h2>Along the run%s</h2>\n", which);
		jetwatt_page_drift(f, p);
		jetwatt_page_split(f, p);
		fputs("<p class='key'>", f);
		page_legend(f, "r2", p->launched ? "GPU without work" :
			    "GPU without work, at most");
		page_legend(f, "r0", p->launched ? "GPU with work" :
			    "GPU with work, at least");
		page_legend(f, "mean", "whole minibatch");
		fputs("</p>\n", f);
	}
	page_figures_table(f, p);
	fputs("</body></html>\n", f);
	return err ? err : jetwatt_error_flush(f);
}
