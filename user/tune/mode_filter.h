/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which modes of a list the board can be switched to.
 */
#ifndef JETWATT_TUNE_MODE_FILTER_H
#define JETWATT_TUNE_MODE_FILTER_H

#include "board/board.h"

/**
 * jetwatt_offered() - keep what the board offers
 * @mode, @n: the list, shortened in place
 * @path: where it is from, for the message
 *
 * A list may be of another board: that is said before a job is started, not
 * by the first of its modes that is refused.
 * Return: 0; exit code: nothing is left.
 */
int jetwatt_offered(const struct jetwatt_board *b, struct jetwatt_mode *mode, size_t *n,
		    const char *path);

#endif
