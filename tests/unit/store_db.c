// SPDX-License-Identifier: GPL-2.0-only
/* The profile database: reading and writing, schema versions, and failures. */
#include "store/db.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

FIXTURE(db)
{
	char dir[32], path[96];
	struct jetwatt_db *db;
	struct jetwatt_error_text err;
	struct jetwatt_workload w;
};

FIXTURE_SETUP(db)
{
	strcpy(self->dir, "/tmp/jetwatt-db.XXXXXX");
	ASSERT_TRUE(mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/sub/profiles.db", self->dir);
	self->w = (struct jetwatt_workload){ "train x", 16, "a", "Orin", "L4T 36.4", "" };
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
}

FIXTURE_TEARDOWN(db)
{
	char command[96];

	jetwatt_db_close(self->db);
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", self->dir, self->dir);
	ASSERT_EQ(system(command), 0);
}

static struct jetwatt_db_row made(unsigned int i)
{
	return (struct jetwatt_db_row){
		.row = { { 1 + i % 12, 115200 + i, 114750000, 3199000000 }, 80.1 + i / 3.0, 14.509,
			 0.01, 0.002 },
		.minibatches = 40, .span_s = 3.25, .settled = i % 2, .lost = i % 3, .when_ms = 1000 + i,
	};
}

/* Run SQL on the database file without jetwatt's functions, as another program would. */
static void sql(const char *path, const char *text)
{
	sqlite3 *s;

	if (sqlite3_open(path, &s) || sqlite3_exec(s, text, NULL, NULL, NULL))
		abort();
	sqlite3_close(s);
}

/* Give up root's privileges, in a child process. */
static void ordinary(const char *dir)
{
	if (geteuid())
		return;
	if (chmod(dir, 0755) || setgid(65534) || setuid(65534))
		_exit(99);
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(db, rows_read_back_unchanged)
{
	struct jetwatt_db_row row[300], *back;
	struct jetwatt_db_profile *p;
	int64_t id, again;

	for (unsigned int i = 0; i < 300; i++)
		row[i] = made(i);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, &self->err), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, row, 300, &self->err), 300);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &again, NULL), 0);
	EXPECT_EQ(id, again);
	/* Adding rows that the database already has changes nothing. */
	EXPECT_EQ(jetwatt_db_add(self->db, id, row, 300, NULL), 0);
	row[7].row.power_w += 1e-9;
	EXPECT_EQ(jetwatt_db_add(self->db, id, row, 300, NULL), 1);
	row[7].row.power_w -= 1e-9;

	ASSERT_EQ(jetwatt_db_rows(self->db, id, &back, &self->err), 301);
	for (unsigned int i = 0; i < 7; i++) {
		struct jetwatt_db_row want = made(i);

		EXPECT_EQ(strlen(back[i].key), 64);
		memcpy(want.key, back[i].key, sizeof(want.key));
		EXPECT_EQ(memcmp(&want.row, &back[i].row, sizeof(want.row)), 0);
		EXPECT_TRUE(want.minibatches == back[i].minibatches && want.span_s == back[i].span_s &&
			    want.settled == back[i].settled && want.lost == back[i].lost &&
			    want.when_ms == back[i].when_ms);
	}
	free(back);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, &self->err), 1);
	EXPECT_TRUE(p->id == id && p->rows == 301 && p->modes == 300 && p->first_ms == 1000 &&
		    p->last_ms == 1299 && p->workload.batch == 16);
	EXPECT_STREQ(p->workload.command, "train x");
	free(p);
	EXPECT_EQ(jetwatt_db_check(self->db, &self->err), 0);
}

/* The clock of a board without a battery shows the same time after each boot, so times of rows may
 * go back. */
TEST_F(db, order_survives_a_clock_that_goes_back)
{
	static const int64_t when[] = { 1700000000000, 0, 60000, 1700000001000, 0, 120000, 60001 };
	static const int order[] = { 1, 4, 0, 2, 3, 5, 6 };
	struct jetwatt_db_profile *p;
	struct jetwatt_db_row row, *back;
	int64_t id, other;

	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	for (unsigned int i = 0; i < 7; i++) {
		row = made(i);
		row.when_ms = when[i];
		ASSERT_EQ(jetwatt_db_add(self->db, id, &row, 1, NULL), 1);
	}
	/* Rows are read in the order in which they were added, but rows without a time (imported
	 * from files) come first. */
	ASSERT_EQ(jetwatt_db_rows(self->db, id, &back, NULL), 7);
	for (unsigned int i = 0; i < 7; i++)
		EXPECT_EQ(when[order[i]], back[i].when_ms);
	free(back);
	/* The list of workloads begins with the workload that was measured last. */
	self->w.batch = 32;
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &other, NULL), 0);
	row = made(99);
	row.when_ms = 5;
	ASSERT_EQ(jetwatt_db_add(self->db, other, &row, 1, NULL), 1);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, NULL), 2);
	EXPECT_EQ(other, p[0].id);
	free(p);
}

TEST_F(db, forget_keeps_the_latest_rows_and_other_workloads)
{
	struct jetwatt_db_row in[5], *out;
	int64_t id, other;

	for (unsigned int i = 0; i < 5; i++)
		in[i] = made(i);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, &self->err), 0);
	strcpy(self->w.command, "train y");
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &other, &self->err), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, in, 5, &self->err), 5);
	ASSERT_EQ(jetwatt_db_add(self->db, other, in, 5, &self->err), 5);
	EXPECT_EQ(jetwatt_db_forget(self->db, id, 2, &self->err), 3);
	ASSERT_EQ(jetwatt_db_rows(self->db, id, &out, &self->err), 2);
	EXPECT_EQ(out[0].when_ms, 1003);
	EXPECT_EQ(out[1].when_ms, 1004);
	free(out);
	EXPECT_EQ(jetwatt_db_forget(self->db, id, 2, &self->err), 0);
	EXPECT_EQ(jetwatt_db_forget(self->db, id, 0, &self->err), 2);
	EXPECT_EQ(jetwatt_db_rows(self->db, id, &out, &self->err), 0);
	free(out);
	EXPECT_EQ(jetwatt_db_rows(self->db, other, &out, &self->err), 5);
	free(out);
}

TEST_F(db, workload_is_found_by_the_start_of_its_key)
{
	struct jetwatt_db_profile p;
	char key[JETWATT_WORKLOAD_KEY], part[8];
	int64_t id[40];

	for (int i = 0; i < 40; i++) {
		self->w.batch = 1 + i;
		ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id[i], NULL), 0);
	}
	jetwatt_workload_key(&self->w, key);
	ASSERT_EQ(jetwatt_db_find(self->db, key, &p, &self->err), 0);
	EXPECT_TRUE(p.id == id[39] && !p.rows && !p.modes && p.workload.batch == 40);
	EXPECT_EQ(jetwatt_db_find(self->db, "", &p, &self->err), -ENOTUNIQ);
	EXPECT_TRUE(*self->err.fix);
	snprintf(part, sizeof(part), "%.1s", key);
	EXPECT_EQ(jetwatt_db_find(self->db, part, &p, NULL), -ENOTUNIQ);
	EXPECT_EQ(jetwatt_db_find(self->db, "%", &p, &self->err), -ENOENT);
	EXPECT_EQ(jetwatt_db_find(self->db, "x' OR '1'='1", &p, &self->err), -ENOENT);
}

/* The command line of a workload may contain any text, such as quotes and SQL. */
TEST_F(db, sql_in_text_is_not_executed)
{
	static const char evil[] = "'; DROP TABLE measurement; --\"); DELETE FROM workload; /*\x01\xff";
	struct jetwatt_db_row row = made(1), *back;
	struct jetwatt_db_profile *p;
	int64_t id;

	strcpy(self->w.command, evil);
	strcpy(self->w.cgroup, evil);
	strcpy(self->w.board, evil);
	strcpy(self->w.release, evil);
	strcpy(self->w.params, evil);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, &self->err), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, &row, 1, &self->err), 1);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, &self->err), 1);
	EXPECT_STREQ(p->workload.command, evil);
	EXPECT_STREQ(p->workload.params, evil);
	free(p);
	ASSERT_EQ(jetwatt_db_rows(self->db, id, &back, &self->err), 1);
	free(back);
}

TEST_F(db, invalid_row_refuses_all_rows)
{
	struct jetwatt_db_row row[2] = { made(1), made(2) }, *back;
	int64_t id;

	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	for (int i = 0; i < 7; i++) {
		row[1] = made(2);
		switch (i) {
		case 0: row[1].row.time_ms = 0.0 / 0.0; break;
		case 1: row[1].row.power_w = -1; break;
		case 2: row[1].row.mode.cores = 0; break;
		case 3: row[1].row.mode.gpu_hz = UINT64_MAX; break;
		case 4: row[1].row.time_sd = 1.0 / 0.0; break;
		case 5: row[1].when_ms = -1; break;
		case 6: row[1].span_s = -1; break;
		}
		EXPECT_EQ(jetwatt_db_add(self->db, id, row, 2, &self->err), -EINVAL) TH_LOG("%d", i);
	}
	EXPECT_LT(jetwatt_db_add(self->db, id + 1, row, 1, &self->err), 0);
	EXPECT_EQ(jetwatt_db_rows(self->db, id, &back, NULL), 0);
	free(back);
}

/* A database of the first release (schema version 1) is updated: its rows stay, and the new columns
 * are added. */
TEST_F(db, schema_version_1_is_updated)
{
	struct jetwatt_db_row *back;
	struct jetwatt_db_profile *p;

	jetwatt_db_close(self->db);
	self->db = NULL;
	unlink(self->path);
	/* The SQL command DROP COLUMN needs SQLite 3.35; Ubuntu 20.04 has an older version. */
	sql(self->path,
	    "CREATE TABLE workload(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, command TEXT NOT NULL,"
	    " batch INTEGER NOT NULL, cgroup TEXT NOT NULL, board TEXT NOT NULL, release TEXT NOT NULL,"
	    " params TEXT NOT NULL);"
	    "CREATE TABLE measurement(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
	    " workload INTEGER NOT NULL REFERENCES workload(id), cores INTEGER NOT NULL,"
	    " cpu_khz INTEGER NOT NULL, gpu_hz INTEGER NOT NULL, emc_hz INTEGER NOT NULL,"
	    " time_ms REAL NOT NULL, power_w REAL NOT NULL, time_sd REAL NOT NULL,"
	    " power_sd REAL NOT NULL, minibatches INTEGER NOT NULL, when_ms INTEGER NOT NULL);"
	    "CREATE INDEX measurement_workload ON measurement(workload);"
	    "INSERT INTO workload VALUES(1, 'abc', 'train x', 16, '', 'Orin', '', '');"
	    "INSERT INTO measurement(key, workload, cores, cpu_khz, gpu_hz, emc_hz, time_ms, power_w,"
	    " time_sd, power_sd, minibatches, when_ms)"
	    " VALUES('def', 1, 4, 422400, 114750000, 665600000, 82.1, 14.5, 0.01, 0.002, 40, 7);"
	    "PRAGMA application_id = 0x4a575454; PRAGMA user_version = 1;");
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, false, &self->err), -EPROTO);
	EXPECT_TRUE(strstr(self->err.why, "version 1") && *self->err.fix);
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	ASSERT_EQ(jetwatt_db_profiles(self->db, &p, NULL), 1);
	ASSERT_EQ(jetwatt_db_rows(self->db, p->id, &back, NULL), 1);
	EXPECT_TRUE(back->row.time_ms == 82.1 && back->settled && !back->lost && back->when_ms == 7);
	free(back);
	free(p);
	jetwatt_db_close(self->db);
	self->db = NULL;
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, false, &self->err), 0);
}

/* Return: 1 if the header of the database file says that it is in WAL mode (sqlite.org/fileformat2.html,
 * section 1.3.3); 0 if not; -1: it cannot be read. */
static int is_wal(const char *path)
{
	unsigned char header[20];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(header, 1, sizeof(header), f) : 0;

	if (f)
		fclose(f);
	return n == sizeof(header) ? header[18] == 2 : -1;
}

TEST_F(db, newer_or_foreign_database_is_refused)
{
	jetwatt_db_close(self->db);
	self->db = NULL;
	EXPECT_EQ(is_wal(self->path), 1);
	sql(self->path, "PRAGMA user_version = 99");
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), -EPROTO);
	EXPECT_TRUE(strstr(self->err.fix, "update"));
	unlink(self->path);
	sql(self->path, "CREATE TABLE mail(x); PRAGMA user_version = 2");
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), -EBADMSG);
	EXPECT_TRUE(strstr(self->err.why, "other program"));
	EXPECT_EQ(is_wal(self->path), 0);
	unlink(self->path);
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, false, &self->err), -ENOENT);
	EXPECT_TRUE(*self->err.fix);
}

static void *open_db(void *arg)
{
	FIXTURE_DATA(db) *self = arg;

	return (void *)(intptr_t)jetwatt_db_open(&self->db, self->path, true, &self->err);
}

/* A newer jetwatt creates the schema while this one waits to create it. */
TEST_F(db, newer_schema_created_meanwhile_is_refused)
{
	pthread_t thread;
	sqlite3 *newer;
	void *rc;

	jetwatt_db_close(self->db);
	self->db = NULL;
	unlink(self->path);
	sql(self->path, "PRAGMA journal_mode = WAL");
	ASSERT_EQ(sqlite3_open(self->path, &newer), SQLITE_OK);
	ASSERT_EQ(sqlite3_exec(newer, "BEGIN IMMEDIATE; CREATE TABLE measurement(dla_hz);"
			       "PRAGMA application_id = 0x4a575454; PRAGMA user_version = 99",
			       NULL, NULL, NULL), SQLITE_OK);
	ASSERT_EQ(pthread_create(&thread, NULL, open_db, self), 0);
	usleep(300000);
	ASSERT_EQ(sqlite3_exec(newer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	pthread_join(thread, &rc);
	EXPECT_EQ((intptr_t)rc, -EPROTO);
	EXPECT_TRUE(strstr(self->err.fix, "update"));
	sqlite3_close(newer);
}

static void spoil(const char *path, off_t at, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	for (size_t i = 0; i < n; i++)
		if (pwrite(fd, "\xa5", 1, at + (off_t)i) != 1)
			abort();
	close(fd);
}

/* A writer that does not end keeps the database from being set to WAL mode. */
TEST_F(db, database_without_wal_is_not_used)
{
	sqlite3 *writer;

	jetwatt_db_close(self->db);
	self->db = NULL;
	sql(self->path, "PRAGMA journal_mode = DELETE");
	ASSERT_EQ(sqlite3_open(self->path, &writer), SQLITE_OK);
	ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), -EBUSY);
	sqlite3_close(writer);
}

TEST_F(db, damaged_database_is_refused)
{
	struct jetwatt_db_row row[300];
	struct stat st;
	int64_t id;

	for (unsigned int i = 0; i < 300; i++)
		row[i] = made(i);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, row, 300, NULL), 300);
	jetwatt_db_close(self->db);
	self->db = NULL;
	/* All pages but the first are damaged: jetwatt_db_check() and any query that reads these
	 * pages report the damage. */
	ASSERT_EQ(stat(self->path, &st), 0);
	spoil(self->path, 4096, (size_t)st.st_size - 4096);
	if (!jetwatt_db_open(&self->db, self->path, false, &self->err)) {
		struct jetwatt_db_row *back;

		EXPECT_EQ(jetwatt_db_check(self->db, &self->err), -EBADMSG);
		EXPECT_EQ(jetwatt_db_rows(self->db, id, &back, &self->err), -EBADMSG);
		EXPECT_TRUE(strstr(self->err.why, "damaged") && *self->err.fix);
	}
	jetwatt_db_close(self->db);
	self->db = NULL;
	spoil(self->path, 0, 100);
	EXPECT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), -EBADMSG);
	EXPECT_TRUE(strstr(self->err.why, "not an SQLite database") && *self->err.fix);
}

/* A writing process is killed: the database contains all its committed transactions, and nothing of
 * its open transaction. */
TEST_F(db, killed_writer_leaves_whole_transactions)
{
	struct jetwatt_db_row *back;
	int64_t id;

	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	for (int turn = 0; turn < 8; turn++) {
		int ready[2];
		pid_t pid;
		char c;

		ASSERT_EQ(pipe(ready), 0);
		pid = fork();
		if (!pid) {
			static struct jetwatt_db_row row[1000];
			struct jetwatt_db *db;

			if (jetwatt_db_open(&db, self->path, true, NULL))
				_exit(1);
			for (unsigned int n = 0;; n++) {
				for (unsigned int i = 0; i < 1000; i++) {
					row[i] = made(i);
					row[i].when_ms = 10000000 * (1 + turn) + 1000 * n + i;
				}
				if (jetwatt_db_add(db, id, row, 1000, NULL) != 1000)
					_exit(1);
				if (!n && write(ready[1], "x", 1) != 1)
					_exit(1);
			}
		}
		close(ready[1]);
		EXPECT_EQ(read(ready[0], &c, 1), 1);
		usleep(3000 + 7000 * (useconds_t)turn);
		kill(pid, SIGKILL);
		EXPECT_EQ(status_of(pid), 128 + SIGKILL);
		close(ready[0]);
	}
	jetwatt_db_close(self->db);
	self->db = NULL;
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	EXPECT_EQ(jetwatt_db_check(self->db, &self->err), 0);
	EXPECT_EQ(jetwatt_db_rows(self->db, id, &back, NULL) % 1000, 0);
	free(back);
}

#define WRITERS	3
#define EACH	60

/* Several processes write, and create the database, at the same time; others read meanwhile. */
TEST_F(db, concurrent_writers_and_readers)
{
	pid_t pid[WRITERS + 2];
	struct jetwatt_db_row *back;
	int64_t id;

	jetwatt_db_close(self->db);
	self->db = NULL;
	unlink(self->path);
	for (int p = 0; p < WRITERS + 2; p++) {
		pid[p] = fork();
		if (pid[p])
			continue;
		if (p < WRITERS) {
			struct jetwatt_db *db;

			if (jetwatt_db_open(&db, self->path, true, &self->err) ||
			    jetwatt_db_workload(db, &self->w, &id, &self->err)) {
				fprintf(stderr, "# %s: %s\n", self->err.what, self->err.why);
				_exit(1);
			}
			for (unsigned int i = 0; i < EACH; i++) {
				struct jetwatt_db_row row = made(1000 * (unsigned int)p + i);

				if (jetwatt_db_add(db, id, &row, 1, &self->err) != 1) {
					fprintf(stderr, "# %s: %s\n", self->err.what, self->err.why);
					_exit(1);
				}
			}
			jetwatt_db_close(db);
			_exit(0);
		}
		/* While other processes write, the number of rows that a reader sees never
		 * decreases. */
		for (int seen = 0, turns = 0; seen < WRITERS * EACH; turns++) {
			struct jetwatt_db_profile *list = NULL;
			struct jetwatt_db *db;
			int n, rc = jetwatt_db_open(&db, self->path, false, &self->err);

			if (turns > 100000)
				_exit(2);
			if (rc == -ENOENT || rc == -EPROTO) {
				usleep(1000);
				continue;	/* not created yet */
			}
			if (rc) {
				fprintf(stderr, "# reader: %s: %s\n", self->err.what, self->err.why);
				_exit(1);
			}
			n = jetwatt_db_profiles(db, &list, &self->err);
			if (n < 0) {
				fprintf(stderr, "# reader: %s: %s\n", self->err.what, self->err.why);
				_exit(1);
			}
			if (n && (int)list->rows < seen)
				_exit(3);
			seen = n ? (int)list->rows : seen;
			free(list);
			jetwatt_db_close(db);
		}
		_exit(0);
	}
	for (int p = 0; p < WRITERS + 2; p++) {
		EXPECT_EQ(status_of(pid[p]), 0) TH_LOG("process %d", p);
	}
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, false, &self->err), 0);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, &self->err), -EROFS);
	ASSERT_EQ(jetwatt_db_rows(self->db, 1, &back, NULL), WRITERS * EACH);
	free(back);
}

TEST_F(db, database_in_a_read_only_directory_is_read)
{
	struct jetwatt_db_row row = made(1);
	char sub[96];
	int64_t id;
	pid_t pid;

	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, &row, 1, NULL), 1);
	jetwatt_db_close(self->db);
	self->db = NULL;
	snprintf(sub, sizeof(sub), "%s/sub", self->dir);
	ASSERT_EQ(chmod(sub, 0555), 0);
	ASSERT_EQ(chmod(self->path, 0444), 0);
	pid = fork();
	if (!pid) {
		struct jetwatt_db_row *back;
		struct jetwatt_db *db;

		ordinary(self->dir);
		if (jetwatt_db_open(&db, self->path, false, &self->err)) {
			fprintf(stderr, "# %s: %s\n", self->err.what, self->err.why);
			_exit(1);
		}
		if (jetwatt_db_rows(db, id, &back, NULL) != 1)
			_exit(2);
		free(back);
		jetwatt_db_close(db);
		if (!jetwatt_db_open(&db, self->path, true, &self->err))
			_exit(3);
		_exit(*self->err.why && *self->err.fix ? 0 : 4);
	}
	EXPECT_EQ(status_of(pid), 0);
	chmod(sub, 0755);
}

/* Create a hot journal of user @uid beside the database @db, which names the file @victim as its
 * super-journal. The format is described in SQLite's fileformat.html, section 3. */
static void hot_journal(const char *db, const char *victim, uid_t uid)
{
	static const unsigned char magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	unsigned char head[512] = { 0 }, tail[12];
	uint32_t word[5] = { 0, 1, 0, 512, 4096 }, sum = 0, page = 0x40000000 / 4096 + 1;
	char path[128];
	struct stat st;
	FILE *f;

	if (stat(db, &st))
		abort();
	word[2] = (uint32_t)(st.st_size / 4096);
	for (int i = 0; i < 5; i++)
		word[i] = htobe32(word[i]);
	memcpy(head, magic, 8);
	memcpy(head + 8, word, sizeof(word));
	for (const char *p = victim; *p; p++)
		sum += (unsigned char)*p;
	snprintf(path, sizeof(path), "%s-journal", db);
	f = fopen(path, "w");
	page = htobe32(page);
	word[0] = htobe32((uint32_t)strlen(victim));
	word[1] = htobe32(sum);
	memcpy(tail, word, 8);
	if (!f || fwrite(head, sizeof(head), 1, f) != 1 || fwrite(&page, 4, 1, f) != 1 ||
	    fputs(victim, f) < 0 || fwrite(tail, 8, 1, f) != 1 || fwrite(magic, 8, 1, f) != 1 || fclose(f))
		abort();
	if (chown(path, uid, uid))
		abort();
}

#define OTHER	990

/* A user who may write the directory cannot use SQLite to make root delete a file. */
TEST_F(db, root_deletes_no_file_for_a_user)
{
	struct jetwatt_db_row row = made(1);
	char victim[128], sub[128], journal[128];
	struct stat st;
	int64_t id;
	int fd;

	if (geteuid())
		SKIP(return, "needs root");
	snprintf(victim, sizeof(victim), "%s/roots", self->dir);
	snprintf(sub, sizeof(sub), "%s/sub", self->dir);
	snprintf(journal, sizeof(journal), "%s-journal", self->path);
	ASSERT_EQ(chmod(self->dir, 0755), 0);
	/* The super-journal must not be empty, because SQLite does not delete an empty one. */
	fd = open(victim, O_CREAT | O_WRONLY, 0600);
	ASSERT_EQ(write(fd, "root's", 6), 6);
	ASSERT_EQ(close(fd), 0);
	jetwatt_db_close(self->db);
	self->db = NULL;
	sql(self->path, "PRAGMA journal_mode = DELETE");
	ASSERT_EQ(chown(sub, OTHER, OTHER), 0);
	ASSERT_EQ(chown(self->path, OTHER, OTHER), 0);

	hot_journal(self->path, victim, OTHER);
	for (int write = 0; write < 2; write++)
		if (!jetwatt_db_open(&self->db, self->path, write, &self->err)) {
			jetwatt_db_close(self->db);
			self->db = NULL;
		}
	EXPECT_EQ(access(victim, F_OK), 0);
	unlink(journal);

	/* Root can still use the database in the user's directory, and files that root creates
	 * there belong to the user. */
	ASSERT_EQ(jetwatt_db_open(&self->db, self->path, true, &self->err), 0) TH_LOG("%s", self->err.why);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, &self->err), 0);
	EXPECT_EQ(jetwatt_db_add(self->db, id, &row, 1, &self->err), 1);
	snprintf(sub, sizeof(sub), "%s-wal", self->path);
	EXPECT_TRUE(!stat(sub, &st) && st.st_uid == OTHER && st.st_gid != 0);
	/* After the commands, the process has root's rights again: it may read, write and chown the
	 * file. */
	EXPECT_EQ(access(victim, R_OK), 0);
	EXPECT_EQ(close(open(victim, O_WRONLY)), 0);
	EXPECT_EQ(chown(victim, 1, 1), 0);

	/* New directories on a path through the user's directory belong to the user too. */
	jetwatt_db_close(self->db);
	snprintf(sub, sizeof(sub), "%s/sub/new/profiles.db", self->dir);
	ASSERT_EQ(jetwatt_db_open(&self->db, sub, true, &self->err), 0) TH_LOG("%s", self->err.why);
	EXPECT_TRUE(!stat(sub, &st) && st.st_uid == OTHER);
	*strrchr(sub, '/') = '\0';
	EXPECT_TRUE(!stat(sub, &st) && st.st_uid == OTHER);
}

/* Drop (@on false) or restore (@on true) one effective capability of this thread. */
static void may(int cap, int on)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		abort();
	data[0].effective = on ? data[0].effective | 1u << cap : data[0].effective & ~(1u << cap);
	if (syscall(SYS_capset, &head, data))
		abort();
}

/* Root in a container may lack the capability to take on the rights of the user who owns the
 * directory. The error message must name the missing capability, not the rights of the owner. */
TEST_F(db, missing_capability_is_reported)
{
	static const int cap[] = { CAP_SETUID, CAP_SETGID };
	char sub[128];
	int rc;

	if (geteuid())
		SKIP(return, "needs root");
	jetwatt_db_close(self->db);
	self->db = NULL;
	snprintf(sub, sizeof(sub), "%s/sub", self->dir);
	ASSERT_EQ(chmod(self->dir, 0755), 0);
	ASSERT_EQ(chown(sub, OTHER, OTHER), 0);
	ASSERT_EQ(chown(self->path, OTHER, OTHER), 0);
	for (int i = 0; i < 4; i++) {
		memset(&self->err, 0, sizeof(self->err));
		may(cap[i / 2], 0);
		rc = jetwatt_db_open(&self->db, self->path, i % 2, &self->err);
		may(cap[i / 2], 1);
		EXPECT_EQ(rc, -EPERM);
		EXPECT_NE(strstr(self->err.why, "may not take on the rights of the user"), NULL) TH_LOG("%s", self->err.why);
		EXPECT_NE(strstr(self->err.fix, "CAP_SETGID"), NULL) TH_LOG("%s", self->err.fix);
	}
}

/* If several users may write the directory, root does not use the database. */
TEST_F(db, root_refuses_a_shared_directory)
{
	static const char *const way[] = { "%s/sub/p.db", "%s/sub/none/../p.db", "%s/link" };
	static const mode_t mode[] = { 0777, 01777, 0775 };
	char path[128], sub[96], link[96];
	struct jetwatt_db *db;

	if (geteuid())
		SKIP(return, "needs root");
	snprintf(sub, sizeof(sub), "%s/sub", self->dir);
	snprintf(link, sizeof(link), "%s/link", self->dir);
	ASSERT_EQ(symlink("sub/p.db", link), 0);
	snprintf(path, sizeof(path), "%s/sub/none", self->dir);
	ASSERT_EQ(mkdir(path, 0755), 0);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(chmod(sub, mode[i]), 0);
		for (int k = 0; k < 3; k++) {
			snprintf(path, sizeof(path), way[k], self->dir);
			EXPECT_EQ(jetwatt_db_open(&db, path, true, &self->err), -EPERM);
			EXPECT_TRUE(strstr(self->err.why, "other users may write") && *self->err.fix)
				TH_LOG("%s", self->err.why);
		}
	}
	ASSERT_EQ(chmod(sub, 0755), 0);
	/* A symbolic link of another user is followed with the rights of that user, which do not
	 * suffice to open the database. */
	ASSERT_EQ(lchown(link, OTHER, OTHER), 0);
	EXPECT_EQ(jetwatt_db_open(&db, link, true, &self->err), -EPERM);
	EXPECT_TRUE(strstr(self->err.fix, "root opens it as the user")) TH_LOG("%s", self->err.fix);
}

TEST_F(db, full_disk_keeps_old_rows)
{
	struct jetwatt_db_row row[2000], *back;
	int64_t id;
	pid_t pid;

	for (unsigned int i = 0; i < 2000; i++)
		row[i] = made(i);
	ASSERT_EQ(jetwatt_db_workload(self->db, &self->w, &id, NULL), 0);
	ASSERT_EQ(jetwatt_db_add(self->db, id, row, 10, NULL), 10);
	pid = fork();
	if (!pid) {
		struct rlimit small = { 128 << 10, 128 << 10 };
		struct jetwatt_db *db;
		int rc;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &small);
		if (jetwatt_db_open(&db, self->path, true, &self->err))
			_exit(1);
		rc = jetwatt_db_add(db, id, row, 2000, &self->err);
		if (rc >= 0)
			_exit(2);
		fprintf(stderr, "# %s: %s\n", self->err.what, self->err.why);
		_exit(*self->err.why && *self->err.fix ? 0 : 3);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(jetwatt_db_rows(self->db, id, &back, NULL), 10);
	free(back);
	EXPECT_EQ(jetwatt_db_add(self->db, id, row, 2000, &self->err), 1990);
}

TEST_HARNESS_MAIN
