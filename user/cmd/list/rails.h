/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of rails: what each is, draws, and is part of.
 */
#ifndef JETWATT_CMD_LIST_RAILS_H
#define JETWATT_CMD_LIST_RAILS_H

#include "board/board.h"
#include "jetwatt.h"

/* Looks at the rails for a moment, if the caller may. Return: 0, exit code. */
int jetwatt_rails_list(struct jetwatt *jw, const struct jetwatt_board *board, int as_json);

#endif
