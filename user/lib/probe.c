// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The probe: a ladder of ways to see waits for the GPU. Which of them this
 * kernel has is found by trying, never by its version.
 */
#include "lib/probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/follow.h"
#include "lib/own.h"

/* Twice the time for which sync.bpf.c doesn't wake the reader again. */
#define LOOK_AGAIN_NS	20000000
/* So often is it looked whether the job has loaded its library. */
#define LOOK_NS		200000000
#define SOON_NS		1000000

static const struct jetwatt_rung_ops *const ladder[] = { &jetwatt_rung_bpf, &jetwatt_rung_module,
						      &jetwatt_rung_marks };

#define NR_LADDER (sizeof(ladder) / sizeof(ladder[0]))

struct jetwatt_probe {
	struct { const struct jetwatt_rung_ops *ops; void *state; } rung[NR_LADDER];
	int epfd, again, look;
	jetwatt_sync_fn fn;
	void *arg;
	int handled;
	struct jetwatt_own own;
	struct jetwatt_probe_state st;
};

static _Thread_local char error[256];

const char *jetwatt_probe_error(void)
{
	return error;
}

static int fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, sizeof(error), fmt, ap);
	va_end(ap);
	return err;
}

int jetwatt_probe_refuse(struct jetwatt_probe *p, uint32_t rungs, int err, const char *why, ...)
{
	va_list ap;
	int i;

	for (i = 0; i < JETWATT_RUNGS; i++) {
		if (!(rungs & 1u << i))
			continue;
		va_start(ap, why);
		vsnprintf(p->st.why[i], sizeof(p->st.why[i]), why, ap);
		va_end(ap);
	}
	va_start(ap, why);
	vsnprintf(error, sizeof(error), why, ap);
	va_end(ap);
	return err;
}

static void report(const struct jetwatt_sync *s, void *probe)
{
	struct jetwatt_probe *p = probe;

	if (s->call < JETWATT_SYNC_CALLS)
		p->st.seen[s->call]++;
	p->st.launches += s->launches;
	p->handled++;
	if (p->fn)
		p->fn(s, p->arg);
}

void jetwatt_probe_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s)
{
	jetwatt_own_add(&p->own, s, report, p);
}

struct jetwatt_probe_state *jetwatt_probe_of(struct jetwatt_probe *p)
{
	return &p->st;
}

static int poll_too(struct jetwatt_probe *p, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return fd < 0 || epoll_ctl(p->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int watch(struct jetwatt_probe *p)
{
	struct itimerspec every = { { 0, LOOK_NS }, { 0, LOOK_NS } };
	int look = 0, err = 0;

	p->epfd = epoll_create1(EPOLL_CLOEXEC);
	p->again = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	p->look = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->epfd < 0 || p->again < 0 || p->look < 0)
		return -errno;
	for (size_t i = 0; i < NR_LADDER && !err; i++) {
		if (!p->rung[i].ops)
			continue;
		look |= p->rung[i].ops->look != NULL;
		err = poll_too(p, p->rung[i].ops->fd(p->rung[i].state));
	}
	if (!err)
		err = poll_too(p, p->again);
	if (!err && look)
		err = timerfd_settime(p->look, 0, &every, NULL) ? -errno : poll_too(p, p->look);
	return err;
}

/*
 * Every rung that is asked for and there; the module only where the kernel has
 * not let us see by ourselves. Marks alone are no answer to who asked for more.
 * Return: 0; what the first one said if there is none.
 */
static int climb(struct jetwatt_probe *p, const struct jetwatt_probe_opts *o)
{
	const uint32_t sees = JETWATT_RUNG_UPROBE | JETWATT_RUNG_TRACEPOINT | JETWATT_RUNG_MODULE;
	uint32_t want = o->rungs ? o->rungs : sees | (o->mark_fd > 0 ? JETWATT_RUNG_MARKER : 0);
	char first[sizeof(error)] = "";
	uint32_t open = 0;
	int err = 0, e;

	for (size_t i = 0; i < NR_LADDER; i++) {
		if (!(want & ladder[i]->rungs) ||
		    (!o->rungs && open && ladder[i]->rungs == JETWATT_RUNG_MODULE))
			continue;
		e = ladder[i]->open(&p->rung[i].state, p, o, want & ladder[i]->rungs);
		if (e && !err) {
			err = e;
			memcpy(first, error, sizeof(first));
		}
		if (e)
			continue;
		p->rung[i].ops = ladder[i];
		open |= ladder[i]->rungs;
	}
	if (open & sees || (open && want == JETWATT_RUNG_MARKER))
		return 0;
	return err ? fail(err, "%s", first) : fail(-EINVAL, "no such rung of the probe: %#x", want);
}

static int ours(const struct jetwatt_probe_opts *o)
{
	if (o->tgid && !jetwatt_follow_initial_pids())
		return fail(-EOPNOTSUPP,
			    "this is not the initial pid namespace, where process %u has another number: filter by cgroup",
			    o->tgid);
	if (!jetwatt_follow_initial_time())
		return fail(-EOPNOTSUPP,
			    "this is a time namespace whose clock is set off from the kernel's: run jetwatt outside of it");
	return 0;
}

int jetwatt_probe_open(struct jetwatt_probe **out, const struct jetwatt_probe_opts *opts,
		       jetwatt_sync_fn fn, void *arg)
{
	struct jetwatt_probe_opts none = { 0 };
	struct jetwatt_probe *p;
	int err;

	*out = NULL;
	if (!opts)
		opts = &none;
	err = ours(opts);
	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return fail(-ENOMEM, "out of memory");
	p->fn = fn;
	p->arg = arg;
	p->epfd = p->again = p->look = -1;
	err = climb(p, opts);
	if (!err) {
		err = watch(p);
		if (err)
			fail(err, "setting up the probe's descriptors: %s", strerror(-err));
	}
	if (err) {
		jetwatt_probe_close(p);
		return err;
	}
	*out = p;
	return 0;
}

void jetwatt_probe_close(struct jetwatt_probe *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < NR_LADDER; i++)
		if (p->rung[i].ops)
			p->rung[i].ops->close(p->rung[i].state);
	if (p->look >= 0)
		close(p->look);
	if (p->again >= 0)
		close(p->again);
	if (p->epfd >= 0)
		close(p->epfd);
	free(p);
}

int jetwatt_probe_fd(const struct jetwatt_probe *p)
{
	return p->epfd;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int look_again(struct jetwatt_probe *p, uint64_t ns)
{
	struct itimerspec again = { .it_value = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) } };

	return timerfd_settime(p->again, 0, &again, NULL) ? -errno : 0;
}

int jetwatt_probe_dispatch(struct jetwatt_probe *p)
{
	uint64_t expired, now = now_ns(), due;
	int look, more = 0, err;

	if (read(p->again, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
		return -errno;
	look = read(p->look, &expired, sizeof(expired)) == sizeof(expired);
	p->handled = 0;
	for (size_t i = 0; i < NR_LADDER; i++) {
		if (!p->rung[i].ops)
			continue;
		if (look && p->rung[i].ops->look)
			p->rung[i].ops->look(p->rung[i].state);
		err = p->rung[i].ops->dispatch(p->rung[i].state);
		if (err < 0)
			return err;
		more |= err;
	}
	/* All that had ended at that time has come. */
	due = jetwatt_own_release(&p->own, now, report, p);
	/* What comes now may not wake us: see emit() in sync.bpf.c. */
	err = more ? look_again(p, LOOK_AGAIN_NS) :
	      due ? look_again(p, due > now + SOON_NS ? due - now : SOON_NS) : 0;
	return err ? err : p->handled;
}

int jetwatt_probe_flush(struct jetwatt_probe *p)
{
	p->handled = 0;
	jetwatt_own_release(&p->own, UINT64_MAX, report, p);
	return p->handled;
}

uint64_t jetwatt_probe_dropped(const struct jetwatt_probe *p)
{
	return p->own.dropped;
}

uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < NR_LADDER; i++)
		if (p->rung[i].ops)
			lost += p->rung[i].ops->lost(p->rung[i].state);
	return lost;
}

int jetwatt_probe_waiting(const struct jetwatt_probe *p, uint32_t tid)
{
	int yes = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_LADDER && yes <= 0; i++)
		if (p->rung[i].ops && p->rung[i].ops->waiting)
			yes = p->rung[i].ops->waiting(p->rung[i].state, tid);
	return yes;
}

int jetwatt_probe_entries(const struct jetwatt_probe *p, struct jetwatt_probe_entry *out, int max)
{
	for (size_t i = 0; i < NR_LADDER; i++)
		if (p->rung[i].ops && p->rung[i].ops->entries)
			return p->rung[i].ops->entries(p->rung[i].state, out, max);
	return -EOPNOTSUPP;
}

void jetwatt_probe_state(const struct jetwatt_probe *p, struct jetwatt_probe_state *st)
{
	*st = p->st;
}
