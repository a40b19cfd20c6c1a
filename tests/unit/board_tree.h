/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated board: plain files in a temporary directory. tree_write() makes the files behave like
 * the board's sysfs. */
#ifndef JETWATT_TESTS_BOARD_TREE_H
#define JETWATT_TESTS_BOARD_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/board.h"

#define CPU	"sys/devices/system/cpu/"
#define GPU	"sys/class/devfreq/17000000.gpu/"
#define EMC6	"sys/kernel/nvpmodel_clk_cap/emc"
#define EMC5	"sys/kernel/nvpmodel_emc_cap/emc_iso_cap"
#define TREE_LOG	512	/* number of writes in the log */
#define TREE_DIE	(-1)	/* value of @fail: the process ends at the write */
#define BPMP	"sys/kernel/debug/bpmp/debug/"

/*
 * struct tree - the simulated board and the faults of its knobs
 * @fail: error of a refused write, positive; TREE_DIE: the process ends at the write
 * @fail_at, @fail_for: write number fail_at (from 1) and the fail_for - 1 after it fail with @fail
 * @sticks: path, below @root, to which all writes fail with @fail
 * @lie_at: number of a write that succeeds without effect
 * @lied: true: write number @lie_at has happened, so the order of writes is not checked any more
 * @lazy: cpufreq accepts a limit but shows it only at tree_flush(), as its work item may run late
 * @writes: number of writes so far
 * @log: path, below sys/, and value of the last TREE_LOG writes
 * @bad: description of the first write that broke a rule about the order of writes; "": none
 */
struct tree {
	char root[PATH_MAX / 4], sys[PATH_MAX / 2], proc[PATH_MAX / 2], state[PATH_MAX / 2];
	int fail_at, fail_for, fail, lie_at, writes;
	const char *sticks;
	bool lied, lazy;
	char pending[32][2][PATH_MAX / 2];
	int nr_pending;
	char log[TREE_LOG][96];
	char bad[256];
};

static __attribute__((format(printf, 3, 4)))
void tree_put(const struct tree *t, const char *path, const char *fmt, ...)
{
	char name[PATH_MAX];
	va_list ap;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	for (char *p = name + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(name, 0755);
			*p = '/';
		}
	f = fopen(name, "w");
	if (!f)
		abort();
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

static long long tree_get(const struct tree *t, const char *fmt, ...)
{
	char path[256], name[PATH_MAX], text[64] = "";
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	snprintf(name, sizeof(name), "%s/%s", t->root, path);
	f = fopen(name, "r");
	if (!f)
		return -1;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return atoll(text);
}

static int tree_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

/* Create a directory with only the boot id. */
static inline void tree_empty(struct tree *t)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->root, sizeof(t->root), "%s/jetwatt.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(t->root))
		abort();
	snprintf(t->sys, sizeof(t->sys), "%s/sys", t->root);
	snprintf(t->proc, sizeof(t->proc), "%s/proc", t->root);
	snprintf(t->state, sizeof(t->state), "%s/var/lib/jetwatt", t->root);
	tree_put(t, "proc/sys/kernel/random/boot_id", "6f0d2c1e-0000-4000-8000-000000000001\n");
}

/* Create the files of an AGX Orin, which has three clusters of four CPUs. */
static inline void tree_orin(struct tree *t)
{
	static const char compatible[] = "nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0"
					 "nvidia,tegra234";
	char name[PATH_MAX];
	FILE *f;

	tree_empty(t);
	tree_put(t, "proc/device-tree/model", "Jetson AGX Orin Developer Kit");
	snprintf(name, sizeof(name), "%s/proc/device-tree/compatible", t->root);
	f = fopen(name, "w");
	if (!f || fwrite(compatible, sizeof(compatible), 1, f) != 1)
		abort();
	fclose(f);
	for (int c = 0; c < 12; c++) {
		snprintf(name, sizeof(name), CPU "cpu%d/online", c);
		tree_put(t, name, "1\n");
	}
	for (int p = 0; p < 12; p += 4) {
		snprintf(name, sizeof(name), CPU "cpufreq/policy%d/related_cpus", p);
		tree_put(t, name, "%d %d %d %d\n", p, p + 1, p + 2, p + 3);
		snprintf(name, sizeof(name), CPU "cpufreq/policy%d/scaling_min_freq", p);
		tree_put(t, name, "729600\n");
		snprintf(name, sizeof(name), CPU "cpufreq/policy%d/scaling_max_freq", p);
		tree_put(t, name, "2201600\n");
		snprintf(name, sizeof(name), CPU "cpufreq/policy%d/scaling_available_frequencies", p);
		tree_put(t, name, "115200 422400 729600 1113600 1497600 1728000 2201600 \n");
	}
	tree_put(t, GPU "available_frequencies", "114750000 420750000 624750000 1300500000\n");
	tree_put(t, GPU "min_freq", "114750000\n");
	tree_put(t, GPU "max_freq", "1300500000\n");
	/* If no cap is set, the cap's file reads as clk_round_rate() of S64_MAX: see clk_cap_show()
	 * in OE4T/linux-nv-oot, tag jetson_36.4.3, drivers/nvpmodel/nvpmodel-clk-cap.c. */
	tree_put(t, EMC6, "3199000000\n");
	tree_put(t, BPMP "emc/possible_rates", "204000 665600 2133000 3199000 \n");
	tree_put(t, BPMP "clk/emc/rate", "3199000000\n");
}

static void tree_free(struct tree *t)
{
	nftw(t->root, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static void tree_rule(struct tree *t, bool holds, const char *rule)
{
	if (!holds && !t->lied && !t->bad[0])
		snprintf(t->bad, sizeof(t->bad), "write %d (%s): %s", t->writes,
			 t->log[(t->writes - 1) % TREE_LOG], rule);
}

/* Return the index of the first logged write, from index @from on, whose log line contains @what; -1:
 * none. */
static inline int tree_find(const struct tree *t, const char *what, int from)
{
	int oldest = t->writes > TREE_LOG ? t->writes - TREE_LOG : 0;

	for (int i = from > oldest ? from : oldest; i < t->writes; i++)
		if (strstr(t->log[i % TREE_LOG], what))
			return i;
	return -1;
}

/* A cluster without an online CPU has no clock: its files are renamed, so that access fails. */
static void tree_cluster(struct tree *t, int policy)
{
	char here[PATH_MAX], away[PATH_MAX];
	bool on = false;

	for (int c = policy; c < policy + 4; c++)
		on |= tree_get(t, CPU "cpu%d/online", c) == 1;
	for (int i = 0; i < 2; i++) {
		const char *leaf = i ? "scaling_max_freq" : "scaling_min_freq";

		snprintf(here, sizeof(here), "%s/" CPU "cpufreq/policy%d/%s", t->root, policy, leaf);
		snprintf(away, sizeof(away), "%s/" CPU "cpufreq/policy%d/.%s", t->root, policy, leaf);
		if (on ? rename(away, here) : rename(here, away))
			errno = 0;
	}
}

/* Return the cap for a written value: clk_cap_store() in nvpmodel-clk-cap.c caps the clock at
 * clk_round_rate() of that value. */
static long long tree_round(long long v)
{
	static const long long step[] = { 204000000, 665600000, 2133000000 };
	long long to = 3199000000;

	for (int i = 2; i >= 0 && v < to; i--)
		to = step[i];
	return to;
}

/* Write a knob's file and simulate the effect on other files. */
static int tree_write(const char *path, const char *text, void *arg)
{
	struct tree *t = arg;
	const char *leaf = path + strlen(t->root) + 1;
	long long v = atoll(text);
	unsigned int id;
	int n = ++t->writes;
	FILE *f;

	snprintf(t->log[(n - 1) % TREE_LOG], sizeof(t->log[0]), "%s=%lld", leaf + 4, v);
	if (t->fail_at && n >= t->fail_at && n < t->fail_at + t->fail_for) {
		if (t->fail == TREE_DIE)
			_exit(2);
		return -t->fail;
	}
	if (t->sticks && !strcmp(leaf, t->sticks))
		return -t->fail;
	if (t->lie_at && n == t->lie_at) {
		t->lied = true;
		return 0;
	}
	f = fopen(path, "r+");
	if (!f)
		return -errno;
	fclose(f);
	if (t->lazy && strstr(leaf, "/scaling_")) {
		int i = 0;

		while (i < t->nr_pending && strcmp(t->pending[i][0], path))
			i++;
		t->nr_pending += i == t->nr_pending;
		strcpy(t->pending[i][0], path);
		strcpy(t->pending[i][1], text);
		return 0;
	}
	f = fopen(path, "w");
	if (!f)
		return -errno;
	fputs(text, f);
	fclose(f);

	if (sscanf(leaf, CPU "cpu%u/online", &id) == 1) {
		tree_rule(t, id != 0, "CPU 0 is never switched");
		tree_cluster(t, (int)id / 4 * 4);
	}
	for (int p = 0; p < 12; p += 4)
		tree_rule(t, tree_get(t, CPU "cpufreq/policy%d/scaling_min_freq", p) <=
			     tree_get(t, CPU "cpufreq/policy%d/scaling_max_freq", p),
			  "a policy's lowest clock is above its highest");
	tree_rule(t, tree_get(t, GPU "min_freq") <= tree_get(t, GPU "max_freq"),
		  "the GPU's lowest clock is above its highest");
	if (!strcmp(leaf, EMC6)) {
		v = tree_round(v);
		tree_put(t, EMC6, "%lld\n", v);
		tree_put(t, BPMP "clk/emc/rate", "%lld\n", v);
	}
	return 0;
}

static inline void tree_flush(struct tree *t)
{
	for (int i = 0; i < t->nr_pending; i++) {
		char *path = t->pending[i][0], *leaf = strstr(path, "/scaling_");

		/* The files of an offline CPU policy are renamed, see tree_cluster(). */
		if (access(path, F_OK)) {
			memmove(leaf + 2, leaf + 1, strlen(leaf));
			leaf[1] = '.';
		}
		tree_put(t, path + strlen(t->root) + 1, "%s", t->pending[i][1]);
	}
	t->nr_pending = 0;
}

static inline struct jetwatt_board_roots tree_roots(struct tree *t)
{
	return (struct jetwatt_board_roots){ .sys = t->sys, .proc = t->proc, .state = t->state,
					     .write = tree_write, .arg = t };
}

/* Write the values of all required knobs as one line to @buf. */
static inline void tree_state(const struct tree *t, char *buf, size_t len)
{
	size_t n = 0;

	for (int c = 0; c < 12; c++)
		n += (size_t)snprintf(buf + n, len - n, "%lld", tree_get(t, CPU "cpu%d/online", c));
	for (int p = 0; p < 12; p += 4)
		n += (size_t)snprintf(buf + n, len - n, " %lld-%lld",
				      tree_get(t, CPU "cpufreq/policy%d/scaling_min_freq", p),
				      tree_get(t, CPU "cpufreq/policy%d/scaling_max_freq", p));
	snprintf(buf + n, len - n, " gpu %lld-%lld emc %lld", tree_get(t, GPU "min_freq"),
		 tree_get(t, GPU "max_freq"), tree_get(t, EMC6));
}

static inline bool tree_saved(const struct tree *t)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/saved", t->state);
	return !access(name, F_OK);
}

#endif
