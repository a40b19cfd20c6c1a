// SPDX-License-Identifier: GPL-2.0-only
/* Saved models: they load unchanged, and invalid files are refused. */
#include <math.h>
#include <zlib.h>

#include "kselftest_harness.h"
#include "model/estimator.h"
#include "search_run.h"

#define ROWS	12

static struct jetwatt_row some(uint64_t *s)
{
	double fc = 0.3 + 1.9 * search_uniform(s), fg = 0.2 + 1.1 * search_uniform(s);
	int cores = 2 + search_uniform(s) * 10;

	return (struct jetwatt_row){
		.mode = { cores, fc * 1e6, fg * 1e9, search_uniform(s) < 0.5 ? 665600000 : 3199000000 },
		.time_ms = 30 / fg + 20 / fc + 40 / (cores * fc),
		.power_w = 9 + 12 * fg * fg + cores * fc,
		.batch = search_uniform(s) < 0.5 ? 16 : 4,
	};
}

static struct jetwatt_model *fitted(void)
{
	struct jetwatt_row row[ROWS];
	struct jetwatt_model *m;
	uint64_t s = 3;

	for (int i = 0; i < ROWS; i++)
		row[i] = some(&s);
	return jetwatt_model_fit(&m, row, ROWS, 1) ? NULL : m;
}

static void seal(unsigned char *bytes, size_t len)
{
	uint32_t c = crc32(0, bytes, len - 4);

	for (int i = 0; i < 4; i++)
		bytes[len - 4 + i] = c >> 8 * i;
}

FIXTURE(saved)
{
	struct jetwatt_model *m;
	unsigned char *bytes;
	size_t len;
};

FIXTURE_SETUP(saved)
{
	self->m = fitted();
	ASSERT_NE(NULL, self->m);
	ASSERT_EQ(0, jetwatt_model_save(self->m, &self->bytes, &self->len));
}

FIXTURE_TEARDOWN(saved)
{
	jetwatt_model_free(self->m);
	free(self->bytes);
}

TEST_F(saved, loaded_model_predicts_the_same)
{
	struct jetwatt_model *m;
	unsigned char *again;
	uint64_t s = 9;
	size_t len;

	ASSERT_EQ(0, jetwatt_model_load(&m, self->bytes, self->len));
	EXPECT_EQ(ROWS, jetwatt_model_rows(m));
	for (int i = 0; i < 50; i++) {
		struct jetwatt_row r = some(&s);
		struct jetwatt_prediction p, q;

		ASSERT_EQ(0, jetwatt_model_predict_batch(self->m, &r.mode, &r.batch, 1, &p));
		ASSERT_EQ(0, jetwatt_model_predict_batch(m, &r.mode, &r.batch, 1, &q));
		EXPECT_LT(fabs(p.time_ms / q.time_ms - 1), 1e-9);
		EXPECT_LT(fabs(p.power_w / q.power_w - 1), 1e-9);
		EXPECT_LT(fabs(p.time_sd / q.time_sd - 1), 1e-6);
		EXPECT_LT(fabs(p.power_sd / q.power_sd - 1), 1e-6);
	}
	ASSERT_EQ(0, jetwatt_model_save(m, &again, &len));
	ASSERT_EQ(self->len, len);
	EXPECT_EQ(0, memcmp(self->bytes, again, len));
	free(again);
	jetwatt_model_free(m);
}

/* Rows of a file may have any standard errors: a program that computes them from equal readings writes
 * numbers like 1e-16. What was saved can be loaded. */
TEST(any_standard_errors_can_be_loaded)
{
	static const double sd[] = { 1e-300, 1e-16, 1, 1e4, 1e100 };
	struct jetwatt_row row[ROWS];
	uint64_t s = 3;

	for (int i = 0; i < ROWS; i++)
		row[i] = some(&s);
	for (size_t k = 0; k < sizeof(sd) / sizeof(*sd); k++) {
		struct jetwatt_prediction p, q;
		struct jetwatt_model *m, *again;
		unsigned char *bytes;
		size_t len;

		for (int i = 0; i < ROWS; i += 2)
			row[i].time_sd = row[i].power_sd = sd[k];
		ASSERT_EQ(0, jetwatt_model_fit(&m, row, ROWS, 1)) TH_LOG("%g", sd[k]);
		ASSERT_EQ(0, jetwatt_model_save(m, &bytes, &len));
		ASSERT_EQ(0, jetwatt_model_load(&again, bytes, len)) TH_LOG("%g", sd[k]);
		ASSERT_EQ(0, jetwatt_model_predict_batch(m, &row[1].mode, &row[1].batch, 1, &p));
		ASSERT_EQ(0, jetwatt_model_predict_batch(again, &row[1].mode, &row[1].batch, 1, &q));
		EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
		free(bytes);
		jetwatt_model_free(m);
		jetwatt_model_free(again);
	}
}

/* The bytes of the header are the same on every machine, whatever its byte order. */
TEST_F(saved, header_is_as_documented)
{
	static const unsigned char head[] = { 'j', 'w', 'm', 'o', 'd', 'e', 'l', '\n',
					      1, 0, 0, 0, ROWS, 0, 0, 0 };

	ASSERT_LT(sizeof(head), self->len);
	EXPECT_EQ(0, memcmp(head, self->bytes, sizeof(head)));
	EXPECT_LT(self->len, 1200 + 150 * ROWS);
}

TEST_F(saved, damage_is_refused)
{
	struct jetwatt_model *m;

	for (size_t i = 0; i < self->len; i++) {
		self->bytes[i] ^= 0x10;
		EXPECT_GT(0, jetwatt_model_load(&m, self->bytes, self->len));
		EXPECT_EQ(NULL, m);
		self->bytes[i] ^= 0x10;
	}
	for (size_t len = 0; len < self->len; len++)
		EXPECT_EQ(-EINVAL, jetwatt_model_load(&m, self->bytes, len));
}

/* A file of another format version is refused as such before its checksum is checked, because only
 * the version tells where the checksum is. */
TEST_F(saved, other_version_is_not_reported_as_damage)
{
	struct jetwatt_model *m;

	for (int byte = 0; byte < 4; byte++) {
		self->bytes[8 + byte] ^= 2;
		EXPECT_EQ(-EPROTONOSUPPORT, jetwatt_model_load(&m, self->bytes, self->len));
		EXPECT_EQ(-EPROTONOSUPPORT, jetwatt_model_load(&m, self->bytes, self->len - 9));
		seal(self->bytes, self->len);
		EXPECT_EQ(-EPROTONOSUPPORT, jetwatt_model_load(&m, self->bytes, self->len));
		EXPECT_EQ(NULL, m);
		self->bytes[8 + byte] ^= 2;
	}
	seal(self->bytes, self->len);
	EXPECT_EQ(0, jetwatt_model_load(&m, self->bytes, self->len));
	jetwatt_model_free(m);
}

/* Change each byte after the magic in turn and correct the checksum. The file is refused, or the
 * loaded model predicts no NaN. */
TEST_F(saved, wrong_values_with_a_right_checksum)
{
	static const unsigned char lie[] = { 0x00, 0xff, 0x7f, 0x80 };
	struct jetwatt_mode mode = { 4, 1000000, 500000000, 2133000000 };
	struct jetwatt_prediction p;
	struct jetwatt_model *m;
	unsigned int taken = 0;

	for (size_t i = 8; i < self->len - 4; i++)
		for (size_t k = 0; k < sizeof(lie); k++) {
			unsigned char was = self->bytes[i];

			self->bytes[i] = lie[k];
			seal(self->bytes, self->len);
			if (!jetwatt_model_load(&m, self->bytes, self->len)) {
				EXPECT_EQ(0, jetwatt_model_predict(m, &mode, 1, &p));
				EXPECT_FALSE(isnan(p.time_ms) || isnan(p.power_w));
				jetwatt_model_free(m);
				taken++;
			}
			self->bytes[i] = was;
		}
	EXPECT_LT(0, taken);
}

TEST_F(saved, predictor_is_found_by_the_format)
{
	struct jetwatt_fitted *f;

	ASSERT_EQ(0, jetwatt_fitted_load(&f, self->bytes, self->len));
	EXPECT_STREQ("auto", f->by->name);
	EXPECT_EQ(ROWS, f->n);
	jetwatt_fitted_free(f);
	self->bytes[8] = 2;
	EXPECT_EQ(-EPROTONOSUPPORT, jetwatt_fitted_load(&f, self->bytes, self->len));
	EXPECT_EQ(NULL, f);
	self->bytes[0] = 'x';
	EXPECT_EQ(-EINVAL, jetwatt_fitted_load(&f, self->bytes, self->len));
}

TEST_F(saved, modes_outside_the_training_range_are_flagged)
{
	struct jetwatt_mode in = { 6, 1200000, 700000000, 2133000000 }, out = in;
	struct jetwatt_fitted *f;

	ASSERT_EQ(0, jetwatt_fitted_load(&f, self->bytes, self->len));
	EXPECT_FALSE(jetwatt_fitted_beyond(f, &in, 16));
	EXPECT_FALSE(jetwatt_fitted_beyond(f, &in, 0));
	out.gpu_hz = 1400000000;
	EXPECT_TRUE(jetwatt_fitted_beyond(f, &out, 16));
	out = in;
	out.cores = 1;
	EXPECT_TRUE(jetwatt_fitted_beyond(f, &out, 16));
	EXPECT_TRUE(jetwatt_fitted_beyond(f, &in, 64));
	EXPECT_TRUE(jetwatt_fitted_beyond(f, &in, 1));
	jetwatt_fitted_free(f);
}

TEST_F(saved, batch_sizes_of_the_training_are_listed)
{
	struct jetwatt_fitted *f;
	uint32_t size[4] = { 0 };

	ASSERT_EQ(0, jetwatt_fitted_load(&f, self->bytes, self->len));
	ASSERT_EQ(2, jetwatt_fitted_sizes(f, size, 4));
	EXPECT_EQ(4, size[0]);
	EXPECT_EQ(16, size[1]);
	EXPECT_EQ(1, jetwatt_fitted_sizes(f, size, 1));
	jetwatt_fitted_free(f);
}

TEST_HARNESS_MAIN
