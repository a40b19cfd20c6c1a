/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removes from a list the modes that the board does not support.
 */
#ifndef JETWATT_TUNE_MODE_FILTER_H
#define JETWATT_TUNE_MODE_FILTER_H

#include "board/board.h"

/**
 * jetwatt_mode_filter() - keep the modes that the board supports
 * @b: the board
 * @mode: list of modes, shortened in place
 * @n: number of modes, updated
 * @path: file that the list comes from, for messages
 *
 * Callers filter before a job is started, so that a list of another board is reported at once and
 * not when the board refuses the first mode of the list.
 *
 * Return: 0; exit code if no mode is left.
 */
int jetwatt_mode_filter(const struct jetwatt_board *b, struct jetwatt_mode *mode, size_t *n,
		    const char *path);

#endif
