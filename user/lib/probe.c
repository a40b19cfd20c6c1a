// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The probe: loads and attaches bpf/sync.bpf.c, and hands on its records.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#if __has_include(<bpf/libbpf_version.h>)
#include <bpf/libbpf_version.h>
#else /* before 0.6 */
#define LIBBPF_MAJOR_VERSION	0
#define LIBBPF_MINOR_VERSION	5
#endif

#include "../../bpf/sync.h"
#include "fdname.h"
#include "follow.h"
#include "jetwatt.h"
#include "sync.skel.h"

/* Twice the time for which sync.bpf.c doesn't wake the reader again. */
#define LOOK_AGAIN_NS	20000000

struct jetwatt_probe {
	struct sync *bpf;
	struct ring_buffer *ring;
	int epfd, timer;
	jetwatt_sync_fn fn;
	void *arg;
	int handled;
	struct jetwatt_fdname names;
};

static _Thread_local char error[256];
static _Thread_local char said[192];

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

/* Of what libbpf says, the last warning is nearest to the cause. */
static int hear(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[sizeof(said)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	if (*line)
		memcpy(said, line, sizeof(said));
	return 0;
}

static int locked_down(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return !!strstr(line, "[confidentiality]");
}

/* Ubuntu 22.04, and so JetPack 6, has libbpf 0.5, where probing is called otherwise. */
static int supported(enum bpf_prog_type prog, enum bpf_map_type map)
{
#if LIBBPF_MAJOR_VERSION > 0 || LIBBPF_MINOR_VERSION >= 7
	return libbpf_probe_bpf_prog_type(prog, NULL) != 0 &&
	       libbpf_probe_bpf_map_type(map, NULL) != 0;
#else
	return bpf_probe_prog_type(prog, 0) && bpf_probe_map_type(map, 0);
#endif
}

/* Says what stands behind an error of loading or attaching. */
static int explain(int err, const char *doing)
{
	if (err == -EPERM || err == -EACCES)
		return fail(-EPERM,
			    "%s the probe: needs CAP_BPF and CAP_PERFMON: run as root", doing);
	if (locked_down())
		return fail(-EOPNOTSUPP,
			    "%s the probe: the kernel is locked down (confidentiality), BPF may not read memory",
			    doing);
	if (err == -ENOSYS || !supported(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_MAP_TYPE_RINGBUF))
		return fail(-EOPNOTSUPP,
			    "%s the probe: this kernel cannot trace with BPF (raw tracepoints need CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS, ring buffers 5.8)",
			    doing);
	if (err == -ENOENT)
		return fail(-EOPNOTSUPP,
			    "%s the probe: this kernel has no tracepoint for system calls", doing);
	return fail(err, "%s the probe: %s", doing, *said ? said : strerror(-err));
}

/* Was it a wait for the GPU? Doubt is in favour: the process may be gone. */
static int genuine(struct jetwatt_probe *p, const struct jetwatt_sync_record *r)
{
	int what = jetwatt_fdname_lookup(&p->names, r->tgid, r->fd, r->exit_ns);

	if (r->call == JETWATT_SYNC_RECORD_SYNCPT)
		return what == JETWATT_FDNAME_RENDER || what == JETWATT_FDNAME_GONE;
	if (what == JETWATT_FDNAME_POLLFD)
		return 1;
	what = jetwatt_fdname_lookup(&p->names, r->tgid, r->ctl_fd, r->exit_ns);
	return what == JETWATT_FDNAME_FENCE || what == JETWATT_FDNAME_GONE;
}

static int record(void *ctx, void *data, size_t size)
{
	const struct jetwatt_sync_record *r = data;
	struct jetwatt_probe *p = ctx;
	struct jetwatt_sync s;

	if (size < sizeof(*r) || !genuine(p, r))
		return 0;
	s = (struct jetwatt_sync){
		.enter_ns = r->enter_ns,
		.exit_ns = r->exit_ns,
		.cgroup = r->cgroup,
		.tgid = r->tgid,
		.tid = r->tid,
		.call = r->call == JETWATT_SYNC_RECORD_SYNCPT ? JETWATT_SYNC_SYNCPT :
								JETWATT_SYNC_POLLFD,
		.ret = r->ret,
	};
	p->handled++;
	if (p->fn)
		p->fn(&s, p->arg);
	return 0;
}

static int configure(struct sync *bpf, const struct jetwatt_probe_opts *o)
{
	if (o->tgid && o->children) {
		bpf->rodata->follow_set = 1;
		bpf->rodata->fork_child_off = jetwatt_follow_fork_offset();
	} else {
		bpf->rodata->only_tgid = o->tgid;
	}
	bpf->rodata->only_cgroup = o->cgroup;
	bpf_program__set_autoload(bpf->progs.process_fork, bpf->rodata->fork_child_off != 0);
	if (!o->ring_kib)
		return 0;
	return bpf_map__set_max_entries(bpf->maps.records, o->ring_kib * 1024);
}

/* From here on a fork is seen by the program; what was forked before is in
 * /proc. The two may overlap, nothing falls between them. */
static int follow(struct sync *bpf, uint32_t tgid)
{
	int fd = bpf_map__fd(bpf->maps.followed), nr, i;
	uint32_t *tgids = NULL, one = 1;

	nr = jetwatt_follow_tree(tgid, &tgids);
	for (i = 0; i < nr; i++) {
		if (bpf_map_update_elem(fd, &tgids[i], &one, BPF_NOEXIST) && errno != EEXIST) {
			nr = -errno;
			break;
		}
		/* ended before it was in the map: its number is free again */
		if (!jetwatt_follow_alive(tgids[i]))
			bpf_map_delete_elem(fd, &tgids[i]);
	}
	free(tgids);
	return nr < 0 ? nr : 0;
}

static int load(struct jetwatt_probe *p, const struct jetwatt_probe_opts *o)
{
	uint32_t tgid = o->tgid, one = 1;
	int err;

	p->bpf = sync__open();
	if (!p->bpf)
		return explain(-errno, "opening");
	err = configure(p->bpf, o);
	if (!err)
		err = sync__load(p->bpf);
	if (err)
		return explain(err, "loading");
	if (p->bpf->rodata->follow_set &&
	    bpf_map_update_elem(bpf_map__fd(p->bpf->maps.followed), &tgid, &one, BPF_ANY))
		return explain(-errno, "loading");
	err = sync__attach(p->bpf);
	if (err)
		return explain(err, "attaching");
	if (p->bpf->rodata->follow_set)
		err = follow(p->bpf, o->tgid);
	return err ? fail(err, "following process %u: %s", o->tgid, strerror(-err)) : 0;
}

static int watch(struct jetwatt_probe *p)
{
	struct epoll_event ev = { .events = EPOLLIN };

	p->ring = ring_buffer__new(bpf_map__fd(p->bpf->maps.records), record, p, NULL);
	if (!p->ring)
		return -errno;
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	p->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (p->timer < 0 || p->epfd < 0 ||
	    epoll_ctl(p->epfd, EPOLL_CTL_ADD, ring_buffer__epoll_fd(p->ring), &ev) ||
	    epoll_ctl(p->epfd, EPOLL_CTL_ADD, p->timer, &ev))
		return -errno;
	return 0;
}

int jetwatt_probe_open(struct jetwatt_probe **out, const struct jetwatt_probe_opts *opts,
		       jetwatt_sync_fn fn, void *arg)
{
	struct jetwatt_probe_opts none = { 0 };
	libbpf_print_fn_t printer;
	struct jetwatt_probe *p;
	int err;

	*out = NULL;
	if (!opts)
		opts = &none;
	if (opts->tgid && !jetwatt_follow_initial_pids())
		return fail(-EOPNOTSUPP,
			    "this is not the initial pid namespace, where process %u has another number: filter by cgroup",
			    opts->tgid);
	p = calloc(1, sizeof(*p));
	if (!p)
		return fail(-ENOMEM, "out of memory");
	p->fn = fn;
	p->arg = arg;
	p->epfd = p->timer = -1;
	said[0] = '\0';
	printer = libbpf_set_print(hear);
	err = load(p, opts);
	if (!err) {
		err = watch(p);
		if (err)
			fail(err, "opening the probe's ring buffer: %s", strerror(-err));
	}
	libbpf_set_print(printer);
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
	ring_buffer__free(p->ring);
	sync__destroy(p->bpf);
	if (p->timer >= 0)
		close(p->timer);
	if (p->epfd >= 0)
		close(p->epfd);
	free(p);
}

int jetwatt_probe_fd(const struct jetwatt_probe *p)
{
	return p->epfd;
}

int jetwatt_probe_dispatch(struct jetwatt_probe *p)
{
	struct itimerspec again = { .it_value.tv_nsec = LOOK_AGAIN_NS };
	uint64_t expired;
	int seen;

	if (read(p->timer, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
		return -errno;
	p->handled = 0;
	seen = ring_buffer__consume(p->ring);
	if (seen < 0)
		return seen;
	/* What comes now may not wake us: see emit() in sync.bpf.c. */
	if (seen && timerfd_settime(p->timer, 0, &again, NULL))
		return -errno;
	return p->handled;
}

uint64_t jetwatt_probe_lost(const struct jetwatt_probe *p)
{
	return __atomic_load_n(&p->bpf->bss->lost, __ATOMIC_RELAXED);
}
