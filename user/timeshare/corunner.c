// SPDX-License-Identifier: GPL-2.0-only
/* A program that shares the GPU: start or adopt it, trace its waits, detect that it is idle. */
#include "timeshare/corunner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/session.h"
#include "util/clock.h"
#include "util/error.h"

void jetwatt_corunner_init(struct jetwatt_corunner *t, const char *name, const char *command)
{
	memset(t, 0, sizeof(*t));
	t->name = name;
	t->command = command;
	t->pidfd = t->mark_fd = t->cgroup.events = t->threads = -1;
	t->freezer.freeze = t->freezer.events = -1;
	for (size_t i = 0; i < JETWATT_CORUNNER_THREADS; i++)
		t->status[i] = -1;
}

/* Start the command in a process group and, if possible, a cgroup of its own. */
static int corunner_spawn(struct jetwatt_corunner *t)
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
	/* A process group of its own: without a freezer, SIGSTOP to the group stops the
	 * command's processes. */
	if (t->pidfd < 0 || setpgid(t->child.pid, t->child.pid))
		return -errno;
	if (!jetwatt_cgroup_make(&t->cgroup) && jetwatt_cgroup_move(&t->cgroup, t->child.pid))
		jetwatt_cgroup_close(&t->cgroup);
	if (*t->cgroup.path)
		t->threads = jetwatt_cgroup_file(&t->cgroup, "cgroup.threads", O_RDONLY);
	return jetwatt_freezer_open(&t->freezer, &t->cgroup, t->child.pid);
}

int jetwatt_corunner_start(struct jetwatt_corunner *t)
{
	int err = corunner_spawn(t);

	return err ? jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
				       "cannot start %s = %s", t->name, t->command) : 0;
}

int jetwatt_corunner_adopt(struct jetwatt_corunner *t, const char *path, int freeze)
{
	int err = jetwatt_cgroup_open(&t->cgroup, path);

	t->freezer.freeze = freeze;
	if (err)
		return err;
	t->threads = jetwatt_cgroup_file(&t->cgroup, "cgroup.threads", O_RDONLY);
	t->freezer.events = jetwatt_cgroup_file(&t->cgroup, "cgroup.events", O_RDONLY);
	return t->threads < 0 ? t->threads : t->freezer.events < 0 ? t->freezer.events : 0;
}

int jetwatt_corunner_attach(struct jetwatt_corunner *t, jetwatt_sync_fn fn, void *arg)
{
	struct jetwatt_probe_opts o = {
		.backends = JETWATT_BACKEND_UPROBE | JETWATT_BACKEND_TRACEPOINT | JETWATT_BACKEND_MARKER,
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
	return err ? jetwatt_error_report(jetwatt_error_code(err), jetwatt_probe_error(),
				       err == -EPERM ? "run as root (needs CAP_BPF and CAP_PERFMON)" :
				       "jetwatt doctor says what this kernel lacks",
				       "cannot trace waits for the GPU of %s", t->name) : 0;
}

int jetwatt_corunner_go(struct jetwatt_corunner *t)
{
	int err = t->command ? jetwatt_child_go(&t->child) : 0;

	return err ? jetwatt_error_report(JETWATT_EXIT_NOTFOUND, strerror(-err), NULL,
				       "cannot run /bin/sh for %s", t->name) : 0;
}

/* Read /proc/TID/status of the @i-th thread through a descriptor that stays open. Return: length of
 * @text; 0 if the thread has ended. */
static ssize_t read_thread_status(struct jetwatt_corunner *t, size_t i, unsigned int tid, char *text,
				  size_t max)
{
	size_t at = i < JETWATT_CORUNNER_THREADS ? i : JETWATT_CORUNNER_THREADS - 1;
	char path[64];
	ssize_t n;

	if (t->status[at] >= 0 && t->tid[at] != tid) {
		close(t->status[at]);
		t->status[at] = -1;
	}
	if (t->status[at] < 0) {
		snprintf(path, sizeof(path), "/proc/%u/status", tid);
		t->status[at] = open(path, O_RDONLY | O_CLOEXEC);
		t->tid[at] = tid;
	}
	n = t->status[at] < 0 ? 0 : pread(t->status[at], text, max - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? n : 0;
}

/* Return: 1 if the thread sleeps, is stopped or has ended; 0 if the thread runs or is in an
 * uninterruptible sleep. @runs: with result 1, increased by the thread's number of context switches. */
static int thread_sleeps(struct jetwatt_corunner *t, size_t i, unsigned int tid, uint64_t *runs)
{
	uint64_t own = 0, forced = 0;
	char text[4096], *at;

	if (!read_thread_status(t, i, tid, text, sizeof(text)))
		return 1;
	at = strstr(text, "\nState:\t");
	if (!at || !strchr("STtZXI", at[8]))
		return 0;
	at = strstr(at, "\nvoluntary_ctxt_switches:");
	if (at)
		sscanf(at, "\nvoluntary_ctxt_switches:%" SCNu64 "\nnonvoluntary_ctxt_switches:%" SCNu64,
		       &own, &forced);
	*runs += own + forced;
	return 1;
}

/*
 * List the ids of the program's threads. For a program without a cgroup of its own, list only the
 * main thread of the command's process. One read of cgroup.threads returns whole lines, and at most
 * a page. Return: number of threads; @max + 1: the program has more than @max.
 */
static size_t list_threads(const struct jetwatt_corunner *t, unsigned int *tid, size_t max)
{
	char text[4097], *at, *end;
	size_t n = 0;
	off_t off = 0;
	ssize_t len;

	while ((len = t->threads < 0 ? -1 : pread(t->threads, text, sizeof(text) - 1, off)) > 0) {
		text[len] = '\0';
		for (at = text; (end = strchr(at, '\n')); at = end + 1) {
			if (n == max)
				return max + 1;
			tid[n++] = strtoul(at, NULL, 10);
		}
		if (at == text)
			break;
		off += at - text;
	}
	if (n || !len)
		return n;
	tid[0] = t->child.pid;
	return 1;
}

int jetwatt_corunner_idle(struct jetwatt_corunner *t, uint64_t *stamp)
{
	uint64_t runs = 1, before = *stamp;
	unsigned int tid[2048];
	size_t max = sizeof(tid) / sizeof(tid[0]), n = list_threads(t, tid, max);

	*stamp = 0;
	if (n > max)
		return 0;
	/* Check for waits first, because that costs less than reading the status files. */
	for (size_t i = 0; i < n; i++)
		if (jetwatt_probe_waiting(t->probe, tid[i]) == 1)
			return -EBUSY;
	for (size_t i = 0; i < n; i++)
		if (!thread_sleeps(t, i, tid[i], &runs))
			return 0;
	/* Check for waits again: a thread may have begun a wait while other threads were
	 * checked. */
	for (size_t i = 0; i < n; i++)
		if (jetwatt_probe_waiting(t->probe, tid[i]) == 1)
			return -EBUSY;
	*stamp = runs;
	return runs == before;
}

int jetwatt_corunner_stop(struct jetwatt_corunner *t)
{
	jetwatt_freezer_thaw(&t->freezer, jetwatt_clock_ns());
	/* Send the signal to the process group: a shell that waits for its command does not pass
	 * a signal on to the command. */
	if (t->child.pid && !t->child.gone) {
		kill(-t->child.pid, SIGTERM);
		jetwatt_child_stop(&t->child);
		/* The shell has ended, but its command may ignore SIGTERM. */
		jetwatt_cgroup_end(&t->cgroup);
	}
	jetwatt_probe_close(t->probe);
	jetwatt_freezer_close(&t->freezer);
	jetwatt_cgroup_close(&t->cgroup);
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->mark_fd >= 0)
		close(t->mark_fd);
	if (t->threads >= 0)
		close(t->threads);
	for (size_t i = 0; i < JETWATT_CORUNNER_THREADS; i++)
		if (t->status[i] >= 0)
			close(t->status[i]);
	t->probe = NULL;
	t->pidfd = t->mark_fd = t->threads = -1;
	return t->child.gone ? jetwatt_child_exit(&t->child) : 0;
}
