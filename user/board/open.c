// SPDX-License-Identifier: GPL-2.0-only
/* Finding the knobs. */
#include "board/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/remote.h"

#define CLK_CAP		"kernel/nvpmodel_clk_cap/emc"
#define ISO_CAP		"kernel/nvpmodel_emc_cap/emc_iso_cap"

/* In the order in which cores are kept: what can't be switched off first, then
 * cluster by cluster, so that few cores are in few clusters. */
static int by_cluster(const void *a, const void *b)
{
	const struct jetwatt_cpu *x = a, *y = b;

	if (x->fixed != y->fixed)
		return x->fixed ? -1 : 1;
	if (x->policy != y->policy)
		return x->policy < y->policy ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int find_cpus(struct jetwatt_board *b, struct jetwatt_error_text *err)
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
		/* CPU 0 may have the file, but can't be switched off (nvpmodel's CORE_0). */
		cpu->fixed = !cpu->id || !jetwatt_sysfs_exists(b, path);
		cpu->policy = -1;
		b->cpus++;
	}
	closedir(dir);

	if (!b->cpus)
		return jetwatt_error_sys(err, -ENOENT, "no CPU is listed in %s/devices/system/cpu",
					 b->sys);
	jetwatt_state_policies(b);
	qsort(b->cpu, (size_t)b->cpus, sizeof(b->cpu[0]), by_cluster);
	for (int i = 0; i < b->cpus; i++)
		b->fixed += b->cpu[i].fixed;
	for (int n = b->fixed ? b->fixed : 1; n <= b->cpus; n++)
		b->cores[b->nr_cores++] = (uint32_t)n;
	if (b->fixed == b->cpus) {
		err = &b->lack[JETWATT_BOARD_CORES];
		jetwatt_board_error_set(err, -ENODEV, "no core can be switched off");
		jetwatt_error_why(err, "no CPU but the first has the file \"online\"");
		jetwatt_error_fix(err, "use a kernel with CONFIG_HOTPLUG_CPU");
	}
	return 0;
}

static void find_cpu_clock(struct jetwatt_board *b)
{
	struct jetwatt_error_text *err = &b->lack[JETWATT_BOARD_CPU];

	if (b->policies && !jetwatt_steps_cpu(b, err))
		return;
	if (!b->policies) {
		jetwatt_board_error_set(err, -ENODEV, "no CPU clock to control");
		jetwatt_error_why(err, "there is no policy in %s/devices/system/cpu/cpufreq", b->sys);
		jetwatt_error_fix(err, "load the board's cpufreq driver (tegra194-cpufreq on Xavier and Orin)");
	}
	b->cpu_khz[0] = JETWATT_BOARD_NO_CLOCK;
	b->nr_cpu = 1;
}

/* The first name, in alphabetical order, that holds one of @parts: on Thor
 * "gpu-gpc-0" (the shaders) before "gpu-nvd-0" (video). */
static bool find_devfreq(const struct jetwatt_board *b, const char * const *parts, char *name)
{
	char path[PATH_LEN];
	struct dirent *d;
	DIR *dir;

	name[0] = '\0';
	snprintf(path, sizeof(path), "%s/class/devfreq", b->sys);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir)))
		for (int i = 0; parts[i]; i++)
			if (d->d_name[0] != '.' && strstr(d->d_name, parts[i]) &&
			    strlen(d->d_name) < NAME_LEN / 2 &&
			    (!name[0] || strcmp(d->d_name, name) < 0))
				strcpy(name, d->d_name);
	closedir(dir);
	return name[0];
}

static void find_gpu(struct jetwatt_board *b)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", NULL };
	struct jetwatt_error_text *err = &b->lack[JETWATT_BOARD_GPU];

	if (!find_devfreq(b, parts, b->gpu)) {
		jetwatt_board_error_set(err, -ENODEV, "no GPU clock to control");
		jetwatt_error_why(err, "no GPU in %s/class/devfreq", b->sys);
		jetwatt_error_fix(err, "this is not a Jetson, or its GPU driver (nvgpu; nvidia on Thor) is not loaded");
	} else {
		b->nr_gpu = jetwatt_steps_devfreq(b, b->gpu, b->kind->gpu_hz, b->gpu_hz);
		if (b->nr_gpu)
			return;
		jetwatt_board_error_set(err, -ENODEV, "the GPU's clock steps are not known");
		jetwatt_error_why(err, "%s/class/devfreq/%s has no available_frequencies", b->sys,
				  b->gpu);
		jetwatt_error_fix(err, "use the board's own GPU driver");
	}
	b->gpu_hz[0] = JETWATT_BOARD_NO_CLOCK;
	b->nr_gpu = 1;
}

static void add_cap(struct jetwatt_board *b, const char *path, uint64_t uncapped)
{
	struct jetwatt_emc_cap *cap = &b->emc[b->nr_caps];

	if (!jetwatt_sysfs_exists(b, path))
		return;
	snprintf(cap->path, sizeof(cap->path), "%s", path);
	cap->uncapped = uncapped;
	b->nr_caps++;
}

/* A kernel may have several caps, and the lowest one holds: nvpmodel writes nvpmodel_clk_cap
 * on JetPack 6 and the devfreq device "bwmgr" on JetPack 7, where both may be there. */
static void find_emc(struct jetwatt_board *b)
{
	static const char * const parts[] = { "bwmgr", "emc", NULL };
	struct jetwatt_error_text *err = &b->lack[JETWATT_BOARD_EMC];
	char device[NAME_LEN], path[NAME_LEN];

	add_cap(b, CLK_CAP, INT64_MAX);
	add_cap(b, ISO_CAP, 0);
	b->emc_rate = b->nr_caps;
	if (find_devfreq(b, parts, device)) {
		/* max_freq ends at the top step, so reading never shows "no cap". */
		snprintf(path, sizeof(path), "class/devfreq/%.47s/max_freq", device);
		add_cap(b, path, INT64_MAX);
	}
	b->nr_emc = jetwatt_steps_emc(b, device);
	if (b->nr_caps && b->nr_emc)
		return;
	if (!b->nr_caps) {
		jetwatt_board_error_set(err, -ENODEV, "no memory clock to control");
		jetwatt_error_why(err, "none of " CLK_CAP ", " ISO_CAP " and class/devfreq/bwmgr/max_freq is in %s",
				  b->sys);
		jetwatt_error_fix(err, "load the module nvpmodel-clk-cap (JetPack 6), or the driver of the devfreq device bwmgr (JetPack 7)");
	} else {
		jetwatt_board_error_set(err, -ENODEV, "the memory's clock steps are not known");
		jetwatt_error_why(err, "cannot read %s/" JETWATT_EMC_STEPS, b->sys);
		jetwatt_error_fix(err, "run it as root, with debugfs mounted on %s/kernel/debug", b->sys);
	}
	/* Without a cap the memory runs at its highest clock. */
	b->emc_hz[0] = b->nr_emc ? b->emc_hz[b->nr_emc - 1] : JETWATT_BOARD_NO_CLOCK;
	b->nr_emc = 1;
	b->nr_caps = 0;
}

int jetwatt_board_open(struct jetwatt_board **out, const struct jetwatt_board_roots *roots,
		       struct jetwatt_error_text *err)
{
	static const struct jetwatt_board_roots usual;
	struct jetwatt_board *b;
	int rc;

	if (!roots)
		roots = &usual;
	b = calloc(1, sizeof(*b));
	if (!b)
		return jetwatt_error_sys(err, -ENOMEM, "cannot look at the board");
	b->lease = -1;
	b->self = getpid();
	b->guardian = b->keeper = b->remote = -1;
	b->write = roots->write;
	b->arg = roots->arg;
	snprintf(b->sys, sizeof(b->sys), "%s", roots->sys ? roots->sys : "/sys");
	snprintf(b->proc, sizeof(b->proc), "%s", roots->proc ? roots->proc : "/proc");
	snprintf(b->state, sizeof(b->state), "%s",
		 roots->state ? roots->state : "/var/lib/jetwatt");
	snprintf(b->etc, sizeof(b->etc), "%s", roots->etc ? roots->etc : "/etc");

	rc = roots->knobs ? jetwatt_remote_open(b, roots->knobs, err) : 0;
	jetwatt_identity_find(b);
	if (!rc)
		rc = find_cpus(b, err);
	if (rc) {
		jetwatt_remote_close(b);
		free(b);
		return rc;
	}
	find_cpu_clock(b);
	find_gpu(b);
	find_emc(b);
	jetwatt_cooling_find(b);
	*out = b;
	return 0;
}

void jetwatt_board_close(struct jetwatt_board *b)
{
	if (!b)
		return;
	jetwatt_board_sensors_back(b, NULL);
	jetwatt_lease_release(b);
	jetwatt_guardian_end(b);
	jetwatt_remote_close(b);
	free(b);
}
