// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The marker backend: receives the marks that the measured program sends with mark.c. A begin mark
 * is reported at once (JETWATT_SYNC_MARK_BEGIN), and again together with its end mark as one
 * record; a single mark becomes a record by itself. The kernel's credentials show which process has
 * sent a mark.
 */
#include "lib/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/probe.h"

/* A mark that was received; name: index in jetwatt_probe_state::mark. */
struct begun {
	uint32_t tgid, tid;
	int name;
	uint64_t time_ns;
};

/**
 * struct marks - state of the marker backend
 * @probe: the probe
 * @fd: receiving end of the socket pair
 * @nr_open: number of begin marks whose end mark has not arrived
 * @open: begin marks whose end mark has not arrived, the latest last
 * @lost: number of marks that were lost or rejected
 */
struct marks {
	struct jetwatt_probe *probe;
	int fd, nr_open;
	struct begun open[JETWATT_MARKS_OPEN];
	uint64_t lost;
};

int jetwatt_marks_name_ok(const char *name)
{
	size_t i;

	for (i = 0; name && name[i]; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '@')
			return 0;
	return name && i && i < JETWATT_MARKS_NAME_LEN;
}

int jetwatt_marks_parse(const char *text, size_t len, struct jetwatt_marks_line *line)
{
	unsigned long long ns = 0;
	unsigned int tid = 0, lost = 0, pid = 0;
	char copy[160], *name = copy, *at;

	if (len >= sizeof(copy) || memchr(text, '\0', len))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memset(line, 0, sizeof(*line));
	line->verb = JETWATT_MARKS_POINT;
	at = strstr(copy, " @");
	if (at) {
		if (sscanf(at, " @%20llu/%10u/%10u/%10u", &ns, &tid, &lost, &pid) != 4)
			return -EINVAL;
		*at = '\0';
	}
	if (!strncmp(name, "begin ", 6)) {
		line->verb = JETWATT_MARKS_BEGIN;
		name += 6;
	} else if (!strncmp(name, "end ", 4)) {
		line->verb = JETWATT_MARKS_END;
		name += 4;
	}
	if (!jetwatt_marks_name_ok(name))
		return -EINVAL;
	strcpy(line->name, name);
	line->time_ns = ns;
	line->tid = tid;
	line->lost = lost;
	line->pid = pid;
	return 0;
}

/* Return the index of a name, which is added if it is new; -1: there are too many names. */
static int mark_name(struct marks *m, const char *name)
{
	struct jetwatt_probe_state *st = jetwatt_probe_of(m->probe);
	uint32_t i;

	for (i = 0; i < st->marks && strcmp(st->mark[i], name); i++)
		;
	if (i == JETWATT_MARKS_MAX)
		return -1;
	if (i == st->marks)
		strcpy(st->mark[st->marks++], name);
	return (int)i;
}

static void marks_deliver(struct marks *m, const struct begun *b, uint32_t call, uint64_t end_ns)
{
	struct jetwatt_sync s = {
		.enter_ns = b->time_ns,
		.exit_ns = end_ns,
		.tgid = b->tgid,
		.tid = b->tid,
		.call = call,
		.ret = b->name,
	};

	jetwatt_probe_deliver(m->probe, &s);
}

/* For an end mark, find the latest begin mark of the same thread and name, and report both as
 * one record, unless the end is before the begin. */
static void mark_end(struct marks *m, const struct begun *e)
{
	for (int i = m->nr_open - 1; i >= 0; i--) {
		struct begun b = m->open[i];

		if (b.tgid != e->tgid || b.tid != e->tid || b.name != e->name)
			continue;
		memmove(&m->open[i], &m->open[i + 1], (--m->nr_open - i) * sizeof(b));
		if (e->time_ns >= b.time_ns)
			marks_deliver(m, &b, JETWATT_SYNC_MARK, e->time_ns);
		return;
	}
	m->lost++;
}

/* Store a begin mark. If there is no space, forget the oldest one: its process or thread has probably ended, or
 * has skipped the end mark. */
static void mark_begin(struct marks *m, const struct begun *b)
{
	if (m->nr_open == JETWATT_MARKS_OPEN)
		memmove(&m->open[0], &m->open[1], --m->nr_open * sizeof(*b));
	m->open[m->nr_open++] = *b;
	marks_deliver(m, b, JETWATT_SYNC_MARK_BEGIN, b->time_ns);
}

static uint64_t marks_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void receive_mark(struct marks *m, const char *text, size_t len, uint32_t tgid)
{
	struct jetwatt_marks_line line;
	uint64_t t = marks_now();
	struct begun b;

	if (!len)
		return;
	if (jetwatt_marks_parse(text, len, &line)) {
		m->lost++;
		return;
	}
	m->lost += line.lost;
	/* If a mark has no time, or one in the future, which is invalid, use the present time. */
	b = (struct begun){
		.tgid = line.pid ? line.pid : tgid,
		.tid = line.tid,
		.name = mark_name(m, line.name),
		.time_ns = line.time_ns && line.time_ns <= t ? line.time_ns : t,
	};
	if (b.name < 0) {
		m->lost++;
	} else if (line.verb == JETWATT_MARKS_BEGIN) {
		mark_begin(m, &b);
	} else if (line.verb == JETWATT_MARKS_END) {
		mark_end(m, &b);
	} else {
		marks_deliver(m, &b, JETWATT_SYNC_MARK, b.time_ns);
	}
}

static int marks_dispatch(void *state)
{
	struct marks *m = state;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char text[JETWATT_MARKS_DATAGRAM];
	int datagrams = 1000;

	while (datagrams--) {
		struct iovec iov = { text, sizeof(text) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
				      .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(m->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		struct cmsghdr *c;
		struct ucred who = { 0 };
		size_t at, len;
		int cut;

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		c = CMSG_FIRSTHDR(&msg);
		if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(c), sizeof(who));
		/* The kernel has discarded the end of a longer datagram, and the last line may be a part
		 * of a mark. The number of marks in it is not known, so it counts as one. */
		cut = !!(msg.msg_flags & MSG_TRUNC);
		m->lost += cut;
		for (at = 0; at < (size_t)n; at += len + 1) {
			const char *e = memchr(text + at, '\n', n - at);

			if (!e && cut)
				break;
			len = e ? (size_t)(e - (text + at)) : n - at;
			receive_mark(m, text + at, len, who.pid);
		}
	}
	return 1;
}

static int marks_open(void **state, struct jetwatt_probe *p, const struct jetwatt_probe_opts *o,
		      uint32_t which)
{
	struct marks *m;

	if (o->mark_fd <= 0)
		return jetwatt_probe_refuse(p, which, -EOPNOTSUPP,
					    "marks need a command that jetwatt starts itself: use -- COMMAND");
	m = calloc(1, sizeof(*m));
	if (!m)
		return jetwatt_probe_refuse(p, which, -ENOMEM, "out of memory");
	m->probe = p;
	m->fd = o->mark_fd;
	jetwatt_probe_of(p)->attached |= JETWATT_BACKEND_MARKER;
	*state = m;
	return 0;
}

static int marks_fd(const void *state)
{
	return ((const struct marks *)state)->fd;
}

static uint64_t marks_lost(const void *state)
{
	return ((const struct marks *)state)->lost;
}

const struct jetwatt_backend_ops jetwatt_backend_marks = {
	.backends = JETWATT_BACKEND_MARKER,
	.open = marks_open,
	.fd = marks_fd,
	.dispatch = marks_dispatch,
	.lost = marks_lost,
	.close = free,
};
