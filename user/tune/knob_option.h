/* SPDX-License-Identifier: GPL-2.0-only */
/* The option --knob: optional knobs in which the modes of the board differ. */
#ifndef JETWATT_TUNE_KNOB_OPTION_H
#define JETWATT_TUNE_KNOB_OPTION_H

#include <argp.h>

#include "board/board.h"

/* Its input is an unsigned int, the bit 1 << k for the knob k. */
extern const struct argp jetwatt_knob_argp;

/* Take them into the board's grid. @board: NULL: a list of modes is used in its place. Return: exit
 * code, said. */
int jetwatt_knob_use(struct jetwatt_board *board, unsigned int knobs);

#endif
