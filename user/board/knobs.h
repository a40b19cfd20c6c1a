/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The board room's inside. A state is the value of every knob; a switch goes
 * from the state that is to another one.
 */
#ifndef JETWATT_BOARD_KNOBS_H
#define JETWATT_BOARD_KNOBS_H

#include "board/board.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define CPUS_MAX	128
#define POLICIES_MAX	32
#define COOLINGS_MAX	64
#define LEVELS_MAX	CPUS_MAX
#define PATH_LEN	512
#define NAME_LEN	96

/* How long a knob may take until it reads back what was written. EMC takes
 * about 8 ms on an Orin (Kang, arXiv 2606.16106), devfreq polls at up to 50 ms; cpufreq
 * shows a limit after a work item that has to find time on a busy board. */
#define SETTLE_MS	400

/* Places where a kernel may have a cap of one clock. */
#define CAPS_MAX	4

struct jetwatt_range {
	bool known;		/* false: the policy has no CPU online, or the knob is missing */
	uint64_t min, max;
};

struct jetwatt_cap {
	bool known;		/* false: the knob is missing, or the mode leaves it as it is */
	uint64_t hz;
};

/**
 * struct jetwatt_board_state - every knob's value, as its file says it
 * @online: by index in jetwatt_board::cpu; @named: by the saved state
 * @policy: by index in jetwatt_board::policy
 * @fresh: for policies that come into being during the switch
 * @range: of a knob that is a devfreq device
 * @cap: of a knob that is a list of caps, by index in jetwatt_board::cap; as in the file: an
 *	uncapped one may hold jetwatt_knob_cap::uncapped
 */
struct jetwatt_board_state {
	bool online[CPUS_MAX], named[CPUS_MAX];
	struct jetwatt_range policy[POLICIES_MAX];
	struct jetwatt_range fresh, range[JETWATT_KNOBS];
	struct jetwatt_cap cap[JETWATT_KNOBS][CAPS_MAX];
};

struct jetwatt_node;

/* One board of the table; the levels are for where sysfs does not tell. */
struct jetwatt_board_kind {
	const char *compatible;		/* part of an entry of /proc/device-tree/compatible */
	const char *name;
	const char *scope;		/* of the total if all its rails are there */
	const struct jetwatt_node *rails;	/* kmod/sensors/board_rails.h */
	const uint64_t *levels[JETWATT_KNOBS];	/* 0-terminated, or NULL */
};

struct jetwatt_cpu {
	unsigned int id;
	int policy;		/* index, -1: not known */
	bool fixed;		/* has no switch, or is CPU 0 */
};

/**
 * struct jetwatt_knob_cap - a cap of a clock, in Hz
 * @path: its file, below the board's sys root
 * @uncapped: what writing means "no cap"
 */
struct jetwatt_knob_cap {
	char path[NAME_LEN];
	uint64_t uncapped;
};

struct jetwatt_board {
	char sys[PATH_LEN / 2], proc[PATH_LEN / 2], state[PATH_LEN / 2], etc[PATH_LEN / 2];
	jetwatt_board_write_fn write;
	void *arg;
	const struct jetwatt_board_kind *kind;
	char name[NAME_LEN];

	struct jetwatt_cpu cpu[CPUS_MAX];	/* in the order in which cores are kept */
	int cpus, fixed;
	unsigned int policy[POLICIES_MAX];
	int policies;
	bool tegra;				/* the device tree is that of a Tegra */
	char device[JETWATT_KNOBS][NAME_LEN];	/* the devfreq device's name */
	struct jetwatt_knob_cap cap[JETWATT_KNOBS][CAPS_MAX];	/* all are set */
	int nr_caps[JETWATT_KNOBS];
	bool emc_rate;				/* bpmp's rate of the memory clock obeys them */
	struct jetwatt_error_text lack[JETWATT_KNOBS];	/* what is empty: not missing */
	unsigned int cooling[COOLINGS_MAX];	/* devices that may limit CPU or devfreq clocks */
	int coolings;

	uint64_t level[JETWATT_KNOBS][LEVELS_MAX];	/* ascending */
	int nr_levels[JETWATT_KNOBS];
	bool in_grid[JETWATT_KNOBS];		/* of an optional knob: modes differ in it */

	int lease;				/* -1: not ours */
	int guardian, keeper;			/* of the sensors' settings; of the knobs; -1: none */
	bool by_remote;				/* remote.h */
	int remote;				/* -1: not, or no longer, connected */
	char held[JETWATT_BOARD_HELD][JETWATT_BOARD_CGROUP];	/* freezer.c: on disk */
	int nr_held;
	pid_t self;				/* who has opened it, for its guardian too */
	bool have_saved;			/* @saved is what the file holds, of this boot */
	struct jetwatt_board_state saved;
};

/* identity.c */
void jetwatt_identity_find(struct jetwatt_board *b);

/* error.c: fills @err (may be NULL) and returns @rc */
int jetwatt_board_error_set(struct jetwatt_error_text *err, int rc, const char *what, ...)
	__attribute__((format(printf, 3, 4)));
void jetwatt_error_why(struct jetwatt_error_text *err, const char *why, ...)
	__attribute__((format(printf, 2, 3)));
void jetwatt_error_fix(struct jetwatt_error_text *err, const char *fix, ...)
	__attribute__((format(printf, 2, 3)));
/* ... for a system call that failed with errno -@rc; EACCES becomes EPERM */
int jetwatt_error_sys(struct jetwatt_error_text *err, int rc, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* sysfs.c: paths are below the board's sys root */
int jetwatt_sysfs_text(const struct jetwatt_board *b, const char *path, char *buf, size_t len);
int jetwatt_sysfs_u64(const struct jetwatt_board *b, const char *path, uint64_t *v);
int jetwatt_sysfs_list(const struct jetwatt_board *b, const char *path, uint64_t *v, int max);
int jetwatt_sysfs_write(const struct jetwatt_board *b, const char *path, uint64_t v);
bool jetwatt_sysfs_exists(const struct jetwatt_board *b, const char *path);
void jetwatt_sysfs_nap(void);

/**
 * struct jetwatt_switch - a switch under way
 * @before: where the caller rolls back to; gets the values of policies that
 *	had none before their CPUs came online; may be NULL
 * @go_on: a refused write is no reason not to try the others
 * @all: every clock is written, whatever it reads as: cpufreq takes a limit at once
 *	but shows it only after a work item has run, so one just written may still look
 *	as before; and one that heat has lowered does not show what it was told
 * @range_done, @policy_done: written already
 * @rc: of the first write that was refused
 */
struct jetwatt_switch {
	struct jetwatt_board *b;
	const struct jetwatt_board_state *target;
	struct jetwatt_board_state now, *before;
	struct jetwatt_error_text *err;
	bool go_on, all, range_done[JETWATT_KNOBS], policy_done[POLICIES_MAX];
	int rc;
};

/*
 * The steps of a switch, in their order: first all that lowers power, then all that raises it, so
 * that on the way the board never draws more than at one of the two ends. The memory goes down
 * after the engines that use it and up before them, or they would run into a wall of memory.
 */
enum jetwatt_switch_step {
	JETWATT_LOWER_ENGINES, JETWATT_LOWER_CPU, JETWATT_LOWER_MEMORY, JETWATT_LOWER_CORES,
	JETWATT_RAISE_CORES, JETWATT_RAISE_MEMORY, JETWATT_RAISE_ENGINES, JETWATT_RAISE_CPU,
	JETWATT_SWITCH_STEPS
};

struct jetwatt_preset_line;

/**
 * struct jetwatt_knob_ops - what a knob is made of; all but @bind and @loaded are there
 * @lower_at, @raise_at: the steps of a switch in which @lower and @raise are called
 * @discover: find the files, fill jetwatt_board::level or ::lack. Return: 0, or why the board
 *	cannot be opened
 * @read: the files to a state
 * @want: value @v of a mode to a state; an optional knob's 0 leaves it not known. Return: 0,
 *	-EINVAL
 * @current: the value of a mode that a state comes to
 * @lower, @raise: write what goes down, or up. Return: false: the switch ends here
 * @same: is @now as @want? Return: 0, -ESTALE: @err says how not
 * @bind: does the clock obey what is set? Return: 0, -ESTALE
 * @save: jetwatt_board::saved to lines of text
 * @load: a line to jetwatt_board::saved; *@mine: it was one of this knob's. Return: NULL, or what
 *	is wrong with it
 * @loaded: is all there? Return: NULL, or what is wrong
 * @preset: is the file @path, of a line of nvpmodel.conf, this knob's? Fills @l->kind and, of a
 *	core, @l->core. Needs no board
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
			    bool *mine);
	const char *(*loaded)(const struct jetwatt_board *b);
	bool (*preset)(const char *path, struct jetwatt_preset_line *l);
};

/* knob.c: the table; one file for each row */
const struct jetwatt_knob_ops *jetwatt_knob_ops(enum jetwatt_knob k);

/* levels.c: the levels of a knob. Each returns how many. */
int jetwatt_levels_table(const uint64_t *from, uint64_t *v);
int jetwatt_levels_devfreq(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			   uint64_t *v);
/* ... the knob is missing: @v is its only one */
void jetwatt_levels_none(struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v);
uint64_t jetwatt_levels_top(const struct jetwatt_board *b, enum jetwatt_knob k);
bool jetwatt_devfreq_find(const struct jetwatt_board *b, const char * const *parts, char *name);
bool jetwatt_path_holds(const char *path, const char * const *part);
bool jetwatt_path_ends(const char *path, const char *end);

/* switch.c: each returns true if the switch goes on */
bool jetwatt_switch_put(struct jetwatt_switch *p, const char *path, uint64_t v);
bool jetwatt_switch_range(struct jetwatt_switch *p, const char *min_path, const char *max_path,
			  const struct jetwatt_range *now, const struct jetwatt_range *want);

/* check.c: each returns 0 or -ESTALE */
int jetwatt_check_differs(struct jetwatt_error_text *err, const char *knob, uint64_t is,
			  uint64_t want);
int jetwatt_check_range(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *knob, const struct jetwatt_range *is,
			const struct jetwatt_range *want);
int jetwatt_check_above(const struct jetwatt_board *b, struct jetwatt_error_text *err,
			const char *path, const char *knob, uint64_t cap);

/* cap.c: a knob that is a list of caps; the functions are those of struct jetwatt_knob_ops */
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
			     bool *mine);
/* The lowest of all; UINT64_MAX: uncapped. */
uint64_t jetwatt_cap_lowest(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s);

/* cores.c */
bool jetwatt_cores_use(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
		       int policy);

/* cpu.c */
void jetwatt_cpu_policies(struct jetwatt_board *b);
/* Called by cores.c when CPUs have come online. Return: true if the switch goes on. */
bool jetwatt_cpu_woken(struct jetwatt_switch *p);

/* lack.c */
bool jetwatt_lack_not(const struct jetwatt_board *b, enum jetwatt_knob knob);

/* cooling.c */
void jetwatt_cooling_find(struct jetwatt_board *b);

/* state.c */
int jetwatt_state_read(struct jetwatt_board *b, struct jetwatt_board_state *s,
		       struct jetwatt_error_text *err);
int jetwatt_state_of_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
			  struct jetwatt_board_state *s);
int jetwatt_state_check(struct jetwatt_board *b, const struct jetwatt_board_state *s,
			struct jetwatt_error_text *err);

/* switch.c */
int jetwatt_switch_to(struct jetwatt_board *b, const struct jetwatt_board_state *target,
		      struct jetwatt_board_state *before, bool go_on,
		      struct jetwatt_error_text *err);

/* lease.c */
const char *jetwatt_lease_path(const struct jetwatt_board *b, const char *leaf, char *buf);
int jetwatt_lease_dir(const struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_lease_lock(struct jetwatt_board *b, const char *leaf, const char *taken,
		       struct jetwatt_error_text *err);
int jetwatt_lease_take(struct jetwatt_board *b, struct jetwatt_error_text *err);
void jetwatt_lease_release(struct jetwatt_board *b);

/* sealed.c: @leaf is a file in the state directory, @kind the first word in it */
#define JETWATT_SEALED_MAX	16384
void jetwatt_sealed_begin(const struct jetwatt_board *b, const char *kind, FILE *f);
int jetwatt_sealed_end(FILE *f, const char *buf);
int jetwatt_sealed_store(struct jetwatt_board *b, const char *leaf, const char *text, int len,
			 struct jetwatt_error_text *err);
ssize_t jetwatt_sealed_load(const struct jetwatt_board *b, const char *leaf, char *path,
			    char *text);
const char *jetwatt_sealed_intact(const char *kind, char *text, size_t len, char *boot);
bool jetwatt_sealed_now(const struct jetwatt_board *b, const char *boot);
int jetwatt_sealed_delete(struct jetwatt_board *b, const char *leaf,
			  struct jetwatt_error_text *err);

/* sensors.c */
int jetwatt_sensors_put_back(struct jetwatt_board *b, struct jetwatt_error_text *err);

/* guardian.c */
typedef int (*jetwatt_guardian_fn)(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_guardian_start(struct jetwatt_board *b, int lock, jetwatt_guardian_fn put_back, int *fd,
			   struct jetwatt_error_text *err);
void jetwatt_guardian_end(struct jetwatt_board *b);

/* saved.c */
bool jetwatt_saved_old(const struct jetwatt_board *b);
int jetwatt_saved_load(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_saved_store(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_saved_delete(struct jetwatt_board *b, struct jetwatt_error_text *err);

#endif
