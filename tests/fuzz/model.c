// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the reader of stored models (make fuzz FUZZ=model): the input itself, and a
 * valid model with some bytes changed by the input. The checksum is corrected, because the reader
 * would otherwise refuse every input before it parses it.
 */
#include "../../user/model/save.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned char *real_model(size_t *len)
{
	struct jetwatt_row row[5];
	unsigned char *bytes = NULL;
	struct jetwatt_model *m;

	for (int i = 0; i < 5; i++)
		row[i] = (struct jetwatt_row){
			.mode = { 2 + 2 * i, 600000 + 300000 * (i % 3), 300000000ull * (1 + i % 4),
				  i % 2 ? 665600000 : 3199000000 },
			.time_ms = 90 - 9 * i, .power_w = 12 + 4 * i,
		};
	if (jetwatt_model_fit(&m, row, 5, 1) || jetwatt_model_save(m, &bytes, len))
		abort();
	jetwatt_model_free(m);
	return bytes;
}

static void seal(unsigned char *bytes, size_t len)
{
	struct bytes b = { bytes + len - 4, 0, 0 };

	save_put(&b, crc32(0, bytes, len - 4), 4);
}

static void offer(const unsigned char *bytes, size_t len)
{
	struct jetwatt_mode mode = { 4, 1000000, 500000000, 2133000000 };
	struct jetwatt_prediction p;
	struct jetwatt_model *m;

	if (jetwatt_model_load(&m, bytes, len)) {
		if (m)
			abort();
		return;
	}
	if (jetwatt_model_predict(m, &mode, 1, &p) || isnan(p.time_ms) || isnan(p.power_w))
		abort();
	jetwatt_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static unsigned char *real;
	static size_t real_len;
	unsigned char *copy;

	if (!real)
		real = real_model(&real_len);
	copy = malloc(len + real_len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	if (len > 4)
		seal(copy, len);
	offer(copy, len);
	/* Three bytes of input: two for the offset, one for the new value. */
	memcpy(copy, real, real_len);
	for (size_t i = 0; i + 3 <= len; i += 3)
		copy[(data[i] | data[i + 1] << 8) % real_len] = data[i + 2];
	seal(copy, real_len);
	offer(copy, real_len);
	free(copy);
	return 0;
}
