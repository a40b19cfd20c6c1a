/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of rails of jetwatt list. */
#ifndef JETWATT_CMD_LIST_RAILS_H
#define JETWATT_CMD_LIST_RAILS_H

#include "board/board.h"
#include "jetwatt.h"

/* Print all rails. The function samples the rails for 0.4 s if the caller has the permission to
 * read samples. Return: 0, exit code. */
int jetwatt_rails_list(struct jetwatt *jw, const struct jetwatt_board *board, int as_json);

#endif
