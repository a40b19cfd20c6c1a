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

static int find_cpus(struct jetwatt_board *b, struct jetwatt_board_error *err)
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

	jetwatt_state_policies(b);
	if (!b->cpus || !b->policies) {
		jetwatt_board_error_set(err, -ENODEV, "no CPU clock to control");
		jetwatt_error_why(err, "there is no policy in %s/devices/system/cpu/cpufreq", b->sys);
		jetwatt_error_fix(err, "load the board's cpufreq driver (tegra194-cpufreq on Xavier and Orin)");
		return -ENODEV;
	}
	qsort(b->cpu, (size_t)b->cpus, sizeof(b->cpu[0]), by_cluster);
	for (int i = 0; i < b->cpus; i++)
		b->fixed += b->cpu[i].fixed;
	for (int n = b->fixed ? b->fixed : 1; n <= b->cpus; n++)
		b->cores[b->nr_cores++] = (uint32_t)n;
	return 0;
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

static int find_gpu(struct jetwatt_board *b, struct jetwatt_board_error *err)
{
	static const char * const parts[] = { "gpu", "ga10b", "gv11b", "gp10b", NULL };

	if (!find_devfreq(b, parts, b->gpu)) {
		jetwatt_board_error_set(err, -ENODEV, "no GPU clock to control");
		jetwatt_error_why(err, "no GPU in %s/class/devfreq", b->sys);
		jetwatt_error_fix(err, "this is not a Jetson, or its GPU driver (nvgpu) is not loaded");
		return -ENODEV;
	}
	b->nr_gpu = jetwatt_steps_devfreq(b, b->gpu, b->kind->gpu_hz, b->gpu_hz);
	if (b->nr_gpu)
		return 0;
	jetwatt_board_error_set(err, -ENODEV, "the GPU's clock steps are not known");
	jetwatt_error_why(err, "%s/class/devfreq/%s has no available_frequencies", b->sys, b->gpu);
	jetwatt_error_fix(err, "use the board's own GPU driver");
	return -ENODEV;
}

static int find_emc(struct jetwatt_board *b, struct jetwatt_board_error *err)
{
	static const char * const parts[] = { "bwmgr", "emc", NULL };
	char device[NAME_LEN];

	if (jetwatt_sysfs_exists(b, CLK_CAP)) {
		b->emc_knob = JETWATT_EMC_CLK_CAP;
		b->emc_uncapped = INT64_MAX;
		strcpy(b->emc, CLK_CAP);
		b->nr_emc = jetwatt_steps_emc(b);
	} else if (jetwatt_sysfs_exists(b, ISO_CAP)) {
		b->emc_knob = JETWATT_EMC_ISO_CAP;
		b->emc_uncapped = 0;
		strcpy(b->emc, ISO_CAP);
		b->nr_emc = jetwatt_steps_emc(b);
	} else if (find_devfreq(b, parts, device)) {
		b->emc_knob = JETWATT_EMC_DEVFREQ;
		snprintf(b->emc, sizeof(b->emc), "class/devfreq/%.47s/max_freq", device);
		b->nr_emc = jetwatt_steps_devfreq(b, device, b->kind->emc_hz, b->emc_hz);
		b->emc_uncapped = INT64_MAX;	/* never read: max_freq ends at the top step */
	} else {
		jetwatt_board_error_set(err, -ENODEV, "no memory clock to control");
		jetwatt_error_why(err, "neither %s/" CLK_CAP " nor %s/" ISO_CAP " is there", b->sys,
				  b->sys);
		jetwatt_error_fix(err, "load the nvpmodel-clk-cap module (part of JetPack)");
		return -ENODEV;
	}
	if (b->nr_emc)
		return 0;
	jetwatt_board_error_set(err, -ENODEV, "the memory's clock steps are not known");
	jetwatt_error_why(err, "cannot read %s/" JETWATT_EMC_STEPS, b->sys);
	jetwatt_error_fix(err, "run it as root, with debugfs mounted on %s/kernel/debug", b->sys);
	return -ENODEV;
}

int jetwatt_board_open(struct jetwatt_board **out, const struct jetwatt_board_roots *roots,
		       struct jetwatt_board_error *err)
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
	if (!rc)
		rc = jetwatt_steps_cpu(b, err);
	if (!rc)
		rc = find_gpu(b, err);
	if (!rc)
		rc = find_emc(b, err);
	if (rc) {
		jetwatt_remote_close(b);
		free(b);
		return rc;
	}
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
