// SPDX-License-Identifier: GPL-2.0-only
/* Runs a session until its job ends. */
#include "measure/wait_job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define POLL_MS 200	/* interval of calling @each */
/* increase of this process's nice value, with which it gets a ninth of the job's CPU time on a
 * CPU that both use */
#define NICE	10

/* Pass a signal on to the command, unless the terminal has sent it to both processes. */
static void pass_signal(struct jetwatt_session *w)
{
	if (!w->stop_by_tty && !w->child.gone)
		kill(w->pid, w->stop);
	w->stop = 0;
}

/* The measurement has failed: wait until the command ends, and pass signals on to it meanwhile. */
static void wait_unmeasured(struct jetwatt_session *w)
{
	struct pollfd p[] = { { w->pidfd, POLLIN, 0 }, { w->signals, POLLIN, 0 } };
	struct signalfd_siginfo si;

	if (!w->child.pid || w->child.gone || w->ended)
		return;
	jetwatt_notice("the command goes on, unmeasured");
	while (!jetwatt_child_reap(&w->child)) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (read(w->signals, &si, sizeof(si)) == sizeof(si) && si.ssi_code != SI_KERNEL)
			kill(w->pid, si.ssi_signo);
	}
}

/*
 * Lower the priority of this process, so that on a busy board the job need not wait for it. The
 * priority is not lowered if it cannot be restored (without CAP_SYS_NICE), because the next command
 * would inherit it. Return: the priority before.
 */
static int lower_priority(void)
{
	int was = getpriority(PRIO_PROCESS, 0);

	if (!setpriority(PRIO_PROCESS, 0, was + 1) && !setpriority(PRIO_PROCESS, 0, was))
		setpriority(PRIO_PROCESS, 0, was + NICE);
	return was;
}

int jetwatt_wait_job(struct jetwatt_session *w, double for_s, void (*each)(void *arg), void *arg)
{
	uint64_t begun = jetwatt_clock_ns();
	int was = lower_priority(), err;

	while (!w->ended && !w->failed) {
		jetwatt_session_run(w, POLL_MS);
		if (each)
			each(arg);
		if (w->stop && !w->child.pid)
			break;
		if (w->stop)
			pass_signal(w);
		if (for_s > 0 && (jetwatt_clock_ns() - begun) * 1e-9 >= for_s)
			break;
	}
	setpriority(PRIO_PROCESS, 0, was);
	if (!w->failed)
		return 0;
	err = jetwatt_session_error(w);
	wait_unmeasured(w);
	return err;
}

void jetwatt_wait_job_discard(void *session)
{
	struct jetwatt_session *w = session;

	jetwatt_session_discard(w, w->power_ns);
	w->nr_sync = w->nr_mark = 0;
}

int jetwatt_wait_job_exit(const struct jetwatt_session *w)
{
	return w->child.gone ? jetwatt_child_exit(&w->child) : 0;
}
