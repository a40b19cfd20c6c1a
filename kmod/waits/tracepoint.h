/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's tracepoints of system calls and processes. */
#ifndef JETWATT_TRACEPOINT_H
#define JETWATT_TRACEPOINT_H

int jetwatt_hook_attach(void);
void jetwatt_hook_detach(void);
void jetwatt_hook_synchronize(void);

#endif
