/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User settings, by precedence: environment, the user's file, the system's file. An option on the
 * command line takes precedence over the environment and the files.
 */
#ifndef JETWATT_UTIL_SETTINGS_H
#define JETWATT_UTIL_SETTINGS_H

#include <stddef.h>

/**
 * jetwatt_settings_get() - get the value of a setting
 * @name: for example "db": JETWATT_DB in the environment, "db = ..." in the files
 *	$XDG_CONFIG_HOME/jetwatt/jetwatt.conf (or ~/.config) and /etc/jetwatt/jetwatt.conf
 * @buf, @len: gets the value
 *
 * Unknown and invalid lines are ignored after a note about the first one of a file, because a file
 * may be used with several versions.
 * Return: @buf; NULL: not set, empty, or too long for @buf.
 */
const char *jetwatt_settings_get(const char *name, char *buf, size_t len);

/* Get the value of a setting as jetwatt_settings_get() does, but from the text of one file. @bad:
 * set to the number of the first unknown or invalid line, 0: none. Return: @buf; NULL. */
const char *jetwatt_settings_find(const char *text, size_t size, const char *name, char *buf,
				  size_t len, unsigned int *bad);

#endif
