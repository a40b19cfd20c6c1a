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
#define PATH_LEN	512
#define NAME_LEN	96

/* How long a knob may take until it reads back what was written. EMC takes
 * about 8 ms on an Orin (Kang, arXiv 2606.16106), devfreq polls at up to 50 ms; cpufreq
 * shows a limit after a work item that has to find time on a busy board. */
#define SETTLE_MS	400

/* Places where a kernel may have a cap of the memory clock. */
#define EMC_CAPS	3

struct jetwatt_range {
	bool known;		/* false: the policy has no CPU online, or the knob is missing */
	uint64_t min, max;
};

struct jetwatt_cap {
	bool known;		/* false: the knob is missing */
	uint64_t hz;
};

/**
 * struct jetwatt_board_state - every knob's value, as its file says it
 * @online: by index in jetwatt_board::cpu
 * @policy: by index in jetwatt_board::policy
 * @fresh: for policies that come into being during the switch
 * @emc: by index in jetwatt_board::emc, as in the file: an uncapped one may hold
 *	jetwatt_emc_cap::uncapped
 */
struct jetwatt_board_state {
	bool online[CPUS_MAX];
	struct jetwatt_range policy[POLICIES_MAX];
	struct jetwatt_range fresh, gpu;
	struct jetwatt_cap emc[EMC_CAPS];
};

struct jetwatt_node;

/* One board of the table; the steps are for where sysfs does not tell. */
struct jetwatt_board_kind {
	const char *compatible;		/* part of an entry of /proc/device-tree/compatible */
	const char *name;
	const char *scope;		/* of the total if all its rails are there */
	const struct jetwatt_node *rails;	/* kmod/sensors/board_rails.h */
	const uint64_t *cpu_khz, *gpu_hz, *emc_hz;	/* 0-terminated, or NULL */
};

struct jetwatt_cpu {
	unsigned int id;
	int policy;		/* index, -1: not known */
	bool fixed;		/* has no switch, or is CPU 0 */
};

/**
 * struct jetwatt_emc_cap - a cap of the memory clock, in Hz
 * @path: its file, below the board's sys root
 * @uncapped: what writing means "no cap"
 */
struct jetwatt_emc_cap {
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
	char gpu[NAME_LEN];			/* the devfreq device's name */
	struct jetwatt_emc_cap emc[EMC_CAPS];	/* all are set */
	int nr_caps;
	bool emc_rate;				/* bpmp's rate of the memory clock obeys them */
	struct jetwatt_error_text lack[JETWATT_BOARD_KNOBS];	/* what is empty: not missing */
	unsigned int cooling[COOLINGS_MAX];	/* devices that may limit CPU or devfreq clocks */
	int coolings;

	uint32_t cores[CPUS_MAX], cpu_khz[JETWATT_BOARD_FREQS_MAX];
	uint64_t gpu_hz[JETWATT_BOARD_FREQS_MAX], emc_hz[JETWATT_BOARD_FREQS_MAX];
	int nr_cores, nr_cpu, nr_gpu, nr_emc;

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

/* steps.c: each returns how many, or for the CPU 0 or -ENODEV */
#define JETWATT_EMC_STEPS	"kernel/debug/bpmp/debug/emc/possible_rates"
int jetwatt_steps_cpu(struct jetwatt_board *b, struct jetwatt_error_text *err);
int jetwatt_steps_devfreq(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			  uint64_t *v);
int jetwatt_steps_emc(struct jetwatt_board *b, const char *device);

/* lack.c */
bool jetwatt_lack_not(const struct jetwatt_board *b, enum jetwatt_board_knob knob);

/* cooling.c */
void jetwatt_cooling_find(struct jetwatt_board *b);

/* state.c */
void jetwatt_state_policies(struct jetwatt_board *b);
int jetwatt_state_read(struct jetwatt_board *b, struct jetwatt_board_state *s,
		       struct jetwatt_error_text *err);
int jetwatt_state_of_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
			  struct jetwatt_board_state *s);
int jetwatt_state_check(struct jetwatt_board *b, const struct jetwatt_board_state *s,
			struct jetwatt_error_text *err);
bool jetwatt_state_uses(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			int policy);
/* A cap as a clock: an uncapped one is above all. */
uint64_t jetwatt_state_cap(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			   int cap);
/* The lowest of all caps. */
uint64_t jetwatt_state_emc(const struct jetwatt_board *b, const struct jetwatt_board_state *s);

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
