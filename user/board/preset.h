/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor's power modes: nvpmodel.conf, read in all its dialects, and a new
 * block for it. What a knob is, is told by the path behind its name: names
 * change between boards and releases, sysfs hardly does.
 */
#ifndef JETWATT_PRESET_H
#define JETWATT_PRESET_H

#include <stdbool.h>
#include <stdio.h>

#include "board/board.h"

#define JETWATT_PRESET_NAME	64
#define JETWATT_PRESET_UNCAPPED	(-1LL)	/* as fast as it goes, or the block does not say */

/* What a line of a block is about. */
enum jetwatt_preset_kind {
	JETWATT_PRESET_OTHER,		/* nothing of ours: kept as it is */
	JETWATT_PRESET_CORE,		/* is a core online? */
	JETWATT_PRESET_MIN, JETWATT_PRESET_MAX,	/* floor and cap of a knob */
	JETWATT_PRESET_MASK,		/* gates parts of the GPU: only a reboot changes it */
};

/* Masks of JETWATT_PRESET_MASK; what the kernel calls them: jetwatt_board_gated(). */
enum jetwatt_preset_mask {
	JETWATT_MASK_TPC, JETWATT_MASK_FBP, JETWATT_MASK_GPC,
	JETWATT_MASK_GPU,		/* of Thor's driver */
	JETWATT_MASKS
};

/* One line of a block: PARAM ARG VALUE. */
struct jetwatt_preset_line {
	char param[JETWATT_PRESET_NAME], arg[JETWATT_PRESET_NAME], value[JETWATT_PRESET_NAME];
	enum jetwatt_preset_kind kind;
	enum jetwatt_knob knob;		/* of all but OTHER and MASK */
	unsigned int core;		/* of JETWATT_PRESET_CORE */
	enum jetwatt_preset_mask mask;	/* of JETWATT_PRESET_MASK */
};

/**
 * struct jetwatt_preset - one < POWER_MODEL > block
 * @id, @name: as in the file
 * @cap: the lowest cap of each knob, in its unit, or JETWATT_PRESET_UNCAPPED; of cores: how many
 *	are online
 * @mask: of gated GPU parts, 0: none
 * @line, @nr_lines: all of it, in the file's order
 */
struct jetwatt_preset {
	int id;
	char name[JETWATT_PRESET_NAME];
	long long cap[JETWATT_KNOBS];
	unsigned long long mask;
	struct jetwatt_preset_line *line;
	size_t nr_lines;
};

/**
 * struct jetwatt_presets - a file of them
 * @preset, @nr: in the file's order
 * @chosen: id of the default one, -1: the file does not say
 */
struct jetwatt_presets {
	struct jetwatt_preset *preset;
	size_t nr;
	int chosen;
};

/**
 * jetwatt_presets_read() - read a file
 * @path: NULL: nvpmodel.conf of the board's /etc
 * @b: may be NULL if @path is not
 *
 * Return: 0; -ENOENT: there is none; -EINVAL: not such a file, @err says
 * which line; other negative errno. Caller frees.
 */
int jetwatt_presets_read(struct jetwatt_presets **p, const struct jetwatt_board *b,
			 const char *path, struct jetwatt_error_text *err);

/* As above from memory: what the fuzzer calls. @line: of what is wrong. */
int jetwatt_presets_parse(const char *text, size_t len, struct jetwatt_presets **p,
			  unsigned int *line, const char **why);
void jetwatt_presets_free(struct jetwatt_presets *p);

/**
 * jetwatt_preset_mode() - what a preset comes to on a board
 *
 * Clocks that the board does not have become those that the kernel takes
 * instead: a CPU and a memory clock never go over their cap; the GPU's cap is
 * rounded up to its next step.
 * Return: those that were rounded, the bit 1 << k for the knob k.
 */
unsigned int jetwatt_preset_mode(const struct jetwatt_board *b, const struct jetwatt_preset *p,
				 struct jetwatt_mode *mode);

/* As above on the steps of a list of modes, for who has no board. */
unsigned int jetwatt_preset_mode_of(const struct jetwatt_mode *all, size_t n,
				    const struct jetwatt_preset *p, struct jetwatt_mode *mode);

/**
 * jetwatt_board_gated() - read a mask of gated GPU parts
 *
 * Return: 0; -ENOENT: this board's GPU driver has no such mask; other negative errno.
 */
int jetwatt_board_gated(const struct jetwatt_board *b, enum jetwatt_preset_mask which,
			uint64_t *mask);

/**
 * jetwatt_preset_reboot() - does a preset gate other parts of the GPU than are gated now?
 * @b: NULL: a board without gated parts
 *
 * Only a reboot changes them (nvgpu refuses a mask once a context was made), so the mode
 * of such a preset is another one until then. A mask that cannot be read counts as 0.
 * Return: 1, 0.
 */
int jetwatt_preset_reboot(const struct jetwatt_board *b, const struct jetwatt_preset *p);

/**
 * jetwatt_preset_print() - a block that makes @mode a preset
 * @like: whose parameters it gets, in their order; what is not a knob of ours
 *	is as there
 * @top: the highest EMC step: written as @like writes that there is no cap
 *
 * Return: 0; -EINVAL: @like lacks a knob that the mode needs, or @name is not
 * one word of letters, digits, _ and -; -EIO.
 */
int jetwatt_preset_print(FILE *f, const struct jetwatt_preset *like, int id, const char *name,
			 const struct jetwatt_mode *mode, uint64_t top);

#endif
