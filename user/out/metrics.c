// SPDX-License-Identifier: GPL-2.0-only
/* Writes metrics as text; see metrics.h. */
#include "out/metrics.h"

#include <inttypes.h>
#include <string.h>

const double jetwatt_metrics_joules[JETWATT_METRICS_BUCKETS] = {
	.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000
}, jetwatt_metrics_seconds[JETWATT_METRICS_BUCKETS] = {
	.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 50, 100
};

void jetwatt_metrics_observe(struct jetwatt_metrics_histogram *h, const double *bound, double v)
{
	for (int i = 0; i < JETWATT_METRICS_BUCKETS; i++)
		h->below[i] += v <= bound[i];
	h->n++;
	h->sum += v;
}

void jetwatt_metrics_family(const struct jetwatt_metrics *m, const char *name, const char *type,
			    const char *unit, const char *help)
{
	/* In OpenMetrics, the family name of a counter has no "_total". */
	const char *total = *type == 'c' && !m->open ? "_total" : "";

	fprintf(m->f, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help, name, total, type);
	if (m->open && unit)
		fprintf(m->f, "# UNIT %s %s\n", name, unit);
}

static void print_label_value(FILE *f, const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else
			/* A scraper rejects the whole page for one byte that is not UTF-8, so only
			 * ASCII is written. */
			putc(*text < ' ' || *text > '~' ? '?' : *text, f);
}

void jetwatt_metrics_sample(const struct jetwatt_metrics *m, const char *name, const char *label,
			    const char *text, double v)
{
	fputs(name, m->f);
	if (label) {
		fprintf(m->f, "{%s=\"", label);
		print_label_value(m->f, text);
		fputs("\"}", m->f);
	}
	fprintf(m->f, " %.15g\n", v);
}

/* Write NAME_bucket{LABEL="TEXT",le=" */
static void print_bucket_label(const struct jetwatt_metrics *m, const char *name, const char *label,
			       const char *text)
{
	fprintf(m->f, "%s_bucket{", name);
	if (label) {
		fprintf(m->f, "%s=\"", label);
		print_label_value(m->f, text);
		fputs("\",", m->f);
	}
	fputs("le=\"", m->f);
}

void jetwatt_metrics_histogram(const struct jetwatt_metrics *m, const char *name, const char *label,
			       const char *text, const double *bound,
			       const struct jetwatt_metrics_histogram *h)
{
	char part[128];

	for (int i = 0; i < JETWATT_METRICS_BUCKETS; i++) {
		print_bucket_label(m, name, label, text);
		fprintf(m->f, "%g\"} %" PRIu64 "\n", bound[i], h->below[i]);
	}
	print_bucket_label(m, name, label, text);
	fprintf(m->f, "+Inf\"} %" PRIu64 "\n", h->n);
	snprintf(part, sizeof(part), "%s_count", name);
	jetwatt_metrics_sample(m, part, label, text, h->n);
	snprintf(part, sizeof(part), "%s_sum", name);
	jetwatt_metrics_sample(m, part, label, text, h->sum);
}

void jetwatt_metrics_counter(const struct jetwatt_metrics *m, const char *name, const char *unit,
			     const char *help, double v)
{
	char total[128];

	snprintf(total, sizeof(total), "%s_total", name);
	jetwatt_metrics_family(m, name, "counter", unit, help);
	jetwatt_metrics_sample(m, total, NULL, NULL, v);
}

void jetwatt_metrics_gauge(const struct jetwatt_metrics *m, const char *name, const char *unit,
			   const char *help, double v)
{
	jetwatt_metrics_family(m, name, "gauge", unit, help);
	jetwatt_metrics_sample(m, name, NULL, NULL, v);
}

/* OpenMetrics requires that a family's name ends with its unit. */
static void print_series(const struct jetwatt_metrics *m, const struct jetwatt_series_row *row,
			 const struct jetwatt_telemetry *t)
{
	int counter = row->type == JETWATT_SERIES_TYPE_COUNTER, any = 0;
	char name[128], channel[12];

	snprintf(name, sizeof(name), "%s%s", row->metric, counter ? "_total" : "");
	for (uint32_t c = 0; c < row->channels; c++) {
		int64_t v = t->value[row->first + c];

		if (v == JETWATT_TELEMETRY_NONE)
			continue;
		if (!any++)
			jetwatt_metrics_family(m, row->metric, counter ? "counter" : "gauge",
					       strrchr(row->metric, '_') + 1, row->help);
		snprintf(channel, sizeof(channel), "%u", c + 1);
		jetwatt_metrics_sample(m, name, *row->label ? row->label : NULL, channel,
				       (double)v / row->per);
	}
}

void jetwatt_metrics_telemetry(const struct jetwatt_metrics *m, const struct jetwatt_telemetry *t)
{
	for (uint32_t kind = 0; kind < __JETWATT_SERIES_KINDS; kind++)
		print_series(m, jetwatt_series_row(kind), t);
}

void jetwatt_metrics_end(const struct jetwatt_metrics *m)
{
	if (m->open)
		fputs("# EOF\n", m->f);
}
