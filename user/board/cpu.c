// SPDX-License-Identifier: GPL-2.0-only
/* The knob "cpu": the clock of all online cores, set through the cpufreq policies, in kHz. */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "board/preset.h"

static int cpu_compare_ids(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

static void cpu_policy_members(struct jetwatt_board *b, int policy)
{
	uint64_t v[CPUS_MAX];
	char path[PATH_LEN];
	int n;

	/* jetwatt_sysfs_list() drops zeros, so CPU 0 is found by the policy's number below. */
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/related_cpus",
		 b->policy[policy]);
	n = jetwatt_sysfs_list(b, path, v, CPUS_MAX);
	for (int i = 0; i < b->cpus; i++) {
		if (b->cpu[i].id == b->policy[policy])
			b->cpu[i].policy = policy;
		for (int j = 0; j < n; j++)
			if (b->cpu[i].id == v[j])
				b->cpu[i].policy = policy;
	}
}

bool jetwatt_cpu_policy_used(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
		       int policy)
{
	for (int i = 0; i < b->cpus; i++)
		if (b->cpu[i].policy == policy && s->online[i])
			return true;
	return false;
}

/**
 * jetwatt_cpu_policies() - find cpufreq policies that are not known yet, and the policy of each CPU
 *
 * A policy may appear when its first CPU comes online. Policies found by an earlier call keep their
 * index; those that this call finds follow, sorted by number.
 */
void jetwatt_cpu_policies(struct jetwatt_board *b)
{
	unsigned int found[POLICIES_MAX], id;
	char path[PATH_LEN], tail;
	struct dirent *d;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq", b->sys);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)) && n < POLICIES_MAX)
		if (sscanf(d->d_name, "policy%u%c", &id, &tail) == 1)
			found[n++] = id;
	closedir(dir);
	qsort(found, (size_t)n, sizeof(found[0]), cpu_compare_ids);
	for (int i = 0; i < n; i++) {
		int p = 0;

		while (p < b->policies && b->policy[p] != found[i])
			p++;
		if (p == b->policies && p < POLICIES_MAX)
			b->policy[b->policies++] = found[i];
	}
	for (int p = 0; p < b->policies; p++)
		cpu_policy_members(b, p);
	/* A policy without an online CPU does not list its CPUs, but has the number of the first
	 * of its CPUs. */
	for (int i = 0; i < b->cpus; i++)
		for (int p = 0; p < b->policies && b->cpu[i].policy < 0; p++) {
			bool nearest = b->policy[p] <= b->cpu[i].id;

			for (int q = 0; q < b->policies; q++)
				if (b->policy[q] <= b->cpu[i].id && b->policy[q] > b->policy[p])
					nearest = false;
			if (nearest)
				b->cpu[i].policy = p;
		}
}

static int cpu_policy_range(const struct jetwatt_board *b, int p, struct jetwatt_knob_range *r)
{
	char path[PATH_LEN];
	int rc;

	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_min_freq",
		 b->policy[p]);
	rc = jetwatt_sysfs_kept_u64(b, path, &r->min);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_max_freq",
		 b->policy[p]);
	return jetwatt_sysfs_kept_u64(b, path, &r->max);
}

/* Keep in the list @v only the clocks that are also in the list @with: a mode sets one clock for
 * all cores. */
static int cpu_common_levels(uint64_t *v, int n, const uint64_t *with, int m)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			if (v[i] == with[j]) {
				v[kept++] = v[i];
				break;
			}
	return kept;
}

/* Find the levels of the CPU clock: the clocks common to all policies with a list in sysfs, else
 * those in the table of boards, else a policy's lowest and highest clock. Return: 0; -ENODEV: not
 * known. */
static int cpu_levels(struct jetwatt_board *b, enum jetwatt_knob k, struct jetwatt_error_text *err)
{
	uint64_t v[JETWATT_BOARD_FREQS_MAX], w[JETWATT_BOARD_FREQS_MAX], lo = 0, hi = 0;
	char path[PATH_LEN];
	bool listed = false;
	int n = 0, m;

	for (int p = 0; p < b->policies; p++) {
		snprintf(path, sizeof(path),
			 "devices/system/cpu/cpufreq/policy%u/scaling_available_frequencies",
			 b->policy[p]);
		m = jetwatt_sysfs_list(b, path, w, JETWATT_BOARD_FREQS_MAX);
		if (m <= 0)
			continue;	/* no CPU online, or the driver lists no clocks */
		if (listed)
			n = cpu_common_levels(v, n, w, m);
		else
			memcpy(v, w, sizeof(*v) * (size_t)(n = m));
		listed = true;
	}
	if (!n)
		n = jetwatt_levels_table(b->kind->levels[k], v);
	for (int p = 0; p < b->policies && !n; p++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/cpuinfo_min_freq",
			 b->policy[p]);
		if (jetwatt_sysfs_u64(b, path, &lo))
			continue;
		snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/cpuinfo_max_freq",
			 b->policy[p]);
		if (jetwatt_sysfs_u64(b, path, &hi) || !lo || hi < lo)
			continue;
		v[n++] = lo;
		if (hi > lo)
			v[n++] = hi;
	}
	if (!n) {
		jetwatt_board_error_set(err, -ENODEV, "the levels of the CPU clock are not known");
		jetwatt_error_why(err, "no policy has scaling_available_frequencies or cpuinfo_min_freq");
		jetwatt_error_fix(err, "use the board's own cpufreq driver");
		return -ENODEV;
	}
	memcpy(b->level[k], v, sizeof(*v) * (size_t)n);
	b->nr_levels[k] = n;
	return 0;
}

static int cpu_discover(struct jetwatt_board *b, enum jetwatt_knob k,
			struct jetwatt_error_text *err)
{
	err = &b->lack[k];
	if (b->policies && !cpu_levels(b, k, err))
		return 0;
	if (!b->policies) {
		jetwatt_board_error_set(err, -ENODEV, "no CPU clock to control");
		jetwatt_error_why(err, "%s/devices/system/cpu/cpufreq has no policy", b->sys);
		jetwatt_error_fix(err, "load the board's cpufreq driver (tegra194-cpufreq on Xavier and Orin)");
	}
	jetwatt_levels_set_missing(b, k, JETWATT_BOARD_NO_CLOCK);
	return 0;
}

static int cpu_read(struct jetwatt_board *b, enum jetwatt_knob k,
		    struct jetwatt_board_state *s, struct jetwatt_error_text *err)
{
	int rc;

	jetwatt_cpu_policies(b);
	for (int p = 0; p < b->policies && jetwatt_lack_not(b, k); p++) {
		rc = cpu_policy_range(b, p, &s->policy[p]);
		s->policy[p].known = !rc;
		/* A policy without files although a CPU of it is online: the kernel removes a
		 * policy whose driver fails while the CPU comes online (cpufreq_online() in
		 * drivers/cpufreq/cpufreq.c). cpu_same() reports it. */
		if (rc && rc != -ENOENT && jetwatt_cpu_policy_used(b, s, p))
			return jetwatt_error_sys(err, rc, "cannot read the clock of CPU policy %u",
						 b->policy[p]);
		/* A policy without an online CPU is not in use and can't be written. The files
		 * of such a policy may still exist, so do not rely on them. */
		if (!jetwatt_cpu_policy_used(b, s, p))
			s->policy[p] = (struct jetwatt_knob_range){ 0 };
	}
	return 0;
}

static int cpu_want(const struct jetwatt_board *b, enum jetwatt_knob k, uint64_t v,
		    struct jetwatt_board_state *s)
{
	s->fresh = (struct jetwatt_knob_range){ jetwatt_lack_not(b, k), v, v };
	for (int p = 0; p < b->policies; p++)
		s->policy[p] = s->fresh;
	return 0;
}

static uint64_t cpu_current(const struct jetwatt_board *b, enum jetwatt_knob k,
			    const struct jetwatt_board_state *s)
{
	uint64_t khz = 0;

	if (!jetwatt_lack_not(b, k))
		return b->level[k][0];
	for (int p = 0; p < b->policies; p++)
		if (s->policy[p].known && s->policy[p].max > khz)
			khz = s->policy[p].max;
	return khz;
}

static const struct jetwatt_knob_range *cpu_wanted_range(const struct jetwatt_switch *p, int policy)
{
	const struct jetwatt_knob_range *r = &p->target->policy[policy];

	return r->known ? r : &p->target->fresh;
}

static bool cpu_write_policy(struct jetwatt_switch *p, int policy)
{
	const struct jetwatt_knob_range *want = cpu_wanted_range(p, policy);
	char min[PATH_LEN], max[PATH_LEN];
	bool on;

	if (!p->now.policy[policy].known || !want->known || p->policy_done[policy])
		return true;
	p->policy_done[policy] = true;
	snprintf(min, sizeof(min), "devices/system/cpu/cpufreq/policy%u/scaling_min_freq",
		 p->b->policy[policy]);
	snprintf(max, sizeof(max), "devices/system/cpu/cpufreq/policy%u/scaling_max_freq",
		 p->b->policy[policy]);
	on = jetwatt_switch_range(p, min, max, &p->now.policy[policy], want);
	p->now.policy[policy] = *want;
	return on;
}

static bool cpu_lower(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	(void)k;
	for (int i = 0; i < p->b->policies; i++) {
		/* Write a policy before its last CPU goes offline, because it can't be written
		 * after that. */
		bool last = !jetwatt_cpu_policy_used(p->b, p->target, i);

		if ((last || cpu_wanted_range(p, i)->max < p->now.policy[i].max) &&
		    !cpu_write_policy(p, i))
			return false;
	}
	return true;
}

/* A policy shows its values only once its first CPU is online. The values that it shows then are
 * those from before jetwatt changed the board, so add them to the saved state before writing over
 * them. */
static bool cpu_save_new_policies(struct jetwatt_switch *p)
{
	struct jetwatt_board *b = p->b;
	struct jetwatt_board_state is;
	bool learned = false;
	int rc;

	rc = jetwatt_state_read(b, &is, p->rc ? NULL : p->err);
	for (int i = 0; i < b->policies && (!rc || p->best_effort); i++) {
		if (p->now.policy[i].known || !is.policy[i].known)
			continue;
		p->now.policy[i] = is.policy[i];
		if (p->before && !p->before->policy[i].known)
			p->before->policy[i] = is.policy[i];
		if (b->have_saved && !b->saved.policy[i].known) {
			b->saved.policy[i] = is.policy[i];
			learned = true;
		}
	}
	if (rc && !p->rc)
		p->rc = rc;
	if (learned)
		rc = jetwatt_saved_store(b, p->rc ? NULL : p->err);
	if (rc && !p->rc)
		p->rc = rc;
	return !rc || p->best_effort;
}

bool jetwatt_cpu_cores_online(struct jetwatt_switch *p)
{
	if (!cpu_save_new_policies(p))
		return false;
	/* A policy whose first CPU has just come online may have a higher clock than is wanted. */
	for (int i = 0; i < p->b->policies; i++)
		if (cpu_wanted_range(p, i)->max < p->now.policy[i].max && !cpu_write_policy(p, i))
			return false;
	return true;
}

static bool cpu_raise(struct jetwatt_switch *p, enum jetwatt_knob k)
{
	(void)k;
	for (int i = 0; i < p->b->policies; i++)
		if (jetwatt_cpu_policy_used(p->b, p->target, i) && !cpu_write_policy(p, i))
			return false;
	return true;
}

bool jetwatt_cpu_policy_lost(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			     int policy)
{
	return jetwatt_lack_not(b, JETWATT_KNOB_CPU) && !s->policy[policy].known &&
	       jetwatt_cpu_policy_used(b, s, policy);
}

static int cpu_report_lost(struct jetwatt_error_text *err, const char *policy)
{
	jetwatt_board_error_set(err, -ESTALE, "%s has no limits, although its CPUs are online", policy);
	jetwatt_error_why(err, "the cpufreq driver failed when the first of these CPUs came online");
	jetwatt_error_fix(err, "write 0 and then 1 to the file online of each of these CPUs, in /sys/devices/system/cpu");
	return -ESTALE;
}

static int cpu_same(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, const struct jetwatt_board_state *want,
		    struct jetwatt_error_text *err)
{
	char knob[48];
	int rc = 0;

	(void)k;
	for (int p = 0; p < b->policies && !rc; p++) {
		const struct jetwatt_knob_range *r = want->policy[p].known ? &want->policy[p] :
									     &want->fresh;

		snprintf(knob, sizeof(knob), "CPU policy %u", b->policy[p]);
		if (jetwatt_cpu_policy_lost(b, now, p) && want->policy[p].known)
			return cpu_report_lost(err, knob);
		if (!now->policy[p].known || !r->known)
			continue;
		rc = jetwatt_check_range(b, err, knob, &now->policy[p], r);
	}
	return rc;
}

static int cpu_bind(const struct jetwatt_board *b, enum jetwatt_knob k,
		    const struct jetwatt_board_state *now, struct jetwatt_error_text *err)
{
	char path[PATH_LEN], knob[48];
	int rc = 0;

	(void)k;
	for (int p = 0; p < b->policies && !rc; p++) {
		if (!now->policy[p].known)
			continue;
		snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_cur_freq",
			 b->policy[p]);
		snprintf(knob, sizeof(knob), "CPU policy %u", b->policy[p]);
		rc = jetwatt_check_above(b, err, path, knob, now->policy[p].max);
	}
	return rc;
}

static void cpu_save(const struct jetwatt_board *b, enum jetwatt_knob k, FILE *f)
{
	const struct jetwatt_board_state *s = &b->saved;

	(void)k;
	for (int p = 0; p < b->policies; p++)
		if (s->policy[p].known)
			fprintf(f, "policy %u %" PRIu64 " %" PRIu64 "\n", b->policy[p],
				s->policy[p].min, s->policy[p].max);
}

static const char *cpu_load(struct jetwatt_board *b, enum jetwatt_knob k, const char *line,
			    bool *matched)
{
	struct jetwatt_board_state *s = &b->saved;
	uint64_t min, max;
	unsigned int id;
	char tail;
	int i;

	(void)k;
	*matched = sscanf(line, "policy %u %" SCNu64 " %" SCNu64 "%c", &id, &min, &max, &tail) == 3;
	if (!*matched)
		return NULL;
	for (i = 0; i < b->policies && b->policy[i] != id; i++)
		;
	/* The directory of the policy may be missing because its CPUs are offline. */
	if (i == b->policies && i < POLICIES_MAX)
		b->policy[b->policies++] = id;
	if (i == POLICIES_MAX || s->policy[i].known || min > max)
		return "the saved state has a CPU clock twice, or with its minimum above its maximum";
	s->policy[i] = (struct jetwatt_knob_range){ true, min, max };
	return NULL;
}

static bool cpu_preset(const char *path, struct jetwatt_preset_line *l)
{
	l->kind = jetwatt_path_ends(path, "/scaling_min_freq") ? JETWATT_PRESET_MIN
							       : JETWATT_PRESET_MAX;
	return l->kind == JETWATT_PRESET_MIN || jetwatt_path_ends(path, "/scaling_max_freq");
}

const struct jetwatt_knob_ops jetwatt_knob_CPU = {
	.lower_at = JETWATT_LOWER_CPU, .raise_at = JETWATT_RAISE_CPU,
	.discover = cpu_discover, .read = cpu_read, .want = cpu_want, .current = cpu_current,
	.lower = cpu_lower, .raise = cpu_raise, .same = cpu_same, .bind = cpu_bind,
	.save = cpu_save, .load = cpu_load, .preset = cpu_preset,
};
