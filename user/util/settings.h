/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings that outlive a command: the environment, the user's file, the
 * system's file, in this order; an option goes before all of them.
 */
#ifndef JETWATT_UTIL_SETTINGS_H
#define JETWATT_UTIL_SETTINGS_H

#include <stddef.h>

/**
 * jetwatt_settings_get() - the value of a setting
 * @name: "db": JETWATT_DB in the environment, "db = ..." in the files
 *	$XDG_CONFIG_HOME/jetwatt/jetwatt.conf (or ~/.config) and /etc/jetwatt/jetwatt.conf
 *
 * A line that is no setting of ours is said once and passed over: files
 * outlive versions.
 * Return: @buf; NULL: it is set nowhere, or to nothing.
 */
const char *jetwatt_settings_get(const char *name, char *buf, size_t len);

/* As above from the text of one file. @bad: gets the number of the first line that
 * is no setting, 0: none. Return: @buf, NULL. */
const char *jetwatt_settings_find(const char *text, size_t size, const char *name, char *buf,
				  size_t len, unsigned int *bad);

#endif
