// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The BPF backend: attaches bpf/sync.bpf.c and converts its records. It traces system calls and the
 * system's libcuda from the start, another libcuda once a process has mapped it (probe_uprobe.c).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<bpf/libbpf_version.h>)
#include <bpf/libbpf_version.h>
#else /* before 0.6 */
#define LIBBPF_MAJOR_VERSION	0
#define LIBBPF_MINOR_VERSION	5
#endif

#include "../bpf/wait_slot.h"
#include "../bpf/sync.h"
#include "lib/fdname.h"
#include "lib/followed.h"
#include "lib/libbpf_print.h"
#include "lib/process_tree.h"
#include "lib/probe.h"
#include "lib/probe_uprobe.h"
#include "lib/uprobe_link.h"
#include "sync.skel.h"

#define BPF_BACKENDS (JETWATT_BACKEND_UPROBE | JETWATT_BACKEND_TRACEPOINT)

#define EVENTS_MAX	64	/* maximum number of descriptors of driver events per process */
/* searches for libraries per search for driver events and for processes that have ended */
#define SEARCHES_PER_SCAN	5

/**
 * struct probe_bpf - state of the BPF backend
 * @bpf: the loaded program; @ring: reader of the program's ring; @uprobes: NULL: not in use
 * @names: cache of the kinds of files to which descriptors refer
 * @lost: highest number of lost records reported so far; @searches: number of searches so far
 * @cgroup_path: cgroup to watch; NULL: none; @syscalls: 1: system calls are traced
 * @multi: see jetwatt_uprobe_attach()
 */
struct probe_bpf {
	struct jetwatt_probe *probe;
	struct sync *bpf;
	struct ring_buffer *ring;
	struct jetwatt_uprobes *uprobes;
	struct jetwatt_fdname names;
	uint32_t lost;
	uint32_t searches;
	char *cgroup_path;
	int syscalls, multi;
};

/* First warning of libbpf while it loads or attaches the program, for error texts: the last one only
 * says that this has failed. libbpf continues without BTF. */
static _Thread_local char libbpf_warning[160];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || *libbpf_warning)
		return 0;
	vsnprintf(libbpf_warning, sizeof(libbpf_warning), fmt, ap);
	libbpf_warning[strcspn(libbpf_warning, "\n")] = '\0';
	if (strstr(libbpf_warning, "BTF is optional") || strstr(libbpf_warning, "Retrying without BTF"))
		libbpf_warning[0] = '\0';
	return 0;
}

/* Return whether the kernel is locked down, so that BPF programs may not read memory. */
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

/* libbpf 0.5, which Ubuntu 22.04 and JetPack 6 have, has other names for these functions. */
static int supported(enum bpf_prog_type prog, enum bpf_map_type map)
{
#if LIBBPF_MAJOR_VERSION > 0 || LIBBPF_MINOR_VERSION >= 7
	return libbpf_probe_bpf_prog_type(prog, NULL) != 0 &&
	       libbpf_probe_bpf_map_type(map, NULL) != 0;
#else
	return bpf_probe_prog_type(prog, 0) && bpf_probe_map_type(map, 0);
#endif
}

/* Report why the BPF program cannot be used, for system calls and uprobes. Return: -errno. */
static int refuse_load(struct jetwatt_probe *p, int err, const char *doing)
{
	if (locked_down())
		return jetwatt_probe_refuse(p, BPF_BACKENDS, -EOPNOTSUPP,
			"%s the probe: the kernel is locked down (confidentiality), BPF may not read memory",
			doing);
	if (err == -EPERM || err == -EACCES)
		return jetwatt_probe_refuse(p, BPF_BACKENDS, -EPERM,
			"%s the probe: needs CAP_BPF and CAP_PERFMON: run as root", doing);
	if (err == -ENOSYS || !supported(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_MAP_TYPE_RINGBUF))
		return jetwatt_probe_refuse(p, BPF_BACKENDS, -EOPNOTSUPP,
			"%s the probe: this kernel cannot trace with BPF (raw tracepoints need CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS, ring buffers 5.8)",
			doing);
	if (err == -ENOENT)
		return jetwatt_probe_refuse(p, BPF_BACKENDS, -EOPNOTSUPP,
			"%s the probe: this kernel has no tracepoint for system calls", doing);
	return jetwatt_probe_refuse(p, BPF_BACKENDS, err, "%s the probe: %s", doing,
				    *libbpf_warning ? libbpf_warning : strerror(-err));
}

/* Waits in libcuda's functions need no check of a descriptor. */
static int record_genuine(struct probe_bpf *b, const struct jetwatt_sync_record *r, uint32_t call)
{
	return call >= JETWATT_SYNC_RECORD_STREAM ||
	       jetwatt_fdname_genuine(&b->names, r->tgid, call == JETWATT_SYNC_RECORD_SYNCPT,
				      r->fd, r->ctl_fd, r->exit_ns);
}

/*
 * Return the number of losses that no earlier record has reported. A thread that is interrupted
 * between reserving a record and reading the number writes a higher number than the next records.
 */
static uint32_t new_losses(struct probe_bpf *b, uint32_t lost)
{
	uint32_t more = lost - b->lost;

	if (more > INT32_MAX)
		return 0;
	b->lost = lost;
	return more;
}

static int handle_record(void *ctx, void *data, size_t size)
{
	static const uint32_t kind[] = {
		[JETWATT_SYNC_RECORD_POLLFD] = JETWATT_SYNC_POLLFD,
		[JETWATT_SYNC_RECORD_SYNCPT] = JETWATT_SYNC_SYNCPT,
		[JETWATT_SYNC_RECORD_STREAM] = JETWATT_SYNC_STREAM,
		[JETWATT_SYNC_RECORD_EVENT] = JETWATT_SYNC_EVENT,
		[JETWATT_SYNC_RECORD_CONTEXT] = JETWATT_SYNC_CONTEXT,
		[JETWATT_SYNC_RECORD_COPY] = JETWATT_SYNC_COPY,
		[JETWATT_SYNC_RECORD_QUERY] = JETWATT_SYNC_QUERY,
		[JETWATT_SYNC_RECORD_CALLBACK] = JETWATT_SYNC_CALLBACK,
	};
	const struct jetwatt_sync_record *r = data;
	struct probe_bpf *b = ctx;
	struct jetwatt_sync s;
	uint32_t call;

	if (size < sizeof(*r))
		return 0;
	call = r->call & ~JETWATT_SYNC_RECORD_HELPER;
	if (r->call == JETWATT_SYNC_RECORD_FORGET) {
		jetwatt_fdname_forget(&b->names, r->tgid, r->fd);
		return 0;
	}
	if (call >= sizeof(kind) / sizeof(kind[0]) || !record_genuine(b, r, call))
		return 0;
	s = (struct jetwatt_sync){
		.enter_ns = r->enter_ns,
		.exit_ns = r->exit_ns,
		.cgroup = r->cgroup,
		.tgid = r->tgid,
		.tid = r->tid,
		.call = r->call & JETWATT_SYNC_RECORD_HELPER ? JETWATT_SYNC_HELPER : kind[call],
		.ret = r->ret,
		.launch_ns = r->launch_ns,
		.launches = r->launches,
		.lost = new_losses(b, r->lost),
	};
	jetwatt_probe_deliver(b->probe, &s);
	return 0;
}

static int configure(struct sync *bpf, const struct jetwatt_probe_opts *o, uint32_t which,
			 int below, int multi)
{
	struct bpf_program *call[] = { bpf->progs.api_stream, bpf->progs.api_event, bpf->progs.api_context,
				       bpf->progs.api_copy, bpf->progs.api_copy_async,
				       bpf->progs.api_return, bpf->progs.api_query,
				       bpf->progs.api_query_return, bpf->progs.api_launch,
				       bpf->progs.api_launch_runtime, bpf->progs.host_func,
				       bpf->progs.host_callback };
	int calls = !!(which & JETWATT_BACKEND_TRACEPOINT), api = !!(which & JETWATT_BACKEND_UPROBE);
	uint32_t level = 0;
	uint64_t id = o->cgroup;
	int err = o->cgroup_path ? jetwatt_process_cgroup(o->cgroup_path, &id, &level) : 0;

	if (err)
		return err;
	if (o->tgid && o->children) {
		bpf->rodata->follow_set = 1;
		bpf->rodata->fork_child_off = jetwatt_process_fork_offset();
		/* Without the offset of child_pid, system calls show forks and exits. */
		calls |= !bpf->rodata->fork_child_off;
	} else {
		bpf->rodata->only_tgid = o->tgid;
	}
	bpf->rodata->sees_syscalls = calls;
	bpf->rodata->only_forks = calls && !(which & JETWATT_BACKEND_TRACEPOINT);
	bpf->rodata->only_cgroup = id;
	bpf->rodata->cgroup_level = below ? level : 0;
	bpf->rodata->prompt = o->prompt;
	bpf->rodata->counting = o->count;
	bpf_program__set_autoload(bpf->progs.process_fork, bpf->rodata->fork_child_off != 0);
	bpf_program__set_autoload(bpf->progs.sys_enter, calls);
	bpf_program__set_autoload(bpf->progs.sys_exit, calls);
	for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		bpf_program__set_autoload(call[i], api);
		/* libbpf 0.5 does not know the ELF section of these programs. */
		bpf_program__set_type(call[i], BPF_PROG_TYPE_KPROBE);
		if (multi)
			jetwatt_uprobe_set_multi(call[i]);
	}
	if (!o->ring_kib)
		return 0;
	return bpf_map__set_max_entries(bpf->maps.records, o->ring_kib * 1024);
}

/* Add open driver events of a process that a uprobe saw call libcuda; BPF adds later ones. */
static void find_events(struct probe_bpf *b, uint32_t tgid)
{
	int armed = bpf_map__fd(b->bpf->maps.armed_fds), armers = bpf_map__fd(b->bpf->maps.armers);
	struct armed_fd fresh = { .pending = 1, .ctl_fd = -1, .event = 1 };
	struct launched calls;
	int fd[EVENTS_MAX], nr, i;
	struct timespec now;
	uint32_t has = 0;

	if (!bpf_map_lookup_elem(bpf_map__fd(b->bpf->maps.callers), &tgid, &calls))
		return;
	/* The times of BPF records are CLOCK_MONOTONIC too. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	nr = jetwatt_fdname_events(&b->names, tgid, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
				   fd, EVENTS_MAX);
	for (i = 0; i < nr; i++) {
		struct fd_key key = { .tgid = tgid, .fd = fd[i] };

		bpf_map_update_elem(armed, &key, &fresh, BPF_NOEXIST);
	}
	if (nr && (bpf_map_lookup_elem(armers, &tgid, &has) || !(has & ARMED))) {
		has |= ARMED;
		bpf_map_update_elem(armers, &tgid, &has, BPF_ANY);
	}
}

static void find_events_of_all(struct probe_bpf *b)
{
	int followed = bpf_map__fd(b->bpf->maps.followed);
	uint32_t tgid = b->bpf->rodata->only_tgid, *last = NULL, *tgids = NULL;
	int n;

	if (b->cgroup_path) {
		n = jetwatt_process_cgroup_tree(b->cgroup_path, &tgids);
		for (int i = 0; i < n; i++)
			find_events(b, tgids[i]);
		free(tgids);
	} else if (tgid) {
		find_events(b, tgid);
	}
	for (; b->bpf->rodata->follow_set && !bpf_map_get_next_key(followed, last, &tgid);
	     last = &tgid)
		find_events(b, tgid);
}

/* @below: 1: also watch the cgroups below the requested one. */
static int load_filtered(struct probe_bpf *b, const struct jetwatt_probe_opts *o, uint32_t which,
		     int below)
{
	int err;

	libbpf_warning[0] = '\0';
	b->bpf = sync__open();
	if (!b->bpf)
		return refuse_load(b->probe, -errno, "opening");
	err = configure(b->bpf, o, which, below, b->multi);
	if (err && o->cgroup_path)
		return jetwatt_probe_refuse(b->probe, which, err, "following cgroup %s: %s",
			o->cgroup_path, err == -EINVAL ? "not a cgroup of the v2 hierarchy" :
			strerror(-err));
	if (!err)
		err = sync__load(b->bpf);
	return err ? refuse_load(b->probe, err, "loading") : 0;
}

static int load(struct probe_bpf *b, const struct jetwatt_probe_opts *o, uint32_t which)
{
	uint32_t tgid = o->tgid, one = 1;
	int err = load_filtered(b, o, which, 1);

	/* Before Linux 5.15, a program cannot get the ids of the cgroups above its own. */
	if (err == -EINVAL && b->bpf && b->bpf->rodata->cgroup_level) {
		sync__destroy(b->bpf);
		err = load_filtered(b, o, which, 0);
	}
	if (err)
		return err;
	if (b->bpf->rodata->follow_set &&
	    bpf_map_update_elem(bpf_map__fd(b->bpf->maps.followed), &tgid, &one, BPF_ANY))
		return refuse_load(b->probe, -errno, "loading");
	libbpf_warning[0] = '\0';
	err = sync__attach(b->bpf);
	if (err)
		return refuse_load(b->probe, err, "attaching");
	if (b->bpf->rodata->follow_set)
		err = jetwatt_followed_add(bpf_map__fd(b->bpf->maps.followed), o->tgid);
	return err ? jetwatt_probe_refuse(b->probe, which, err, "following process %u: %s", o->tgid,
					  strerror(-err)) : 0;
}

static void bpf_close(void *state)
{
	struct probe_bpf *b = state;

	jetwatt_uprobes_free(b->uprobes);
	ring_buffer__free(b->ring);
	sync__destroy(b->bpf);
	free(b->cgroup_path);
	jetwatt_fdname_close(&b->names);
	free(b);
}

static int open_bpf(struct probe_bpf *b, const struct jetwatt_probe_opts *o, uint32_t which)
{
	int err = load(b, o, which);

	if (err)
		return err;
	b->ring = ring_buffer__new(bpf_map__fd(b->bpf->maps.records), handle_record, b, NULL);
	if (!b->ring)
		return jetwatt_probe_refuse(b->probe, which, -errno,
					    "opening the probe's ring buffer: %s", strerror(errno));
	jetwatt_probe_of(b->probe)->attached |= which & JETWATT_BACKEND_TRACEPOINT;
	b->syscalls = !!(which & JETWATT_BACKEND_TRACEPOINT);
	b->cgroup_path = o->cgroup_path ? strdup(o->cgroup_path) : NULL;
	if (b->syscalls)
		find_events_of_all(b);
	if (!(which & JETWATT_BACKEND_UPROBE))
		return 0;
	err = jetwatt_uprobes_new(&b->uprobes, b->probe, b->bpf, o, b->multi);
	return which == JETWATT_BACKEND_UPROBE ? err : 0;
}

static int bpf_open(void **state, struct jetwatt_probe *p, const struct jetwatt_probe_opts *o,
		    uint32_t which)
{
	struct probe_bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return jetwatt_probe_refuse(p, which, -ENOMEM, "out of memory");
	b->probe = p;
	if (which & JETWATT_BACKEND_UPROBE && !jetwatt_uprobes_possible()) {
		jetwatt_probe_refuse(p, JETWATT_BACKEND_UPROBE, 0, "no uprobes in this kernel (CONFIG_UPROBE_EVENTS)");
		which &= ~JETWATT_BACKEND_UPROBE;
	}
	b->multi = which & JETWATT_BACKEND_UPROBE && jetwatt_uprobe_multi();
	jetwatt_libbpf_print_begin(keep_warning);
	err = which ? open_bpf(b, o, which) : -EOPNOTSUPP;
	jetwatt_libbpf_print_end();
	if (err) {
		bpf_close(b);
		return err;
	}
	*state = b;
	return 0;
}

static int bpf_fd(const void *state)
{
	return ring_buffer__epoll_fd(((const struct probe_bpf *)state)->ring);
}

static int bpf_dispatch(void *state)
{
	int seen = ring_buffer__consume(((struct probe_bpf *)state)->ring);

	return seen < 0 ? seen : seen > 0;
}

static void bpf_search(void *state)
{
	struct probe_bpf *b = state;

	if (b->searches++ % SEARCHES_PER_SCAN == 0) {
		if (b->bpf->rodata->follow_set)
			jetwatt_followed_remove_ended(bpf_map__fd(b->bpf->maps.followed));
		if (b->syscalls)
			find_events_of_all(b);
	}
	if (!b->uprobes)
		return;
	jetwatt_libbpf_print_begin(keep_warning);
	jetwatt_uprobes_search(b->uprobes);
	jetwatt_libbpf_print_end();
}

static uint64_t bpf_lost(const void *state)
{
	return __atomic_load_n(&((const struct probe_bpf *)state)->bpf->bss->lost, __ATOMIC_RELAXED);
}

/* Ways to wait: in a function of libcuda, in a loop of queries, in a system call for a fence. */
static int bpf_waiting(const void *state, uint32_t tid)
{
	const struct sync *bpf = ((const struct probe_bpf *)state)->bpf;
	uint32_t at = tid & (WAIT_SLOTS - 1);
	struct query q;
	struct wait_slot p;
	struct call c;

	if (!bpf_map_lookup_elem(bpf_map__fd(bpf->maps.calls), &tid, &c))
		return 1;
	if (!bpf_map_lookup_elem(bpf_map__fd(bpf->maps.queries), &tid, &q) && q.enter_ns)
		return 1;
	if (bpf_map_lookup_elem(bpf_map__fd(bpf->maps.places), &at, &p))
		return 0;
	if (p.tid != tid && bpf_map_lookup_elem(bpf_map__fd(bpf->maps.waits), &tid, &p.w))
		return 0;
	return p.w.state == RUNNING &&
	       (is_syncpoint_wait(p.w.kind) || (p.w.kind == WAIT_POLL && p.w.fence));
}

static int bpf_entries(const void *state, struct jetwatt_probe_entry *out, int max)
{
	const struct probe_bpf *b = state;

	return b->uprobes ? jetwatt_uprobes_entries(b->uprobes, out, max) : -EOPNOTSUPP;
}

const struct jetwatt_backend_ops jetwatt_backend_bpf = {
	.backends = BPF_BACKENDS,
	.open = bpf_open,
	.fd = bpf_fd,
	.dispatch = bpf_dispatch,
	.search = bpf_search,
	.lost = bpf_lost,
	.waiting = bpf_waiting,
	.entries = bpf_entries,
	.close = bpf_close,
};
