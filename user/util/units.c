// SPDX-License-Identifier: GPL-2.0-only
/* Parse quantities with units and prefixes. */
#include "util/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static double unit_prefix(char c)
{
	switch (c) {
	case 'u': return 1e-6;
	case 'm': return 1e-3;
	case 'k':
	case 'K': return 1e3;
	case 'M': return 1e6;
	case 'G': return 1e9;
	default: return 0;
	}
}

/* Return the factor of a unit with its prefix, relative to @unit; 0 if the text is not such a
 * unit. */
static double unit_scale(const char *word, const char *unit)
{
	size_t n = strlen(word), u = strlen(unit);

	if (!n || !strcasecmp(word, unit))
		return 1;
	if (!strcmp(unit, "s")) {
		if (!strcmp(word, "min"))
			return 60;
		if (!strcmp(word, "h"))
			return 3600;
	}
	if (n == 1 && strcmp(unit, "s"))
		return unit_prefix(word[0]);
	return n == u + 1 && !strcasecmp(word + 1, unit) ? unit_prefix(word[0]) : 0;
}

int jetwatt_unit_parse(const char *text, const char *unit, double *v)
{
	char *end;
	double x, scale;

	while (isspace((unsigned char)*text))
		text++;
	/* strtod() also accepts "nan", "inf" and hexadecimal. */
	if (strspn(text, "+-.0123456789") == 0 || strpbrk(text, "xX"))
		return -EINVAL;
	x = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	while (isspace((unsigned char)*end))
		end++;
	scale = unit_scale(end, unit);
	if (scale == 0 || !isfinite(x * scale))
		return -EINVAL;
	*v = x * scale;
	return 0;
}

int jetwatt_unit_count(const char *text, long lo, long hi, long *v)
{
	char *end;

	errno = 0;
	*v = strtol(text, &end, 10);
	if (end == text || *end)
		return -EINVAL;
	return errno || *v < lo || *v > hi ? -ERANGE : 0;
}
