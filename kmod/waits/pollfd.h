/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks descriptors that poll() finds ready when work of the GPU is finished. */
#ifndef JETWATT_POLLFD_H
#define JETWATT_POLLFD_H

#include <linux/types.h>

void jetwatt_pollfd_arm(int fd, int ctl_fd);
void jetwatt_pollfd_duplicate(int from, int to);
void jetwatt_pollfd_closed(u32 first, u32 last);
void jetwatt_pollfd_process_gone(u32 tgid);
void jetwatt_pollfd_unwatched(void);
bool jetwatt_pollfd_begin(int fd, u64 now);
bool jetwatt_pollfd_end(int fd, bool counted, bool ready, u64 now, u64 *enter_ns, int *ctl_fd);
bool jetwatt_pollfd_owner(void);
int jetwatt_pollfd_open(void);
void jetwatt_pollfd_close(void);

#endif
