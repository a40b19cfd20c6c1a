/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the vendor's presets, and how their levels are rounded.
 */
#ifndef JETWATT_TUNE_PRESET_PRINT_H
#define JETWATT_TUNE_PRESET_PRINT_H

#include "board/preset.h"

/* Print all presets of a file as table or JSON; NULL: the preset file of the board. Return: 0, exit
 * code. */
int jetwatt_presets_list(const struct jetwatt_board *board, const char *path, int json);

/*
 * Format the levels that the board lacks and their replacements, clocks in MHz, such as "GPU 408
 * becomes 421"; "" if there are none. @rounded: from jetwatt_preset_mode(). Return: @buf.
 */
const char *jetwatt_presets_rounded(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				    unsigned int rounded, char *buf, size_t len);

#endif
