// SPDX-License-Identifier: LGPL-2.1-only
/* Attaches uprobes to functions of the watched processes: see probe_callback.h. */
#include "lib/probe_callback.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../bpf/wait_slot.h"
#include "lib/library.h"
#include "lib/uprobe_link.h"
#include "sync.skel.h"

#define CALLBACKS_MAX	64	/* maximum number of functions; a program has a few */
/* number of searches after which functions without a uprobe are tried again */
#define RETRY_SEARCHES	32

/**
 * struct jetwatt_callbacks - the attached uprobes
 * @probe: the probe
 * @bpf: the loaded BPF program
 * @place: functions to which a uprobe is attached
 * @uprobe: their uprobes
 * @nr: number of entries of @place and @uprobe
 * @multi: see jetwatt_uprobe_attach()
 * @missing: number of functions without a uprobe, at the last search
 * @searches: number of searches since then
 * @seen: number of functions that the BPF program had found at the last search
 */
struct jetwatt_callbacks {
	struct jetwatt_probe *probe;
	struct sync *bpf;
	struct { dev_t dev; ino_t ino; uint64_t offset; } place[CALLBACKS_MAX];
	struct jetwatt_uprobe uprobe[CALLBACKS_MAX];
	int nr, multi, missing, searches;
	uint64_t seen;
};

struct jetwatt_callbacks *jetwatt_callbacks_new(struct jetwatt_probe *p, struct sync *bpf, int multi)
{
	struct jetwatt_callbacks *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->probe = p;
	c->bpf = bpf;
	c->multi = multi;
	return c;
}

/* Attach to the function at @offset of the file @path. Return: 0, also if it has a uprobe already;
 * negative errno. */
static int attach(struct jetwatt_callbacks *c, const char *path, uint64_t offset)
{
	struct stat s;
	int err;

	if (stat(path, &s))
		return -errno;
	for (int i = 0; i < c->nr; i++)
		if (c->place[i].dev == s.st_dev && c->place[i].ino == s.st_ino &&
		    c->place[i].offset == offset)
			return 0;
	if (c->nr == CALLBACKS_MAX)
		return -E2BIG;
	err = jetwatt_uprobe_attach(&c->uprobe[c->nr], c->bpf->progs.host_callback, c->multi, 0,
				    path, offset);
	if (err)
		return err;
	c->place[c->nr].dev = s.st_dev;
	c->place[c->nr].ino = s.st_ino;
	c->place[c->nr++].offset = offset;
	return 0;
}

/*
 * Attach to the function at an address of a process. A function that a compiler has made at run
 * time is in memory without a file and cannot have a uprobe. Return: 0; -ENOENT: the process has
 * ended; -ENXIO: no file; -EACCES: this process may not read the maps; other negative errno.
 */
static int attach_address(struct jetwatt_callbacks *c, const struct callback_key *at)
{
	unsigned long long offset;
	struct jetwatt_library l;
	char path[96], line[512];
	int err = -ENXIO;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", at->tgid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (err == -ENXIO && fgets(line, sizeof(line), f))
		if (jetwatt_library_file(line, &l) == JETWATT_LIBRARY_CODE && at->fn >= l.start &&
		    at->fn < l.end && sscanf(line, "%*x-%*x %*s %llx", &offset) == 1) {
			snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", at->tgid,
				 (unsigned long long)l.start, (unsigned long long)l.end);
			err = attach(c, path, at->fn - l.start + offset);
		}
	fclose(f);
	return err;
}

/* Let the BPF program examine the system calls of a process. */
static void use_syscalls(struct jetwatt_callbacks *c, uint32_t tgid, int err)
{
	uint32_t one = 1;

	c->missing++;
	bpf_map_update_elem(bpf_map__fd(c->bpf->maps.unattached), &tgid, &one, BPF_ANY);
	__atomic_store_n(&c->bpf->bss->unattached_seen, 1, __ATOMIC_RELAXED);
	jetwatt_probe_refuse(c->probe, JETWATT_BACKEND_UPROBE, err,
			     "process %u: callbacks: %s", tgid, err == -ENXIO ? "the function is in no file" :
			     err == -EACCES || err == -EPERM ? "need CAP_SYS_PTRACE and CAP_SYS_ADMIN" :
			     strerror(-err));
}

static void forget_unattached(struct jetwatt_callbacks *c)
{
	int fd = bpf_map__fd(c->bpf->maps.unattached);
	uint32_t tgid;

	while (!bpf_map_get_next_key(fd, NULL, &tgid) && !bpf_map_delete_elem(fd, &tgid))
		;
}

void jetwatt_callbacks_search(struct jetwatt_callbacks *c)
{
	uint64_t seen = __atomic_load_n(&c->bpf->bss->callbacks_seen, __ATOMIC_RELAXED);
	int fd = bpf_map__fd(c->bpf->maps.callbacks), err;
	struct callback_key key, *before = NULL;

	if (seen == c->seen && (!c->missing || ++c->searches < RETRY_SEARCHES))
		return;
	if (c->missing)
		forget_unattached(c);
	c->seen = seen;
	c->missing = c->searches = 0;
	for (; !bpf_map_get_next_key(fd, before, &key); before = &key) {
		err = attach_address(c, &key);
		if (err && err != -ENOENT && err != -ESRCH)
			use_syscalls(c, key.tgid, err);
	}
}

void jetwatt_callbacks_free(struct jetwatt_callbacks *c)
{
	if (!c)
		return;
	while (c->nr)
		jetwatt_uprobe_detach(&c->uprobe[--c->nr]);
	free(c);
}
