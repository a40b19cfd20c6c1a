// SPDX-License-Identifier: GPL-2.0-only
#include "tenant.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"
#include "watch.h"

void jetwatt_tenant_init(struct jetwatt_tenant *t, const char *name, const char *command)
{
	memset(t, 0, sizeof(*t));
	t->name = name;
	t->command = command;
	t->pidfd = t->mark_fd = t->cgroup.events = t->hold.freeze = t->hold.events = -1;
}

/* The shell becomes the command, so that signals reach it, unless it is more than one. */
static int start(struct jetwatt_tenant *t)
{
	char *argv[] = { "/bin/sh", "-c", (char *)t->command, NULL };
	int mark[2] = { -1, -1 }, err = jetwatt_mark_pair(mark);

	if (err)
		return err;
	t->mark_fd = mark[0];
	err = jetwatt_child_start(&t->child, argv, mark[1]);
	close(mark[1]);
	if (err)
		return err;
	t->pidfd = syscall(SYS_pidfd_open, t->child.pid, 0);
	/* Of its own, so that signals hold all of it where there is no freezer. */
	if (t->pidfd < 0 || setpgid(t->child.pid, t->child.pid))
		return -errno;
	if (!jetwatt_cgroup_make(&t->cgroup) && jetwatt_cgroup_put(&t->cgroup, t->child.pid))
		jetwatt_cgroup_close(&t->cgroup);
	return jetwatt_hold_open(&t->hold, &t->cgroup, t->child.pid);
}

int jetwatt_tenant_start(struct jetwatt_tenant *t)
{
	int err = start(t);

	return err ? jetwatt_error_say(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot start %s = %s", t->name, t->command) : 0;
}

int jetwatt_tenant_watch(struct jetwatt_tenant *t, jetwatt_sync_fn fn, void *arg)
{
	struct jetwatt_probe_opts o = {
		.rungs = JETWATT_RUNG_UPROBE | JETWATT_RUNG_TRACEPOINT | JETWATT_RUNG_MARKER,
		.mark_fd = t->mark_fd,
		.prompt = 1,
	};
	int err;

	if (*t->cgroup.path) {
		o.cgroup_path = t->cgroup.path;
	} else {
		o.tgid = t->child.pid;
		o.children = 1;
	}
	err = jetwatt_probe_open(&t->probe, &o, fn, arg);
	return err ? jetwatt_error_say(jetwatt_error_code(err), jetwatt_probe_error(),
				       err == -EPERM ? "run as root (needs CAP_BPF and CAP_PERFMON)" :
				       "jetwatt doctor says what this kernel lacks",
				       "cannot see the waits of %s as they end", t->name) : 0;
}

int jetwatt_tenant_go(struct jetwatt_tenant *t)
{
	int err = jetwatt_child_go(&t->child);

	return err ? jetwatt_error_say(JETWATT_EXIT_NOTFOUND, strerror(-err), NULL,
				       "cannot run /bin/sh for %s", t->name) : 0;
}

/* Return: 1: it sleeps, and not for the GPU. @runs: how often it has run so far. */
static int asleep(const struct jetwatt_tenant *t, unsigned int tid, uint64_t *runs)
{
	char path[64], text[4096], *at;
	uint64_t own = 0, forced = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	f = fopen(path, "re");
	/* It has ended. */
	if (!f)
		return 1;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	at = strstr(text, "\nState:\t");
	if (!at || !strchr("STtZXI", at[8]))
		return 0;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (at)
		sscanf(at, "\nvoluntary_ctxt_switches:%" SCNu64 "\nnonvoluntary_ctxt_switches:%" SCNu64,
		       &own, &forced);
	*runs += own + forced;
	return jetwatt_probe_waiting(t->probe, tid) != 1;
}

int jetwatt_tenant_idle(const struct jetwatt_tenant *t, uint64_t *stamp)
{
	uint64_t runs = 1, before = *stamp;
	char path[PATH_MAX + 32];
	unsigned int tid;
	int idle = 1;
	FILE *f;

	*stamp = 0;
	snprintf(path, sizeof(path), "%s/cgroup.threads", t->cgroup.path);
	f = *t->cgroup.path ? fopen(path, "re") : NULL;
	if (!f)
		idle = asleep(t, t->child.pid, &runs);
	while (f && idle && fscanf(f, "%u", &tid) == 1)
		idle = asleep(t, tid, &runs);
	if (f)
		fclose(f);
	if (idle)
		*stamp = runs;
	return idle && runs == before;
}

int jetwatt_tenant_stop(struct jetwatt_tenant *t)
{
	jetwatt_hold_let_go(&t->hold, jetwatt_watch_now());
	/* A shell that waits for its command would keep the signal to itself. */
	if (t->child.pid && !t->child.gone)
		kill(-t->child.pid, SIGTERM);
	jetwatt_child_stop(&t->child);
	jetwatt_probe_close(t->probe);
	jetwatt_hold_close(&t->hold);
	jetwatt_cgroup_close(&t->cgroup);
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->mark_fd >= 0)
		close(t->mark_fd);
	t->probe = NULL;
	t->pidfd = t->mark_fd = -1;
	return t->child.gone ? jetwatt_child_exit(&t->child) : 0;
}
