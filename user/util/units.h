/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quantities as people write them: 30, 30W, 5s, 1kHz.
 */
#ifndef JETWATT_UTIL_UNITS_H
#define JETWATT_UTIL_UNITS_H

/**
 * jetwatt_unit_parse() - read a quantity
 * @unit: "W", "s" or "Hz"; the text may leave it out, and may put a prefix
 *	(m, u, k, M, G) before it; of s, "ms", "min" and "h" as well
 * @v: in @unit
 *
 * Return: 0; -EINVAL: not a finite quantity of that unit.
 */
int jetwatt_unit_parse(const char *text, const char *unit, double *v);

/* A whole number in [lo, hi]. Return: 0; -EINVAL; -ERANGE. */
int jetwatt_unit_count(const char *text, long lo, long hi, long *v);

#endif
