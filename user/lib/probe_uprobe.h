/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The uprobes of the BPF backend: attaches them to the CUDA libraries of the watched processes.
 */
#ifndef JETWATT_LIB_PROBE_UPROBE_H
#define JETWATT_LIB_PROBE_UPROBE_H

#include "lib/probe.h"

/* The attached uprobes. */
struct jetwatt_uprobes;
struct sync;

/* Return whether the kernel supports uprobes through perf events, which are removed when the
 * process that owns them exits. */
int jetwatt_uprobes_possible(void);

/*
 * Attach uprobes to the CUDA libraries of the system and of the watched processes. @u: set to the
 * state of the uprobes, which is freed with jetwatt_uprobes_free(). @multi: see
 * jetwatt_uprobe_attach(). Return: 0, also if no library was found; -ENOMEM, after
 * jetwatt_probe_refuse().
 */
int jetwatt_uprobes_new(struct jetwatt_uprobes **u, struct jetwatt_probe *p, struct sync *bpf,
			const struct jetwatt_probe_opts *o, int multi);

/* Search watched processes for CUDA libraries that were loaded since the last search, and attach
 * uprobes to them. If all processes are watched, or those of a cgroup given by its id, none is
 * searched. Also attach uprobes to the functions that probe_callback.h describes. */
void jetwatt_uprobes_search(struct jetwatt_uprobes *u);

/* See jetwatt_probe_entries(). */
int jetwatt_uprobes_entries(const struct jetwatt_uprobes *u, struct jetwatt_probe_entry *out, int max);
/* Detach; @u may be NULL. */
void jetwatt_uprobes_free(struct jetwatt_uprobes *u);

#endif
