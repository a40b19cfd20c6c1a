/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internal header of user/board/: the knobs, the states of all knobs, and the switch from one state
 * to another. Each knob is one file with a struct jetwatt_knob_ops; knob.c lists them.
 */
#ifndef JETWATT_BOARD_KNOBS_H
#define JETWATT_BOARD_KNOBS_H

#include "board/board.h"
#include "board/statefile.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define CPUS_MAX	128
#define POLICIES_MAX	32
#define COOLINGS_MAX	64
#define LEVELS_MAX	CPUS_MAX
#define PATH_LEN	512
#define NAME_LEN	96

/* Longest time, in ms, until a knob reads back what was written. The memory clock (EMC) takes
 * about 8 ms on an Orin (Kang, arXiv 2606.16106). devfreq polls every 50 ms or faster. cpufreq
 * shows a new limit only after a work item has run, which waits for a CPU on a busy board. */
#define SETTLE_MS	400

/* Maximum number of cap files of a knob: a kernel may have several for the memory clock. */
#define CAPS_MAX	4

struct jetwatt_knob_range {
	/* false: no clock range is known, because the policy has no CPU online, the knob is
	 * missing or unreadable, or the mode leaves the knob as it is */
	bool known;
	uint64_t min, max;
};

struct jetwatt_cap {
	/* false: @hz is not set, because the knob is missing or unreadable, or the mode leaves
	 * the knob as it is */
	bool known;
	uint64_t hz;
};

/**
 * struct jetwatt_board_state - the value of every knob, as its file shows it
 * @online: whether each CPU is online, by index in jetwatt_board::cpu
 * @named: whether the file of the saved state has a line for each CPU; only in jetwatt_board::saved
 * @policy: lowest and highest clock in kHz, by index in jetwatt_board::policy
 * @fresh: lowest and highest clock in kHz for cpufreq policies that appear during the switch
 * @range: lowest and highest clock in Hz of a knob that is a devfreq device
 * @cap: caps in Hz of a knob that is a list of caps, by index in jetwatt_board::cap, as the file
 *	shows them: jetwatt_knob_cap::uncapped means that there is no cap
 */
struct jetwatt_board_state {
	bool online[CPUS_MAX], named[CPUS_MAX];
	struct jetwatt_knob_range policy[POLICIES_MAX];
	struct jetwatt_knob_range fresh, range[JETWATT_KNOBS];
	struct jetwatt_cap cap[JETWATT_KNOBS][CAPS_MAX];
};

struct jetwatt_node;

/* A row of the table of boards (identity.c). */
struct jetwatt_board_kind {
	/* text that an entry of /proc/device-tree/compatible contains */
	const char *compatible;
	const char *name;
	const char *scope;		/* what the total covers if all its rails are measured */
	const struct jetwatt_node *rails;	/* kmod/sensors/board_rails.h */
	/* levels of each knob, used if sysfs lists none; ends with 0; NULL: unknown */
	const uint64_t *levels[JETWATT_KNOBS];
};

struct jetwatt_cpu {
	unsigned int id;
	/* index of the CPU's policy in jetwatt_board::policy, -1: not known */
	int policy;
	/* true: the CPU can't be switched off, because it has no file "online" or is CPU 0 */
	bool fixed;
};

/**
 * struct jetwatt_knob_cap - one file with a cap of a clock, in Hz
 * @path: path of the file below the board's sys root
 * @uncapped: value that means "no cap" in this file
 */
struct jetwatt_knob_cap {
	char path[NAME_LEN];
	uint64_t uncapped;
};

/**
 * struct jetwatt_board - an open board
 * @sys, @proc, @state, @etc, @write, @arg: as in struct jetwatt_board_roots
 * @files: files of jetwatt_sysfs_kept_u64(); NULL: none stays open
 * @kind: row of the table of boards; never NULL
 * @name: name of the board
 * @cpu, @cpus: all CPUs; a mode with n cores has the first n of this array online
 * @fixed: number of CPUs that can't be switched off
 * @policy, @policies: numbers of the cpufreq policies found so far
 * @tegra: true: the device tree names a Tegra chip or a board of the table of boards
 * @device: name of the devfreq device of each knob that devfreq.c implements, "": none
 * @cap, @nr_caps: cap files of each knob; a switch sets all of them
 * @emc_rate: true: the memory clock that bpmp reports obeys the caps, so it can be compared
 *	with them
 * @lack: why each knob is missing; an empty @what: the knob is not missing
 * @cooling, @coolings: numbers of the cooling devices that may limit a CPU or devfreq clock
 * @level, @nr_levels: levels of each knob, ascending
 * @in_grid: true: jetwatt_board_grid_include() has included the optional knob
 * @lease: descriptor of the lease, -1: this process does not hold it
 * @sensors_guardian, @knobs_guardian: sockets of the guardian processes, -1: none
 * @by_remote: true: jetwatt-knobs writes the knobs for this process
 * @remote: socket of jetwatt-knobs, -1: not connected, or the connection has ended
 * @freezer_cgroup, @nr_freezers: cgroups whose freezer was opened; recorded on disk
 * @cpusets: mount of the cpusets of cgroup version 1; NULL: not searched for yet (cpuset.c)
 * @opener: PID of the process that opened the board; a guardian process inherits it
 * @have_saved: true: @saved is what the file of the saved state holds, and the file is of this boot
 * @saved: the saved state
 * @have_applied: true: @applied is the state that this process has set last
 * @applied: state of the mode that was applied last
 */
struct jetwatt_board {
	char sys[PATH_LEN / 2], proc[PATH_LEN / 2], state[PATH_LEN / 2], etc[PATH_LEN / 2];
	jetwatt_board_write_fn write;
	void *arg;
	struct jetwatt_sysfs_files *files;
	const struct jetwatt_board_kind *kind;
	char name[NAME_LEN];

	struct jetwatt_cpu cpu[CPUS_MAX];
	int cpus, fixed;
	unsigned int policy[POLICIES_MAX];
	int policies;
	bool tegra;
	char device[JETWATT_KNOBS][NAME_LEN];
	struct jetwatt_knob_cap cap[JETWATT_KNOBS][CAPS_MAX];
	int nr_caps[JETWATT_KNOBS];
	bool emc_rate;
	struct jetwatt_error_text lack[JETWATT_KNOBS];
	unsigned int cooling[COOLINGS_MAX];
	int coolings;

	uint64_t level[JETWATT_KNOBS][LEVELS_MAX];
	int nr_levels[JETWATT_KNOBS];
	bool in_grid[JETWATT_KNOBS];

	int lease;
	int sensors_guardian, knobs_guardian;
	bool by_remote;
	int remote;
	char freezer_cgroup[JETWATT_BOARD_FREEZERS_MAX][JETWATT_BOARD_CGROUP_LEN];
	int nr_freezers;
	struct jetwatt_cpuset_mount *cpusets;
	pid_t opener;
	bool have_saved;
	struct jetwatt_board_state saved;
	bool have_applied;
	struct jetwatt_board_state applied;
};

/* identity.c: set @kind, @name and @tegra from the device tree */
void jetwatt_identity_find(struct jetwatt_board *b);

/* error.c: set the texts @what, @why and @fix of @err, which may be NULL.
 * jetwatt_board_error_set() also empties @why and @fix, and returns @rc. */
int jetwatt_board_error_set(struct jetwatt_error_text *err, int rc, const char *what, ...)
	__attribute__((format(printf, 3, 4)));
void jetwatt_error_why(struct jetwatt_error_text *err, const char *why, ...)
	__attribute__((format(printf, 2, 3)));
void jetwatt_error_fix(struct jetwatt_error_text *err, const char *fix, ...)
	__attribute__((format(printf, 2, 3)));
/* Set @what, and @why and @fix by the errno of a failed system call; @rc: the negative errno.
 * Return: @rc, -EPERM for -EACCES. */
int jetwatt_error_sys(struct jetwatt_error_text *err, int rc, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* sysfs.c: @path is below the board's sys root */
/* Read a file into @buf, without trailing white space. Return: length; negative errno. */
int jetwatt_sysfs_text(const struct jetwatt_board *b, const char *path, char *buf, size_t len);
/* Read one decimal number. Return: 0; -EINVAL: the file holds something else than a number;
 * negative errno. */
int jetwatt_sysfs_u64(const struct jetwatt_board *b, const char *path, uint64_t *v);
/* As jetwatt_sysfs_u64(), for a file that is read every few seconds: the file stays open. Call it only where
 * no other thread uses the board. */
int jetwatt_sysfs_kept_u64(const struct jetwatt_board *b, const char *path, uint64_t *v);
/* Allocate memory for the files that stay open. Return: NULL if memory is short; then none does. */
struct jetwatt_sysfs_files *jetwatt_sysfs_files_new(void);
void jetwatt_sysfs_files_free(struct jetwatt_sysfs_files *files);
/* Read all numbers of a file, ascending, without duplicates and zeros, up to @max of them.
 * Return: number of values read; negative errno. */
int jetwatt_sysfs_list(const struct jetwatt_board *b, const char *path, uint64_t *v, int max);
/* Write one number. Return: 0; negative errno. */
int jetwatt_sysfs_write(const struct jetwatt_board *b, const char *path, uint64_t v);
bool jetwatt_sysfs_exists(const struct jetwatt_board *b, const char *path);
/* Sleep 5 ms between two attempts to read a knob back or to take a lock. */
void jetwatt_sysfs_settle_wait(void);

/**
 * struct jetwatt_switch - a switch in progress
 * @b: the board
 * @target: state to reach
 * @now: state read at the start, updated with the clocks that were written
 * @before: state to which the caller rolls back after a failure; gets the values of cpufreq
 *	policies that had none before their CPUs came online; may be NULL
 * @err: gets the text of the first error
 * @best_effort: continue after a refused write or a knob that can't be read, and also write required
 *	clocks that do not differ
 * @all: write every CPU and GPU clock, even if it reads back as wanted already. Needed in two
 *	cases: cpufreq shows a new limit only after a work item has run, so the file may still show
 *	the old one; and a clock that is throttled does not show what was written
 * @range_done, @policy_done: true: written in this switch already
 * @rc: negative errno of the first refused write or other error
 */
struct jetwatt_switch {
	struct jetwatt_board *b;
	const struct jetwatt_board_state *target;
	struct jetwatt_board_state now, *before;
	struct jetwatt_error_text *err;
	bool best_effort, all, range_done[JETWATT_KNOBS], policy_done[POLICIES_MAX];
	int rc;
};

/*
 * The steps of a switch, in order. First come all steps that lower power, then all that raise it,
 * so that during the switch the board draws at most the power of the more powerful state. The
 * memory clock is lowered after the clocks of the engines that use memory, and raised before them,
 * so that memory never limits them during the switch.
 */
enum jetwatt_switch_step {
	JETWATT_LOWER_ENGINES, JETWATT_LOWER_CPU, JETWATT_LOWER_MEMORY, JETWATT_LOWER_CORES,
	JETWATT_RAISE_CORES, JETWATT_RAISE_MEMORY, JETWATT_RAISE_ENGINES, JETWATT_RAISE_CPU,
	JETWATT_SWITCH_STEPS
};

struct jetwatt_preset_line;

/**
 * struct jetwatt_knob_ops - operations of a knob; @bind and @loaded may be NULL
 * @lower_at, @raise_at: steps of a switch in which @lower and @raise are called
 * @discover: find the files; fill jetwatt_board::level, and jetwatt_board::lack if the board lacks
 *	the knob. Return: 0; negative errno if the board cannot be opened without the knob
 * @read: read the files into a state. Return: 0; negative errno
 * @want: convert the value @v of the knob in a mode to the wanted state; the value 0 of an
 *	optional knob leaves it unset.
 *	Return: 0; -EINVAL if the value is not possible on this board
 * @current: convert a state to the value of the knob in a mode. Return: the value
 * @lower, @raise: @lower writes the values that fall in this switch, or cannot be written later;
 *	@raise writes the rest. Return: false if the switch has to stop
 * @same: compare the knob in the state @now with the state @want. Return: 0; -ESTALE: @err
 *	names the difference
 * @bind: check that the clock that the knob caps obeys its cap. Return: 0; -ESTALE: it is higher
 * @save: write the knob's part of jetwatt_board::saved as lines of text
 * @load: parse one line into jetwatt_board::saved; *@matched: set to true if the line belongs to
 *	this knob, else to false. Return: NULL if the line is valid, else what is wrong with it
 * @loaded: check that the saved state has all lines of the knob. Return: NULL, or what is missing
 * @preset: check whether a parameter of nvpmodel.conf with this @path sets this knob; set @l->kind
 *	and, for a core, @l->core. Needs no board. Return: true: it does
 * @preset_highest: true: of several caps in a block of nvpmodel.conf, the highest is the knob's;
 *	false: the lowest
 */
struct jetwatt_knob_ops {
	enum jetwatt_switch_step lower_at, raise_at;
	int (*discover)(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err);
	int (*read)(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_board_state *s,
		    struct jetwatt_error_text *err);
	int (*want)(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		    struct jetwatt_board_state *s);
	uint64_t (*current)(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s);
	bool (*lower)(struct jetwatt_switch *p, enum jetwatt_knob k);
	bool (*raise)(struct jetwatt_switch *p, enum jetwatt_knob k);
	int (*same)(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		    struct jetwatt_error_text *err);
	int (*bind)(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, struct jetwatt_error_text *err);
	void (*save)(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f);
	const char *(*load)(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			    bool *matched);
	const char *(*loaded)(const struct jetwatt_board *b);
	bool (*preset)(const char *path, struct jetwatt_preset_line *l);
	bool preset_highest;
};

/* knob.c: return the table of functions of a knob */
const struct jetwatt_knob_ops *jetwatt_knob_ops(enum jetwatt_knob k);

/* levels.c: copy the levels @from, which end with 0, to @v. @from: NULL: none. Return: number of
 * levels. */
int jetwatt_levels_table(const uint64_t *from, uint64_t *v);
/* Set the only level, @v, of a missing knob. */
void jetwatt_levels_set_missing(struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v);
/* Return the highest level; 0 if the knob has no levels. */
uint64_t jetwatt_levels_top(const struct jetwatt_board *b, enum jetwatt_knob k);
/* Check whether a path contains one of @part, which ends with NULL; the second function checks
 * whether a path ends with @end. */
bool jetwatt_path_contains(const char *path, const char * const *part);
bool jetwatt_path_ends(const char *path, const char *end);

/* switch.c: the first function writes one value, the second one a lowest and a highest clock.
 * Return: true if the switch is to go on. */
bool jetwatt_switch_write(struct jetwatt_switch *p, const char *path, uint64_t v);
bool jetwatt_switch_range(struct jetwatt_switch *p, const char *min_path, const char *max_path,
			  const struct jetwatt_knob_range *now,
			  const struct jetwatt_knob_range *want);

/* check.c: @knob: name of the knob for the message. Return: 0; -ESTALE, with the message in @err.
 * jetwatt_check_differs() always returns -ESTALE. jetwatt_check_range() compares two clock ranges,
 * and accepts a range that thermal throttling has lowered; jetwatt_check_throttled() checks for that.
 * jetwatt_check_above() checks that the clock in the file @path, if it can be read, is at most 2 %
 * above @cap. */
int jetwatt_check_differs(struct jetwatt_error_text *err, const char *knob, uint64_t is,
			  uint64_t want);
int jetwatt_check_range(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *knob, const struct jetwatt_knob_range *is,
			const struct jetwatt_knob_range *want);
bool jetwatt_check_throttled(const struct jetwatt_board *b, const struct jetwatt_knob_range *is,
			     const struct jetwatt_knob_range *want);
int jetwatt_check_above(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *path, const char *knob, uint64_t cap);

/* cap.c: functions for a knob that is a list of caps. jetwatt_cap_add() adds a cap to the list.
 * Return: true if the cap was added; false if its file does not exist, its path is too long, or the
 * list is full. The other functions implement members of struct jetwatt_knob_ops. */
bool jetwatt_cap_add(struct jetwatt_board *b, enum jetwatt_knob k, const char *path,
		     uint64_t uncapped);
int jetwatt_cap_read(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_board_state *s,
		     struct jetwatt_error_text *err);
int jetwatt_cap_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		     struct jetwatt_board_state *s);
uint64_t jetwatt_cap_current(const struct jetwatt_board *b, enum jetwatt_knob k,
			     const struct jetwatt_board_state *s);
bool jetwatt_cap_lower(struct jetwatt_switch *p, enum jetwatt_knob k);
bool jetwatt_cap_raise(struct jetwatt_switch *p, enum jetwatt_knob k);
int jetwatt_cap_same(const struct jetwatt_board *b, enum jetwatt_knob k,
		     const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		     struct jetwatt_error_text *err);
void jetwatt_cap_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f);
const char *jetwatt_cap_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			     bool *matched);
/* Return the lowest cap, in Hz; UINT64_MAX: no cap is set. */
uint64_t jetwatt_cap_lowest(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s);

/* devfreq.c: functions for a knob that is the clock range of a devfreq device, as gpu.c. The first
 * function finds the first device, by name, whose name contains one of @parts; @name: room for
 * NAME_LEN. Return: true: found. */
bool jetwatt_devfreq_find(const struct jetwatt_board *b, const char * const *parts, char *name);
/* Return the number of levels written to @v; @known: levels for a device that lists none. */
int jetwatt_devfreq_levels(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			   uint64_t *v);
/* The functions below implement members of struct jetwatt_knob_ops. @parts: parts of the device's
 * name, or of the path in nvpmodel.conf; @fix: what to do if the board has no such device. */
int jetwatt_devfreq_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			     const char * const *parts, const char *fix);
int jetwatt_devfreq_read(struct jetwatt_board *b, enum jetwatt_knob k,
			 struct jetwatt_board_state *s, struct jetwatt_error_text *err);
int jetwatt_devfreq_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
			 struct jetwatt_board_state *s);
uint64_t jetwatt_devfreq_current(const struct jetwatt_board *b, enum jetwatt_knob k,
				 const struct jetwatt_board_state *s);
bool jetwatt_devfreq_lower(struct jetwatt_switch *p, enum jetwatt_knob k);
bool jetwatt_devfreq_raise(struct jetwatt_switch *p, enum jetwatt_knob k);
int jetwatt_devfreq_same(const struct jetwatt_board *b, enum jetwatt_knob k,
			 const struct jetwatt_board_state *now,
			 const struct jetwatt_board_state *want, struct jetwatt_error_text *err);
int jetwatt_devfreq_bind(const struct jetwatt_board *b, enum jetwatt_knob k,
			 const struct jetwatt_board_state *now, struct jetwatt_error_text *err);
void jetwatt_devfreq_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f);
const char *jetwatt_devfreq_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
				 bool *matched);
bool jetwatt_devfreq_preset(const char *path, const char * const *parts,
			    struct jetwatt_preset_line *l);

/* cpu.c: check whether a state has a CPU of a policy online; @policy: index in
 * jetwatt_board::policy, also in the next function */
bool jetwatt_cpu_policy_used(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
		       int policy);
/* Check whether a state has a CPU of the policy online, but the policy has no files, because
 * its driver failed when the CPU came online */
bool jetwatt_cpu_policy_lost(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			     int policy);

/* Find cpufreq policies that have appeared */
void jetwatt_cpu_policies(struct jetwatt_board *b);
/* After cores.c has brought CPUs online, save the clocks of policies that have appeared, and lower
 * the clocks that are above the target. Return: true if the switch is to go on. */
bool jetwatt_cpu_cores_online(struct jetwatt_switch *p);

/* cpuset.c: without cpusets of cgroup version 1, these functions do nothing. Record the CPUs of all
 * cpusets before CPUs go offline. @online, @after: CPUs that are online now, and those that will be
 * online afterwards, by index in jetwatt_board::cpu */
void jetwatt_cpuset_save(struct jetwatt_board *b, const bool *online, const bool *after);
/* Give the cpusets back the recorded CPUs that are online. A cpuset that another process has changed
 * is left alone. @stayed: CPUs that have not gone offline in this switch; NULL: no switch */
void jetwatt_cpuset_restore(struct jetwatt_board *b, const bool *stayed);
void jetwatt_cpuset_free(struct jetwatt_board *b);

/* missing.c: check that the board has the knob */
bool jetwatt_lack_not(const struct jetwatt_board *b, enum jetwatt_knob knob);

/* cooling.c: list the cooling devices that may limit a clock */
void jetwatt_cooling_find(struct jetwatt_board *b);

/* state.c: read the state of all knobs; after an error the state has the knobs that could be read, and
 * the other clocks are not known; convert a mode to a state (-EINVAL: not of this board).
 * check.c: wait SETTLE_MS at most until the knobs have their values in @s and the clocks obey their
 * caps. Return: 0; -ESTALE; negative errno. */
int jetwatt_state_read(struct jetwatt_board *b, struct jetwatt_board_state *s,
		       struct jetwatt_error_text *err);
int jetwatt_state_of_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
			  struct jetwatt_board_state *s);
int jetwatt_state_check(struct jetwatt_board *b, const struct jetwatt_board_state *s,
			struct jetwatt_error_text *err);

/* switch.c: write all knobs that differ from @target, and others that switch.c names, without
 * reading them back */
int jetwatt_switch_to(struct jetwatt_board *b, const struct jetwatt_board_state *target,
		      struct jetwatt_board_state *before, bool best_effort,
		      struct jetwatt_error_text *err);

/* lease.c: lock the file @leaf of the state directory; @taken: text for @err if another process
 * holds the lock. Return: descriptor; -EBUSY; -EPERM; other negative errno. */
int jetwatt_lease_lock(struct jetwatt_board *b, const char *leaf, const char *taken,
		       struct jetwatt_error_text *err);
/* The first function takes the lease on the knobs, the second one releases it. Return: 0, also
 * if this process holds the lease already; -EBUSY; other negative errno. */
int jetwatt_lease_take(struct jetwatt_board *b, struct jetwatt_error_text *err);
void jetwatt_lease_release(struct jetwatt_board *b);

/* sensors.c: write the saved settings back to the sensors, and delete the file with the settings
 * if the sensors then have all of them. Return: 0; -ENOENT: nothing is saved; negative errno. */
int jetwatt_sensors_restore_saved(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* guardian.c: start a guardian process, which calls @put_back when this process ends or calls
 * jetwatt_guardian_finish(). Return: 0; negative errno. */
typedef int (*jetwatt_guardian_fn)(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_guardian_start(struct jetwatt_board *b, int lock, jetwatt_guardian_fn put_back, int *fd,
			   struct jetwatt_error_text *err);
/* Ask the guardian with the socket *@fd to restore the state, wait until the guardian has restored
 * it, and set *@fd to -1.
 * Return: result of the guardian's function; -EPIPE: the guardian ended without a result. */
int jetwatt_guardian_finish(int *fd);
/* Make the guardian of the knobs, if there is one, thaw the jobs and restore the knobs. */
void jetwatt_guardian_end(struct jetwatt_board *b);

#endif
