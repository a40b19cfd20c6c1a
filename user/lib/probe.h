/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the rungs of the probe's ladder have in common.
 */
#ifndef JETWATT_LIB_PROBE_H
#define JETWATT_LIB_PROBE_H

#include "jetwatt.h"

/**
 * struct jetwatt_rung_ops - one way to see waits
 * @rungs: of enum jetwatt_rung
 * @open: may give less than is asked for, and says why for each that it
 *	doesn't give with jetwatt_probe_refuse(). Return: 0; negative errno
 *	after refusing all.
 * @fd: becomes readable when there is something to dispatch
 * @dispatch: hands on what there is with jetwatt_probe_deliver(). Return: 1:
 *	there may be more soon of which the descriptor does not tell; 0; negative
 *	errno.
 * @waiting: jetwatt_probe_waiting(); NULL: it does not know
 * @entries: jetwatt_probe_entries(); NULL: it does not count them
 * @look: called a few times a second; may be NULL
 */
struct jetwatt_rung_ops {
	uint32_t rungs;
	int (*open)(void **state, struct jetwatt_probe *p, const struct jetwatt_probe_opts *o,
		    uint32_t rungs);
	int (*fd)(const void *state);
	int (*dispatch)(void *state);
	void (*look)(void *state);
	uint64_t (*lost)(const void *state);
	int (*waiting)(const void *state, uint32_t tid);
	int (*entries)(const void *state, struct jetwatt_probe_entry *out, int max);
	void (*close)(void *state);
};

extern const struct jetwatt_rung_ops jetwatt_rung_bpf, jetwatt_rung_module,
	jetwatt_rung_marks;

/* probe.c, for rungs */
int jetwatt_probe_refuse(struct jetwatt_probe *p, uint32_t rungs, int err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));
void jetwatt_probe_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s);
struct jetwatt_probe_state *jetwatt_probe_of(struct jetwatt_probe *p);

#endif
