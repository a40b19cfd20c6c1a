/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "Did you mean": the word of a list that is nearest to a mistyped one.
 */
#ifndef JETWATT_UTIL_SUGGEST_H
#define JETWATT_UTIL_SUGGEST_H

/* Edits (insert, delete, replace, swap neighbours) from @a to @b. */
int jetwatt_suggest_distance(const char *a, const char *b);

/* @words ends with NULL. Return: a word near enough to be meant, or NULL. */
const char *jetwatt_suggest(const char *typed, const char *const *words);

#endif
