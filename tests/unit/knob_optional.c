// SPDX-License-Identifier: GPL-2.0-only
/* An optional knob in all code that stores modes or learns from them, and files from a version that
 * did not know the knob. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "model/model.h"
#include "plan/explain.h"
#include "store/csv.h"
#include "store/db.h"
#include "store/pool.h"

#define DLA_LOW		614400000
#define DLA_HIGH	1600000000

static const struct jetwatt_row plain = {
	.mode = { 8, 1728000, 624750000, 3199000000 }, .time_ms = 80.5, .power_w = 20.25,
};

static struct jetwatt_row with(uint64_t dla)
{
	struct jetwatt_row r = plain;

	r.mode.dla_hz = dla;
	return r;
}

TEST(knob_has_a_csv_column)
{
	struct jetwatt_row row[2] = { plain, plain }, *back;
	struct jetwatt_csv_error err;
	char *text;
	size_t len;
	FILE *f;

	/* If no row has a value of the optional knob, the file has no column for it. */
	f = open_memstream(&text, &len);
	ASSERT_EQ(jetwatt_csv_print(f, row, NULL, 2, 0), 0);
	fclose(f);
	EXPECT_STREQ(text, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n"
			   "8,1728000,624750000,3199000000,80.5,20.25\n"
			   "8,1728000,624750000,3199000000,80.5,20.25\n");
	ASSERT_EQ(jetwatt_csv_parse(text, len, &back, NULL, &err), 2);
	EXPECT_EQ(back[0].mode.dla_hz, 0);
	free(back);
	free(text);

	row[1] = with(DLA_LOW);
	f = open_memstream(&text, &len);
	ASSERT_EQ(jetwatt_csv_print(f, row, NULL, 2, 0), 0);
	fclose(f);
	EXPECT_STREQ(text, "cores,cpu_khz,gpu_hz,emc_hz,dla_hz,time_ms,power_w\n"
			   "8,1728000,624750000,3199000000,0,80.5,20.25\n"
			   "8,1728000,624750000,3199000000,614400000,80.5,20.25\n");
	ASSERT_EQ(jetwatt_csv_parse(text, len, &back, NULL, &err), 2) TH_LOG("%s", err.text);
	EXPECT_TRUE(jetwatt_mode_same(&back[0].mode, &row[0].mode));
	EXPECT_TRUE(jetwatt_mode_same(&back[1].mode, &row[1].mode));
	EXPECT_FALSE(jetwatt_mode_same(&back[0].mode, &back[1].mode));
	free(back);
	free(text);

	text = "cores,cpu_khz,gpu_hz,emc_hz,dla_hz\n8,1728000,624750000,3199000000,-1\n";
	EXPECT_EQ(jetwatt_csv_parse(text, strlen(text), &back, NULL, &err), -EINVAL);
	EXPECT_NE(strstr(err.text, "dla_hz"), NULL);
}

FIXTURE(db)
{
	char path[64];
	struct jetwatt_db *db;
	struct jetwatt_error_text err;
	struct jetwatt_workload w;
	int64_t id;
};

FIXTURE_SETUP(db)
{
	strcpy(self->path, "/tmp/jetwatt-knob.XXXXXX");
	ASSERT_TRUE(mkdtemp(self->path));
	strcat(self->path, "/p.db");
	self->w = (struct jetwatt_workload){ "train x", 16, "a", "Orin", "L4T 36.4", "" };
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &self->id, &self->err), 0);
}

FIXTURE_TEARDOWN(db)
{
	char command[128];

	jetwatt_db_close(self->db);
	snprintf(command, sizeof(command), "rm -rf %.40s", self->path);
	*strrchr(command, '/') = '\0';
	ASSERT_EQ(system(command), 0);
}

static void run(const char *path, const char *text)
{
	sqlite3 *s;

	if (sqlite3_open(path, &s) || sqlite3_exec(s, text, NULL, NULL, NULL)) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(s));
		abort();
	}
	sqlite3_close(s);
}

static int number(const char *path, const char *text)
{
	sqlite3_stmt *st;
	sqlite3 *s;
	int v = -1;

	if (sqlite3_open(path, &s) || sqlite3_prepare_v2(s, text, -1, &st, NULL))
		abort();
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(s);
	return v;
}

#define COLUMNS	"SELECT count(*) FROM pragma_table_info('measurement') WHERE name = 'dla_hz'"

static struct jetwatt_db_row kept(uint64_t dla)
{
	return (struct jetwatt_db_row){
		.row = with(dla), .minibatches = 40, .span_s = 3, .settled = 1, .when_ms = 1000,
	};
}

TEST_F(db, knob_has_a_database_column)
{
	struct jetwatt_db_row row[] = { kept(0), kept(DLA_LOW), kept(DLA_HIGH) }, *back;
	struct jetwatt_db_profile *p;

	/* The rows differ only in the optional knob. */
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, row, 3, &self->err), 3);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, row, 3, &self->err), 0);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &back, &self->err), 3);
	for (int i = 0; i < 3; i++)
		EXPECT_TRUE(jetwatt_mode_same(&back[i].row.mode, &row[i].row.mode));
	free(back);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, &self->err), 1);
	EXPECT_EQ(p->modes, 3);
	free(p);
	EXPECT_EQ(number(self->path, "SELECT count(*) FROM profile WHERE dla_hz > 0"), 2);
	EXPECT_EQ(number(self->path, "PRAGMA user_version"), 3);
}

/* A mode with any one of the optional knobs is read back from CSV and from the database as it was
 * written. */
TEST_F(db, each_optional_knob_is_stored)
{
	struct jetwatt_db_row row[JETWATT_KNOBS], *back;
	struct jetwatt_csv_error err;
	struct jetwatt_row *read;
	char *text;
	int n = 0;
	size_t len;
	FILE *f;

	jetwatt_each_knob(k) {
		if (!jetwatt_knob_row(k)->optional)
			continue;
		row[n] = kept(0);
		jetwatt_mode_set(&row[n].row.mode, k, 1000000);
		f = open_memstream(&text, &len);
		ASSERT_EQ(jetwatt_csv_print(f, &row[n].row, NULL, 1, 0), 0);
		fclose(f);
		ASSERT_EQ(jetwatt_csv_parse(text, len, &read, NULL, &err), 1) TH_LOG("%s", err.text);
		EXPECT_TRUE(jetwatt_mode_same(&read->mode, &row[n].row.mode)) TH_LOG("%s", text);
		free(read);
		free(text);
		n++;
	}
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, row, (size_t)n, &self->err), n);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &back, &self->err), n);
	for (int i = 0; i < n; i++)
		EXPECT_TRUE(jetwatt_mode_same(&back[i].row.mode, &row[i].row.mode));
	free(back);
}

/* Key of a row: SHA-256 of the workload's key and
 * ",8,1728000,624750000,3199000000,80.5,20.25,0,0,40,3,1,0,1000". */
#define KEY	"7814b73a79b2b55f141733a63e04ccc46872fc097c75b5ba184abbfdc17c1465"

/* A row without a value of the optional knob has the same key as in the previous version. */
TEST_F(db, key_without_the_knob_is_unchanged)
{
	struct jetwatt_db_row row = kept(0), *back;

	ASSERT_EQ(jetwatt_db_add(self->db, self->id, &row, 1, &self->err), 1);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &back, &self->err), 1);
	EXPECT_STREQ(back->key, KEY);
	free(back);
}

/* A database of a jetwatt version that did not know the optional knob is updated. */
TEST_F(db, database_of_the_previous_version)
{
	struct jetwatt_db_row row[] = { kept(0), kept(DLA_LOW) }, *back;

	ASSERT_EQ(jetwatt_db_add(self->db, self->id, row, 1, &self->err), 1);
	jetwatt_db_close(self->db);
	run(self->path, "PRAGMA wal_checkpoint; DROP VIEW profile; CREATE VIEW profile AS SELECT key FROM measurement;"
		"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql,"
		" ', dla_hz INTEGER NOT NULL DEFAULT 0 CHECK (dla_hz >= 0)', '') WHERE name = 'measurement'");
	ASSERT_EQ(number(self->path, COLUMNS), 0);

	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, false, &self->err), 0) TH_LOG("%s", self->err.why);
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &back, &self->err), 1) TH_LOG("%s", self->err.why);
	EXPECT_TRUE(jetwatt_mode_same(&back->row.mode, &row[0].row.mode));
	free(back);
	jetwatt_db_close(self->db);
	EXPECT_EQ(number(self->path, COLUMNS), 0);

	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	EXPECT_EQ(number(self->path, COLUMNS), 1);
	ASSERT_EQ(jetwatt_db_add(self->db, self->id, row, 2, &self->err), 1);
	/* The older version of jetwatt can still insert rows into the updated database. */
	run(self->path, "INSERT INTO measurement(key, workload, cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w,"
		" time_sd, power_sd, minibatches, span_s, settled, lost, when_ms, device)"
		" VALUES('x', 1, 4, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, '')");
	ASSERT_EQ(jetwatt_db_rows(self->db, self->id, &back, &self->err), 3);
	EXPECT_TRUE(back[1].row.mode.dla_hz == DLA_LOW && back[2].row.mode.dla_hz == 0);
	free(back);
}

/* Return a row of a job on the accelerator (DLA), in which a higher DLA clock takes less time and
 * more power; if @dla is 0, a row without a DLA clock. */
static struct jetwatt_row job(int i, int dla)
{
	struct jetwatt_row r = plain;
	double fg = 0.3 + 0.1 * (i % 9), fd = i / 9 % 2 ? 1.6 : 0.6144;

	r.mode.cores = 4 + i % 5 * 2;
	r.mode.gpu_hz = fg * 1e9;
	r.mode.dla_hz = dla ? fd * 1e9 : 0;
	r.time_ms = 20 / fg + (dla ? 60 / fd : 40);
	r.power_w = 9 + 8 * fg * fg + (dla ? 4 * fd : 3);
	return r;
}

TEST(models_use_the_knob)
{
	struct jetwatt_mode mode[2];
	struct jetwatt_prediction p[2], again[2];
	struct jetwatt_row row[24];
	struct jetwatt_fitted *f, *back;
	struct jetwatt_model *m;
	struct jetwatt_explain why;
	unsigned char *bytes;
	int steps = 0;
	size_t len;

	for (int i = 0; i < 24; i++)
		row[i] = job(i, 1);
	ASSERT_EQ(jetwatt_estimator_fit(&f, NULL, row, 24, 0, 1), 0);
	mode[0] = mode[1] = row[4].mode;
	mode[0].dla_hz = DLA_LOW;
	mode[1].dla_hz = DLA_HIGH;
	ASSERT_EQ(jetwatt_fitted_predict(f, mode, NULL, 2, p), 0);
	/* All other knobs are equal, so the difference of the predictions comes from the optional
	 * knob. */
	EXPECT_GT(p[0].time_ms, 1.3 * p[1].time_ms);
	EXPECT_LT(p[0].power_w, p[1].power_w - 1);

	ASSERT_EQ(jetwatt_explain(f, mode, p, 2, 0, &why), 0);
	for (int i = 0; i < why.steps; i++)
		steps += why.step[i].knob == JETWATT_KNOB_DLA && why.step[i].up &&
			 why.step[i].time < -0.2;
	EXPECT_EQ(steps, 1);

	ASSERT_EQ(jetwatt_fitted_save(f, &bytes, &len), 0);
	EXPECT_EQ(bytes[8], 2);
	ASSERT_EQ(jetwatt_fitted_load(&back, bytes, len), 0);
	ASSERT_EQ(jetwatt_fitted_predict(back, mode, NULL, 2, again), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_LT(fabs(again[i].time_ms / p[i].time_ms - 1), 1e-9);
	jetwatt_fitted_free(back);
	free(bytes);
	jetwatt_fitted_free(f);

	/* If no row has a value of the optional knob, the saved model has the format of the
	 * previous version. */
	for (int i = 0; i < 24; i++)
		row[i] = job(i, 0);
	ASSERT_EQ(jetwatt_model_fit(&m, row, 24, 1), 0);
	ASSERT_EQ(jetwatt_model_save(m, &bytes, &len), 0);
	EXPECT_EQ(bytes[8], 1);
	free(bytes);
	jetwatt_model_free(m);
}

TEST_HARNESS_MAIN
