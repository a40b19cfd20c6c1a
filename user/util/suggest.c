// SPDX-License-Identifier: GPL-2.0-only
/* Damerau-Levenshtein distance (optimal string alignment), for suggestions. */
#include "util/suggest.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define LENGTH_MAX 32

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

int jetwatt_suggest_distance(const char *a, const char *b)
{
	int d[LENGTH_MAX + 1][LENGTH_MAX + 1];
	int n = strnlen(a, LENGTH_MAX), m = strnlen(b, LENGTH_MAX);

	for (int i = 0; i <= n; i++)
		d[i][0] = i;
	for (int j = 0; j <= m; j++)
		d[0][j] = j;
	for (int i = 1; i <= n; i++) {
		for (int j = 1; j <= m; j++) {
			d[i][j] = min_int(min_int(d[i - 1][j], d[i][j - 1]) + 1,
					  d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min_int(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

const char *jetwatt_suggest(const char *typed, const char *const *words)
{
	const char *similar = NULL;
	int best = INT_MAX;

	for (; *words; words++) {
		int d = jetwatt_suggest_distance(typed, *words);

		/* A word of which the user typed only the beginning counts as one edit: "opt" for
		 * "optimize". */
		if (strlen(typed) > 2 && !strncmp(typed, *words, strlen(typed)))
			d = 1;
		if (d < best) {
			best = d;
			similar = *words;
		}
	}
	return similar && best <= 1 + (int)strlen(typed) / 4 ? similar : NULL;
}
