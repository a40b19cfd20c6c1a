// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the reader of board reports: make fuzz FUZZ=report */
#include "../../user/store/report.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_board_report *r = NULL;
	const char *why = NULL;
	unsigned int line;
	uint64_t sum = 0;

	if (jetwatt_report_parse((const char *)data, len, &r, &line, &why)) {
		if (r || !why || !*why)
			abort();
		return 0;
	}
	for (size_t i = 0; i < r->nr_files; i++) {
		if (r->file[i].path[0] == '/' || strstr(r->file[i].path, "/../"))
			abort();
		for (size_t k = 0; k < r->file[i].len; k++)
			sum += r->file[i].data[k];
	}
	for (int i = 0; i < r->nr_rails; i++)
		sum += strlen(r->rail[i].label);
	jetwatt_report_free(r);
	return sum == UINT64_MAX;
}
