// SPDX-License-Identifier: GPL-2.0-only
/* Attaches a session to a running job, or starts a command for it. */
#include "measure/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

static int open_pid(struct jetwatt_session *w)
{
	char fix[64];

	w->pidfd = syscall(SYS_pidfd_open, w->pid, 0);
	if (w->pidfd >= 0 && !jetwatt_session_add(w, w->pidfd))
		return 0;
	if (errno != ESRCH)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL,
					 "cannot follow process %d", w->pid);
	snprintf(fix, sizeof(fix), "jetwatt needs the id of a running job: pgrep python");
	return jetwatt_error_report(JETWATT_EXIT_FAILED, "no such process", fix, "-p %d", w->pid);
}

/* Put the command into a new cgroup; if that fails, as without a v2 hierarchy, the command and its
 * descendants are the job. */
static void make_cgroup(struct jetwatt_session *w)
{
	if (jetwatt_cgroup_make(&w->cgroup))
		return;
	if (jetwatt_cgroup_move(&w->cgroup, w->pid))
		jetwatt_cgroup_close(&w->cgroup);
}

static int start_command(struct jetwatt_session *w, char **argv)
{
	int mark[2] = { -1, -1 }, err = jetwatt_mark_pair(mark);

	if (!err) {
		w->mark_fd = mark[0];
		err = jetwatt_child_start(&w->child, argv, mark[1]);
		close(mark[1]);
	}
	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err), NULL,
					 "cannot start %s", argv[0]);
	w->pid = w->child.pid;
	make_cgroup(w);
	return 0;
}

static int open_cgroup(struct jetwatt_session *w, const char *path)
{
	struct epoll_event e = { .events = EPOLLPRI };
	int err = jetwatt_cgroup_open(&w->cgroup, path);

	if (err)
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(-err),
					 "a directory below the mount of the v2 hierarchy: systemd-cgls",
					 "--cgroup %s", path);
	if (jetwatt_cgroup_empty(&w->cgroup))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, "no process is in it", NULL,
					 "--cgroup %s", path);
	e.data.fd = w->cgroup.events;
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->cgroup.events, &e))
		return jetwatt_error_report(JETWATT_EXIT_FAILED, strerror(errno), NULL,
					 "cannot follow cgroup %s", path);
	return 0;
}

static int find_job(struct jetwatt_session *w, const struct jetwatt_args_job *job)
{
	int err;

	if (job->cgroup)
		return open_cgroup(w, job->cgroup);
	w->pid = job->pid;
	err = job->argv ? start_command(w, job->argv) : 0;
	return err ? err : open_pid(w);
}

static int open_probe(struct jetwatt_session *w, uint32_t backends)
{
	struct jetwatt_probe_opts opts = { .backends = backends };
	int err;

	if (*w->cgroup.path) {
		opts.cgroup_path = w->cgroup.path;
	} else {
		opts.tgid = w->pid;
		opts.children = 1;
	}
	/* Marks of the program are received in addition to the waits that the other backends
	 * detect. */
	if (w->mark_fd >= 0) {
		opts.mark_fd = w->mark_fd;
		if (backends)
			opts.backends |= JETWATT_BACKEND_MARKER;
	}
	err = jetwatt_probe_open(&w->probe, &opts, jetwatt_session_wait, w);
	if (err)
		return jetwatt_error_report(jetwatt_error_code(err), jetwatt_probe_error(),
					 err == -EPERM ? "run as root (needs CAP_BPF and CAP_PERFMON)" :
					 "run jetwatt doctor to see what this kernel lacks",
					 "cannot watch the job's waits for the GPU");
	return jetwatt_session_add(w, jetwatt_probe_fd(w->probe)) ? JETWATT_EXIT_FAILED : 0;
}

/* Wait for the first power sample, at most 5 s: it must precede a command's first instruction. */
static int wait_first_sample(struct jetwatt_session *w)
{
	for (int i = 0; i < JETWATT_SESSION_FIRST_POLLS && !w->nr_power && !w->failed && !w->stop; i++) {
		jetwatt_session_run(w, JETWATT_SESSION_FIRST_POLL_MS);
		/* Deliver samples without delay: a command that has not started has no waits,
		 * with which the samples would have to be ordered. */
		if (w->child.pid)
			jetwatt_join_flush(w->join);
	}
	if (w->nr_power)
		return 0;
	if (w->stop || w->failed)
		return jetwatt_session_error(w);
	return jetwatt_error_report(JETWATT_EXIT_FAILED, "5 s without a sample from the module",
				 "dmesg | grep jetwatt; jetwatt doctor", "no power to measure");
}

int jetwatt_session_job(struct jetwatt_session *w, const struct jetwatt_args_job *job)
{
	int err = find_job(w, job);

	if (!err)
		err = open_probe(w, job->backends);
	if (err)
		return err;
	/* Read sysfs before the job starts, so that counters have an initial value. */
	jetwatt_session_read_sysfs(w, 1);
	err = wait_first_sample(w);
	w->begun_ns = jetwatt_clock_ns();
	/* Do not count the samples that arrived during the preparation: they do not belong to the
	 * job. */
	w->samples = w->lost = 0;
	w->missed0 += jetwatt_session_missed(w);
	if (err || !job->argv)
		return err;
	err = jetwatt_child_go(&w->child);
	if (!err)
		return 0;
	return jetwatt_error_report(err == -ENOENT ? JETWATT_EXIT_NOTFOUND : JETWATT_EXIT_NOEXEC,
				 strerror(-err), NULL, "cannot run %s", job->argv[0]);
}
