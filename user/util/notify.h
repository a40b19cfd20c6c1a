/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef JETWATT_UTIL_NOTIFY_H
#define JETWATT_UTIL_NOTIFY_H

/* What systemd is told, if it listens: sd_notify(3). */
void jetwattd_notify(const char *text);

#endif
