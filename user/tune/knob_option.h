/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The option --knob: optional knobs that vary among the candidates.
 */
#ifndef JETWATT_TUNE_KNOB_OPTION_H
#define JETWATT_TUNE_KNOB_OPTION_H

#include <argp.h>

#include "board/board.h"

/* Parser of the option --knob; the parser's input is an unsigned int with the bit 1 << k for knob
 * k. */
extern const struct argp jetwatt_knob_argp;

/*
 * Add the knobs given with --knob to the board's grid of modes. If @board is NULL, do nothing: the
 * modes come from a file, or are not needed.
 * Return: 0; exit code, after printing the error.
 */
int jetwatt_knob_use(struct jetwatt_board *board, unsigned int knobs);

#endif
