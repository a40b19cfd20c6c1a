// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of nvpmodel.conf: make fuzz FUZZ=preset */
#include "../../user/board/preset.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_presets *p = NULL;
	unsigned int line;
	const char *why;

	if (jetwatt_presets_parse((const char *)data, len, &p, &line, &why)) {
		if (p || !why)
			abort();
		return 0;
	}
	if (!p->nr)
		abort();
	for (size_t i = 0; i < p->nr; i++)
		if (p->preset[i].id < 0 || !*p->preset[i].name || p->preset[i].nr_lines > LINES_MAX ||
		    p->preset[i].cap[JETWATT_KNOB_CPU] < JETWATT_PRESET_UNCAPPED)
			abort();
	jetwatt_presets_free(p);
	return 0;
}
