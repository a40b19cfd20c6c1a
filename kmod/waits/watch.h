/* SPDX-License-Identifier: GPL-2.0 */
/* The watched processes, and the records of their waits until these are sent. */
#ifndef JETWATT_WATCH_H
#define JETWATT_WATCH_H

#include <linux/jetwatt.h>
#include <linux/types.h>

#define JETWATT_WATCHERS_MAX	8

/**
 * struct jetwatt_watch_record - a finished wait
 * @record: the wait
 * @watchers: mask of the watchers that get the record
 */
struct jetwatt_watch_record {
	struct jetwatt_wait_record record;
	u8 watchers;
};

bool jetwatt_watch_may_want(u32 tgid);
void jetwatt_watch_forked(u32 parent, u32 child);
void jetwatt_watch_exited(u32 tgid);
void jetwatt_watch_store(const struct jetwatt_wait_record *record);
void jetwatt_watch_lose_for_all(void);

/* For wait_subscriber.c. A watcher is a number below JETWATT_WATCHERS_MAX. */
void jetwatt_watch_add(unsigned int watcher, const u32 *tgids, unsigned int n,
		       bool with_children);
bool jetwatt_watch_remove(unsigned int watcher);
const struct jetwatt_watch_record *jetwatt_watch_take(unsigned int *n, u8 *watchers);
void jetwatt_watch_lose(unsigned int watcher, unsigned int n);
u64 jetwatt_watch_lost(unsigned int watcher);
int jetwatt_watch_open(void);
void jetwatt_watch_close(void);

#endif
