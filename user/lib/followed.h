/* SPDX-License-Identifier: LGPL-2.1-only */
/* The map followed of bpf/sync.bpf.c: the processes that the BPF program watches. */
#ifndef JETWATT_LIB_FOLLOWED_H
#define JETWATT_LIB_FOLLOWED_H

#include <stdint.h>

/* Watch a process and its present descendants; the BPF program adds those forked later. @fd:
 * descriptor of the map. Return: 0 or a negative errno, -ESRCH if there is no such process. */
int jetwatt_followed_add(int fd, uint32_t tgid);

/* Remove processes that have ended, where the BPF program could not detect that (process_exit()
 * says why). @fd: descriptor of the map. */
void jetwatt_followed_remove_ended(int fd);

#endif
