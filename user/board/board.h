/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The board: its knobs, power modes and power sensors, the rails of its total power, and the
 * freezers of jobs. Saves the knobs, applies a mode, verifies it and restores the saved state. Only
 * this directory writes sysfs.
 *
 * A knob is a setting that a power mode fixes: the number of online cores, or the limits of a
 * clock; JETWATT_KNOB_ROWS() of jetwatt.h lists them. A level is one value that a knob can have.
 * The code of this directory is built on libjetwatt (jetwatt.h: modes, rails) and util/.
 *
 * Context: not thread-safe: the callers serialise their calls.
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

/* Write @text to the file @path in sysfs. Return: 0; negative errno. */
typedef int (*jetwatt_board_write_fn)(const char *path, const char *text, void *arg);

/**
 * struct jetwatt_board_roots - directories and helpers; NULL: the default
 * @sys: root of sysfs, "/sys"
 * @proc: root of procfs, "/proc"
 * @state: directory of the saved states, the leases and the record of cgroups with an open freezer,
 *	"/var/lib/jetwatt"
 * @etc: directory of nvpmodel.conf and nv_tegra_release, "/etc"
 * @write: callback that writes the files of knobs and sensors in place of open(2) and write(2);
 *	used by tests, for instance of a knob that refuses a value
 * @arg: passed to @write
 * @knobs: socket of jetwatt-knobs, which then applies, verifies, restores and forgets modes and
 *	opens freezers for this process; jetwatt_board_save() and the functions for the sensors do
 *	not use it; NULL: this process writes the knobs itself
 */
struct jetwatt_board_roots {
	const char *sys, *proc, *state, *etc;
	jetwatt_board_write_fn write;
	void *arg;
	const char *knobs;
};

struct jetwatt_board;

/* Clock, in kHz or Hz, of a knob that the board lacks and whose real clock is not known. The
 * value of this constant is not 0, because profiles, databases and the pool refuse a clock of 0. */
#define JETWATT_BOARD_NO_CLOCK	1

/**
 * jetwatt_board_open() - identify the board and find its knobs
 * @b: gets the board; the caller closes it
 * @roots: NULL: all defaults
 * @err: gets what failed, why, and a fix; may be NULL here and in all functions of this file
 *
 * A missing knob is not an error, and is never written. A missing optional knob has no level, a
 * missing required one has one: of the cores their number, of a memory clock without a cap its
 * highest clock if that is known, of any other clock JETWATT_BOARD_NO_CLOCK.
 *
 * Return: 0; -ENOMEM; -ENOENT: sysfs lists no CPU, or the socket of jetwatt-knobs does not exist;
 * other negative errno.
 */
int jetwatt_board_open(struct jetwatt_board **b, const struct jetwatt_board_roots *roots,
		       struct jetwatt_error_text *err);
void jetwatt_board_close(struct jetwatt_board *b);

/**
 * jetwatt_board_lacks() - return why a knob is missing, with a fix
 *
 * Return: NULL if the board has the knob. The text stays valid until the board is closed.
 */
const struct jetwatt_error_text *jetwatt_board_lacks(const struct jetwatt_board *b,
						     enum jetwatt_knob knob);

/**
 * jetwatt_board_switchable() - check that at least one required clock can be set
 *
 * Return: 0; -ENODEV: no required clock can be set, and @err says why the CPU clock is missing.
 */
int jetwatt_board_switchable(const struct jetwatt_board *b, struct jetwatt_error_text *err);

/**
 * jetwatt_board_is_jetson() - check whether this machine is a Jetson
 *
 * jetwatt_board_open() succeeds on any machine with a CPU, because every knob may be missing. A
 * machine is a Jetson if its device tree names a Tegra chip or a board of the table in identity.c,
 * or if both the GPU clock and the memory clock can be set.
 */
bool jetwatt_board_is_jetson(const struct jetwatt_board *b);

const char *jetwatt_board_name(const struct jetwatt_board *b);	/* For example "Jetson AGX Orin". */

/* Write the other settings that change the time and power of a mode to @buf, as words NAME=VALUE:
 * governors and masks of gated GPU parts, "cpu_governor=schedutil tpc_pg_mask=0". */
void jetwatt_board_params(const struct jetwatt_board *b, char *buf, size_t len);
/* Write the release of the board's software to @buf: "L4T 36.4.3", or "Linux 6.1.0" without L4T. */
void jetwatt_board_release(const struct jetwatt_board *b, char *buf, size_t len);

/* Get the levels of a knob, ascending, in the unit of its row in JETWATT_KNOB_ROWS(). @v: set to
 * the array of levels, which stays valid until the board is closed. Return: number of levels; 0
 * if the board lacks this optional knob. */
int jetwatt_board_levels(const struct jetwatt_board *b, enum jetwatt_knob k, const uint64_t **v);

/* Include the optional knob @k: jetwatt_board_modes(), jetwatt_board_read() and the mode "MAXN"
 * have a value of this knob from now on. Return: 0; -ENODEV: the board lacks the knob. */
int jetwatt_board_grid_include(struct jetwatt_board *b, enum jetwatt_knob k);

/* List all power modes: every combination of the levels of the required and the included optional
 * knobs (the grid). The caller frees *modes. Return: number of modes; -ENOMEM. */
int jetwatt_board_modes(const struct jetwatt_board *b, struct jetwatt_mode **modes);

/* Describe the grid: "12 core counts x 29 CPU x 13 GPU x 4 EMC clocks". Return: @buf. */
const char *jetwatt_board_grid_text(const struct jetwatt_board *b, char *buf, size_t len);

/* Check that @m is a mode of this board. Return: 0; -EINVAL: it is not; @err names the knob
 * that has no such level. */
int jetwatt_board_check_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
		      struct jetwatt_error_text *err);

/**
 * jetwatt_board_total() - choose the rails whose sum is the total power
 * @rails, @n: as jetwatt_rails() lists them
 * @rail: gets the indices of the chosen rails; an array of @n entries. A rail is not chosen if
 *	a chosen rail is known to feed it
 * @scope: gets "module"; "board": the only measured input feeds the carrier board too; or
 *	"partial sum": an input of the module is not measured, or the board is not known
 *
 * Return: number of indices.
 */
int jetwatt_board_total(const struct jetwatt_board *b, const struct jetwatt_rail *rails, int n,
			int *rail, const char **scope);

/* Return: label of the rail that feeds @label; NULL if no rail feeds it, or if that is not known
 * for this board. */
const char *jetwatt_board_parent(const struct jetwatt_board *b, const char *label);

/* Read the mode that the knobs have now. The clocks in the mode are the caps that are set, not
 * the present frequencies. The cap of the memory or DLA clock reads as the nearest level, because
 * the driver may have rounded it; no cap reads as the highest level, and a missing required knob as
 * its only level. An optional knob is 0 unless jetwatt_board_grid_include() has included it.
 * Return: 0; negative errno. */
int jetwatt_board_read(struct jetwatt_board *b, struct jetwatt_mode *mode);

/**
 * jetwatt_board_save() - take the lease and write the value of every knob to @state/saved
 *
 * A saved state of this boot is kept: it holds the values from before jetwatt first changed a knob.
 * A saved state of an earlier boot is replaced, because knobs do not survive a reboot.
 *
 * The lease ends with a successful jetwatt_board_restore(), with jetwatt_board_forget() or
 * jetwatt_board_close(), or when the process ends.
 * Return: 0; -EBUSY: another process holds the lease; -EAGAIN: thermal throttling hides the value
 * of a clock; -EBADMSG: the existing saved state is damaged; -EPERM; other negative errno.
 */
int jetwatt_board_save(struct jetwatt_board *b, struct jetwatt_error_text *err);

/**
 * jetwatt_board_apply() - save the knobs, write a mode in a safe order, and read it back
 *
 * If the switch fails, all knobs are rolled back to their values before this call. The function
 * takes the lease as jetwatt_board_save() does. After writing and after rolling back, the function
 * waits at most 0.4 s until the knobs read back as written.
 *
 * Return: 0; -EINVAL: not a mode of this board; -EBUSY, -EAGAIN, -EBADMSG: as jetwatt_board_save();
 * -EPERM: as jetwatt_board_save(), or a knob may not be written, and all knobs are rolled back;
 * -EIO: a knob refused a value, read back another one or could not be read, or a clock is above its
 * cap, and all knobs are rolled back; -ENOTRECOVERABLE: the roll-back failed too, and the saved
 * state stays for a later jetwatt_board_restore(); -EPIPE: no response from jetwatt-knobs; other
 * negative errno.
 */
int jetwatt_board_apply(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			struct jetwatt_error_text *err);

/* Check whether the kernel's thermal governor limits a clock now. The kernel applies the value that
 * was written to a knob again when the throttling ends, so jetwatt_board_verify() does not report
 * the lower value that the knob shows until then. Return: 1 if a clock is limited; 0 if not, or if
 * a file cannot be read. */
int jetwatt_board_throttled(const struct jetwatt_board *b);

/* Refuse to rely on the values of the knobs during throttling. Return: 0; -EAGAIN: the kernel limits a
 * clock now, so the value that was set for it can't be read. */
int jetwatt_board_refuse_throttled(const struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Check that the knobs have the values of @mode. Return: 0; -ESTALE: a knob, which @err names, has
 * another value, or its clock is above its cap; -EINVAL: not a mode of this board; other negative
 * errno. */
int jetwatt_board_verify(struct jetwatt_board *b, const struct jetwatt_mode *mode,
			 struct jetwatt_error_text *err);

/* Restore the saved state, verify it, delete @state/saved and end the lease. A process that ended
 * without restoring the state may have saved it. Return: 0; -ENOENT: nothing is saved in this
 * boot; -EBUSY: another process holds the lease; -EBADMSG: the saved state is damaged, and nothing
 * was written; -EPERM; -EIO: a knob could not be restored (the other knobs were written; the saved
 * state stays); other negative errno. */
int jetwatt_board_restore(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Delete the saved state without restoring it, and end the lease: used when another program has
 * changed the knobs and its values are to stay. Return: 0; -ENOENT: this process does not hold
 * the lease, so it has saved nothing; other negative errno. */
int jetwatt_board_forget(struct jetwatt_board *b);

/**
 * jetwatt_board_guardian() - start a process that restores the knobs when this process ends
 *
 * The guardian process restores the saved state and thaws the jobs when this process closes the
 * board or ends, in whatever way it ends. The guardian is forked, so call this function
 * before starting threads and before taking the lease. If jetwatt-knobs writes the knobs, the
 * function does nothing, because jetwatt-knobs has a guardian of its own.
 * Return: 0; negative errno.
 */
int jetwatt_board_guardian(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Check that the guardian process, or jetwatt-knobs, is still alive. Return: 1 if it is; 0 if not,
 * or if no guardian was started. */
int jetwatt_board_guarded(const struct jetwatt_board *b);

/* Longest path of a cgroup, in bytes with its NUL; maximum number of cgroups with an open
 * freezer. */
#define JETWATT_BOARD_CGROUP_LEN	224
#define JETWATT_BOARD_FREEZERS_MAX	4

/* Check whether @cgroup is @path or below it. */
static inline int jetwatt_cgroup_below(const char *cgroup, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(cgroup, path, n) && (!cgroup[n] || cgroup[n] == '/' || path[n - 1] == '/');
}

/**
 * jetwatt_board_freezer() - open the freezer of a cgroup, so that its jobs can be frozen and thawed
 * @cgroup: path in the cgroup v2 hierarchy, as in /proc/PID/cgroup
 *
 * The cgroup is recorded on disk before this function returns, so that the guardian or a later
 * process can thaw its jobs if this process is killed.
 * Return: descriptor of the cgroup's file cgroup.freeze; -EINVAL: not a path, or the cgroup
 * contains this process or process 1; -ENOENT: no such cgroup, or a kernel before 5.2; -ENOSPC:
 * more than JETWATT_BOARD_FREEZERS_MAX cgroups; -EBUSY: another process has opened freezers;
 * -EACCES: this user may not write cgroup.freeze, or jetwatt-knobs is not configured to freeze this
 * cgroup; -EPERM; other negative errno.
 */
int jetwatt_board_freezer(struct jetwatt_board *b, const char *cgroup,
			  struct jetwatt_error_text *err);

/* Thaw all cgroups that this process, or a process that has ended, has recorded on disk, and
 * delete the record. Cgroups that another live process has recorded are left alone, unless the
 * record is damaged: its cgroups are thawed as far as they can be read. If jetwatt-knobs holds the
 * freezers, the function does nothing, because jetwatt-knobs thaws the cgroups when this process
 * disconnects. Return: 0; negative errno: the record stays. */
int jetwatt_board_thaw_all(struct jetwatt_board *b);

/* Return: the @i-th cgroup, from 0, whose freezer this process has opened and recorded; NULL: no
 * more, or jetwatt-knobs holds the freezers. The string is valid until the next call that opens or
 * thaws a freezer. */
const char *jetwatt_board_frozen(const struct jetwatt_board *b, int i);

/* Thaw the jobs of one cgroup. @keep: 1: keep the record of the cgroup on disk, because the cgroup
 * may be frozen again. Return: 0, also if the thaw fails; negative errno: the record stays. */
int jetwatt_board_thaw_cgroup(struct jetwatt_board *b, const char *cgroup, int keep);

/* Check whether a saved state of this boot exists. Return: 1 if it exists or its file is damaged,
 * with *@owner set to the PID of the process that holds the lease (0: none, or this user may not
 * open the file of the lease); 0 if it does not exist; negative errno. */
int jetwatt_board_saved_owner(struct jetwatt_board *b, int *owner);

/**
 * struct jetwatt_board_sensors - conversion settings of the power sensors
 * @averages: number of conversions that one reading averages (1, 4, 16, 64, 128, 256, 512, 1024);
 *	0: unchanged
 * @refresh_ms: time in which a chip converts all its channels once, in ms; the driver rounds
 *	it to the nearest time that the chip supports; -1: unchanged
 * @bus_khz: clock of the sensors' I2C bus, 100 or 400 kHz; 0: unchanged
 */
struct jetwatt_board_sensors {
	unsigned int averages, bus_khz;
	int refresh_ms;
};

/**
 * jetwatt_board_sensors_set() - change the conversion settings
 *
 * The function writes attributes of the hwmon driver and of the I2C adapter. The previous settings
 * are written to @state/sensors first. jetwatt_board_sensors_reset() and jetwatt_board_close()
 * restore them. If this process ends without calling either, a guardian process, which is forked
 * here, restores the settings.
 *
 * Return: 0; -EBUSY: another process, or an earlier call of this function, has changed the sensors,
 * and they are not restored yet; -EOPNOTSUPP: the kernel lacks the attribute for a setting;
 * -EINVAL: the chips do not take this value; -EPERM; -EIO; other negative errno. On failure the
 * previous settings are restored.
 */
int jetwatt_board_sensors_set(struct jetwatt_board *b, const struct jetwatt_board_sensors *want,
			      struct jetwatt_error_text *err);

/* Restore the settings from before jetwatt_board_sensors_set(), and end the guardian process.
 * Return: 0, also if nothing was changed; -EIO: a setting could not be restored; other negative
 * errno. */
int jetwatt_board_sensors_reset(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Restore the settings that an ended process and its guardian have left unrestored. Return: 0;
 * -ENOENT: nothing is saved in this boot; -EBUSY: that process or its guardian still runs;
 * -EBADMSG: the saved settings are damaged; -EPERM; -EIO. */
int jetwatt_board_sensors_restore(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* Convert a mode to and from text, "c8-1728000-g624750000-e3199000000": the tag and the value of
 * each row of JETWATT_KNOB_ROWS(), where optional knobs with the value 0 are left out. The
 * parser also accepts "MAXN", if @b is not NULL: the highest level of each knob that is required
 * or was included by jetwatt_board_grid_include(). The parser does not check that the board has
 * the mode: jetwatt_board_check_mode() does. Return: 0; -EINVAL: the text has another form, or a
 * value is 0 or too large; -ENOSPC: @buf is too short. */
int jetwatt_board_mode_format(const struct jetwatt_mode *m, char *buf, size_t len);
int jetwatt_board_mode_parse(const struct jetwatt_board *b, const char *s, struct jetwatt_mode *m);

#endif
