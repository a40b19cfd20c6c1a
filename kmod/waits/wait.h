/* SPDX-License-Identifier: GPL-2.0 */
/* Recognises waits for the GPU in system calls; called by the tracepoint handlers. */
#ifndef JETWATT_WAIT_H
#define JETWATT_WAIT_H

#include <linux/types.h>

struct pt_regs;

bool jetwatt_wait_pending(void);
void jetwatt_wait_enter(struct pt_regs *regs, long nr);
void jetwatt_wait_exit(struct pt_regs *regs, long ret);
void jetwatt_wait_thread_gone(u32 tid);
void jetwatt_wait_unwatched(void);
int jetwatt_wait_open(void);
void jetwatt_wait_close(void);

#endif
