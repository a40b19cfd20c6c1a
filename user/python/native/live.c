// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of a running job. The bounds of its minibatches are found as the waits arrive
 * (jetwatt_batch_track).
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "python/native/records.h"

/* Hold time of the join, ms, with and without waits: see jetwatt_join_new(). */
#define HOLD_MS		1000
#define HOLD_NONE_MS	1
/* Interval of reading sysfs, ns. */
#define SYSFS_NS	1000000000ull

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void on_wait(const struct jetwatt_sync *w, void *arg)
{
	struct jetwatt_stream *s = arg;

	jetwatt_join_sync(w, s->join);
}

static int watch(struct jetwatt_stream *s, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int set_rate(struct jetwatt_stream *s, uint32_t rate_hz)
{
	struct jetwatt_config c, set = { rate_hz, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };
	int err = jetwatt_config_get(s->jw, &c);

	if (!err)
		err = jetwatt_config_set(s->jw, &set);
	if (err)
		return err;
	s->rate_hz = c.rate_hz;
	s->rate_set = rate_hz;
	return 0;
}

static int open_probe(struct jetwatt_stream *s, uint32_t pid)
{
	struct jetwatt_probe_opts opts = { .tgid = pid, .children = 1 };
	int err;

	s->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (s->pidfd < 0)
		return -errno;
	s->track = jetwatt_batch_track_new();
	if (!s->track)
		return -ENOMEM;
	err = jetwatt_probe_open(&s->probe, &opts, on_wait, s);
	if (err) {
		s->why = jetwatt_probe_error();
		return err;
	}
	err = watch(s, s->pidfd);
	return err ? err : watch(s, jetwatt_probe_fd(s->probe));
}

int jetwatt_stream_live(struct jetwatt_stream **stream, uint32_t pid, uint32_t rate_hz)
{
	struct jetwatt_stream *s = *stream = jetwatt_stream_new();
	int err = s ? jetwatt_open(&s->jw) : -ENOMEM;

	if (!err)
		err = jetwatt_sysfs_open(&s->sysfs, NULL);
	if (err)
		return err;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll < 0 ? -errno : watch(s, jetwatt_fd(s->jw));
	if (!err && rate_hz)
		err = set_rate(s, rate_hz);
	/* The description of the rails is valid once the sampler runs. */
	if (!err)
		err = jetwatt_subscribe(s->jw, jetwatt_stream_samples, s);
	if (err)
		return err;
	s->nr_rails = jetwatt_rails(s->jw, s->rail, JETWATT_RAILS_MAX);
	if (s->nr_rails < 0)
		return s->nr_rails;
	jetwatt_stream_find_total(s);
	err = jetwatt_join_new(&s->join, s->jw, pid ? HOLD_MS : HOLD_NONE_MS);
	if (err)
		return err;
	jetwatt_stream_join(s);
	return pid ? open_probe(s, pid) : 0;
}

static void read_sysfs(struct jetwatt_stream *s)
{
	struct jetwatt_reading r;
	uint64_t now = now_ns();

	if (now - s->sysfs_ns < SYSFS_NS)
		return;
	s->sysfs_ns = now;
	jetwatt_sysfs_read(s->sysfs, &r);
	jetwatt_join_reading(&r, s->join);
}

static int process_ended(const struct jetwatt_stream *s)
{
	struct epoll_event e[4];
	int n = s->pidfd < 0 ? 0 : epoll_wait(s->epoll, e, 4, 0);

	for (int i = 0; i < n; i++)
		if (e[i].data.fd == s->pidfd)
			return 1;
	return 0;
}

int jetwatt_stream_step_live(struct jetwatt_stream *s)
{
	int ended = process_ended(s), n;

	read_sysfs(s);
	/* The program may have been busy for longer than the hold time since the last step. */
	jetwatt_join_pause(s->join, 1);
	n = jetwatt_dispatch(s->jw);
	if (n >= 0 && s->probe)
		n = jetwatt_probe_dispatch(s->probe);
	jetwatt_join_pause(s->join, 0);
	if (n < 0)
		return n;
	s->waits_lost = s->probe ? jetwatt_probe_lost(s->probe) : 0;
	if (!ended)
		return 1;
	jetwatt_probe_flush(s->probe);
	jetwatt_join_flush(s->join);
	return 0;
}

void jetwatt_stream_restore_rate(struct jetwatt_stream *s)
{
	struct jetwatt_config old = { s->rate_hz, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 }, now;

	if (s->rate_set && !jetwatt_config_get(s->jw, &now) && now.rate_hz == s->rate_set)
		jetwatt_config_set(s->jw, &old);
}

