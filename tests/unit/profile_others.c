// SPDX-License-Identifier: GPL-2.0-only
/* Selection of the workloads in the profile database that serve as references for a new
 * workload. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tune/profile_store.h"

FIXTURE(others) {
	char dir[64], path[96];
	struct jetwatt_profile_store k;
};

FIXTURE_SETUP(others)
{
	struct jetwatt_profile_store_args args = { .path = self->path };

	strcpy(self->dir, "/tmp/jetwatt-others-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/profiles.db", self->dir);
	ASSERT_EQ(0, jetwatt_profile_store_open(&self->k, &args));
	strcpy(self->k.workload.command, "train.py --net new");
	strcpy(self->k.workload.board, "board");
	strcpy(self->k.workload.release, "L4T 36.4.3");
	jetwatt_workload_key(&self->k.workload, self->k.key);
}

FIXTURE_TEARDOWN(others)
{
	char cmd[96];

	jetwatt_profile_store_close(&self->k);
	snprintf(cmd, sizeof(cmd), "rm -r %s", self->dir);
	EXPECT_EQ(0, system(cmd));
}

/* Add a workload with @n measured modes to the database. @board, @params: NULL: those of the new
 * workload; @when: time of the first row. */
static void add(struct __test_metadata *_metadata, FIXTURE_DATA(others) *self, const char *command,
		const char *board, const char *params, int n, int64_t when)
{
	struct jetwatt_workload w = self->k.workload;
	struct jetwatt_error_text e;
	int64_t id;

	snprintf(w.command, sizeof(w.command), "%s", command);
	snprintf(w.board, sizeof(w.board), "%s", board ? board : self->k.workload.board);
	snprintf(w.params, sizeof(w.params), "%s", params ? params : self->k.workload.params);
	ASSERT_EQ(0, jetwatt_db_workload(self->k.db, &w, &id, &e));
	for (int i = 0; i < n; i++) {
		struct jetwatt_db_row row = {
			.row = { .mode = { 4, 1000000, 500000000u + 1000000u * (unsigned int)i, 2133000000 },
				 .time_ms = 100 - i, .power_w = 20 + i, .time_sd = 0.01, .power_sd = 0.01 },
			.minibatches = 10, .span_s = 1, .settled = true, .when_ms = when + i,
		};

		ASSERT_EQ(1, jetwatt_db_add(self->k.db, id, &row, 1, &e));
	}
}

TEST_F(others, latest_workloads_of_this_board_come_first)
{
	struct jetwatt_corpus c[3];

	EXPECT_EQ(0, jetwatt_profile_store_others(&self->k, c, 3));
	add(_metadata, self, "train.py --net old", NULL, NULL, 8, 1000);
	add(_metadata, self, "train.py --net new", NULL, NULL, 9, 2000);
	add(_metadata, self, "train.py --net few", NULL, NULL, 5, 3000);
	add(_metadata, self, "train.py --net elsewhere", "other board", NULL, 10, 4000);
	add(_metadata, self, "train.py --net beside", NULL, "beside=llm", 11, 5000);
	add(_metadata, self, "train.py --net late", NULL, NULL, 12, 6000);
	ASSERT_EQ(2, jetwatt_profile_store_others(&self->k, c, 3));
	EXPECT_EQ(12, c[0].n);
	EXPECT_EQ(8, c[1].n);
	EXPECT_EQ(20, c[1].row[0].power_w);
	EXPECT_EQ(NULL, c[0].batch);
	free((void *)c[0].row);
	free((void *)c[1].row);
	ASSERT_EQ(1, jetwatt_profile_store_others(&self->k, c, 1));
	EXPECT_EQ(12, c[0].n);
	free((void *)c[0].row);
}

/* Calibration kernels serve as references, but real workloads are better ones. */
TEST_F(others, calibration_comes_last)
{
	struct jetwatt_corpus c[3];

	add(_metadata, self, "train.py --net old", NULL, NULL, 8, 1000);
	add(_metadata, self, "[calibration] compute", NULL, NULL, 9, 2000);
	add(_metadata, self, "[calibration] memory", NULL, NULL, 10, 3000);
	add(_metadata, self, "[calibration] launches", NULL, NULL, 5, 4000);
	ASSERT_EQ(3, jetwatt_profile_store_others(&self->k, c, 3));
	EXPECT_EQ(8, c[0].n);
	EXPECT_EQ(10, c[1].n);
	EXPECT_EQ(9, c[2].n);
	for (int i = 0; i < 3; i++)
		free((void *)c[i].row);
}

TEST_HARNESS_MAIN
