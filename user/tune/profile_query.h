/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile database as something to look at.
 */
#ifndef JETWATT_TUNE_PROFILE_QUERY_H
#define JETWATT_TUNE_PROFILE_QUERY_H

#include "store/db.h"

/* So much of a key is shown, and enough to name it among thousands. */
#define JETWATT_PROFILES_NAME	8

/* All profiles, as a table or as JSON. @path: NULL: as set. Return: 0, exit code. */
int jetwatt_profiles_list(const char *path, int json, int verbose);

/* Open for reading and find one by its name; NULL: the only one there is.
 * Return: 0, exit code. */
int jetwatt_profiles_find(const char *path, const char *name, struct jetwatt_db **db,
			  struct jetwatt_db_profile *p);

#endif
