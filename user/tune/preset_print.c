// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table and JSON of presets.
 */
#include "tune/preset_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "out/terminal.h"
#include "util/error.h"

#define COLUMNS	80
#define INDENT	5

/* Append one replaced level. */
static void preset_append_rounded(char *buf, size_t len, const char *name, double from, double to)
{
	size_t n = strlen(buf);

	if (n + 1 < len)
		snprintf(buf + n, len - n, "%s%s %.0f becomes %.0f", n ? ", " : "", name, from, to);
}

/* The number of cores, which has no unit, comes first. */
static void preset_rounded_text(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				unsigned int rounded, char *buf, size_t len)
{
	size_t n;

	buf[0] = '\0';
	jetwatt_each_knob(k) {
		const struct jetwatt_knob_row *row = jetwatt_knob_row(k);
		double scale = row->hz ? row->hz * 1e-6 : 1;

		if (rounded & 1u << k)
			preset_append_rounded(buf, len, row->label, p->cap[k] * scale,
					      jetwatt_mode_get(mode, k) * scale);
	}
	n = strlen(buf);
	if (rounded & ~(1u << JETWATT_KNOB_CORES))
		snprintf(buf + n, len - n, " MHz");
}

void jetwatt_presets_print_rounded(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				   unsigned int rounded)
{
	char text[192];
	const char *rest = text;

	preset_rounded_text(p, mode, rounded, text, sizeof(text));
	/* Break lines that are too long behind a comma. */
	while (*rest) {
		size_t n = strlen(rest);

		if (n > COLUMNS - INDENT)
			for (n = COLUMNS - INDENT; n > 1 && rest[n - 1] != ','; n--)
				;
		printf("%*s%.*s\n", INDENT, "", (int)n, rest);
		rest += n + (rest[n] == ' ');
	}
}

/* Write the cap of a knob in a preset; a negative value means that the preset does not set the
 * cap. */
static void preset_json_cap(struct jetwatt_json *j, const char *name, long long v)
{
	if (v < 0)
		jetwatt_json_null(j, name);
	else
		jetwatt_json_int(j, name, v);
}

static void preset_json(struct jetwatt_json *j, const struct jetwatt_board *board,
			const struct jetwatt_presets *all, size_t i,
			const struct jetwatt_mode *mode, unsigned int rounded)
{
	const struct jetwatt_preset *p = &all->preset[i];
	char name[96];

	jetwatt_json_object(j, NULL);
	jetwatt_json_int(j, "id", p->id);
	jetwatt_json_string(j, "name", p->name);
	jetwatt_json_bool(j, "default", p->id == all->chosen);
	if (!jetwatt_board_mode_format(mode, name, sizeof(name)))
		jetwatt_json_string(j, "mode", name);
	/* The output leaves out an optional knob that the preset does not set. */
	jetwatt_each_knob(k)
		if (p->cap[k] >= 0 || !jetwatt_knob_row(k)->optional)
			preset_json_cap(j, jetwatt_knob_row(k)->column, p->cap[k]);
	jetwatt_json_uint(j, "gated", p->mask);
	jetwatt_json_bool(j, "reboot", jetwatt_preset_reboot(board, p));
	jetwatt_json_bool(j, "rounded", rounded != 0);
	jetwatt_json_end(j);
}

static void preset_line(const struct jetwatt_board *board, const struct jetwatt_presets *all,
			size_t i, const struct jetwatt_mode *m, unsigned int rounded)
{
	const struct jetwatt_preset *p = &all->preset[i];

	printf("%c%2d  %-12.24s %5u %4u %4u %8u  %s\n", p->id == all->chosen ? '*' : ' ', p->id,
	       p->name, m->cores, jetwatt_terminal_mhz(m->cpu_khz * 1000ull),
	       jetwatt_terminal_mhz(m->gpu_hz), jetwatt_terminal_mhz(m->emc_hz),
	       jetwatt_preset_reboot(board, p) ? "needs a reboot (GPU parts)" : "");
	jetwatt_presets_print_rounded(p, m, rounded);
}

int jetwatt_presets_list(const struct jetwatt_board *board, const char *path, int json)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_presets *all;
	struct jetwatt_json j;
	int err = jetwatt_presets_read(&all, board, path, &e);

	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, e.why, e.fix, "%s", e.what);
	jetwatt_json_init(&j, stdout, 1);
	if (json)
		jetwatt_json_array(&j, NULL);
	else
		printf(" ID  NAME         CORES  CPU  GPU  EMC MHz\n");
	for (size_t i = 0; i < all->nr; i++) {
		struct jetwatt_mode mode;
		unsigned int rounded = jetwatt_preset_mode(board, &all->preset[i], &mode);

		if (json)
			preset_json(&j, board, all, i, &mode, rounded);
		else
			preset_line(board, all, i, &mode, rounded);
	}
	if (json)
		jetwatt_json_end(&j);
	jetwatt_presets_free(all);
	return 0;
}
