// SPDX-License-Identifier: GPL-2.0-only
/* What every knob says now, and what a mode wants of it. */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

static void members(struct jetwatt_board *b, int policy)
{
	uint64_t v[CPUS_MAX];
	char path[PATH_LEN];
	int n;

	/* jetwatt_sysfs_list() drops zeros; CPU 0 is in the policy of its name. */
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

/**
 * jetwatt_state_policies() - look for cpufreq policies not seen before
 *
 * A policy may come with its first CPU. Indices of the known ones stay, so at
 * the first call they are in order of their numbers.
 */
void jetwatt_state_policies(struct jetwatt_board *b)
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
	qsort(found, (size_t)n, sizeof(found[0]), ascending);
	for (int i = 0; i < n; i++) {
		int p = 0;

		while (p < b->policies && b->policy[p] != found[i])
			p++;
		if (p == b->policies && p < POLICIES_MAX)
			b->policy[b->policies++] = found[i];
	}
	for (int p = 0; p < b->policies; p++)
		members(b, p);
	/* A policy without a CPU online does not name its CPUs, but is called by
	 * the first of them. */
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

static int policy_range(const struct jetwatt_board *b, int p, struct jetwatt_range *r)
{
	char path[PATH_LEN];
	int rc;

	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_min_freq",
		 b->policy[p]);
	rc = jetwatt_sysfs_u64(b, path, &r->min);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "devices/system/cpu/cpufreq/policy%u/scaling_max_freq",
		 b->policy[p]);
	return jetwatt_sysfs_u64(b, path, &r->max);
}

bool jetwatt_state_uses(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			int policy)
{
	for (int i = 0; i < b->cpus; i++)
		if (b->cpu[i].policy == policy && s->online[i])
			return true;
	return false;
}

uint64_t jetwatt_state_cap(const struct jetwatt_board *b, const struct jetwatt_board_state *s,
			   int cap)
{
	bool none = !s->emc[cap].known || s->emc[cap].hz == b->emc[cap].uncapped;

	return none ? UINT64_MAX : s->emc[cap].hz;
}

uint64_t jetwatt_state_emc(const struct jetwatt_board *b, const struct jetwatt_board_state *s)
{
	uint64_t lowest = UINT64_MAX;

	for (int i = 0; i < b->nr_caps; i++) {
		uint64_t cap = jetwatt_state_cap(b, s, i);

		lowest = cap < lowest ? cap : lowest;
	}
	return lowest;
}

static int read_gpu(const struct jetwatt_board *b, struct jetwatt_range *gpu,
		    struct jetwatt_error_text *err)
{
	char path[PATH_LEN];
	int rc;

	if (!jetwatt_lack_not(b, JETWATT_BOARD_GPU))
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/min_freq", b->gpu);
	rc = jetwatt_sysfs_u64(b, path, &gpu->min);
	if (rc)
		return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
	snprintf(path, sizeof(path), "class/devfreq/%s/max_freq", b->gpu);
	rc = jetwatt_sysfs_u64(b, path, &gpu->max);
	if (rc)
		return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
	gpu->known = true;
	return 0;
}

int jetwatt_state_read(struct jetwatt_board *b, struct jetwatt_board_state *s,
		       struct jetwatt_error_text *err)
{
	char path[PATH_LEN];
	uint64_t v;
	int rc;

	memset(s, 0, sizeof(*s));
	jetwatt_state_policies(b);
	for (int i = 0; i < b->cpus; i++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/online", b->cpu[i].id);
		rc = jetwatt_sysfs_u64(b, path, &v);
		if (rc == -ENOENT && b->cpu[i].fixed)
			v = 1;
		else if (rc)
			return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys, path);
		s->online[i] = v != 0;
	}
	for (int p = 0; p < b->policies && jetwatt_lack_not(b, JETWATT_BOARD_CPU); p++) {
		rc = policy_range(b, p, &s->policy[p]);
		s->policy[p].known = !rc;
		if (rc && jetwatt_state_uses(b, s, p))
			return jetwatt_error_sys(err, rc, "cannot read the clock of CPU policy %u",
						 b->policy[p]);
		/* Left over from when it had a CPU: not in use, can't be written. */
		if (!jetwatt_state_uses(b, s, p))
			s->policy[p] = (struct jetwatt_range){ 0 };
	}
	for (int i = 0; i < b->nr_caps; i++) {
		rc = jetwatt_sysfs_u64(b, b->emc[i].path, &s->emc[i].hz);
		if (rc)
			return jetwatt_error_sys(err, rc, "cannot read %s/%s", b->sys,
						 b->emc[i].path);
		s->emc[i].known = true;
	}
	return read_gpu(b, &s->gpu, err);
}

/* The driver may have rounded the cap (nvpmodel_clk_cap reads back clk_round_rate()). */
static uint64_t nearest_step(const struct jetwatt_board *b, uint64_t cap)
{
	uint64_t best = b->emc_hz[b->nr_emc - 1];

	for (int i = b->nr_emc - 1; i >= 0 && cap < best; i--) {
		uint64_t v = b->emc_hz[i];

		if ((v > cap ? v - cap : cap - v) < best - cap)
			best = v;
	}
	return best;
}

int jetwatt_board_read(struct jetwatt_board *b, struct jetwatt_mode *m)
{
	struct jetwatt_board_state s;
	int rc;

	rc = jetwatt_state_read(b, &s, NULL);
	if (rc)
		return rc;
	*m = (struct jetwatt_mode){ .gpu_hz = s.gpu.known ? s.gpu.max : b->gpu_hz[0] };
	for (int i = 0; i < b->cpus; i++)
		m->cores += s.online[i];
	for (int p = 0; p < b->policies; p++)
		if (s.policy[p].known && s.policy[p].max > m->cpu_khz)
			m->cpu_khz = (uint32_t)s.policy[p].max;
	if (!jetwatt_lack_not(b, JETWATT_BOARD_CPU))
		m->cpu_khz = b->cpu_khz[0];
	m->emc_hz = nearest_step(b, jetwatt_state_emc(b, &s));
	return 0;
}

/* Return: 0; -EINVAL: more cores than there are, or fewer than stay on. */
int jetwatt_state_of_mode(const struct jetwatt_board *b, const struct jetwatt_mode *m,
			  struct jetwatt_board_state *s)
{
	memset(s, 0, sizeof(*s));
	if ((int)m->cores < b->fixed || (int)m->cores > b->cpus || !m->cores)
		return -EINVAL;
	for (int i = 0; i < b->cpus; i++)
		s->online[i] = i < (int)m->cores;
	s->fresh = (struct jetwatt_range){ jetwatt_lack_not(b, JETWATT_BOARD_CPU), m->cpu_khz,
					   m->cpu_khz };
	for (int p = 0; p < b->policies; p++)
		s->policy[p] = s->fresh;
	s->gpu = (struct jetwatt_range){ jetwatt_lack_not(b, JETWATT_BOARD_GPU), m->gpu_hz,
					 m->gpu_hz };
	for (int i = 0; i < b->nr_caps; i++)
		s->emc[i] = (struct jetwatt_cap){ true, m->emc_hz };
	return 0;
}
