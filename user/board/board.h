/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this board is: its total's rails, its knobs, its power modes; save,
 * apply, verify, restore. The only room that writes sysfs.
 */
#ifndef JETWATT_BOARD_H
#define JETWATT_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "jetwatt.h"
#include "util/error.h"

#define JETWATT_BOARD_FREQS_MAX	64

/* Writes @text to the knob @path. Return: 0 or a negative errno. */
typedef int (*jetwatt_board_write_fn)(const char *path, const char *text, void *arg);

/**
 * struct jetwatt_board_roots - where to look; NULL: the usual place
 * @sys: "/sys"
 * @proc: "/proc"
 * @state: "/var/lib/jetwatt"
 * @etc: "/etc"
 * @write: does the writes to knobs instead of the room itself: a helper with
 *	more privileges, or a test that lets a knob refuse; NULL: open and write
 * @arg: for @write
 * @knobs: socket of jetwatt-knobs, which does all that takes the right to write;
 *	NULL: this process has it
 */
struct jetwatt_board_roots {
	const char *sys, *proc, *state, *etc;
	jetwatt_board_write_fn write;
	void *arg;
	const char *knobs;
};

struct jetwatt_board;

/* Clock of a knob that the board lacks, in kHz or Hz, where the clock is not known. Not 0,
 * which profiles, databases and their servers refuse. */
#define JETWATT_BOARD_NO_CLOCK	1

/**
 * jetwatt_board_open() - find the board's knobs
 *
 * A missing knob is no error: the knob then has one step, which is never written. The
 * step of a memory clock without a cap is the highest clock of the memory, if that is
 * known; that of any other clock is JETWATT_BOARD_NO_CLOCK.
 * Return: 0; -ENOMEM; -ENOENT: the CPUs cannot be listed; other negative errno.
 */
int jetwatt_board_open(struct jetwatt_board **b, const struct jetwatt_board_roots *roots,
		       struct jetwatt_error_text *err);
void jetwatt_board_close(struct jetwatt_board *b);

/**
 * jetwatt_board_lacks() - say why a knob is missing and how to get it
 *
 * Return: NULL if the board has the knob. The text belongs to the board.
 */
const struct jetwatt_error_text *jetwatt_board_lacks(const struct jetwatt_board *b,
						     enum jetwatt_knob knob);

/**
 * jetwatt_board_switchable() - does the board have any clock that can be set?
 *
 * Return: 0; -ENODEV: @err says what the first missing clock lacks.
 */
int jetwatt_board_switchable(const struct jetwatt_board *b, struct jetwatt_error_text *err);

/**
 * jetwatt_board_present() - is this machine a board at all?
 *
 * A board can be opened on any machine with a CPU, as no knob is needed. It is a Jetson if its
 * device tree says so, or if both the GPU and the memory have a clock that can be set.
 */
bool jetwatt_board_present(const struct jetwatt_board *b);

const char *jetwatt_board_name(const struct jetwatt_board *b);	/* "Jetson AGX Orin" */

/* What else a mode's time and power depend on: governors and parts of the GPU that
 * are switched off, as "cpu_governor=schedutil tpc_pg_mask=0"; and what the board
 * runs: "L4T 36.4.3", or "Linux 6.1.0" where there is no L4T. */
void jetwatt_board_params(const struct jetwatt_board *b, char *buf, size_t len);
void jetwatt_board_release(const struct jetwatt_board *b, char *buf, size_t len);

/* Levels of a knob, ascending, in the unit of its row. Return: how many; 0: an optional knob
 * that the board lacks. */
int jetwatt_board_levels(const struct jetwatt_board *b, enum jetwatt_knob k, const uint64_t **v);

/* From here on the grid, what is read, and "MAXN" have a value of the optional knob @k. Return: 0;
 * -ENODEV: jetwatt_board_lacks(). */
int jetwatt_board_grid(struct jetwatt_board *b, enum jetwatt_knob k);

/* All power modes (the grid). Caller frees *modes. Return: how many. */
int jetwatt_board_modes(const struct jetwatt_board *b, struct jetwatt_mode **modes);

/* "12 core counts x 29 CPU x 13 GPU x 4 EMC clocks" Return: @buf. */
const char *jetwatt_board_grid_text(const struct jetwatt_board *b, char *buf, size_t len);

/* Is it one of them? Return: 0, -EINVAL: @err says which knob lacks the step. */
int jetwatt_board_has(const struct jetwatt_board *b, const struct jetwatt_mode *m,
		      struct jetwatt_error_text *err);

/* The rails (labels as in jetwatt_rails()) whose sum is the module's power:
 * never a parent and its child. Fills @rail with indices. *scope becomes
 * "module", "board" or "partial sum". Return: how many. */
int jetwatt_board_total(const struct jetwatt_board *b, const struct jetwatt_rail *rails, int n,
			int *rail, const char **scope);

/* The rail that @label is fed by; NULL: none, or not known on this board. */
const char *jetwatt_board_parent(const struct jetwatt_board *b, const char *label);

/* What the knobs say now. @mode's clocks are the caps that are set; an EMC
 * without a cap reads as its highest step, a cap that the driver has rounded as the
 * nearest step, a missing knob as its only step. Optional knobs are 0 unless
 * jetwatt_board_grid() was called. Return: 0 or a negative errno. */
int jetwatt_board_read(struct jetwatt_board *b, struct jetwatt_mode *mode);

/**
 * jetwatt_board_save() - take the lease and write every knob's value to
 * @state/saved, unless it is there already (then the older state counts: the
 * board is still as we made it). One that an earlier boot left is replaced:
 * knobs do not survive a reboot.
 *
 * The lease ends with jetwatt_board_restore(), jetwatt_board_close() or the process.
 * Return: 0; -EBUSY: another process holds the lease; -EAGAIN: heat limits a clock, so
 * that what it is set to cannot be read; -EBADMSG: a saved state is there and damaged;
 * -EPERM and other negative errno.
 */
int jetwatt_board_save(struct jetwatt_board *b, struct jetwatt_error_text *err);

/**
 * jetwatt_board_apply() - save, take the lease, write in a safe order, read back
 *
 * All or nothing: if a knob refuses or reads back as another value, what was
 * written is rolled back.
 * Return: 0; -EINVAL: not a mode of this board; -EBUSY: another process holds
 * the lease; -EPERM; -EAGAIN, -EBADMSG: as jetwatt_board_save(); -EIO: refused or not
 * taken (rolled back); -ENOTRECOVERABLE: and the roll-back failed too (the
 * saved state stays, jetwatt_board_restore() may be tried again).
 */
int jetwatt_board_apply(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			struct jetwatt_error_text *err);

/* Does the kernel's thermal governor limit a clock now? What a knob was told holds on, and
 * that it shows less is no difference to jetwatt_board_verify(). Return: 1, 0. */
int jetwatt_board_throttled(const struct jetwatt_board *b);

/* Every knob as in @mode? Return: 0, -ESTALE (err says which is not). */
int jetwatt_board_verify(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			 struct jetwatt_error_text *err);

/* Bring the saved state back, verify, delete @state/saved, end the lease. Also
 * for what a process that is gone has left.
 * Return: 0; -ENOENT: nothing saved in this boot; -EBUSY: another process holds the lease;
 * -EBADMSG: the saved state is damaged, nothing was written; -EPERM; -EIO: some
 * knob did not come back (the others did; the saved state stays). */
int jetwatt_board_restore(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Somebody else has taken over: what was saved is not to come back over what he does.
 * Forget it and end the lease. Return: 0; -ENOENT: this process does not hold the lease, so
 * nothing of it is saved; other negative errno. */
int jetwatt_board_forget(struct jetwatt_board *b);

/**
 * jetwatt_board_guardian() - from here on the saved state comes back if this
 * process ends in any way, or closes the board
 *
 * By a process of its own, so to be called before there are threads or a lease.
 * Return: 0; negative errno.
 */
int jetwatt_board_guardian(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Is it still there? Return: 1, 0. */
int jetwatt_board_guarded(const struct jetwatt_board *b);

/* Longest path of a cgroup, with its NUL; so many may be held. */
#define JETWATT_BOARD_CGROUP	224
#define JETWATT_BOARD_HELD	4

/* Is a cgroup this one, or below it? */
static inline int jetwatt_cgroup_below(const char *cgroup, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(cgroup, path, n) && (!cgroup[n] || cgroup[n] == '/' || path[n - 1] == '/');
}

/**
 * jetwatt_board_freezer() - hold the jobs of a cgroup, and let them go, from here on
 * @cgroup: in the hierarchy of version 2, as in /proc/PID/cgroup
 *
 * That they may be held is on disk first. Return: descriptor of its cgroup.freeze; -EINVAL: no
 * such path, or we are in it, or process 1 is; -ENOENT: no such cgroup, or a kernel before
 * 5.2; -EACCES: jetwatt-knobs was not told to; -EPERM; other negative errno.
 */
int jetwatt_board_freezer(struct jetwatt_board *b, const char *cgroup,
			  struct jetwatt_error_text *err);

/* Let go of all that this process, or one that is gone, may have held; not of what another
 * one that lives may. Where jetwatt-knobs
 * has opened the freezers it does so when we hang up. Return: 0, negative errno. */
int jetwatt_board_thaw(struct jetwatt_board *b);

/* The @i-th cgroup whose freezer this process has opened and that is on disk; NULL: there are no
 * more. Until the next call for the board's freezers. */
const char *jetwatt_board_held(const struct jetwatt_board *b, int i);

/* Let go of the jobs of one cgroup. @keep: they may be held again, so that stays on disk.
 * Return: 0, negative errno. */
int jetwatt_board_let_go(struct jetwatt_board *b, const char *cgroup, int keep);

/* Is there a saved state of this boot? Return: 1 (@owner: the process that holds the lease,
 * 0: none), 0 or a negative errno. */
int jetwatt_board_saved(struct jetwatt_board *b, int *owner);

/**
 * struct jetwatt_board_sensors - how the power sensors are to convert
 * @averages: conversions that a value is the mean of (1, 4, 16, ... 1024), 0: as it is
 * @refresh_ms: time in which a chip converts all its channels once; the nearest
 *	that it can; -1: as it is
 * @bus_khz: clock of the bus that they are on, 100 or 400; 0: as it is
 */
struct jetwatt_board_sensors {
	unsigned int averages, bus_khz;
	int refresh_ms;
};

/**
 * jetwatt_board_sensors_set() - change that, by way of the hwmon driver's and
 * the adapter's own attributes
 *
 * What was before is written to @state/sensors first. It comes back with
 * jetwatt_board_sensors_back(); if this process ends in any other way, a guardian
 * process that is started here brings it back.
 * Return: 0; -EBUSY: another process does this; -EOPNOTSUPP: there is no such
 * attribute; -EINVAL: the chips do not take such a value; -EPERM; -EIO; other
 * negative errno. Then all is as before.
 */
int jetwatt_board_sensors_set(struct jetwatt_board *b, const struct jetwatt_board_sensors *want,
			      struct jetwatt_error_text *err);

/* As before again. Return: 0; -EIO: something did not come back. */
int jetwatt_board_sensors_back(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* The same for what a process has left whose guardian is gone too. Return: 0;
 * -ENOENT: nothing saved in this boot; -EBUSY: it still lives; -EBADMSG; -EPERM; -EIO. */
int jetwatt_board_sensors_restore(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* "c8-1728000-g624750000-e3199000000" both ways: the tag and the value of each row of
 * JETWATT_KNOB_ROWS(), without those of optional knobs that are 0.
 * parse also takes "MAXN": the highest step of each; that it is a mode of the
 * board is for jetwatt_board_apply() to say.
 * Return: 0; -EINVAL: not of this form; -ENOSPC: @buf is too short. */
int jetwatt_board_mode_format(const struct jetwatt_mode *m, char *buf, size_t len);
int jetwatt_board_mode_parse(const struct jetwatt_board *b, const char *s, struct jetwatt_mode *m);

#endif
