// SPDX-License-Identifier: LGPL-2.1-only
/* Attaches uprobes to functions of the watched processes: see probe_callback.h. */
#include "lib/probe_callback.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../bpf/wait_slot.h"
#include "lib/library.h"
#include "lib/uprobe_link.h"
#include "sync.skel.h"

#define CALLBACKS_MAX	64	/* maximum number of functions; a program has a few */

/**
 * struct jetwatt_callbacks - the attached uprobes
 * @bpf: the loaded BPF program
 * @place: functions to which a uprobe is attached, or could not be attached
 * @uprobe: their uprobes
 * @nr: number of entries of @place and @uprobe
 * @multi: see jetwatt_uprobe_attach()
 * @seen: number of functions that the BPF program had found at the last search
 */
struct jetwatt_callbacks {
	struct sync *bpf;
	struct { dev_t dev; ino_t ino; uint64_t offset; } place[CALLBACKS_MAX];
	struct jetwatt_uprobe uprobe[CALLBACKS_MAX];
	int nr, multi;
	uint64_t seen;
};

struct jetwatt_callbacks *jetwatt_callbacks_new(struct sync *bpf, int multi)
{
	struct jetwatt_callbacks *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bpf = bpf;
	c->multi = multi;
	return c;
}

/* Attach to the function at @offset of a file that process @tgid has mapped at @l. */
static void attach(struct jetwatt_callbacks *c, uint32_t tgid, const struct jetwatt_library *l,
		   uint64_t offset)
{
	char path[96];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", tgid, (unsigned long long)l->start,
		 (unsigned long long)l->end);
	if (c->nr == CALLBACKS_MAX || stat(path, &s))
		return;
	for (int i = 0; i < c->nr; i++)
		if (c->place[i].dev == s.st_dev && c->place[i].ino == s.st_ino &&
		    c->place[i].offset == offset)
			return;
	c->place[c->nr].dev = s.st_dev;
	c->place[c->nr].ino = s.st_ino;
	c->place[c->nr].offset = offset;
	jetwatt_uprobe_attach(&c->uprobe[c->nr++], c->bpf->progs.host_callback, c->multi, 0, path, offset);
}

/*
 * Attach to the function at an address of a process. A function that a compiler has made at run
 * time is in memory without a file and cannot have a uprobe.
 */
static void attach_address(struct jetwatt_callbacks *c, const struct callback_key *at)
{
	unsigned long long offset;
	struct jetwatt_library l;
	char path[32], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", at->tgid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (jetwatt_library_file(line, &l) == JETWATT_LIBRARY_CODE && at->fn >= l.start &&
		    at->fn < l.end && sscanf(line, "%*x-%*x %*s %llx", &offset) == 1)
			attach(c, at->tgid, &l, at->fn - l.start + offset);
	if (f)
		fclose(f);
}

void jetwatt_callbacks_search(struct jetwatt_callbacks *c)
{
	uint64_t seen = __atomic_load_n(&c->bpf->bss->callbacks_seen, __ATOMIC_RELAXED);
	int fd = bpf_map__fd(c->bpf->maps.callbacks);
	struct callback_key key, *before = NULL;

	if (seen == c->seen)
		return;
	c->seen = seen;
	for (; !bpf_map_get_next_key(fd, before, &key); before = &key)
		attach_address(c, &key);
}

void jetwatt_callbacks_free(struct jetwatt_callbacks *c)
{
	if (!c)
		return;
	while (c->nr)
		jetwatt_uprobe_detach(&c->uprobe[--c->nr]);
	free(c);
}
