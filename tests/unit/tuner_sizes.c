// SPDX-License-Identifier: GPL-2.0-only
/* Minibatch sizes of the rows that a search reads from files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tune/tuner.h"

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
	ASSERT_EQ(0, jetwatt_tuner_label_rows(&self->l));
	EXPECT_EQ(16, self->l.row[0].batch);
	EXPECT_EQ(16, self->l.row[1].batch);
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
	EXPECT_EQ(JETWATT_EXIT_FAILED, jetwatt_tuner_label_rows(&self->l));
}

TEST_HARNESS_MAIN
