// SPDX-License-Identifier: GPL-2.0-only
/* The event loop of what watches: signals, ends, and both streams. */
#include "measure/session.h"
#include "util/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* No samples for so long, and longer than a batch is gathered: there are none. */
#define SILENT_NS	6000000000ull

static void on_signal(struct jetwatt_watch *w)
{
	struct signalfd_siginfo si;

	while (read(w->signals, &si, sizeof(si)) == sizeof(si)) {
		w->stop = w->interrupted = si.ssi_signo;
		/* From the terminal the command got it as well. */
		w->stop_by_tty = si.ssi_code == SI_KERNEL;
	}
}

static void on_end(struct jetwatt_watch *w)
{
	if (w->ended)
		return;
	w->ended = 1;
	w->ended_ns = jetwatt_clock_ns();
	jetwatt_child_reap(&w->child);
	/* Readable for ever from now on. */
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->pidfd, NULL);
}

/* A cgroup that was given to us is the job: it ends with the last one in it. */
static void on_change(struct jetwatt_watch *w)
{
	if (w->ended || !jetwatt_cgroup_empty(&w->cgroup))
		return;
	w->ended = 1;
	w->ended_ns = jetwatt_clock_ns();
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->cgroup.events, NULL);
}

/*
 * Waits before samples, whichever woke us: if we come late, samples up to now
 * would make the join give up on waits that are in the probe's buffer already.
 */
static void streams(struct jetwatt_watch *w)
{
	jetwatt_watch_look(w, 0);
	if (w->probe && jetwatt_probe_dispatch(w->probe) < 0)
		w->failed = 1;
	if (jetwatt_dispatch(w->jw) < 0)
		w->failed = 1;
}

static void handle(struct jetwatt_watch *w, int fd)
{
	if (fd == w->signals)
		on_signal(w);
	else if (fd == w->pidfd)
		on_end(w);
	else if (fd == w->cgroup.events)
		on_change(w);
	else
		streams(w);
}

/* A module that was unloaded says nothing, not even good-bye. */
static uint64_t silence(const struct jetwatt_watch *w)
{
	return SILENT_NS + w->config.batch_age_ms * 1000000ull;
}

static void mind_silence(struct jetwatt_watch *w)
{
	if (w->heard_ns && jetwatt_clock_ns() - w->heard_ns > silence(w))
		w->silent = w->failed = 1;
}

/* Return: there was nothing left to read. */
static int gather(struct jetwatt_watch *w, int ms)
{
	uint64_t now = jetwatt_clock_ns(), until = now + ms * 1000000ull;
	int was = w->stop || w->ended, n = -1;
	struct epoll_event e[4];

	while (now < until && !w->failed) {
		n = epoll_wait(w->epoll, e, 4, (until - now + 999999) / 1000000);
		if (n < 0 && errno != EINTR)
			w->failed = 1;
		for (int i = 0; i < n; i++)
			handle(w, e[i].data.fd);
		if (!was && (w->stop || w->ended))
			break;
		now = jetwatt_clock_ns();
	}
	return !n;
}

static void listen_to(struct jetwatt_watch *w, int fd, int yes)
{
	struct epoll_event e = { .events = yes ? EPOLLIN : 0, .data.fd = fd };

	if (epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd, &e))
		w->failed = 1;
}

/* Do the streams wake us? */
static void deafen(struct jetwatt_watch *w, int deaf)
{
	if (w->deaf == deaf)
		return;
	w->deaf = deaf;
	listen_to(w, jetwatt_fd(w->jw), !deaf);
	if (w->probe)
		listen_to(w, jetwatt_probe_fd(w->probe), !deaf);
}

int jetwatt_watch_run(struct jetwatt_watch *w, int ms)
{
	deafen(w, 0);
	/* Who was stopped himself has not been left alone. */
	if (gather(w, ms))
		mind_silence(w);
	return w->stop || w->ended || w->failed;
}

int jetwatt_watch_rest(struct jetwatt_watch *w, int ms)
{
	deafen(w, 1);
	gather(w, ms);
	streams(w);
	mind_silence(w);
	return w->stop || w->ended || w->failed;
}

void jetwatt_watch_settle(struct jetwatt_watch *w)
{
	uint64_t end = w->ended ? w->ended_ns : jetwatt_clock_ns();

	jetwatt_watch_look(w, 1);
	for (int i = 0; i < 40 && w->power_ns <= end && !w->failed; i++)
		jetwatt_watch_run(w, 50);
	if (w->probe)
		jetwatt_probe_dispatch(w->probe);
	if (w->probe && w->ended)
		jetwatt_probe_flush(w->probe);
	jetwatt_join_flush(w->join);
}
