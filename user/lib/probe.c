// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The probe: opens the backends that detect waits for the GPU, best first, and passes their records
 * on to the caller. What the kernel supports is never derived from its version.
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

#include "lib/process_tree.h"
#include "lib/helper_filter.h"

/* Poll the backends again after this time, ns: twice the time for which sync.bpf.c does not wake
 * the reader. */
#define POLL_AGAIN_NS	20000000
/* Interval at which backends search for libraries and, less often, driver events of the job, ns. */
#define SEARCH_NS		200000000
/* Minimum delay of the poll timer, ns. */
#define POLL_MIN_NS		1000000

static const struct jetwatt_backend_ops *const backends[] = {
	&jetwatt_backend_bpf, &jetwatt_backend_module, &jetwatt_backend_marks
};

#define NR_BACKENDS (sizeof(backends) / sizeof(backends[0]))

/**
 * struct jetwatt_probe - an open probe
 * @backend: operations and state of each open backend; ops NULL: not open
 * @epfd: epoll descriptor of the backends and timers
 * @poll_timer: timer that expires when the backends are to be polled next
 * @search_timer: timer of the periodic search for libraries
 * @fn: callback of the caller, with @arg
 * @handled: number of waits reported during the present call of jetwatt_probe_dispatch() or
 *	jetwatt_probe_flush()
 * @own: filter that holds back or drops the waits of libcuda's helper thread
 * @st: state for jetwatt_probe_state()
 */
struct jetwatt_probe {
	struct { const struct jetwatt_backend_ops *ops; void *state; } backend[NR_BACKENDS];
	int epfd, poll_timer, search_timer;
	jetwatt_sync_fn fn;
	void *arg;
	int handled;
	struct jetwatt_helper_filter own;
	struct jetwatt_probe_state st;
};

/* Text for jetwatt_probe_error(): the thread's last error, of an open or of one backend. */
static _Thread_local char error[256];

const char *jetwatt_probe_error(void)
{
	return error;
}

static int probe_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, sizeof(error), fmt, ap);
	va_end(ap);
	return err;
}

int jetwatt_probe_refuse(struct jetwatt_probe *p, uint32_t which, int err, const char *why, ...)
{
	va_list ap;
	int i;

	for (i = 0; i < JETWATT_BACKENDS; i++) {
		if (!(which & 1u << i))
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

static void report_probe_wait(const struct jetwatt_sync *s, void *probe)
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
	jetwatt_helper_filter_add(&p->own, s, report_probe_wait, p);
}

struct jetwatt_probe_state *jetwatt_probe_of(struct jetwatt_probe *p)
{
	return &p->st;
}

static int epoll_add(struct jetwatt_probe *p, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return fd < 0 || epoll_ctl(p->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int poll_backends(struct jetwatt_probe *p)
{
	struct itimerspec every = { { 0, SEARCH_NS }, { 0, SEARCH_NS } };
	int search = 0, err = 0;

	p->epfd = epoll_create1(EPOLL_CLOEXEC);
	p->poll_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	p->search_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->epfd < 0 || p->poll_timer < 0 || p->search_timer < 0)
		return -errno;
	for (size_t i = 0; i < NR_BACKENDS && !err; i++) {
		if (!p->backend[i].ops)
			continue;
		search |= p->backend[i].ops->search != NULL;
		err = epoll_add(p, p->backend[i].ops->fd(p->backend[i].state));
	}
	if (!err)
		err = epoll_add(p, p->poll_timer);
	if (!err && search)
		err = timerfd_settime(p->search_timer, 0, &every, NULL) ? -errno :
		      epoll_add(p, p->search_timer);
	return err;
}

/*
 * Open every requested backend that is available. Unless the caller requests it, the module is
 * used only if BPF is not available. A caller that requests more than marks gets an error if only
 * marks are available.
 * Return: 0; the error of the first backend that failed; -EINVAL: no requested backend exists.
 */
static int open_backends(struct jetwatt_probe *p, const struct jetwatt_probe_opts *o)
{
	const uint32_t sees = JETWATT_BACKEND_UPROBE | JETWATT_BACKEND_TRACEPOINT | JETWATT_BACKEND_MODULE;
	uint32_t want = o->backends ? o->backends : sees | (o->mark_fd > 0 ? JETWATT_BACKEND_MARKER : 0);
	char first[sizeof(error)] = "";
	uint32_t open = 0;
	int err = 0, e;

	for (size_t i = 0; i < NR_BACKENDS; i++) {
		if (!(want & backends[i]->backends) ||
		    (!o->backends && open && backends[i]->backends == JETWATT_BACKEND_MODULE))
			continue;
		e = backends[i]->open(&p->backend[i].state, p, o, want & backends[i]->backends);
		if (e && !err) {
			err = e;
			memcpy(first, error, sizeof(first));
		}
		if (e)
			continue;
		p->backend[i].ops = backends[i];
		open |= backends[i]->backends;
	}
	if (open & sees || (open && want == JETWATT_BACKEND_MARKER))
		return 0;
	return err ? probe_fail(err, "%s", first) :
		     probe_fail(-EINVAL, "no such backend of the probe: %#x", want);
}

/* The kernel's records have process ids and times of the initial namespaces. To filter by process
 * id, this process must be in the initial pid namespace; it must always have the initial clock. */
static int check_namespaces(const struct jetwatt_probe_opts *o)
{
	if (o->tgid && !jetwatt_process_initial_pids())
		return probe_fail(-EOPNOTSUPP,
				  "this is not the initial pid namespace, where process %u has another number: filter by cgroup",
				  o->tgid);
	if (!jetwatt_process_initial_time())
		return probe_fail(-EOPNOTSUPP,
				  "this is a time namespace whose clock has an offset from the kernel's: run jetwatt outside of it");
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
	err = check_namespaces(opts);
	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return probe_fail(-ENOMEM, "out of memory");
	p->fn = fn;
	p->arg = arg;
	p->epfd = p->poll_timer = p->search_timer = -1;
	err = open_backends(p, opts);
	if (!err) {
		err = poll_backends(p);
		if (err)
			probe_fail(err, "setting up the probe's descriptors: %s", strerror(-err));
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
	for (size_t i = 0; i < NR_BACKENDS; i++)
		if (p->backend[i].ops)
			p->backend[i].ops->close(p->backend[i].state);
	if (p->search_timer >= 0)
		close(p->search_timer);
	if (p->poll_timer >= 0)
		close(p->poll_timer);
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

/* Set the poll timer to expire in @ns nanoseconds. */
static int set_poll_timer(struct jetwatt_probe *p, uint64_t ns)
{
	struct itimerspec again = { .it_value = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) } };

	return timerfd_settime(p->poll_timer, 0, &again, NULL) ? -errno : 0;
}

int jetwatt_probe_dispatch(struct jetwatt_probe *p)
{
	uint64_t expired, now = now_ns(), due;
	int search, more = 0, err;

	if (read(p->poll_timer, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
		return -errno;
	search = read(p->search_timer, &expired, sizeof(expired)) == sizeof(expired);
	p->handled = 0;
	for (size_t i = 0; i < NR_BACKENDS; i++) {
		if (!p->backend[i].ops)
			continue;
		if (search && p->backend[i].ops->search)
			p->backend[i].ops->search(p->backend[i].state);
		err = p->backend[i].ops->dispatch(p->backend[i].state);
		if (err < 0)
			return err;
		more |= err;
	}
	/* The waits that ended JETWATT_HELPER_FILTER_HOLD_NS before @now have arrived. */
	due = jetwatt_helper_filter_release(&p->own, now, report_probe_wait, p);
	/* A record that arrives from now on may not wake the reader (WAKE_NS in bpf/state.h says
	 * why), so poll again later. */
	err = more ? set_poll_timer(p, POLL_AGAIN_NS) :
	      due ? set_poll_timer(p, due > now + POLL_MIN_NS ? due - now : POLL_MIN_NS) : 0;
	return err ? err : p->handled;
}

int jetwatt_probe_flush(struct jetwatt_probe *p)
{
	p->handled = 0;
	jetwatt_helper_filter_release(&p->own, UINT64_MAX, report_probe_wait, p);
	return p->handled;
}

uint64_t jetwatt_probe_dropped(const struct jetwatt_probe *p)
{
	return p->own.dropped;
}

uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < NR_BACKENDS; i++)
		if (p->backend[i].ops)
			lost += p->backend[i].ops->lost(p->backend[i].state);
	return lost;
}

int jetwatt_probe_waiting(const struct jetwatt_probe *p, uint32_t tid)
{
	int yes = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_BACKENDS && yes <= 0; i++)
		if (p->backend[i].ops && p->backend[i].ops->waiting)
			yes = p->backend[i].ops->waiting(p->backend[i].state, tid);
	return yes;
}

int jetwatt_probe_entries(const struct jetwatt_probe *p, struct jetwatt_probe_entry *out, int max)
{
	for (size_t i = 0; i < NR_BACKENDS; i++)
		if (p->backend[i].ops && p->backend[i].ops->entries)
			return p->backend[i].ops->entries(p->backend[i].state, out, max);
	return -EOPNOTSUPP;
}

void jetwatt_probe_state(const struct jetwatt_probe *p, struct jetwatt_probe_state *st)
{
	*st = p->st;
}
