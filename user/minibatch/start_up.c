// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits of the start of a program. A program may wait in other threads or calls while it starts:
 * for example, JAX waits in many threads while it compiles, and later in functions that libcuda
 * calls.
 */
#include "minibatch/bounds.h"

/* Return whether a wait has the thread and the call of one of @s[0..@n - 1]. */
static bool has_caller_of(const struct jetwatt_sync *wait, const struct jetwatt_sync *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].tgid == wait->tgid && s[i].tid == wait->tid && s[i].call == wait->call)
			return true;
	return false;
}

size_t jetwatt_start_up(const struct jetwatt_sync *wait, size_t n, size_t recent)
{
	const struct jetwatt_sync *last = wait + n - recent;
	size_t until = n - recent;

	while (until && has_caller_of(&wait[until - 1], last, recent))
		until--;
	for (size_t i = 0; i < until; i++)
		if (has_caller_of(&wait[i], last, recent))
			return 0;
	return until;
}
