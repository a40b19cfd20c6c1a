// SPDX-License-Identifier: GPL-2.0-only
#include "tune/preset_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "out/terminal.h"
#include "util/error.h"

static void word(char *buf, size_t len, const char *name, double from, double to)
{
	size_t n = strlen(buf);

	if (n + 1 < len)
		snprintf(buf + n, len - n, "%s%s %.0f becomes %.0f", n ? ", " : "", name, from, to);
}

const char *jetwatt_presets_rounded(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				    unsigned int rounded, char *buf, size_t len)
{
	buf[0] = '\0';
	if (rounded & JETWATT_PRESET_FEWER_CORES)
		word(buf, len, "cores", p->cores, mode->cores);
	if (rounded & JETWATT_PRESET_ROUNDED_CPU)
		word(buf, len, "CPU", p->cpu_khz * 1e-3, mode->cpu_khz * 1e-3);
	if (rounded & JETWATT_PRESET_ROUNDED_GPU)
		word(buf, len, "GPU", p->gpu_hz * 1e-6, mode->gpu_hz * 1e-6);
	if (rounded & JETWATT_PRESET_ROUNDED_EMC)
		word(buf, len, "EMC", p->emc_hz * 1e-6, mode->emc_hz * 1e-6);
	return buf;
}

static void asked(struct jetwatt_json *j, const char *name, long long v)
{
	if (v < 0)
		jetwatt_json_null(j, name);
	else
		jetwatt_json_int(j, name, v);
}

static void object(struct jetwatt_json *j, const struct jetwatt_board *board,
		   const struct jetwatt_presets *all, size_t i, const struct jetwatt_mode *mode,
		   unsigned int rounded)
{
	const struct jetwatt_preset *p = &all->preset[i];
	char name[96];

	jetwatt_json_object(j, NULL);
	jetwatt_json_int(j, "id", p->id);
	jetwatt_json_string(j, "name", p->name);
	jetwatt_json_bool(j, "default", p->id == all->chosen);
	if (!jetwatt_board_mode_format(mode, name, sizeof(name)))
		jetwatt_json_string(j, "mode", name);
	asked(j, "cores", p->cores ? (long long)p->cores : -1);
	asked(j, "cpu_khz", p->cpu_khz);
	asked(j, "gpu_hz", p->gpu_hz);
	asked(j, "emc_hz", p->emc_hz);
	jetwatt_json_uint(j, "gated", p->mask);
	jetwatt_json_bool(j, "reboot", jetwatt_preset_reboot(board, p));
	jetwatt_json_bool(j, "rounded", rounded != 0);
	jetwatt_json_end(j);
}

static void line(const struct jetwatt_board *board, const struct jetwatt_presets *all, size_t i,
		 const struct jetwatt_mode *m, unsigned int rounded)
{
	const struct jetwatt_preset *p = &all->preset[i];
	char text[128];

	printf("%c%2d  %-12.24s %5u %4u %4u %8u  %s\n", p->id == all->chosen ? '*' : ' ', p->id,
	       p->name, m->cores, jetwatt_screen_mhz(m->cpu_khz * 1000ull),
	       jetwatt_screen_mhz(m->gpu_hz), jetwatt_screen_mhz(m->emc_hz),
	       jetwatt_preset_reboot(board, p) ? "needs a reboot (GPU parts)" : "");
	if (rounded)
		printf("     %s MHz\n", jetwatt_presets_rounded(p, m, rounded, text, sizeof(text)));
}

int jetwatt_presets_list(const struct jetwatt_board *board, const char *path, int json)
{
	struct jetwatt_error_text e = { "", "", "" };
	struct jetwatt_presets *all;
	struct jetwatt_json j;
	int err = jetwatt_presets_read(&all, board, path, &e);

	if (err)
		return jetwatt_error_say(JETWATT_EXIT_FAILED, e.why, e.fix, "%s", e.what);
	jetwatt_json_init(&j, stdout, 1);
	if (json)
		jetwatt_json_array(&j, NULL);
	else
		printf(" ID  NAME         CORES  CPU  GPU  EMC MHz\n");
	for (size_t i = 0; i < all->nr; i++) {
		struct jetwatt_mode mode;
		unsigned int rounded = jetwatt_preset_mode(board, &all->preset[i], &mode);

		if (json)
			object(&j, board, all, i, &mode, rounded);
		else
			line(board, all, i, &mode, rounded);
	}
	if (json)
		jetwatt_json_end(&j);
	jetwatt_presets_free(all);
	return 0;
}
