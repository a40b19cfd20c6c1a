// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the reader of CSV files of measured modes: make fuzz FUZZ=csv */
#include "../../user/store/csv.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jetwatt_csv_error err;
	struct jetwatt_row *row = NULL;
	uint32_t *batch = NULL;
	int n = jetwatt_csv_parse((const char *)data, len, &row, &batch, &err);

	if (n < 0 && (row || batch))
		abort();
	for (int i = 0; i < n; i++)
		if (!row[i].mode.cores || !row[i].mode.cpu_khz || !row[i].mode.gpu_hz ||
		    !row[i].mode.emc_hz || row[i].time_ms <= 0 || row[i].power_w <= 0)
			abort();
	free(row);
	free(batch);
	return 0;
}
