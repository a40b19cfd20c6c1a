// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A uprobe sits in a file, not in a process: one that was attached early works
 * for every process that maps the file later, in a container as well, as long
 * as it is the same file. So the system's libcuda is attached to at once, and
 * any other one when it is seen in the maps of somebody we watch. The program
 * itself tells whom it was called by.
 */
#include "lib/probe_uprobe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bpf/place.h"
#include "lib/follow.h"
#include "lib/library.h"
#include "sync.skel.h"

#define FILES_MAX	16	/* libraries attached to */
#define LINKS_MAX	(FILES_MAX * 2 * JETWATT_LIBRARY_CALLS_MAX)
#define LOOKS_MAX	64	/* processes whose maps are read in one go */
#define KNOWN_MAX	1024	/* processes that are known to have their library */
#define FORGET_LOOKS	32
/* Looks at a process that has libcuda and waits in none of its calls, until all its code is
 * searched for a runtime. */
#define QUIET_LOOKS	5

struct jetwatt_uprobes {
	struct jetwatt_probe *probe;
	struct sync *bpf;
	struct { dev_t dev; ino_t ino; } file[FILES_MAX];
	struct bpf_link *link[LINKS_MAX];
	struct { ino_t ino; uint64_t offset; const char *name; } place[LINKS_MAX / 2];
	struct { uint32_t tgid, looks; } quiet[KNOWN_MAX];
	uint32_t known[KNOWN_MAX], only, next, looks;
	int nr_files, nr_links, nr_places;
	char *procs;
};

int jetwatt_uprobes_possible(void)
{
	return !access("/sys/bus/event_source/devices/uprobe/type", F_OK);
}

static struct bpf_program *program(struct sync *bpf, const struct jetwatt_library_call *call)
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
	case JETWATT_LIBRARY_QUERY:
		return bpf->progs.api_query;
	default:
		return strncmp(call->name, "cuda", 4) ? bpf->progs.api_launch :
							bpf->progs.api_launch_runtime;
	}
}

static int attach_at(struct jetwatt_uprobes *u, struct bpf_program *prog, int on_return,
		     const char *path, uint64_t offset)
{
	struct bpf_link *link = bpf_program__attach_uprobe(prog, on_return, -1, path, offset);
	int err = libbpf_get_error(link);

	if (!err)
		u->link[u->nr_links++] = link;
	return err;
}

/* The return first: a call that is seen to begin is then seen to end. */
static int attach_calls(struct jetwatt_uprobes *u, const char *path)
{
	struct jetwatt_library_call call[JETWATT_LIBRARY_CALLS_MAX];
	int n = jetwatt_library_calls(path, call), err = 0;

	for (int i = 0; i < n && !err; i++) {
		if (call[i].what != JETWATT_LIBRARY_LAUNCH)
			err = attach_at(u, call[i].what == JETWATT_LIBRARY_QUERY ?
					u->bpf->progs.api_query_return : u->bpf->progs.api_return,
					1, path, call[i].offset);
		if (!err)
			err = attach_at(u, program(u->bpf, &call[i]), 0, path, call[i].offset);
		u->place[u->nr_places].ino = u->file[u->nr_files - 1].ino;
		u->place[u->nr_places].offset = call[i].offset;
		u->place[u->nr_places++].name = call[i].name;
	}
	return n < 0 ? n : err ? err : n ? 0 : -ENOENT;
}

/* @path: by which we reach the file; @name: as the job calls it. Return: 0,
 * also if it has been attached to before. */
static int attach(struct jetwatt_uprobes *u, const char *path, const char *name)
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
		return jetwatt_probe_refuse(u->probe, JETWATT_RUNG_UPROBE, -E2BIG,
					    "more than %d libraries: %s is not watched", FILES_MAX,
					    name);
	/* One that can't be attached to is not tried again and again. */
	u->file[u->nr_files].dev = s.st_dev;
	u->file[u->nr_files++].ino = s.st_ino;
	err = attach_calls(u, path);
	if (err) {
		while (u->nr_links > links)
			bpf_link__destroy(u->link[--u->nr_links]);
		return jetwatt_probe_refuse(u->probe, JETWATT_RUNG_UPROBE, err, "%s: %s", name,
					    err == -ENOENT ? "has none of the calls" :
					    err == -ENOEXEC ? "is no shared library of this machine" :
					    strerror(-err));
	}
	st->attached |= JETWATT_RUNG_UPROBE;
	st->why[0][0] = '\0';
	snprintf(st->library, sizeof(st->library), "%s", name);
	return 0;
}

static int is_known(const struct jetwatt_uprobes *u, uint32_t tgid)
{
	return u->known[tgid % KNOWN_MAX] == tgid;
}

/* A runtime that is linked into the program, or into a framework's library. */
static void search_code(struct jetwatt_uprobes *u, uint32_t tgid)
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
			attach(u, path, l.path);
	}
	if (f)
		fclose(f);
}

/* Does the process use CUDA, but not by the addresses that libcuda exports? A runtime asks for
 * addresses by cuGetProcAddress(), which may be others. */
static void look_deeper(struct jetwatt_uprobes *u, uint32_t tgid)
{
	unsigned int i = tgid % KNOWN_MAX;
	struct launched l;

	if (u->quiet[i].tgid != tgid) {
		u->quiet[i].tgid = tgid;
		u->quiet[i].looks = 0;
	}
	if (u->quiet[i].looks > QUIET_LOOKS)
		return;
	if (!bpf_map_lookup_elem(bpf_map__fd(u->bpf->maps.callers), &tgid, &l) && l.flags & WAITS)
		u->quiet[i].looks = QUIET_LOOKS;
	else if (u->quiet[i].looks == QUIET_LOOKS)
		search_code(u, tgid);
	u->quiet[i].looks++;
}

/* The file itself, whatever its name is worth in our mount namespace, even
 * where that has been deleted. */
static void look_at(struct jetwatt_uprobes *u, uint32_t tgid)
{
	struct jetwatt_library lib[4];
	char path[96];
	int n;

	if (is_known(u, tgid)) {
		look_deeper(u, tgid);
		return;
	}
	n = jetwatt_library_of(tgid, lib, 4);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid,
			 (unsigned long long)lib[i].start, (unsigned long long)lib[i].end);
		if (!attach(u, path, lib[i].path) && !strstr(lib[i].path, "libcudart"))
			u->known[tgid % KNOWN_MAX] = tgid;
	}
}

/* The next few of those that may have loaded something since, in no order. */
static void look_followed(struct jetwatt_uprobes *u)
{
	int fd = bpf_map__fd(u->bpf->maps.followed);
	uint32_t key = u->next, state;

	for (int i = 0; i < LOOKS_MAX; i++) {
		if (bpf_map_get_next_key(fd, key ? &key : NULL, &key)) {
			key = 0;
			break;
		}
		/* The program could not tell: process_exit() in sync.bpf.c. */
		if (!bpf_map_lookup_elem(fd, &key, &state) && state == 2 &&
		    !jetwatt_follow_alive(key))
			bpf_map_delete_elem(fd, &key);
		else
			look_at(u, key);
	}
	u->next = key;
}

static void look_cgroup(struct jetwatt_uprobes *u)
{
	FILE *f = fopen(u->procs, "re");
	unsigned int tgid;
	int looks = 0;

	while (f && looks < LOOKS_MAX && fscanf(f, "%u", &tgid) == 1) {
		looks += !is_known(u, tgid);
		look_at(u, tgid);
	}
	if (f)
		fclose(f);
}

void jetwatt_uprobes_look(struct jetwatt_uprobes *u)
{
	/* A process may have become another program. */
	if (!(u->looks++ % FORGET_LOOKS))
		memset(u->known, 0, sizeof(u->known));
	if (u->bpf->rodata->follow_set)
		look_followed(u);
	else if (u->only)
		look_at(u, u->only);
	else if (u->procs)
		look_cgroup(u);
}

int jetwatt_uprobes_new(struct jetwatt_uprobes **out, struct jetwatt_probe *p, struct sync *bpf,
			const struct jetwatt_probe_opts *o)
{
	struct jetwatt_uprobes *u = calloc(1, sizeof(*u));
	char path[8][256];
	int n = jetwatt_library_system(path, 8);

	*out = NULL;
	if (!u || (o->cgroup_path && asprintf(&u->procs, "%s/cgroup.procs", o->cgroup_path) < 0)) {
		free(u);
		return jetwatt_probe_refuse(p, JETWATT_RUNG_UPROBE, -ENOMEM, "out of memory");
	}
	u->probe = p;
	u->bpf = bpf;
	u->only = o->tgid;
	jetwatt_probe_refuse(p, JETWATT_RUNG_UPROBE, 0, "no libcuda found so far");
	for (int i = 0; i < n; i++)
		attach(u, path[i], path[i]);
	jetwatt_uprobes_look(u);
	*out = u;
	return 0;
}

/* The entry point at an address of a process, NULL: not one of ours any more. */
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
	while (u->nr_links)
		bpf_link__destroy(u->link[--u->nr_links]);
	free(u->procs);
	free(u);
}
