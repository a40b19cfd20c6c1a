/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_UTIL_NOTIFY_H
#define JETWATT_UTIL_NOTIFY_H

/* Send a state to systemd, for example "READY=1", if it started this process: sd_notify(3). */
void jetwattd_notify(const char *text);

#endif
