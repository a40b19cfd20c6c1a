// SPDX-License-Identifier: GPL-2.0-only
/* Profiles as CSV: accepted and refused files, and writing. */
#include "store/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define HEAD	"cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n"

static int parse(const char *text, struct jetwatt_row **row, uint32_t **batch,
		 struct jetwatt_csv_error *err)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);	/* exact size: ASan finds reads beyond it */
	int rc;

	memcpy(exact, text, len);
	rc = jetwatt_csv_parse(exact, len, row, batch, err);
	free(exact);
	return rc;
}

TEST(dialects_of_csv_are_accepted)
{
	static const char * const same[] = {
		HEAD "4,422400,114750000,665600000,82.1211,14.509\n",
		HEAD "4,422400,114750000,665600000,82.1211,14.509",
		"\xef\xbb\xbf" HEAD "4,422400,114750000,665600000,82.1211,14.509\n",
		"cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\r\n4,422400,114750000,665600000,82.1211,14.509\r\n",
		"# measured on a Sunday\n\n" HEAD "\n  4 , 422400,114750000,\t665600000,82.1211,14.509  \n\n",
		"note,power_w,time_ms,emc_hz,gpu_hz,cpu_khz,cores\nx y,14.509,82.1211,665600000,114750000,422400,4\n",
		HEAD "4.0,4.224e5,114750000.0,6.656E8,82.1211,1.4509e1\n",
		"batch," HEAD "16,4,422400,114750000,665600000,82.1211,14.509\n",
	};
	struct jetwatt_csv_error err;
	struct jetwatt_row *row;
	uint32_t *batch;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		ASSERT_EQ(parse(same[i], &row, &batch, &err), 1) TH_LOG("%zu: %s", i, err.text);
		EXPECT_EQ(row->mode.cores, 4);
		EXPECT_EQ(row->mode.cpu_khz, 422400);
		EXPECT_EQ(row->mode.gpu_hz, 114750000);
		EXPECT_EQ(row->mode.emc_hz, 665600000);
		EXPECT_TRUE(row->time_ms == 82.1211 && row->power_w == 14.509);
		EXPECT_TRUE(row->time_sd == 0 && row->power_sd == 0);
		EXPECT_EQ(batch[0], i == 7 ? 16 : 0);
		free(row);
		free(batch);
	}
	/* A list of modes without measurements is accepted, and a mode that occurs twice gives two
	 * rows. */
	ASSERT_EQ(parse("cores,cpu_khz,gpu_hz,emc_hz\n1,2,3,4\n1,2,3,4\n", &row, NULL, &err), 2);
	EXPECT_TRUE(isnan(row[0].time_ms) && isnan(row[1].power_w));
	free(row);
	ASSERT_EQ(parse("cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w,time_sd,power_sd\n"
			"1,2,3,4,5,6,0.01,0.02\n", &row, NULL, NULL), 1);
	EXPECT_TRUE(row->time_sd == 0.01 && row->power_sd == 0.02);
	free(row);
}

TEST(refused_file_names_its_line)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *says;
	} c[] = {
		{ "", 0, "no header" },
		{ "\n\n# nothing\n", 3, "no header" },
		{ HEAD, 1, "no row" },
		{ "cores,cpu_khz,gpu_hz\n1,2,3\n", 1, "emc_hz is missing" },
		{ "cores,cpu_khz,gpu_hz,emc_hz,time_ms\n1,2,3,4,5\n", 1, "power_w is missing" },
		{ "cores,cores,cpu_khz,gpu_hz,emc_hz\n1,1,2,3,4\n", 1, "cores twice" },
		{ "Cores,cpu_khz,gpu_hz,emc_hz\n1,2,3,4\n", 1, "cores is missing" },
		{ HEAD "1,2,3,4,5\n", 2, "5 fields" },
		{ HEAD "1,2,3,4,5,6,7\n", 2, "7 fields" },
		{ HEAD "1,2,3,4,5,6\n1,2,3,4,,6\n", 3, "time_ms is empty" },
		{ HEAD "1,2,3,4,5,nan\n", 2, "power_w is not a number" },
		{ HEAD "1,2,3,4,inf,6\n", 2, "time_ms is not a number" },
		{ HEAD "1,2,3,4,0x10,6\n", 2, "time_ms is not a number" },
		{ HEAD "1,2,3,4,1e999,6\n", 2, "time_ms is not a number" },
		{ HEAD "1,2,3,4,5,6W\n", 2, "power_w is not a number" },
		{ HEAD "1,2,3,4,\"5\",6\n", 2, "time_ms is not a number" },
		{ HEAD "1,2,3,4,0,6\n", 2, "not above 0" },
		{ HEAD "1,2,3,4,5,-6\n", 2, "not above 0" },
		{ HEAD "1.5,2,3,4,5,6\n", 2, "not a whole number" },
		{ HEAD "0,2,3,4,5,6\n", 2, "not a whole number" },
		{ HEAD "1,5000000000,3,4,5,6\n", 2, "not a whole number" },
		{ HEAD "1,2,-3,4,5,6\n", 2, "not a whole number" },
		{ HEAD "\r\n\r\n1,2,3,4,5,x\r\n", 4, "power_w is not a number" },
		{ HEAD "1,2,3,4,5,11111111111111111111111111111111111111111111111111111111111111111111\n",
		  2, "too long" },
		{ "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w,time_sd\n1,2,3,4,5,6,-1\n", 2, "below 0" },
	};
	struct jetwatt_csv_error err;
	struct jetwatt_row *row = NULL;
	uint32_t *batch = NULL;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		EXPECT_EQ(parse(c[i].text, &row, &batch, &err), -EINVAL) TH_LOG("%zu", i);
		EXPECT_EQ(err.line, c[i].line) TH_LOG("%zu: %s", i, err.text);
		EXPECT_NE(strstr(err.text, c[i].says), NULL) TH_LOG("%zu: %s", i, err.text);
		EXPECT_EQ(row, NULL);
		EXPECT_EQ(batch, NULL);
	}
	EXPECT_EQ(jetwatt_csv_parse(HEAD "1,2,3\0,4,5,6\n", sizeof(HEAD) + 12, &row, &batch, &err),
		  -EINVAL);
	EXPECT_NE(strstr(err.text, "zero byte"), NULL);
	EXPECT_EQ(jetwatt_csv_read("/nonexistent/x.csv", &row, &batch, &err), -ENOENT);
	EXPECT_LT(jetwatt_csv_read("/", &row, &batch, &err), 0);
}

static uint64_t next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Written values read back to the last bit. After a failed write, the old file is unchanged. */
TEST(written_profile_reads_back_exactly)
{
	struct jetwatt_row row[64], *back;
	struct jetwatt_csv_error err;
	char dir[] = "/tmp/jetwatt.XXXXXX", path[64], command[160];
	uint64_t s = 7;

	ASSERT_NE(mkdtemp(dir), NULL);
	snprintf(path, sizeof(path), "%s/p.csv", dir);
	for (int i = 0; i < 64; i++)
		row[i] = (struct jetwatt_row){
			{ (uint32_t)(next(&s) % 12 + 1), (uint32_t)(next(&s) >> 32 | 1),
			  next(&s) % 5000000000 + 1, next(&s) % 5000000000 + 1 },
			(double)next(&s) / 1e17, (double)next(&s) / 1e18,
			(double)next(&s) / 1e20, i % 3 ? (double)next(&s) / 1e20 : 0,
		};
	ASSERT_EQ(jetwatt_csv_write(path, row, NULL, 64), 0);
	ASSERT_EQ(jetwatt_csv_read(path, &back, NULL, &err), 64) TH_LOG("%s", err.text);
	for (int i = 0; i < 64; i++) {
		EXPECT_EQ(memcmp(&row[i].mode, &back[i].mode, sizeof(row[i].mode)), 0);
		EXPECT_TRUE(row[i].time_ms == back[i].time_ms && row[i].power_w == back[i].power_w &&
			    row[i].time_sd == back[i].time_sd && row[i].power_sd == back[i].power_sd);
	}
	free(back);
	/* A row with a time and a power of NaN or below 0 is refused: the file is unchanged, and no
	 * temporary file is left. */
	row[3].power_w = NAN;
	EXPECT_EQ(jetwatt_csv_write(path, row, NULL, 64), -EINVAL);
	row[3].power_w = -1;
	EXPECT_EQ(jetwatt_csv_write(path, row, NULL, 64), -EINVAL);
	EXPECT_EQ(jetwatt_csv_write(path, row, (uint32_t[]){ 4, 0 }, 2), -EINVAL);
	ASSERT_EQ(jetwatt_csv_read(path, &back, NULL, &err), 64);
	free(back);
	snprintf(command, sizeof(command), "test \"$(ls -A %s)\" = p.csv", dir);
	EXPECT_EQ(system(command), 0);
	EXPECT_EQ(jetwatt_csv_write("/nonexistent/dir/x.csv", row, NULL, 1), -ENOENT);
	/* A mode list. */
	for (int i = 0; i < 64; i++)
		row[i].time_ms = row[i].power_w = NAN;
	ASSERT_EQ(jetwatt_csv_write(path, row, NULL, 64), 0);
	ASSERT_EQ(jetwatt_csv_read(path, &back, NULL, &err), 64);
	EXPECT_TRUE(isnan(back[5].time_ms));
	free(back);
	/* An output that is not a regular file, such as a device, is written directly and not
	 * replaced. */
	EXPECT_EQ(jetwatt_csv_write("/dev/null", row, NULL, 64), 0);
	snprintf(command, sizeof(command), "test -c /dev/null && rm -r %s", dir);
	EXPECT_EQ(system(command), 0);
}

/* Parse files that are damaged in many ways: the parser must neither crash nor leak, and an
 * accepted file can be written again. */
TEST(damaged_files_never_crash)
{
	static const char seed_text[] = "batch," HEAD
		"16,4,422400,114750000,665600000,82.1211,14.509\r\n"
		"# a word\n"
		"1,12,2201600,1300500000,3199000000,9.5e-1,54.25\n"
		"64,2,268800,1300500000,204000000,1105.07,17.7045\n";
	static const char spice[] = ",\n\r#\"0123456789.eE+- \t\xef\xbb\xbfnaifx";
	const char *env = getenv("SEED");
	uint64_t s = env ? strtoull(env, NULL, 0) : 42;
	int taken = 0, refused = 0;

	printf("# seed %llu\n", (unsigned long long)s);
	for (int round = 0; round < 60000; round++) {
		size_t len = sizeof(seed_text) - 1;
		struct jetwatt_row *row = NULL;
		struct jetwatt_csv_error err;
		uint32_t *batch = NULL;
		char *text = malloc(len + 8);
		int n;

		memcpy(text, seed_text, len);
		for (uint64_t edits = next(&s) % 6 + 1; edits; edits--) {
			size_t at = next(&s) % len;

			switch (next(&s) % 4) {
			case 0:
				text[at] = (char)next(&s);
				break;
			case 1:
				text[at] = spice[next(&s) % (sizeof(spice) - 1)];
				break;
			case 2:
				memmove(text + at, text + at + 1, len - at - 1);
				len -= len > 1;
				break;
			default:
				len = at + 1;
			}
		}
		text = realloc(text, len);
		n = jetwatt_csv_parse(text, len, &row, &batch, &err);
		if (n < 0) {
			refused++;
			ASSERT_EQ(n, -EINVAL);
			ASSERT_EQ(row, NULL);
			ASSERT_NE(err.text[0], 0);
		} else {
			taken++;
			for (int i = 0; i < n; i++)
				ASSERT_TRUE(!(row[i].time_ms <= 0) && !(row[i].power_w <= 0) &&
					    row[i].mode.cores);
			ASSERT_EQ(jetwatt_csv_write("/dev/null", row, NULL, (size_t)n), 0);
		}
		free(text);
		free(row);
		free(batch);
	}
	printf("# %d taken, %d refused\n", taken, refused);
	EXPECT_GT(taken, 1000);
	EXPECT_GT(refused, 1000);
}

TEST(profiles_of_measured_boards_are_read)
{
	static const char * const files[] = {
		"orin-agx-resnet18-train.csv", "orin-agx-mobilenetv3-train.csv",
		"orin-agx-lstm-train.csv", "orin-agx-resnet50-infer.csv", "orin-nano-resnet18-train.csv",
	};
	static const int rows[] = { 4368, 4368, 441, 2205, 180 };
	const char *dir = getenv("JETWATT_SHARED_DATA");
	char path[512];

	if (!dir || access(dir, R_OK))
		SKIP(return, "no measured files: JETWATT_SHARED_DATA names no readable directory");
	for (int i = 0; i < 5; i++) {
		struct jetwatt_csv_error err;
		struct jetwatt_row *row;
		uint32_t *batch;

		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ASSERT_EQ(jetwatt_csv_read(path, &row, &batch, &err), rows[i])
			TH_LOG("%s:%u: %s", path, err.line, err.text);
		EXPECT_EQ(batch[0] != 0, i == 3);
		free(row);
		free(batch);
	}
}

TEST_HARNESS_MAIN
