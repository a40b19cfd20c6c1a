/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this board is: its total's rails, its knobs, its power modes; save,
 * apply, verify, restore. The only room that writes sysfs.
 */
#ifndef JETWATT_BOARD_H
#define JETWATT_BOARD_H

#include <stddef.h>
#include <stdint.h>
#include "jetwatt.h"

#define JETWATT_BOARD_FREQS_MAX	64

/**
 * struct jetwatt_board_roots - where to look; NULL: the usual place
 * @sys: "/sys", @proc: "/proc", @dev: "/dev", @state: "/var/lib/jetwatt"
 */
struct jetwatt_board_roots {
	const char *sys, *proc, *state;
};

struct jetwatt_board;

/* What went wrong, in the words of house.md: what / why / fix. */
struct jetwatt_board_error {
	char what[256], why[256], fix[256];
};

/**
 * jetwatt_board_open() - find the board's knobs
 *
 * Return: 0; -ENODEV: no GPU devfreq, no cpufreq or no EMC knob: @err says
 * which is missing; -ENOMEM.
 */
int jetwatt_board_open(struct jetwatt_board **b, const struct jetwatt_board_roots *roots,
		       struct jetwatt_board_error *err);
void jetwatt_board_close(struct jetwatt_board *b);

const char *jetwatt_board_name(const struct jetwatt_board *b);	/* "Jetson AGX Orin" */

/* Steps of each knob, ascending. Return: how many. */
int jetwatt_board_cores(const struct jetwatt_board *b, const uint32_t **v);
int jetwatt_board_cpu_khz(const struct jetwatt_board *b, const uint32_t **v);
int jetwatt_board_gpu_hz(const struct jetwatt_board *b, const uint64_t **v);
int jetwatt_board_emc_hz(const struct jetwatt_board *b, const uint64_t **v);

/* All power modes (the grid). Caller frees *modes. Return: how many. */
int jetwatt_board_modes(const struct jetwatt_board *b, struct jetwatt_mode **modes);

/* The rails (labels as in jetwatt_rails()) whose sum is the module's power:
 * never a parent and its child. Fills @rail with indices. *scope becomes
 * "module", "board" or "partial sum". Return: how many. */
int jetwatt_board_total(const struct jetwatt_board *b, const struct jetwatt_rail *rails, int n,
			int *rail, const char **scope);

/* What the knobs say now. @mode's clocks are the caps that are set. */
int jetwatt_board_read(struct jetwatt_board *b, struct jetwatt_mode *mode);

/**
 * jetwatt_board_save() - write every knob's value to @state/saved, unless it
 * is there already (then the board is ours and the older state counts)
 */
int jetwatt_board_save(struct jetwatt_board *b, struct jetwatt_board_error *err);

/**
 * jetwatt_board_apply() - save, take the lease, write in a safe order, read back
 *
 * All or nothing: if a knob refuses or reads back as another value, what was
 * written is rolled back.
 * Return: 0; -EINVAL: not a mode of this board; -EBUSY: another process holds
 * the lease; -EPERM; -EIO: refused or not taken (rolled back); -ENOTRECOVERABLE:
 * and the roll-back failed too.
 */
int jetwatt_board_apply(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			struct jetwatt_board_error *err);

/* Every knob as in @mode? Return: 0, -ESTALE (err says which is not). */
int jetwatt_board_verify(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			 struct jetwatt_board_error *err);

/* Bring the saved state back, verify, delete @state/saved.
 * Return: 0; -ENOENT: nothing saved; -EIO. */
int jetwatt_board_restore(struct jetwatt_board *b, struct jetwatt_board_error *err);

/* "c8-1728000-g624750000-e3199000000" both ways: cores, cpu kHz, gpu Hz, emc Hz.
 * parse also takes "MAXN". */
int jetwatt_board_mode_format(const struct jetwatt_mode *m, char *buf, size_t len);
int jetwatt_board_mode_parse(const struct jetwatt_board *b, const char *s, struct jetwatt_mode *m);

#endif
