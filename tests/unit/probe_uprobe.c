// SPDX-License-Identifier: GPL-2.0-only
/* How often the uprobes' search lists the processes of a cgroup. */
#include "../../user/lib/probe_uprobe.c"

#include <limits.h>

#include "kselftest_harness.h"

FIXTURE(cgroup) {
	char dir[40], procs[60];
	struct jetwatt_uprobes *u;
};

/* Write @n process ids to cgroup.procs, each greater than any that a kernel assigns. */
static void fill(const char *procs, int n)
{
	FILE *f = fopen(procs, "w");

	for (int i = 0; i < n; i++)
		fprintf(f, "%d\n", INT_MAX - i);
	fclose(f);
}

FIXTURE_SETUP(cgroup)
{
	strcpy(self->dir, "/tmp/probe_uprobe.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->procs, sizeof(self->procs), "%s/cgroup.procs", self->dir);
	self->u = calloc(1, sizeof(*self->u));
	ASSERT_NE(NULL, self->u);
	self->u->cgroup = self->dir;
}

FIXTURE_TEARDOWN(cgroup)
{
	free(self->u->member);
	free(self->u);
	unlink(self->procs);
	rmdir(self->dir);
}

TEST_F(cgroup, is_listed_again_when_due)
{
	fill(self->procs, 3);
	search_cgroup(self->u);
	EXPECT_EQ(3, self->u->members);
	fill(self->procs, 5);
	self->u->list_due_ns = UINT64_MAX;
	search_cgroup(self->u);
	EXPECT_EQ(3, self->u->members);
	self->u->list_due_ns = 0;
	search_cgroup(self->u);
	EXPECT_EQ(5, self->u->members);
}

/* The listing takes most of the function's CPU time, but not all. */
TEST_F(cgroup, listing_takes_one_percent_of_the_time)
{
	uint64_t start, cpu_ns, pause_ns, wall_ns;

	fill(self->procs, 100000);
	start = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	list_cgroup(self->u);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	wall_ns = clock_ns(CLOCK_MONOTONIC) - start;
	pause_ns = self->u->list_due_ns - start;
	EXPECT_EQ(100000, self->u->members);
	EXPECT_LT(50 * cpu_ns, pause_ns);
	EXPECT_GE(100 * cpu_ns + wall_ns, pause_ns);
}

TEST_F(cgroup, a_removed_cgroup_has_no_processes)
{
	fill(self->procs, 3);
	search_cgroup(self->u);
	unlink(self->procs);
	self->u->list_due_ns = 0;
	search_cgroup(self->u);
	EXPECT_GE(0, self->u->members);
	EXPECT_EQ(NULL, self->u->member);
}

TEST_HARNESS_MAIN
