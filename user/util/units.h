/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse quantities and integers as users write them: 30, 30W, 5s, 1kHz. */
#ifndef JETWATT_UTIL_UNITS_H
#define JETWATT_UTIL_UNITS_H

/**
 * jetwatt_unit_parse() - parse a quantity
 * @text: number with an optional unit, which may have a prefix: u, m, k, K, M, G; a prefix alone is
 *	allowed too, except for "s"
 * @unit: for example "W", "s", "Hz" or ""; "s" allows "min" and "h" too
 * @v: set to the value in @unit
 *
 * Return: 0; -EINVAL if the text is not a finite quantity of the unit.
 */
int jetwatt_unit_parse(const char *text, const char *unit, double *v);

/* Parse an integer from @lo to @hi. Return: 0; -EINVAL: not an integer; -ERANGE. */
int jetwatt_unit_count(const char *text, long lo, long hi, long *v);

#endif
