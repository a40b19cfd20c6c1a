/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the word that a mistyped one most probably means. */
#ifndef JETWATT_UTIL_SUGGEST_H
#define JETWATT_UTIL_SUGGEST_H

/* Return the number of edits (insert, delete, replace, swap neighbours) from @a to @b, of which
 * only the first 32 characters are compared. */
int jetwatt_suggest_distance(const char *a, const char *b);

/* Return the most similar of @words, which ends with NULL; NULL: none is similar enough. */
const char *jetwatt_suggest(const char *typed, const char *const *words);

#endif
