// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling of the resource usage of a job, which is this process and made-up descendants in a
 * simulated /proc.
 */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>

static DIR *test_opendir(const char *path);
static struct dirent *test_readdir(DIR *dir);
static FILE *test_fopen(const char *path, const char *mode);
static int test_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *g);

#define opendir(path)	test_opendir(path)
#define readdir(dir)	test_readdir(dir)
#define fopen(path, mode)	test_fopen(path, mode)
#define glob(...)	test_glob(__VA_ARGS__)
#include "../../user/job/resource_usage.c"
#undef opendir
#undef readdir
#undef fopen
#undef glob

#include "kselftest_harness.h"

/* Pids above the largest one that the kernel assigns. */
#define GRANDCHILD	4999998
#define OTHER		4999999
#define CHILD		5000000

static const pid_t listed[][2] = { { GRANDCHILD, CHILD }, { OTHER, 1 }, { CHILD, 0 } };
static DIR *proc;
static size_t next;

static DIR *test_opendir(const char *path)
{
	DIR *dir = opendir(path);

	if (!strcmp(path, "/proc")) {
		proc = dir;
		next = 0;
	} else if (dir == proc) {
		/* The memory of the directory that was closed. */
		proc = NULL;
	}
	return dir;
}

/* /proc contains only the processes of @listed, in this order. */
static struct dirent *test_readdir(DIR *dir)
{
	static struct dirent e;

	if (dir != proc)
		return readdir(dir);
	if (next == sizeof(listed) / sizeof(listed[0]))
		return NULL;
	snprintf(e.d_name, sizeof(e.d_name), "%d", listed[next++][0]);
	return &e;
}

/* A parent of 0 in @listed stands for this process. */
static FILE *test_fopen(const char *path, const char *mode)
{
	static char line[128];
	char stat[64];

	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		snprintf(stat, sizeof(stat), "/proc/%d/stat", listed[i][0]);
		if (strcmp(path, stat))
			continue;
		snprintf(line, sizeof(line), "%d (job) S %d 1 1 0 -1 0 10 0 0 0 5 5 0 0 20 0 1 0 7 4096 1",
			 listed[i][0], listed[i][1] ? listed[i][1] : getpid());
		return fmemopen(line, strlen(line), "r");
	}
	return fopen(path, mode);
}

/* Directory that contains a simulated /sys; empty: the machine's own. */
static char root[32];

static int test_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *g)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", root, pattern);
	return glob(path, flags, failed, g);
}

FIXTURE(usage) {
	struct jetwatt_usage u;
	struct jetwatt_usage_result result;
};

FIXTURE_SETUP(usage)
{
	jetwatt_usage_begin(&self->u, getpid(), NULL);
}

FIXTURE_TEARDOWN(usage)
{
	jetwatt_usage_end(&self->u, NULL, 1, &self->result);
}

static int finds(FIXTURE_DATA(usage) *self, pid_t pid)
{
	for (int i = 0; i < self->u.nr_process; i++)
		if (self->u.process[i].pid == pid)
			return 1;
	return 0;
}

TEST_F(usage, descendants_are_found_whatever_their_pid)
{
	EXPECT_TRUE(finds(self, getpid()));
	EXPECT_TRUE(finds(self, CHILD));
	EXPECT_TRUE(finds(self, GRANDCHILD));
	EXPECT_FALSE(finds(self, OTHER));
}

/* Fifty open files more than the arrays have room for, in three samples. */
TEST_F(usage, a_file_that_is_left_out_counts_once)
{
	int fd[JETWATT_USAGE_FILES + 50];
	char path[32];

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		strcpy(path, "/tmp/usage-XXXXXX");
		fd[i] = mkstemp(path);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(1, write(fd[i], "x", 1));
		close(fd[i]);
		fd[i] = open(path, O_RDONLY);
		unlink(path);
	}
	for (int i = 0; i < 3; i++) {
		self->u.looked_ns = 0;
		jetwatt_usage_sample(&self->u);
	}
	jetwatt_usage_end(&self->u, NULL, 1, &self->result);
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		close(fd[i]);
	EXPECT_EQ(JETWATT_USAGE_FILES, self->result.files);
	EXPECT_LE(50, self->result.missed);
	EXPECT_GT(100, self->result.missed);
	TH_LOG("%u left out", self->result.missed);
}

/* Write this process's pid to DIR/cgroup.procs, as if it were in the cgroup at @dir. */
static int put_in_cgroup(const char *dir)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "w");
	return f && fprintf(f, "%d\n", getpid()) > 0 && !fclose(f);
}

/* The job is in a cgroup two levels below the one that is measured. */
TEST_F(usage, processes_of_cgroups_below_count)
{
	char top[] = "/tmp/usage-XXXXXX", child[40], below[48], command[48];
	struct jetwatt_usage u;

	ASSERT_NE(NULL, mkdtemp(top));
	snprintf(child, sizeof(child), "%s/child", top);
	snprintf(below, sizeof(below), "%s/below", child);
	ASSERT_EQ(0, mkdir(child, 0700));
	ASSERT_EQ(0, mkdir(below, 0700));
	ASSERT_TRUE(put_in_cgroup(below));
	jetwatt_usage_begin(&u, 0, top);
	EXPECT_EQ(1, u.nr_process);
	EXPECT_EQ(getpid(), u.process[0].pid);
	EXPECT_LT(0, u.rss_max);
	jetwatt_usage_end(&u, NULL, 1, &self->result);
	snprintf(command, sizeof(command), "rm -r %s", top);
	EXPECT_EQ(0, system(command));
}

/* The GPU of an Orin with JetPack 5 (17000000.ga10b) and with JetPack 6. */
TEST(the_load_of_the_gpu_is_found)
{
	static const char *const at[] = {
		"/sys/devices/17000000.ga10b", "/sys/devices/platform/17000000.gpu",
		"/sys/devices/platform/bus@0/17000000.gpu",
	};
	struct jetwatt_usage u;
	char command[256];

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		strcpy(root, "/tmp/usage-XXXXXX");
		ASSERT_NE(NULL, mkdtemp(root));
		snprintf(command, sizeof(command), "mkdir -p %s%s && cd %s%s && echo 500 > load%s", root, at[i],
			 root, at[i], i ? "" : " && ln -s 17000000.ga10b ../gpu.0");
		ASSERT_EQ(0, system(command));
		memset(&u, 0, sizeof(u));
		find_gpu(&u);
		read_memory_and_gpu(&u);
		EXPECT_EQ(0.5, u.gpu) TH_LOG("%s: %s", at[i], u.gpu_load);
		snprintf(command, sizeof(command), "rm -r %s", root);
		EXPECT_EQ(0, system(command));
	}
	*root = '\0';
}

/* The kernel does not tell a user which pages of another user's file are cached: mincore() then
 * reports all of them. */
TEST(pages_of_a_file_that_the_user_may_not_write)
{
	char path[] = "/tmp/usage-XXXXXX", page[4096] = "x";
	int fd = mkstemp(path);
	uint64_t pages, n;

	ASSERT_LE(0, fd);
	for (int i = 0; i < 16; i++)
		ASSERT_EQ(sizeof(page), write(fd, page, sizeof(page)));
	ASSERT_EQ(0, fchmod(fd, 0644));
	ASSERT_EQ(0, fsync(fd));
	close(fd);
	fd = open(path, O_RDONLY);
	unlink(path);
	ASSERT_EQ(0, posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	n = jetwatt_cached_pages(fd, 16 * sizeof(page), &pages);
	EXPECT_LT(0, pages);
	if (n == pages || setresuid(65534, 65534, 65534))
		SKIP(return, "not root, or /tmp keeps its files in memory");
	n = jetwatt_cached_pages(fd, 16 * sizeof(page), &pages);
	EXPECT_TRUE(!pages || n < pages) TH_LOG("%d of %d pages", (int)n, (int)pages);
}

TEST_HARNESS_MAIN
