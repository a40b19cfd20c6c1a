// SPDX-License-Identifier: GPL-2.0-only
/* The pool: measurements of other devices, stored separately from those of this device and used as
 * its prior. */
#include "store/pool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

FIXTURE(pool)
{
	char dir[32], path[96];
	struct jetwatt_db *db;
	struct jetwatt_error_text err;
	struct jetwatt_workload w;
	int64_t id;
};

FIXTURE_SETUP(pool)
{
	strcpy(self->dir, "/tmp/jetwatt-pool.XXXXXX");
	ASSERT_TRUE(mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/profiles.db", self->dir);
	self->w = (struct jetwatt_workload){ "train x", 16, "a", "Orin", "L4T 36.4", "" };
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &self->id, &self->err), 0);
}

FIXTURE_TEARDOWN(pool)
{
	char command[64];

	jetwatt_db_close(self->db);
	snprintf(command, sizeof(command), "rm -rf %s", self->dir);
	ASSERT_EQ(system(command), 0);
}

static struct jetwatt_db_row made(unsigned int mode, double time_ms)
{
	return (struct jetwatt_db_row){
		.row = { { 4, 1000000, 500000000 + mode, 1600000000 }, time_ms, 20, 0.01, 0.01 },
		.minibatches = 40, .span_s = 3, .settled = true, .when_ms = 1000 + mode,
	};
}

static struct jetwatt_pool_row from(const char *device, const struct jetwatt_workload *w, unsigned int mode,
				    double time_ms)
{
	struct jetwatt_pool_row r = { .workload = *w, .row = made(mode, time_ms) };

	snprintf(r.device, sizeof(r.device), "%s", device);
	return r;
}

TEST_F(pool, own_rows_are_sent_in_order)
{
	struct jetwatt_pool_row *row, other;
	struct jetwatt_db_row own[5];
	uint64_t odd = 0;
	int64_t last = 0;

	for (unsigned int i = 0; i < 5; i++)
		own[i] = made(i, 100 + i);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, own, 3, &self->err), 3);
	other = from("b", &self->w, 9, 90);
	ASSERT_EQ(jetwatt_pool_store(self->db, &other, 1, &odd, &self->err), 1);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, own, 5, &self->err), 2);
	ASSERT_EQ(jetwatt_pool_read_own(self->db, 0, 4, &row, &self->err), 4);
	for (int i = 0; i < 4; i++) {
		EXPECT_GT(row[i].id, last);
		EXPECT_EQ(row[i].row.row.time_ms, 100 + i);
		EXPECT_STREQ(row[i].device, "");
		EXPECT_EQ(0, memcmp(&row[i].workload, &self->w, sizeof(self->w)));
		last = row[i].id;
	}
	free(row);
	ASSERT_EQ(jetwatt_pool_read_own(self->db, last, 4, &row, &self->err), 1);
	EXPECT_EQ(row[0].row.row.time_ms, 104);
	free(row);
}

TEST_F(pool, rows_of_other_devices_are_kept_apart)
{
	struct jetwatt_db_profile *p;
	struct jetwatt_db_row *own, row = made(1, 100);
	struct jetwatt_pool_row other[4];
	uint64_t odd = 0;

	other[0] = from("b", &self->w, 2, 90);
	other[1] = from("", &self->w, 3, 90);
	other[2] = from("b", &self->w, 4, NAN);
	other[3] = from("c", &self->w, 5, -1);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, &row, 1, &self->err), 1);
	ASSERT_EQ(jetwatt_pool_store(self->db, other, 4, &odd, &self->err), 1);
	EXPECT_EQ(odd, 3);
	EXPECT_EQ(jetwatt_pool_store(self->db, other, 1, &odd, &self->err), 0);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &own, &self->err), 1);
	EXPECT_EQ(own[0].row.time_ms, 100);
	free(own);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, &self->err), 1);
	EXPECT_EQ(p->rows, 1);
	EXPECT_EQ(p->modes, 1);
	EXPECT_EQ(p->pooled, 1);
	free(p);
}

/* A file that was imported on another device is imported on this device too, after its rows were
 * received: they become rows of this device, and stay so when they are received again. */
TEST_F(pool, received_rows_can_be_imported)
{
	struct jetwatt_pool_row other[2] = { from("b", &self->w, 1, 100), from("b", &self->w, 2, 90) };
	struct jetwatt_db_row row = made(1, 100), *own;
	struct jetwatt_db_profile *p;
	uint64_t odd = 0;

	ASSERT_EQ(jetwatt_pool_store(self->db, other, 2, &odd, &self->err), 2);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, &row, 1, &self->err), 1);
	EXPECT_EQ(jetwatt_db_add(self->db, self->id, &row, 1, &self->err), 0);
	EXPECT_EQ(jetwatt_pool_store(self->db, other, 2, &odd, &self->err), 0);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &own, &self->err), 1);
	EXPECT_EQ(own[0].row.time_ms, 100);
	free(own);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, &self->err), 1);
	EXPECT_EQ(p->rows, 1);
	EXPECT_EQ(p->pooled, 1);
	free(p);
}

TEST_F(pool, prior_is_the_cross_device_median)
{
	struct jetwatt_workload later = self->w, else_;
	struct jetwatt_pool_row other[6];
	struct jetwatt_row *row;
	struct jetwatt_db_row own = made(1, 500), before = made(3, 70);
	uint64_t odd = 0;
	int64_t id;

	snprintf(later.release, sizeof(later.release), "L4T 35.1");
	else_ = self->w;
	else_.batch = 32;
	other[0] = from("b", &self->w, 1, 100);
	other[1] = from("c", &self->w, 1, 110);
	other[2] = from("mad", &self->w, 1, 1e9);
	other[3] = from("b", &self->w, 2, 40);
	other[4] = from("b", &later, 2, 44);
	other[5] = from("b", &else_, 1, 7);
	ASSERT_EQ(jetwatt_pool_store(self->db, other, 6, &odd, &self->err), 6);
	/* The prior of a device excludes the device's own rows of this workload, but includes its
	 * rows from an older software release. */
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, &own, 1, &self->err), 1);
	ASSERT_EQ(jetwatt_db_workload(self->db, &later, &id, &self->err), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, &before, 1, &self->err), 1);
	ASSERT_EQ(jetwatt_pool_read_prior(self->db, &self->w, &row, &self->err), 3);
	EXPECT_LE(100, row[0].time_ms);
	EXPECT_GE(112, row[0].time_ms);
	EXPECT_LE(40, row[1].time_ms);
	EXPECT_GE(44, row[1].time_ms);
	EXPECT_LT(fabs(row[2].time_ms - 70), 1e-9);
	free(row);
	snprintf(else_.board, sizeof(else_.board), "Nano");
	ASSERT_EQ(jetwatt_pool_read_prior(self->db, &else_, &row, &self->err), 0);
	free(row);
}

/* Sixty devices, whose powers have offsets of up to about 5 %, measure four of thirty modes each.
 * By chance, some modes are measured only by devices with a positive offset. Because the ratio of
 * two modes is known much better than the offset of a device, the offsets must not bias the prior
 * of a mode. */
TEST_F(pool, offset_of_a_device_does_not_bias_a_mode)
{
	enum { BOARDS = 60, EACH = 4, MODES = 30 };
	struct jetwatt_row row[BOARDS * EACH];
	int64_t source[BOARDS * EACH];
	double plain[MODES] = { 0 }, worst = 0, before = 0, all = 0;
	unsigned int seen[MODES] = { 0 };
	int n;

	srandom(5);
	for (int i = 0; i < BOARDS * EACH; i++) {
		int board = i / EACH, mode = (int)(random() % MODES);
		double off = 0.05 * sin(1 + 7.1 * board), noise = 0.01 * (random() % 201 / 100.0 - 1);

		row[i] = made((unsigned int)mode, (10 + mode) * exp(noise)).row;
		row[i].power_w = (20 + mode) * exp(off + noise);
		source[i] = board;
		plain[mode] += off;
		seen[mode]++;
	}
	n = jetwatt_pool_merge(row, source, BOARDS * EACH);
	ASSERT_EQ(MODES, n);
	for (int m = 0; m < n; m++)
		all += log(row[m].power_w / (20 + m)) / n;
	for (int m = 0; m < n; m++) {
		EXPECT_LT(fabs(log(row[m].time_ms / (10 + m))), 0.01);
		worst = fmax(worst, fabs(log(row[m].power_w / (20 + m)) - all));
		before = fmax(before, fabs(plain[m] / seen[m]));
	}
	TH_LOG("worst %.1f %%; as means %.1f %%", 100 * worst, 100 * before);
	EXPECT_LT(worst, 0.02);
	EXPECT_GT(before, 2 * worst);
	EXPECT_EQ(0, jetwatt_pool_merge(row, source, 0));
}

TEST_F(pool, progress_is_kept_per_pool)
{
	struct jetwatt_pool_progress p = { 17, "4711" };

	ASSERT_EQ(jetwatt_pool_progress_store(self->db, "x", &p, &self->err), 0);
	p.pushed = 18;
	ASSERT_EQ(jetwatt_pool_progress_store(self->db, "x", &p, &self->err), 0);
	ASSERT_EQ(jetwatt_pool_progress(self->db, "y", &p, &self->err), 0);
	EXPECT_EQ(p.pushed, 0);
	EXPECT_STREQ(p.seen, "");
	ASSERT_EQ(jetwatt_pool_progress(self->db, "x", &p, &self->err), 0);
	EXPECT_EQ(p.pushed, 18);
	EXPECT_STREQ(p.seen, "4711");
}

TEST_HARNESS_MAIN
