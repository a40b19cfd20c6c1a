// SPDX-License-Identifier: GPL-2.0-only
/* Which processes the backend for kernels without BPF asks the module to watch. */
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "lib/lib.h"
#include "lib/probe.h"

#define jetwatt_open		fake_open
#define jetwatt_close		fake_close
#define jetwatt_request_new	fake_request_new
#define jetwatt_request_run	fake_request_run
#define jetwatt_probe_refuse	fake_refuse
#define jetwatt_probe_of	fake_state
int fake_open(struct jetwatt **jw);
void fake_close(struct jetwatt *jw);
struct nl_msg *fake_request_new(struct jetwatt *jw, int cmd, int flags);
int fake_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg, const char *what,
		     jetwatt_reply_fn fn, void *arg);
int fake_refuse(struct jetwatt_probe *p, uint32_t which, int err, const char *why, ...);
struct jetwatt_probe_state *fake_state(struct jetwatt_probe *p);
#include "../../user/lib/probe_module.c"

static struct jetwatt connection;
static struct jetwatt_probe_state probe_state;
static char refused[200];
static int requested;

int fake_open(struct jetwatt **jw)
{
	*jw = &connection;
	return 0;
}

void fake_close(struct jetwatt *jw)
{
	(void)jw;
}

struct nl_msg *fake_request_new(struct jetwatt *jw, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)jw;
	nlmsg_put(msg, 0, 0, cmd, 0, flags);
	return msg;
}

int fake_request_run(struct jetwatt *jw, struct nl_sock *sk, struct nl_msg *msg, const char *what,
		     jetwatt_reply_fn fn, void *arg)
{
	struct nlattr *a = nlmsg_find_attr(nlmsg_hdr(msg), 0, JETWATT_A_WAITS_TGIDS);

	(void)jw, (void)sk, (void)what, (void)fn, (void)arg;
	requested = a ? nla_len(a) / 4 : 0;
	nlmsg_free(msg);
	return 0;
}

int fake_refuse(struct jetwatt_probe *p, uint32_t which, int err, const char *why, ...)
{
	va_list ap;

	(void)p, (void)which;
	va_start(ap, why);
	vsnprintf(refused, sizeof(refused), why, ap);
	va_end(ap);
	return err;
}

struct jetwatt_probe_state *fake_state(struct jetwatt_probe *p)
{
	(void)p;
	return &probe_state;
}

static void fill(const char *dir, int first, int n)
{
	char name[100];
	FILE *f;

	snprintf(name, sizeof(name), "%s/cgroup.procs", dir);
	f = fopen(name, "w");
	for (int i = 0; i < n; i++)
		fprintf(f, "%d\n", first + i);
	fclose(f);
}

static void empty(const char *dir)
{
	char name[100];

	snprintf(name, sizeof(name), "%s/cgroup.procs", dir);
	unlink(name);
	rmdir(dir);
}

/* Open the backend for a cgroup with @n processes, and with @below processes in each of two cgroups
 * below it, of which one is below the other. Return: the error of the backend's open. @lost: set to
 * the number of lost waits. */
static int open_nested(int n, int below, uint64_t *lost)
{
	char dir[] = "/tmp/probe_module.XXXXXX", child[64], grandchild[80];
	struct jetwatt_probe_opts o = { .cgroup_path = dir };
	void *state = NULL;
	int err;

	if (!mkdtemp(dir))
		abort();
	snprintf(child, sizeof(child), "%s/child", dir);
	snprintf(grandchild, sizeof(grandchild), "%s/grandchild", child);
	mkdir(child, 0700);
	mkdir(grandchild, 0700);
	fill(dir, 100, n);
	fill(child, 1000, below);
	fill(grandchild, 2000, below);
	requested = -1;
	err = jetwatt_backend_module.open(&state, NULL, &o, JETWATT_BACKEND_MODULE);
	*lost = 0;
	if (!err) {
		*lost = jetwatt_backend_module.lost(state);
		jetwatt_backend_module.close(state);
	}
	empty(grandchild);
	empty(child);
	empty(dir);
	return err;
}

static int open_with(int n, uint64_t *lost)
{
	return open_nested(n, 0, lost);
}

TEST(processes_beyond_the_maximum_are_counted)
{
	uint64_t lost;

	ASSERT_EQ(0, open_with(3, &lost));
	EXPECT_EQ(3, requested);
	EXPECT_EQ(0, lost);
	ASSERT_EQ(0, open_with(64, &lost));
	EXPECT_EQ(64, requested);
	EXPECT_EQ(0, lost);
	ASSERT_EQ(0, open_with(70, &lost));
	EXPECT_EQ(64, requested);
	EXPECT_EQ(6, lost);
}

/* A container has its own cgroup below the cgroup that the user names. */
TEST(processes_of_cgroups_below_are_watched)
{
	uint64_t lost;

	ASSERT_EQ(0, open_nested(0, 2, &lost));
	EXPECT_EQ(4, requested);
	EXPECT_EQ(0, lost);
	ASSERT_EQ(0, open_nested(3, 40, &lost));
	EXPECT_EQ(64, requested);
	EXPECT_EQ(19, lost);
}

TEST(refusal_names_the_cgroup)
{
	struct jetwatt_probe_opts o = { .cgroup_path = "/nonexistent" };
	uint64_t lost;
	void *state;

	EXPECT_EQ(-ESRCH, open_with(0, &lost));
	EXPECT_EQ(&refused[0], strstr(refused, "following cgroup /tmp/probe_module.")) TH_LOG("%s", refused);
	EXPECT_NE(NULL, strstr(refused, "has no process"));
	EXPECT_EQ(-ENOENT, jetwatt_backend_module.open(&state, NULL, &o, JETWATT_BACKEND_MODULE));
	EXPECT_STREQ("following cgroup /nonexistent: No such file or directory", refused);
}

TEST_HARNESS_MAIN
