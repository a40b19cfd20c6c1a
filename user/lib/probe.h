/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The interface between the probe (probe.c) and its backends: BPF (probe_bpf.c), jetwatt.ko
 * (probe_module.c) and marks (marks.c).
 */
#ifndef JETWATT_LIB_PROBE_H
#define JETWATT_LIB_PROBE_H

#include "jetwatt.h"

/**
 * struct jetwatt_backend_ops - operations of a backend
 * @backends: mask of the values of enum jetwatt_backend that the backend can provide
 * @open: provide as many of the backends in the mask @which as possible, and store the state in
 *	@state. For each of @which that cannot be provided, call jetwatt_probe_refuse(). Return: 0;
 *	or a negative errno if none of @which can be provided
 * @fd: return a descriptor that is readable when there are records to dispatch
 * @dispatch: pass the backend's new records to jetwatt_probe_deliver(). Return: 1 if further
 *	records may arrive without making the descriptor readable; 0 if further records make it
 *	readable; or a negative errno
 * @search: search for new processes and libraries; called at most five times per second; may be
 *	NULL
 * @lost: return the number of records that the backend has lost so far
 * @waiting: jetwatt_probe_waiting(); NULL: not supported
 * @entries: jetwatt_probe_entries(); NULL: not supported
 * @close: free the state
 */
struct jetwatt_backend_ops {
	uint32_t backends;
	int (*open)(void **state, struct jetwatt_probe *p, const struct jetwatt_probe_opts *o,
		    uint32_t which);
	int (*fd)(const void *state);
	int (*dispatch)(void *state);
	void (*search)(void *state);
	uint64_t (*lost)(const void *state);
	int (*waiting)(const void *state, uint32_t tid);
	int (*entries)(const void *state, struct jetwatt_probe_entry *out, int max);
	void (*close)(void *state);
};

/* All backends. */
extern const struct jetwatt_backend_ops jetwatt_backend_bpf, jetwatt_backend_module,
	jetwatt_backend_marks;

/* probe.c, for the backends */

/*
 * Store why the backends @which are not available, also for jetwatt_probe_error(); @why: format of
 * printf(). Return: @err.
 */
int jetwatt_probe_refuse(struct jetwatt_probe *p, uint32_t which, int err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));
/* Pass a wait to the filter (helper_filter.h), which reports it, holds it back, or drops it. */
void jetwatt_probe_deliver(struct jetwatt_probe *p, const struct jetwatt_sync *s);
/* Return the state that jetwatt_probe_state() copies; backends update it. */
struct jetwatt_probe_state *jetwatt_probe_of(struct jetwatt_probe *p);

#endif
