/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Redirects the messages of libbpf. libbpf has one print function for the whole process, but
 * several threads may use libjetwatt and libbpf at the same time.
 */
#ifndef JETWATT_LIB_LIBBPF_PRINT_H
#define JETWATT_LIB_LIBBPF_PRINT_H

#include <bpf/libbpf.h>

/* Pass the messages of libbpf in this thread to @print, until jetwatt_libbpf_print_end(). The
 * messages of other threads still go to the print function of the program. Calls do not nest. */
void jetwatt_libbpf_print_begin(libbpf_print_fn_t print);
/* End the redirection in this thread. */
void jetwatt_libbpf_print_end(void);

#endif
