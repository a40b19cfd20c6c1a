/* SPDX-License-Identifier: LGPL-2.1-only */
/* The module's own records of waits: what the probe falls back on. */
#ifndef JETWATT_WAITS_H
#define JETWATT_WAITS_H

#include <linux/jetwatt.h>
#include <stdint.h>

struct jetwatt;

typedef void (*jetwatt_wait_fn)(const struct jetwatt_wait_record *r, void *arg);

int jetwatt_waits_watch(struct jetwatt *jw, const uint32_t *tgids, uint32_t n, int children);
int jetwatt_waits_dispatch(struct jetwatt *jw, jetwatt_wait_fn fn, void *arg, uint64_t *lost);

#endif
