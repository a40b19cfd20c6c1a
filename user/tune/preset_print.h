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
 * Print the levels that the board lacks and their replacements, such as "GPU 408 becomes 421 MHz";
 * nothing if there are none. @rounded: from jetwatt_preset_mode().
 */
void jetwatt_presets_print_rounded(const struct jetwatt_preset *p, const struct jetwatt_mode *mode,
				   unsigned int rounded);

#endif
