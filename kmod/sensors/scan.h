/* SPDX-License-Identifier: GPL-2.0 */
/* Finding chips, now and later. */
#ifndef JETWATT_SCAN_H
#define JETWATT_SCAN_H

int jetwatt_scan_init(void (*scanned)(void));
void jetwatt_scan_exit(void);

#endif
