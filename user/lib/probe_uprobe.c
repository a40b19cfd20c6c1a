// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Attaches uprobes to the functions of CUDA libraries.
 *
 * A uprobe belongs to a file, not to a process: it works in every process that maps the same file,
 * also in containers. Therefore this code attaches uprobes to the system's libcuda at once, and to
 * another libcuda when it finds it in the maps of a watched process. The BPF program filters by
 * process.
 */
#include "lib/probe_uprobe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../bpf/wait_slot.h"
#include "lib/probe_callback.h"
#include "lib/process_tree.h"
#include "lib/library.h"
#include "lib/uprobe_link.h"
#include "sync.skel.h"

#define FILES_MAX	64	/* libraries to attach to */
#define LINKS_MAX	(FILES_MAX * 2 * JETWATT_LIBRARY_CALLS_MAX)
#define SEARCHES_MAX	64	/* maximum number of processes searched for libcuda in one search */
#define KNOWN_MAX	1024	/* slots for processes where attaching to libcuda was tried */
/* number of searches after which all processes are examined again */
#define RECHECK_SEARCHES	32
/*
 * If a process has libcuda but has not waited in its functions, all code of the process is searched
 * for CUDA runtimes, also statically linked ones. Number of searches before that: QUIET_SEARCHES if
 * the process has called libcuda but launches nothing through it, else IMPORT_SEARCHES. Programs
 * import PyTorch or JAX for seconds before they call libcuda, with a dozen libraries that have a
 * runtime. None of these runtimes needs uprobes if libcuda's exported functions are called, as with
 * the driver 580. Each uprobe takes up to 0.1 s to remove (Linux 6.18).
 */
#define QUIET_SEARCHES		5
#define IMPORT_SEARCHES		100
#define DECIDED			UINT32_MAX
/*
 * Listing the processes of a cgroup takes 70 us to 150 us per cgroup below it. The interval between
 * two listings is at least the CPU time of the last one, multiplied by LIST_INTERVAL.
 */
#define LIST_INTERVAL		100

/**
 * struct jetwatt_uprobes - the attached uprobes
 * @probe: the probe
 * @bpf: the loaded BPF program
 * @file: library files to which uprobes were attached, or could not be attached
 * @multi: 1: the programs are loaded for links of the kind uprobe_multi (uprobe_link.h)
 * @link: the uprobes
 * @place: entry points to which a uprobe was attached, or could not be attached
 * @quiet: number of searches in which a process had not waited in libcuda, or DECIDED, and whether
 *	it had called libcuda; indexed by tgid modulo KNOWN_MAX
 * @known: ids of processes whose libcuda has uprobes, or cannot get any; indexed by tgid modulo
 *	KNOWN_MAX
 * @only: if the BPF map followed is not used, id of the process to search; 0: search those of
 *	@cgroup
 * @next: key in the BPF map followed, or index in @member, at which the next search continues
 * @searches: number of searches
 * @callbacks: uprobes on functions of the processes that libcuda calls
 * @cgroup: directory of the cgroup whose processes are searched, also those of the cgroups below
 *	it; NULL: no cgroup
 * @member: ids of the processes of @cgroup when they were last listed; @members: their number
 * @list_due_ns: time of the next listing
 */
struct jetwatt_uprobes {
	struct jetwatt_probe *probe;
	struct sync *bpf;
	struct { dev_t dev; ino_t ino; } file[FILES_MAX];
	struct jetwatt_uprobe link[LINKS_MAX];
	struct { ino_t ino; uint64_t offset; const char *name; } place[LINKS_MAX / 2];
	struct { uint32_t tgid, called, searches; } quiet[KNOWN_MAX];
	uint32_t known[KNOWN_MAX], only, next, searches;
	struct jetwatt_callbacks *callbacks;
	int nr_files, nr_links, nr_places, multi;
	char *cgroup;
	uint32_t *member;
	int members;
	uint64_t list_due_ns;
};

int jetwatt_uprobes_possible(void)
{
	return !access("/sys/bus/event_source/devices/uprobe/type", F_OK);
}

static struct bpf_program *program_of_call(struct sync *bpf,
					   const struct jetwatt_library_call *call)
{
	switch (call->what) {
	case JETWATT_LIBRARY_STREAM:
		return bpf->progs.api_stream;
	case JETWATT_LIBRARY_EVENT:
		return bpf->progs.api_event;
	case JETWATT_LIBRARY_CONTEXT:
		return bpf->progs.api_context;
	case JETWATT_LIBRARY_COPY:
		return bpf->progs.api_copy;
	case JETWATT_LIBRARY_COPY_ASYNC:
		return bpf->progs.api_copy_async;
	case JETWATT_LIBRARY_QUERY:
		return bpf->progs.api_query;
	case JETWATT_LIBRARY_CALLBACK:
		return bpf->progs.host_func;
	default:
		return strncmp(call->name, "cuda", 4) ? bpf->progs.api_launch :
							bpf->progs.api_launch_runtime;
	}
}

static int attach_at(struct jetwatt_uprobes *u, struct bpf_program *prog, int on_return,
		     const char *path, uint64_t offset)
{
	int err = jetwatt_uprobe_attach(&u->link[u->nr_links], prog, u->multi, on_return, path, offset);

	u->nr_links += !err;
	return err;
}

/* Return whether the return of a call is traced too. */
static int returns(enum jetwatt_library_what what)
{
	return what != JETWATT_LIBRARY_LAUNCH && what != JETWATT_LIBRARY_CALLBACK;
}

/* If the return is traced, attach its uprobe first, so that every call whose start is seen has its
 * end seen as well. */
static int attach_calls(struct jetwatt_uprobes *u, const char *path)
{
	struct jetwatt_library_call call[JETWATT_LIBRARY_CALLS_MAX];
	int n = jetwatt_library_calls(path, call), err = 0;

	for (int i = 0; i < n && !err; i++) {
		if (returns(call[i].what))
			err = attach_at(u, call[i].what == JETWATT_LIBRARY_QUERY ?
					u->bpf->progs.api_query_return : u->bpf->progs.api_return,
					1, path, call[i].offset);
		if (!err)
			err = attach_at(u, program_of_call(u->bpf, &call[i]), 0, path,
					call[i].offset);
		u->place[u->nr_places].ino = u->file[u->nr_files - 1].ino;
		u->place[u->nr_places].offset = call[i].offset;
		u->place[u->nr_places++].name = call[i].name;
	}
	return n < 0 ? n : err ? err : n ? 0 : -ENOENT;
}

/*
 * Attach to one library. @path: path by which this process can open the file; @name: path of the
 * file as the job sees it. Return: 0, also if attaching to the file was tried before; or a negative
 * errno, after jetwatt_probe_refuse() unless stat() failed.
 */
static int attach_library(struct jetwatt_uprobes *u, const char *path, const char *name)
{
	struct jetwatt_probe_state *st = jetwatt_probe_of(u->probe);
	int i, links = u->nr_links, err;
	struct stat s;

	if (stat(path, &s))
		return -errno;
	for (i = 0; i < u->nr_files; i++)
		if (u->file[i].dev == s.st_dev && u->file[i].ino == s.st_ino)
			return 0;
	if (u->nr_files == FILES_MAX)
		return jetwatt_probe_refuse(u->probe, JETWATT_BACKEND_UPROBE, -E2BIG,
					    "more than %d libraries: %s is not watched", FILES_MAX,
					    name);
	/* Store the file before attaching, so that a file to which uprobes cannot be attached is
	 * not tried again. */
	u->file[u->nr_files].dev = s.st_dev;
	u->file[u->nr_files++].ino = s.st_ino;
	err = attach_calls(u, path);
	if (err) {
		while (u->nr_links > links)
			jetwatt_uprobe_detach(&u->link[--u->nr_links]);
		if (err == -EACCES || err == -EPERM)
			return jetwatt_probe_refuse(u->probe, JETWATT_BACKEND_UPROBE, -EPERM,
				"uprobes in %.100s: need CAP_SYS_ADMIN, or Linux 6.6", name);
		return jetwatt_probe_refuse(u->probe, JETWATT_BACKEND_UPROBE, err, "%s: %s", name,
					    err == -ENOENT ? "has none of the calls" :
					    err == -ENOEXEC ? "is no shared library of this machine" :
					    strerror(-err));
	}
	st->attached |= JETWATT_BACKEND_UPROBE;
	st->why[0][0] = '\0';
	snprintf(st->library, sizeof(st->library), "%s", name);
	return 0;
}

static int has_library(const struct jetwatt_uprobes *u, uint32_t tgid)
{
	return u->known[tgid % KNOWN_MAX] == tgid;
}

/* Attach uprobes to all CUDA runtimes of a process: libcudart, and those linked statically into the
 * program or a framework's library. */
static void attach_linked_runtime(struct jetwatt_uprobes *u, uint32_t tgid)
{
	struct jetwatt_library_call call[JETWATT_LIBRARY_CALLS_MAX];
	struct jetwatt_library l;
	char path[96], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (jetwatt_library_file(line, &l) != JETWATT_LIBRARY_CODE)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid,
			 (unsigned long long)l.start, (unsigned long long)l.end);
		if (jetwatt_library_calls(path, call) > 0)
			attach_library(u, path, l.path);
	}
	if (f)
		fclose(f);
}

/*
 * If the process seems to use CUDA, but not at the addresses that libcuda exports, attach uprobes
 * to its runtimes. A runtime gets its addresses from cuGetProcAddress(), which may return other
 * addresses.
 */
static void search_quiet_process(struct jetwatt_uprobes *u, uint32_t tgid)
{
	unsigned int i = tgid % KNOWN_MAX, called, most;
	struct launched l = { 0 };

	called = !bpf_map_lookup_elem(bpf_map__fd(u->bpf->maps.callers), &tgid, &l);
	if (u->quiet[i].tgid != tgid || u->quiet[i].called != called) {
		u->quiet[i].tgid = tgid;
		u->quiet[i].called = called;
		u->quiet[i].searches = 0;
	}
	most = called && !(l.flags & DRIVER) ? QUIET_SEARCHES : IMPORT_SEARCHES;
	if (l.flags & WAITS || u->quiet[i].searches == DECIDED || ++u->quiet[i].searches < most)
		return;
	attach_linked_runtime(u, tgid);
	u->quiet[i].searches = DECIDED;
}

/*
 * Attach uprobes to the libcuda of a process. /proc/PID/map_files opens the mapped file itself, also
 * if its path is another file in this mount namespace or was deleted. The runtime, which calls
 * libcuda, is left to search_quiet_process(): uprobes in both would double the cost of each launch.
 */
static void search_process(struct jetwatt_uprobes *u, uint32_t tgid)
{
	/* A process may have several runtimes beside libcuda. */
	struct jetwatt_library lib[16];
	char path[96];
	int n;

	if (has_library(u, tgid)) {
		search_quiet_process(u, tgid);
		return;
	}
	n = jetwatt_library_of(tgid, lib, 16);
	for (int i = 0; i < n; i++) {
		if (strstr(lib[i].path, "libcudart"))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid,
			 (unsigned long long)lib[i].start, (unsigned long long)lib[i].end);
		if (!attach_library(u, path, lib[i].path))
			u->known[tgid % KNOWN_MAX] = tgid;
	}
}

/* Examine the next SEARCHES_MAX followed processes. */
static void search_followed(struct jetwatt_uprobes *u)
{
	int fd = bpf_map__fd(u->bpf->maps.followed);
	uint32_t key = u->next;

	for (int i = 0; i < SEARCHES_MAX; i++) {
		if (bpf_map_get_next_key(fd, key ? &key : NULL, &key)) {
			key = 0;
			break;
		}
		search_process(u, key);
	}
	u->next = key;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* List the processes of the cgroup, unless the last listing is too recent. */
static void list_cgroup(struct jetwatt_uprobes *u)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu_ns;

	if (now < u->list_due_ns)
		return;
	free(u->member);
	u->member = NULL;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	u->members = jetwatt_process_cgroup_tree(u->cgroup, &u->member);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	u->list_due_ns = now + LIST_INTERVAL * cpu_ns;
}

/*
 * Examine the next processes of the cgroup, of which at most SEARCHES_MAX may be searched for
 * libcuda. Between two listings, the listed processes are examined again, because they may load
 * libcuda later. The list may then contain processes that have ended, which have no maps.
 */
static void search_cgroup(struct jetwatt_uprobes *u)
{
	int searches = 0, n, i;

	list_cgroup(u);
	n = u->members;
	for (i = 0; i < n && searches < SEARCHES_MAX; i++) {
		uint32_t tgid = u->member[(u->next + i) % n];

		searches += !has_library(u, tgid);
		search_process(u, tgid);
	}
	if (n > 0)
		u->next = (u->next + i) % n;
}

void jetwatt_uprobes_search(struct jetwatt_uprobes *u)
{
	/* Examine all processes again from time to time: a process may have called execve(). */
	if (!(u->searches++ % RECHECK_SEARCHES))
		memset(u->known, 0, sizeof(u->known));
	if (u->bpf->rodata->follow_set)
		search_followed(u);
	else if (u->only)
		search_process(u, u->only);
	else if (u->cgroup)
		search_cgroup(u);
	jetwatt_callbacks_search(u->callbacks);
}

int jetwatt_uprobes_new(struct jetwatt_uprobes **out, struct jetwatt_probe *p, struct sync *bpf,
			const struct jetwatt_probe_opts *o, int multi)
{
	struct jetwatt_uprobes *u = calloc(1, sizeof(*u));
	char path[8][256];
	int n = jetwatt_library_system(path, 8);

	*out = NULL;
	if (u)
		u->callbacks = jetwatt_callbacks_new(p, bpf, multi);
	if (!u || !u->callbacks ||
	    (o->cgroup_path && !(u->cgroup = strdup(o->cgroup_path)))) {
		if (u)
			jetwatt_callbacks_free(u->callbacks);
		free(u);
		return jetwatt_probe_refuse(p, JETWATT_BACKEND_UPROBE, -ENOMEM, "out of memory");
	}
	u->probe = p;
	u->bpf = bpf;
	u->multi = multi;
	u->only = o->tgid;
	jetwatt_probe_refuse(p, JETWATT_BACKEND_UPROBE, 0, "no libcuda found so far");
	for (int i = 0; i < n; i++)
		attach_library(u, path[i], path[i]);
	jetwatt_uprobes_search(u);
	*out = u;
	return 0;
}

/* Return the name of the CUDA entry point at an address of a process; NULL if no uprobe is attached
 * there, or if the file is not mapped. */
static const char *name_of(const struct jetwatt_uprobes *u, const struct entry_key *key)
{
	unsigned long long start, end, offset, ino;
	const char *name = NULL;
	char path[32], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", key->tgid);
	f = fopen(path, "re");
	while (f && !name && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %*4s %llx %*x:%*x %llu", &start, &end, &offset, &ino) != 4 ||
		    key->address < start || key->address >= end)
			continue;
		for (int i = 0; i < u->nr_places && !name; i++)
			if (u->place[i].ino == ino && u->place[i].offset == key->address - start + offset)
				name = u->place[i].name;
	}
	if (f)
		fclose(f);
	return name;
}

int jetwatt_uprobes_entries(const struct jetwatt_uprobes *u, struct jetwatt_probe_entry *out, int max)
{
	int fd = bpf_map__fd(u->bpf->maps.entries), n = 0;
	struct entry_key key, *before = NULL;
	const char *name;
	uint64_t calls;

	while (n < max && !bpf_map_get_next_key(fd, before, &key)) {
		before = &key;
		name = name_of(u, &key);
		if (!name || bpf_map_lookup_elem(fd, &key, &calls))
			continue;
		out[n] = (struct jetwatt_probe_entry){ .tgid = key.tgid, .calls = calls };
		snprintf(out[n++].name, sizeof(out->name), "%s", name);
	}
	return n;
}

void jetwatt_uprobes_free(struct jetwatt_uprobes *u)
{
	if (!u)
		return;
	jetwatt_callbacks_free(u->callbacks);
	while (u->nr_links)
		jetwatt_uprobe_detach(&u->link[--u->nr_links]);
	free(u->member);
	free(u->cgroup);
	free(u);
}
