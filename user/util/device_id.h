/* SPDX-License-Identifier: GPL-2.0-only */
/* The name of this device in a pool or on an MQTT broker, which several devices share. */
#ifndef JETWATT_UTIL_DEVICE_ID_H
#define JETWATT_UTIL_DEVICE_ID_H

#define JETWATT_DEVICE_NAME	65	/* longest name, in bytes with the NUL */
#define JETWATT_DEVICE_CLIENT	24	/* size of a client identifier, in bytes with the NUL */

/* Copy @given to @name, or a hash of the machine-id if @given is NULL. Prints errors. Return: 0;
 * exit status. */
int jetwatt_device_name(const char *given, char name[JETWATT_DEVICE_NAME]);

/* Derive the MQTT client identifier of the device @name: 23 letters and digits, which every broker accepts
 * (MQTT 3.1.1, section 3.1.3.1). */
void jetwatt_device_client(const char *name, char id[JETWATT_DEVICE_CLIENT]);

#endif
