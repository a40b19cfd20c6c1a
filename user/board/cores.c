// SPDX-License-Identifier: GPL-2.0-only
/* The knob "cores": it controls which CPUs are online. */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "board/preset.h"

/* Order in which cores stay online as their number falls: first those that can't be switched off,
 * then one cpufreq policy (cluster) after the other, so that few cores use few clusters. */
static int cores_compare_order(const void *a, const void *b)
{
	const struct jetwatt_cpu *x = a, *y = b;

	if (x->fixed != y->fixed)
		return x->fixed ? -1 : 1;
	if (x->policy != y->policy)
		return x->policy < y->policy ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int cores_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			  struct jetwatt_error_text *err)
{
	char path[PATH_LEN];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/devices/system/cpu", b->sys);
	dir = opendir(path);
	if (!dir)
		return jetwatt_error_sys(err, -errno, "cannot list the CPUs in %s", path);
	while ((d = readdir(dir)) && b->cpus < CPUS_MAX) {
		struct jetwatt_cpu *cpu = &b->cpu[b->cpus];
		char tail;

		if (sscanf(d->d_name, "cpu%u%c", &cpu->id, &tail) != 1)
			continue;
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", cpu->id);
		/* CPU 0 may have the file "online", but can't be switched off (CORE_0 in
		 * nvpmodel.conf). */
		cpu->fixed = !cpu->id || !jetwatt_sysfs_exists(b, path);
		cpu->policy = -1;
		b->cpus++;
	}
	closedir(dir);

	if (!b->cpus)
		return jetwatt_error_sys(err, -ENOENT, "no CPU is listed in %s/devices/system/cpu",
					 b->sys);
	jetwatt_cpu_policies(b);
	qsort(b->cpu, (size_t)b->cpus, sizeof(b->cpu[0]), cores_compare_order);
	for (int i = 0; i < b->cpus; i++)
		b->fixed += b->cpu[i].fixed;
	for (int n = b->fixed ? b->fixed : 1; n <= b->cpus; n++)
		b->level[k][b->nr_levels[k]++] = (uint64_t)n;
	if (b->fixed == b->cpus) {
		err = &b->lack[k];
		jetwatt_board_error_set(err, -ENODEV, "no core can be switched off");
		jetwatt_error_why(err, "no CPU except the first has a file \"online\"");
		jetwatt_error_fix(err, "use a kernel with CONFIG_HOTPLUG_CPU");
	}
	return 0;
}

static int cores_read(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_board_state *s,
		      struct jetwatt_error_text *err)
{
	char path[PATH_LEN];
	uint64_t v;
	int rc;

	(void)k;
	for (int i = 0; i < b->cpus; i++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", b->cpu[i].id);
		rc = jetwatt_sysfs_kept_u64(b, path, &v);
		if (rc == -ENOENT && b->cpu[i].fixed)
			v = 1;
		else if (rc)
			return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
		s->online[i] = v != 0;
	}
	return 0;
}

static int cores_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		      struct jetwatt_board_state *s)
{
	(void)k;
	if ((int)v < b->fixed || (int)v > b->cpus || !v)
		return -EINVAL;
	for (int i = 0; i < b->cpus; i++)
		s->online[i] = i < (int)v;
	return 0;
}

static uint64_t cores_current(const struct jetwatt_board *b, enum jetwatt_knob k,
			      const struct jetwatt_board_state *s)
{
	uint64_t n = 0;

	(void)k;
	for (int i = 0; i < b->cpus; i++)
		n += s->online[i];
	return n;
}

static bool cores_write_online(struct jetwatt_switch *p, int cpu)
{
	char path[PATH_LEN];

	if (p->now.online[cpu] == p->target->online[cpu] || p->b->cpu[cpu].fixed)
		return true;
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", p->b->cpu[cpu].id);
	return jetwatt_switch_write(p, path, p->target->online[cpu]);
}

/* Check whether a CPU stays online in this switch. */
static bool cores_stays(const struct jetwatt_switch *p, int cpu)
{
	return p->now.online[cpu] && (p->target->online[cpu] || p->b->cpu[cpu].fixed);
}

static bool cores_lower(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	bool after[CPUS_MAX], fewer = false;

	(void)k;
	for (int i = 0; i < p->b->cpus; i++) {
		after[i] = cores_stays(p, i);
		fewer |= after[i] != p->now.online[i];
	}
	if (fewer)
		jetwatt_cpuset_save(p->b, p->now.online, after);
	for (int i = p->b->cpus - 1; i >= 0; i--)
		if (!p->target->online[i] && !cores_write_online(p, i))
			return false;
	return true;
}

/* Take the CPUs of each lost policy (jetwatt_cpu_policy_lost()) offline where possible, so that the
 * kernel creates the policy when they come online again. */
static void cores_renew_policies(struct jetwatt_switch *p)
{
	bool online[CPUS_MAX], after[CPUS_MAX], any = false;
	char path[PATH_LEN];

	for (int i = 0; i < p->b->cpus; i++) {
		const struct jetwatt_cpu *cpu = &p->b->cpu[i];
		bool renew = !cpu->fixed && cpu->policy >= 0 && p->now.online[i] &&
			     p->target->online[i] && p->target->policy[cpu->policy].known &&
			     jetwatt_cpu_policy_lost(p->b, &p->now, cpu->policy);

		online[i] = cores_stays(p, i);
		after[i] = online[i] && !renew;
		any |= renew;
	}
	if (any)
		jetwatt_cpuset_save(p->b, online, after);
	for (int i = 0; i < p->b->cpus; i++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", p->b->cpu[i].id);
		if (after[i] != online[i] && !jetwatt_sysfs_write(p->b, path, 0))
			p->now.online[i] = false;
	}
}

static bool cores_raise(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	bool stayed[CPUS_MAX], go_on;

	(void)k;
	if (p->best_effort)
		cores_renew_policies(p);
	for (int i = 0; i < p->b->cpus; i++)
		stayed[i] = cores_stays(p, i);
	for (int i = 0; i < p->b->cpus; i++)
		if (p->target->online[i] && !cores_write_online(p, i))
			return false;
	/* The clocks of the new policies come first: they may be above those of the mode. */
	go_on = jetwatt_cpu_cores_online(p);
	jetwatt_cpuset_restore(p->b, stayed);
	return go_on;
}

static int cores_same(const struct jetwatt_board *b, enum jetwatt_knob k,
		      const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		      struct jetwatt_error_text *err)
{
	char knob[48];

	(void)k;
	for (int i = 0; i < b->cpus; i++)
		if (now->online[i] != want->online[i]) {
			snprintf(knob, sizeof(knob), "cpu%u's online", b->cpu[i].id);
			return jetwatt_check_differs(err, knob, now->online[i], want->online[i]);
		}
	return 0;
}

static void cores_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f)
{
	(void)k;
	for (int i = 0; i < b->cpus; i++)
		fprintf(f, "cpu %u %d\n", b->cpu[i].id, b->saved.online[i]);
}

static const char *cores_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			      bool *matched)
{
	unsigned int id;
	uint64_t on;
	char tail;
	int i;

	(void)k;
	*matched = sscanf(line, "cpu %u %" SCNu64 "%c", &id, &on, &tail) == 2;
	if (!*matched)
		return NULL;
	for (i = 0; i < b->cpus && b->cpu[i].id != id; i++)
		;
	if (i == b->cpus || on > 1 || b->saved.named[i])
		return "the saved state has an unknown, repeated or invalid CPU";
	b->saved.online[i] = on;
	b->saved.named[i] = true;
	return NULL;
}

static const char *cores_loaded(const struct jetwatt_board *b)
{
	for (int i = 0; i < b->cpus; i++)
		if (!b->saved.named[i] || (b->cpu[i].fixed && !b->saved.online[i]))
			return "a CPU is missing from the saved state, or wrongly offline in it";
	return NULL;
}

static bool cores_preset(const char *path, struct jetwatt_preset_line *l)
{
	const char *cpu = strstr(path, "/cpu/cpu");

	l->kind = JETWATT_PRESET_CORE;
	return cpu && sscanf(cpu, "/cpu/cpu%u/online", &l->core) == 1 &&
	       jetwatt_path_ends(path, "/online");
}

const struct jetwatt_knob_ops jetwatt_knob_CORES = {
	.lower_at = JETWATT_LOWER_CORES,
	.raise_at = JETWATT_RAISE_CORES,
	.discover = cores_discover,
	.read = cores_read,
	.want = cores_want,
	.current = cores_current,
	.lower = cores_lower,
	.raise = cores_raise,
	.same = cores_same,
	.save = cores_save,
	.load = cores_load,
	.loaded = cores_loaded,
	.preset = cores_preset,
};
