/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The probe's hold on the libraries of a job.
 */
#ifndef JETWATT_LIB_PROBE_UPROBE_H
#define JETWATT_LIB_PROBE_UPROBE_H

#include "lib/probe.h"

struct jetwatt_uprobes;
struct sync;

/* Has this kernel uprobes that end with whoever set them? */
int jetwatt_uprobes_possible(void);

/* Attaches to what is there already. Return: 0, negative errno. */
int jetwatt_uprobes_new(struct jetwatt_uprobes **u, struct jetwatt_probe *p, struct sync *bpf,
			const struct jetwatt_probe_opts *o);

/* Has somebody we watch mapped a library since? Attach to it. */
void jetwatt_uprobes_look(struct jetwatt_uprobes *u);

/* jetwatt_probe_entries() */
int jetwatt_uprobes_entries(const struct jetwatt_uprobes *u, struct jetwatt_probe_entry *out, int max);

void jetwatt_uprobes_free(struct jetwatt_uprobes *u);

#endif
