/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists the profiles of the database, and finds a profile by the start of its key.
 */
#ifndef JETWATT_TUNE_PROFILE_QUERY_H
#define JETWATT_TUNE_PROFILE_QUERY_H

#include "store/db.h"

/* Number of characters of a profile's key that are printed: enough to be unique among thousands of
 * profiles. */
#define JETWATT_PROFILES_NAME	8

/* Print all profiles as table or JSON. @path: database; NULL: the configured one. Return: 0, exit
 * code. */
int jetwatt_profiles_list(const char *path, int json, int verbose);

/*
 * Open the database for reading and find a profile. @path: database; NULL: the configured one.
 * @name: start of the profile's key; NULL: the only profile of the database. @db: set to the
 * database; the caller closes it. @p: set to the profile. Return: 0, exit code.
 */
int jetwatt_profiles_find(const char *path, const char *name, struct jetwatt_db **db,
			  struct jetwatt_db_profile *p);

#endif
