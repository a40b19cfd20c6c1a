/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Uprobes on functions of the watched processes that libcuda calls when the GPU has done the work
 * before (cuLaunchHostFunc, cuStreamAddCallback). The BPF program finds the addresses of the
 * functions.
 */
#ifndef JETWATT_LIB_PROBE_CALLBACK_H
#define JETWATT_LIB_PROBE_CALLBACK_H

#include "lib/probe.h"

struct jetwatt_callbacks;
struct sync;

/* @multi: see jetwatt_uprobe_attach(). Return: NULL: out of memory. */
struct jetwatt_callbacks *jetwatt_callbacks_new(struct jetwatt_probe *p, struct sync *bpf,
						int multi);
/* Attach to the functions that the BPF program has found since the last search. If that fails, the
 * BPF program examines the system calls of the process, and the function is tried again later. */
void jetwatt_callbacks_search(struct jetwatt_callbacks *c);
/* @c: may be NULL. */
void jetwatt_callbacks_free(struct jetwatt_callbacks *c);

#endif
