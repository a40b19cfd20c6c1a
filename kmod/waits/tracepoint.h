/* SPDX-License-Identifier: GPL-2.0 */
/* Handlers of the kernel's tracepoints of system calls and processes. */
#ifndef JETWATT_TRACEPOINT_H
#define JETWATT_TRACEPOINT_H

int jetwatt_tracepoints_attach(void);
void jetwatt_tracepoints_detach(void);
void jetwatt_tracepoints_synchronize(void);

#endif
