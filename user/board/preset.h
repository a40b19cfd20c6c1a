/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor's power modes (presets): reads nvpmodel.conf, and writes a new block for it. The path
 * of a parameter, not its name, tells which knob it sets: names change between boards and releases,
 * sysfs paths hardly do. Used by verbs of jetwatt and by jetwattd.
 */
#ifndef JETWATT_PRESET_H
#define JETWATT_PRESET_H

#include <stdbool.h>
#include <stdio.h>

#include "board/board.h"

#define JETWATT_PRESET_NAME	64
/* value of a cap that is not set, or that the block does not mention */
#define JETWATT_PRESET_UNCAPPED	(-1LL)

/* The kind of setting that a line of a block makes. */
enum jetwatt_preset_kind {
	/* setting that is not a knob of jetwatt: the line is copied unchanged */
	JETWATT_PRESET_OTHER,
	JETWATT_PRESET_CORE,		/* whether a core is online */
	JETWATT_PRESET_MIN, JETWATT_PRESET_MAX,	/* lowest and highest clock of a knob */
	/* mask that gates parts of the GPU; it takes effect after a reboot */
	JETWATT_PRESET_MASK,
};

/* The masks of JETWATT_PRESET_MASK. jetwatt_board_gated() reads their current values. */
enum jetwatt_preset_mask {
	JETWATT_MASK_TPC, JETWATT_MASK_FBP, JETWATT_MASK_GPC,
	JETWATT_MASK_GPU,		/* Thor's GPU driver */
	JETWATT_MASKS
};

/* One line of a block: PARAM ARG VALUE. */
struct jetwatt_preset_line {
	char param[JETWATT_PRESET_NAME], arg[JETWATT_PRESET_NAME], value[JETWATT_PRESET_NAME];
	enum jetwatt_preset_kind kind;
	enum jetwatt_knob knob;		/* not for OTHER and MASK */
	unsigned int core;		/* for JETWATT_PRESET_CORE: number of the CPU */
	enum jetwatt_preset_mask mask;	/* for JETWATT_PRESET_MASK */
};

/**
 * struct jetwatt_preset - one < POWER_MODEL > block
 * @id, @name: as in the file
 * @cap: lowest cap of each knob, for the DLA the highest, in its unit, or JETWATT_PRESET_UNCAPPED;
 *	for cores: number of online cores
 * @mask: all masks of gated GPU parts, ORed; 0: no part is gated
 * @line, @nr_lines: all lines of the block, in the file's order
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
 * struct jetwatt_presets - the presets of one file
 * @preset, @nr: in the file's order
 * @chosen: id of the default preset; -1: the file does not name one
 */
struct jetwatt_presets {
	struct jetwatt_preset *preset;
	size_t nr;
	int chosen;
};

/**
 * jetwatt_presets_read() - read a file of presets
 * @p: gets the presets; the caller frees them
 * @b: may be NULL if @path is not
 * @path: NULL: use nvpmodel.conf in the board's @etc directory
 *
 * Return: 0; -ENOENT: no such file; -EINVAL: not a file of presets, and @err names the line; other
 * negative errno.
 */
int jetwatt_presets_read(struct jetwatt_presets **p, const struct jetwatt_board *b,
			 const char *path, struct jetwatt_error_text *err);

/* Parse presets from memory, as jetwatt_presets_read() does; the fuzzer calls this.
 * @line: gets the number of the line where parsing stopped, 0: the file has no preset. @why: gets
 * the reason. */
int jetwatt_presets_parse(const char *text, size_t len, struct jetwatt_presets **p,
			  unsigned int *line, const char **why);
void jetwatt_presets_free(struct jetwatt_presets *p);

/* Return the number of online cores that a preset does not name: 1 if it names cores, but not
 * CPU 0, which cannot be switched off; else 0. */
unsigned int jetwatt_preset_implied(const struct jetwatt_preset *p);

/**
 * jetwatt_preset_mode() - convert a preset to a mode of a board
 * @mode: gets the mode
 *
 * A cap that is not a level of the board is rounded as the kernel rounds it: the GPU's cap up to
 * the next level, any other cap down, or to the lowest level if the cap is below that. A cap of a
 * clock above its highest level counts as no cap, not as rounded.
 * Return: the knobs that were rounded: bit 1 << k for knob k.
 */
unsigned int jetwatt_preset_mode(const struct jetwatt_board *b, const struct jetwatt_preset *p,
				 struct jetwatt_mode *mode);

/* Convert a preset to a mode as jetwatt_preset_mode() does, with the levels that occur in a list
 * of @n modes, for callers without a board. */
unsigned int jetwatt_preset_mode_of(const struct jetwatt_mode *all, size_t n,
				    const struct jetwatt_preset *p, struct jetwatt_mode *mode);

/**
 * jetwatt_board_gated() - read a mask of gated GPU parts
 *
 * Return: 0; -ENOENT: the board's GPU driver has no mask of this kind; other negative errno.
 */
int jetwatt_board_gated(const struct jetwatt_board *b, enum jetwatt_preset_mask which,
			uint64_t *mask);

/**
 * jetwatt_preset_reboot() - check whether a preset needs a reboot to take effect
 * @b: NULL: assume that no part of the GPU is gated
 *
 * A preset needs a reboot if it gates other parts of the GPU than are gated now: nvgpu refuses a
 * new mask once a context has been created. Until the reboot, the preset's mode has another speed
 * and power. A mask that cannot be read counts as 0.
 * Return: 1 if so; 0 if not.
 */
int jetwatt_preset_reboot(const struct jetwatt_board *b, const struct jetwatt_preset *p);

/**
 * jetwatt_preset_print() - write a < POWER_MODEL > block for a mode
 * @like: template: its parameters are written in their order; lines that set no knob of the mode
 *	are copied
 * @id, @name: id and name of the new block
 * @top: highest level of the memory clock, in Hz; if @like has no cap of this clock, its text is
 *	written for @top
 *
 * Return: 0; -EINVAL: the block @like lacks a knob that the mode sets, @id is negative, or @name is
 * not one word of letters, digits, _ and -; -EIO.
 */
int jetwatt_preset_print(FILE *f, const struct jetwatt_preset *like, int id, const char *name,
			 const struct jetwatt_mode *mode, uint64_t top);

#endif
