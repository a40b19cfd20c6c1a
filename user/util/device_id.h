/* SPDX-License-Identifier: GPL-2.0-only */
/* What this device is called where many of them meet. */
#ifndef JETWATT_UTIL_DEVICE_ID_H
#define JETWATT_UTIL_DEVICE_ID_H

#define JETWATT_DEVICE_NAME	65	/* longest name, terminated */

/* @given: or a hash of its machine-id. Return: 0, exit code. */
int jetwatt_device_name(const char *given, char name[JETWATT_DEVICE_NAME]);

#endif
