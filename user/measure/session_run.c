// SPDX-License-Identifier: GPL-2.0-only
/* The event loop of a session: signals, the end of the job, samples and waits. */
#include "measure/session.h"
#include "util/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* If no samples arrive for this time plus the maximum age of a batch, the stream of samples has
 * ended. */
#define SILENT_NS	6000000000ull

static void on_signal(struct jetwatt_session *w)
{
	struct signalfd_siginfo si;

	while (read(w->signals, &si, sizeof(si)) == sizeof(si)) {
		w->stop = w->interrupted = si.ssi_signo;
		/* A signal that the terminal sent (Ctrl-C) has also reached the command. */
		w->stop_by_tty = si.ssi_code == SI_KERNEL;
	}
}

static void on_end(struct jetwatt_session *w)
{
	if (w->ended)
		return;
	w->ended = 1;
	w->ended_ns = jetwatt_clock_ns();
	jetwatt_child_reap(&w->child);
	/* The job's pidfd stays readable after the end of the job, so remove it from the event
	 * loop. */
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->pidfd, NULL);
}

/* The job is a cgroup: it has ended when the cgroup is empty. */
static void on_change(struct jetwatt_session *w)
{
	if (w->ended || !jetwatt_cgroup_empty(&w->cgroup))
		return;
	w->ended = 1;
	w->ended_ns = jetwatt_clock_ns();
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->cgroup.events, NULL);
}

/*
 * Read both streams, whichever descriptor woke the event loop. If this process is late, for instance
 * because it writes to a slow disk, the join must not discard the older records of the stream that is
 * read second.
 */
static void handle_streams(struct jetwatt_session *w)
{
	jetwatt_session_read_sysfs(w, 0);
	if (w->join)
		jetwatt_join_pause(w->join, 1);
	if (w->probe && jetwatt_probe_dispatch(w->probe) < 0)
		w->failed = 1;
	if (jetwatt_dispatch(w->jw) < 0)
		w->failed = 1;
	if (w->join)
		jetwatt_join_pause(w->join, 0);
}

static void handle_fd(struct jetwatt_session *w, int fd)
{
	if (fd == w->signals)
		on_signal(w);
	else if (fd == w->pidfd)
		on_end(w);
	else if (fd == w->cgroup.events)
		on_change(w);
	else
		handle_streams(w);
}

/* Return the time without samples after which the stream counts as ended, in ns. An unloaded module sends no
 * message. */
static uint64_t silence_ns(const struct jetwatt_session *w)
{
	return SILENT_NS + w->config.batch_age_ms * 1000000ull;
}

static void check_silence(struct jetwatt_session *w)
{
	if (w->last_batch_ns && jetwatt_clock_ns() - w->last_batch_ns > silence_ns(w))
		w->silent = w->failed = 1;
}

/* Handle events for @ms. Return: 1 if all data has been read; 0 if there was still data to read
 * at the end. */
static int run_loop(struct jetwatt_session *w, int ms)
{
	uint64_t now = jetwatt_clock_ns(), until = now + ms * 1000000ull;
	int was = w->stop || w->ended, n = -1;
	struct epoll_event e[4];

	while (now < until && !w->failed) {
		n = epoll_wait(w->epoll, e, 4, (until - now + 999999) / 1000000);
		if (n < 0 && errno != EINTR)
			w->failed = 1;
		for (int i = 0; i < n; i++)
			handle_fd(w, e[i].data.fd);
		if (!was && (w->stop || w->ended))
			break;
		now = jetwatt_clock_ns();
	}
	return !n;
}

static void set_listening(struct jetwatt_session *w, int fd, int yes)
{
	struct epoll_event e = { .events = yes ? EPOLLIN : 0, .data.fd = fd };

	if (epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd, &e))
		w->failed = 1;
}

/* Pause or resume. While paused, samples and waits do not wake the event loop. */
static void session_set_paused(struct jetwatt_session *w, int paused)
{
	if (w->paused == paused)
		return;
	w->paused = paused;
	set_listening(w, jetwatt_fd(w->jw), !paused);
	if (w->probe)
		set_listening(w, jetwatt_probe_fd(w->probe), !paused);
}

int jetwatt_session_run(struct jetwatt_session *w, int ms)
{
	session_set_paused(w, 0);
	/* After a delay of this process, there may still be data to read, so do not conclude
	 * that the stream has ended. */
	if (run_loop(w, ms))
		check_silence(w);
	return w->stop || w->ended || w->failed;
}

int jetwatt_session_sleep(struct jetwatt_session *w, int ms)
{
	session_set_paused(w, 1);
	run_loop(w, ms);
	handle_streams(w);
	check_silence(w);
	return w->stop || w->ended || w->failed;
}

void jetwatt_session_finish(struct jetwatt_session *w, uint64_t later_ns)
{
	uint64_t end = w->ended ? w->ended_ns : jetwatt_clock_ns();

	jetwatt_session_read_sysfs(w, 1);
	/* Do not wait until the join delivers these samples: it holds them back for the hold time. */
	for (int i = 0; i < 40 && w->sampled_ns <= end + later_ns && !w->failed; i++)
		jetwatt_session_run(w, 50);
	if (w->probe)
		jetwatt_probe_dispatch(w->probe);
	if (w->probe && w->ended)
		jetwatt_probe_flush(w->probe);
	jetwatt_join_flush(w->join);
}
