/* SPDX-License-Identifier: GPL-2.0 */
/* Scans of the i2c buses for supported sensors. */
#ifndef JETWATT_SCAN_H
#define JETWATT_SCAN_H

int jetwatt_scan_init(void (*scanned)(void));
void jetwatt_scan_exit(void);

#endif
