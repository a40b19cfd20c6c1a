// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cpusets of cgroup version 1 get their CPUs back. The files behave like the kernel's. In
 * Documentation/admin-guide/cgroup-v1/cpusets.rst (6.1): only with cpuset_v2_mode, "hotplug events
 * will not change cpuset.cpus"; the root "automatically tracks the value of cpu_online_mask". In
 * kernel/cgroup/cpuset.c: hotplug_update_tasks_legacy() removes CPUs and adds none;
 * update_cpumask() refuses offline CPUs with EINVAL; validate_change_legacy() refuses CPUs that the
 * parent lacks with EACCES.
 */
#include <sys/wait.h>

#include "board/cpuset.h"
#include "board_tree.h"
#include "kselftest_harness.h"

#define MOUNT	"sys/fs/cgroup/cpuset"
#define ODD	"/docker/a\t\\ b"

static const struct jetwatt_mode c4 = { 4, 1497600, 624750000, 2133000000 };
static const struct jetwatt_mode c8 = { 8, 1497600, 624750000, 2133000000 };
static const struct jetwatt_mode c12 = { 12, 1497600, 624750000, 2133000000 };

/* The cpusets, parents before children. */
static const char *const cpuset[] = { "", "/docker", "/docker/all", "/docker/all/two", "/docker/last", ODD, "/own" };
#define CPUSETS	(sizeof(cpuset) / sizeof(cpuset[0]))

/* @refused: cpuset whose list cannot be written; NULL: none */
struct sim {
	struct tree t;
	const char *refused;
};

FIXTURE(board) {
	struct sim sim;
	struct jetwatt_board *b;
	struct jetwatt_error_text err;
};

static char *cpus_file(const struct tree *t, const char *path, char *name)
{
	snprintf(name, PATH_MAX, "%s/" MOUNT "%s/cpuset.cpus", t->root, path);
	return name;
}

/* Read the list of a cpuset. Return: a buffer that the next call overwrites. */
static const char *cpus(const struct sim *s, const char *path)
{
	static char text[64];
	char name[PATH_MAX];
	FILE *f = fopen(cpus_file(&s->t, path, name), "r");

	text[0] = '\0';
	if (!f)
		return "gone";
	if (fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = '\0';
	fclose(f);
	return text;
}

static void cpus_put(const struct sim *s, const char *path, const char *list)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), MOUNT "%s/cpuset.cpus", path);
	tree_put(&s->t, name, "%s\n", list);
}

static void cpus_online(const struct sim *s, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (int c = 0; c < 12; c++)
		if (tree_get(&s->t, CPU "cpu%d/online", c) == 1)
			CPU_SET(c, set);
}

/* A CPU has changed: the root follows, the other cpusets only lose CPUs. */
static void hotplug(const struct sim *s)
{
	char text[JETWATT_CPUS_LEN];
	cpu_set_t online, set;

	cpus_online(s, &online);
	for (size_t i = 0; i < CPUSETS; i++) {
		if (!strcmp(cpus(s, cpuset[i]), "gone") || !jetwatt_cpus_parse(cpus(s, cpuset[i]), &set))
			continue;
		CPU_AND(&set, &set, &online);
		cpus_put(s, cpuset[i], jetwatt_cpus_format(i ? &set : &online, text));
	}
}

static int cpuset_store(struct sim *s, const char *path, const char *text)
{
	char up[PATH_MAX], list[64];
	cpu_set_t set, may;

	snprintf(list, sizeof(list), "%.*s", (int)strcspn(text, "\n"), text);
	snprintf(up, sizeof(up), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (s->refused && !strcmp(path, s->refused))
		return -EBUSY;
	if (!jetwatt_cpus_parse(list, &set))
		return -EINVAL;
	cpus_online(s, &may);
	if (!jetwatt_cpus_subset(&set, &may))
		return -EINVAL;
	if (!jetwatt_cpus_parse(cpus(s, up), &may) || !jetwatt_cpus_subset(&set, &may))
		return -EACCES;
	if (!strcmp(cpus(s, path), "gone"))
		return -ENOENT;
	cpus_put(s, path, list);
	return 0;
}

static int sim_write(const char *path, const char *text, void *arg)
{
	struct sim *s = arg;
	const char *below = path + strlen(s->t.root) + 1;
	char dir[PATH_MAX];
	int rc;

	if (!strncmp(below, MOUNT, strlen(MOUNT))) {
		snprintf(dir, sizeof(dir), "%s", below + strlen(MOUNT));
		*strrchr(dir, '/') = '\0';
		return cpuset_store(s, dir, text);
	}
	rc = tree_write(path, text, &s->t);
	if (strstr(below, "/online"))
		hotplug(s);
	return rc;
}

/* @options: as at the end of a line of mountinfo. */
static void mounted(const struct sim *s, const char *type, const char *options)
{
	tree_put(&s->t, "proc/self/mountinfo",
		 "22 1 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
		 "31 22 0:27 / %s/sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		 "38 22 0:34 / %s/" MOUNT " rw,relatime shared:16 master:2 - %s cgroup %s\n",
		 s->t.root, s->t.root, type, options);
}

static struct jetwatt_board *another(struct sim *s)
{
	struct jetwatt_board_roots roots = tree_roots(&s->t);
	struct jetwatt_board *b = NULL;

	roots.write = sim_write;
	roots.arg = s;
	return jetwatt_board_open(&b, &roots, NULL) ? NULL : b;
}

FIXTURE_SETUP(board) {
	tree_orin(&self->sim.t);
	self->sim.refused = NULL;
	for (size_t i = 0; i < CPUSETS; i++)
		cpus_put(&self->sim, cpuset[i], "0-11");
	cpus_put(&self->sim, "/docker/all/two", "2,10");
	cpus_put(&self->sim, "/docker/last", "8-11");
	cpus_put(&self->sim, "/own", "0-1");
	mounted(&self->sim, "cgroup", "rw,cpuset");
	self->b = another(&self->sim);
	ASSERT_NE(self->b, NULL);
}

FIXTURE_TEARDOWN(board) {
	jetwatt_board_close(self->b);
	tree_free(&self->sim.t);
}

static bool recorded(const struct sim *s)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cpusets", s->t.state);
	return !access(path, F_OK);
}

#define EXPECT_AS_BEFORE() do { \
	EXPECT_STREQ(cpus(&self->sim, ""), "0-11"); \
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-11"); \
	EXPECT_STREQ(cpus(&self->sim, "/docker/all"), "0-11"); \
	EXPECT_STREQ(cpus(&self->sim, "/docker/all/two"), "2,10"); \
	EXPECT_STREQ(cpus(&self->sim, "/docker/last"), "8-11"); \
	EXPECT_STREQ(cpus(&self->sim, ODD), "0-11"); \
	EXPECT_STREQ(cpus(&self->sim, "/own"), "0-1"); \
	EXPECT_FALSE(recorded(&self->sim)); \
} while (0)

TEST_F(board, restore_gives_the_cpus_back)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	EXPECT_STREQ(cpus(&self->sim, "/docker/all/two"), "2");
	EXPECT_STREQ(cpus(&self->sim, "/docker/last"), "");
	EXPECT_TRUE(recorded(&self->sim));
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_AS_BEFORE();
}

TEST_F(board, more_cores_give_cpus_back)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &c8, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-7");
	EXPECT_STREQ(cpus(&self->sim, ODD), "0-7");
	EXPECT_STREQ(cpus(&self->sim, "/docker/all/two"), "2");
	EXPECT_STREQ(cpus(&self->sim, "/docker/last"), "");
	EXPECT_TRUE(recorded(&self->sim));
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	ASSERT_EQ(jetwatt_board_apply(self->b, &c12, NULL), 0);
	EXPECT_AS_BEFORE();
}

/* A failed apply, in which some cores were offline for a moment. */
TEST_F(board, roll_back_gives_the_cpus_back)
{
	self->sim.t.sticks = CPU "cpu6/online";
	self->sim.t.fail = EBUSY;
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), -EIO);
	EXPECT_AS_BEFORE();
}

/* The process that has applied the mode was killed. */
TEST_F(board, another_process_gives_the_cpus_back)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct jetwatt_board *its = another(&self->sim);

		_exit(!its || jetwatt_board_apply(its, &c4, NULL));
	}
	waitpid(pid, &status, 0);
	ASSERT_EQ(status, 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_AS_BEFORE();
}

TEST_F(board, guardian_gives_the_cpus_back)
{
	ASSERT_EQ(jetwatt_board_guardian(self->b, NULL), 0);
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	jetwatt_board_close(self->b);
	EXPECT_AS_BEFORE();
	self->b = another(&self->sim);
}

/* A cpuset that another process has changed keeps its new list, and a new switch records it. */
TEST_F(board, changed_cpuset_is_left_alone)
{
	ASSERT_EQ(jetwatt_board_apply(self->b, &c8, NULL), 0);
	cpus_put(&self->sim, "/docker/all", "1-5");
	cpus_put(&self->sim, ODD, "0-3");
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker/all"), "1-3");
	cpus_put(&self->sim, "/docker/last", "0");
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-11");
	EXPECT_STREQ(cpus(&self->sim, "/docker/all"), "1-5");
	EXPECT_STREQ(cpus(&self->sim, ODD), "0-3");
	EXPECT_STREQ(cpus(&self->sim, "/docker/last"), "0");
	EXPECT_FALSE(recorded(&self->sim));
}

/* Another program switches more cores off, and all of them on again after jetwatt's restore. */
TEST_F(board, other_program_switches_cores)
{
	char name[64];

	ASSERT_EQ(jetwatt_board_apply(self->b, &c8, NULL), 0);
	for (int on = 0; on < 2; on++) {
		for (int c = 3; c < (on ? 12 : 8); c++) {
			snprintf(name, sizeof(name), CPU "cpu%d/online", c);
			tree_put(&self->sim.t, name, "%d\n", on);
		}
		hotplug(&self->sim);
		if (!on)
			ASSERT_EQ(jetwatt_board_apply(self->b, &c8, NULL), 0);
		EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-7");
	}
	/* jetwattd does this when another program has changed the mode. */
	ASSERT_EQ(jetwatt_board_forget(self->b), 0);
	EXPECT_AS_BEFORE();
}

TEST_F(board, vanished_and_refused_cpusets_do_not_fail_a_switch)
{
	char name[PATH_MAX];

	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	ASSERT_EQ(unlink(cpus_file(&self->sim.t, "/docker/last", name)), 0);
	*strrchr(name, '/') = '\0';
	ASSERT_EQ(rmdir(name), 0);
	self->sim.refused = "/docker/all";
	/* Nothing is to be written back yet, so nothing is refused yet. */
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	EXPECT_TRUE(recorded(&self->sim));
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-11");
	EXPECT_STREQ(cpus(&self->sim, "/docker/all"), "0-3");
	EXPECT_STREQ(cpus(&self->sim, ODD), "0-11");
	EXPECT_FALSE(recorded(&self->sim));
}

/* As above, but the kernel accepts the list when the cores are on again. */
TEST_F(board, list_refused_for_a_while_is_not_lost)
{
	self->sim.refused = "/docker/all";
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	self->sim.refused = NULL;
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_AS_BEFORE();
}

/* The record cannot be written: the switch succeeds all the same. */
TEST_F(board, unwritable_record_does_not_fail_a_switch)
{
	tree_put(&self->sim.t, "var/lib/jetwatt/cpusets.new/x", "\n");
	ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
	ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
	EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	EXPECT_FALSE(recorded(&self->sim));
}

/* A damaged record, and one of an earlier boot. */
TEST_F(board, unusable_record_is_ignored)
{
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
		ASSERT_TRUE(recorded(&self->sim));
		cpus_put(&self->sim, "/docker", "0-3");
		if (i)
			tree_put(&self->sim.t, "proc/sys/kernel/random/boot_id", "another\n");
		else
			tree_put(&self->sim.t, "var/lib/jetwatt/cpusets",
				 "jetwatt-cpusets 1\nboot 6f0d2c1e-0000-4000-8000-000000000001\n"
				 "cpuset 0-11 0-3 /docker\nsum 00000000\n");
		ASSERT_EQ(jetwatt_board_apply(self->b, &c12, NULL), 0);
		EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
		EXPECT_FALSE(recorded(&self->sim));
		cpus_put(&self->sim, "/docker", "0-11");
	}
}

/* Cgroup version 2, cpuset_v2_mode, and another version 1 controller. The board is not searched for
 * a mount again. */
TEST_F(board, other_cgroups_are_left_alone)
{
	static const char *const mount[][2] = {
		{ "cgroup2", "rw,cpuset" }, { "cgroup", "rw,cpuset,cpuset_v2_mode" }, { "cgroup", "rw,xcpuset,cpu" },
	};

	for (size_t i = 0; i < sizeof(mount) / sizeof(mount[0]); i++) {
		jetwatt_board_close(self->b);
		self->b = another(&self->sim);
		mounted(&self->sim, mount[i][0], mount[i][1]);
		cpus_put(&self->sim, "/docker", "0-11");
		ASSERT_EQ(jetwatt_board_apply(self->b, &c4, NULL), 0);
		EXPECT_FALSE(recorded(&self->sim));
		mounted(&self->sim, "cgroup", "rw,cpuset");
		ASSERT_EQ(jetwatt_board_restore(self->b, NULL), 0);
		EXPECT_STREQ(cpus(&self->sim, "/docker"), "0-3");
	}
}

TEST_F(board, invalid_records_are_refused)
{
	static const char *const bad[] = {
		"cpuset 0-11 0-3 docker\n", "cpuset 0-11 0-3 /docker/../../etc\n", "cpuset 0-11 0-3 /./a\n",
		"cpuset 0-11 0-3 /a//b\n", "cpuset 0-11 0-3 /a/\n", "cpuset 0-11 0-3 /\n",
		"cpuset 0-11 0-3 /a/\\056\\056/b\n", "cpuset 0-11 0-3\n", "cpuset 0-11\n", "cpuset\n", "\n\n",
		"cpuset 0-3 0-11 /a\n", "cpuset 0-1024 - /a\n", "cpuset 3-0 - /a\n", "cpuset 0, - /a\n",
		"cpuset -1 - /a\n", "cpuset 1-99999999999999999999 - /a\n", "cpus 0-11 0-3 /a\n",
	};
	static const char good[] = "cpuset 0-11 0-3 /..a/...\ncpuset 0-1,8,10-11 - /a\\012\\134 b\n";
	struct jetwatt_cpuset_record r = { 0 };
	char text[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "cpuset 0 0 /first\n%s", bad[i]);
		EXPECT_FALSE(jetwatt_cpuset_record_parse(text, &r)) TH_LOG("%s", bad[i]);
		EXPECT_EQ(r.n, 0);
	}
	strcpy(text, good);
	ASSERT_TRUE(jetwatt_cpuset_record_parse(text, &r));
	ASSERT_EQ(r.n, 2);
	EXPECT_STREQ(r.entry[0].path, "/..a/...");
	EXPECT_STREQ(r.entry[1].path, "/a\n\\ b");
	EXPECT_STREQ(jetwatt_cpus_format(&r.entry[1].all, (char[JETWATT_CPUS_LEN]){ "" }), "0-1,8,10-11");
	EXPECT_EQ(CPU_COUNT(&r.entry[1].left), 0);
	jetwatt_cpuset_record_free(&r);
}

TEST_HARNESS_MAIN
