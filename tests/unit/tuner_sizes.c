// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch sizes of the rows that a search reads from files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tune/strategy_search.h"

#define HEAD	"cores,cpu_khz,gpu_hz,emc_hz,batch,time_ms,power_w\n"

FIXTURE(tuner) {
	char path[32];
	struct jetwatt_args args;
	struct jetwatt_tuner l;
};

FIXTURE_SETUP(tuner)
{
	self->l.args = &self->args;
	self->l.sizes = 1;
}

FIXTURE_TEARDOWN(tuner)
{
	jetwatt_tuner_free(&self->l);
}

static int read_text(FIXTURE_DATA(tuner) *self, const char *text)
{
	int fd, err;

	strcpy(self->path, "/tmp/jetwatt-tuner-XXXXXX");
	fd = mkstemp(self->path);
	err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 :
	      jetwatt_tuner_read(&self->l, self->path, 1);
	close(fd);
	unlink(self->path);
	return err;
}

TEST_F(tuner, rows_of_one_size_get_it_for_a_search_among_several)
{
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,16,5,6\n2,1,2,3,16,7,8\n"));
	ASSERT_EQ(2, self->l.nr_rows);
	/* For the models the size is not a feature yet. */
	EXPECT_EQ(0, self->l.row[0].batch);
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, 0));
	EXPECT_EQ(16, self->l.row[0].batch);
	EXPECT_EQ(16, self->l.row[1].batch);
}

/* The file of an interrupted run also has the rows of the profile with which that run began. */
TEST_F(tuner, rows_that_two_files_have_count_once)
{
	self->l.sizes = 0;
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,16,5,6\n4,1,2,3,16,5,6\n"));
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,16,5,6\n4,1,2,3,16,5,6\n4,1,2,3,16,5,7\n2,1,2,3,16,7,8\n"));
	ASSERT_EQ(4, self->l.nr_rows);
	EXPECT_EQ(7, self->l.row[2].power_w);
	EXPECT_EQ(2, self->l.row[3].mode.cores);
}

TEST_F(tuner, files_of_different_sizes)
{
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,4,5,6\n"));
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,16,9,10\n"));
	ASSERT_EQ(2, self->l.nr_rows);
	EXPECT_EQ(4, self->l.row[0].batch);
	EXPECT_EQ(16, self->l.row[1].batch);
	EXPECT_EQ(0, self->l.size);
}

TEST_F(tuner, unknown_size_is_refused)
{
	ASSERT_EQ(0, read_text(self, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,2,3,5,6\n"));
	EXPECT_EQ(JETWATT_EXIT_FAILED, jetwatt_tuner_label_rows(&self->l, 0));
}

TEST_F(tuner, rows_without_a_size_have_the_only_size_of_the_query)
{
	ASSERT_EQ(0, read_text(self, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,2,3,5,6\n"));
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, 8));
	EXPECT_EQ(8, self->l.row[0].batch);
}

/* A search for one minibatch size continues: --profile has no column batch, the file of -o has one. */
TEST_F(tuner, rows_without_a_size_before_rows_with_one)
{
	ASSERT_EQ(0, read_text(self, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n4,1,2,3,5,6\n"));
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, 8));
	ASSERT_EQ(0, read_text(self, HEAD "2,1,2,3,8,7,8\n"));
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, 8));
	EXPECT_EQ(8, self->l.row[0].batch);
	EXPECT_EQ(8, self->l.row[1].batch);
}

TEST_F(tuner, known_sizes_stay)
{
	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,4,5,6\n2,1,2,3,4,7,8\n"));
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, 8));
	EXPECT_EQ(4, self->l.row[0].batch);
}

/* A search with one minibatch size continues from a file with rows of other sizes. */
TEST_F(tuner, search_with_one_size_uses_no_rows_of_other_sizes)
{
	struct jetwatt_strategy_search s = { .learn = &self->l, .strategy = jetwatt_strategy_find("gmd") };
	const uint32_t size = 8;

	ASSERT_EQ(0, read_text(self, HEAD "4,1,2,3,4,5,6\n4,1,2,3,8,7,8\n2,1,2,3,16,9,9\n"));
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l, size));
	self->l.mode = calloc(2, sizeof(*self->l.mode));
	ASSERT_NE(NULL, self->l.mode);
	self->l.nr_modes = 2;
	self->l.mode[0] = self->l.row[0].mode;
	self->l.mode[1] = self->l.row[2].mode;
	ASSERT_EQ(0, jetwatt_strategy_search_open(&s, JETWATT_SLICE_INFER, &size, 1));
	EXPECT_EQ(1, s.known.work[0].rows);
	EXPECT_EQ(7, s.known.work[0].time_ms[0]);
	EXPECT_TRUE(isnan(s.known.work[0].time_ms[1]));
	jetwatt_strategy_search_close(&s);
}

TEST_HARNESS_MAIN
