// SPDX-License-Identifier: GPL-2.0-only
/* The steps of each knob: from sysfs, else from the board's table, else its two ends. */
#include "board/knobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "board/remote.h"

#define EMC_RANGE	"kernel/debug/bpmp/debug/clk/emc/"

static int table(const uint64_t *from, uint64_t *v)
{
	int n = 0;

	for (; from && from[n] && n < JETWATT_BOARD_FREQS_MAX; n++)
		v[n] = from[n];
	return n;
}

/* Only what every policy can do is a clock of all cores. */
static int common(uint64_t *v, int n, const uint64_t *with, int m)
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

int jetwatt_steps_cpu(struct jetwatt_board *b, struct jetwatt_error_text *err)
{
	uint64_t v[JETWATT_BOARD_FREQS_MAX], w[JETWATT_BOARD_FREQS_MAX], lo = 0, hi = 0;
	char path[PATH_LEN];
	int n = 0, m;

	for (int p = 0; p < b->policies; p++) {
		snprintf(path, sizeof(path),
			 "devices/system/cpu/cpufreq/policy%u/scaling_available_frequencies",
			 b->policy[p]);
		m = jetwatt_sysfs_list(b, path, w, JETWATT_BOARD_FREQS_MAX);
		if (m <= 0)
			continue;	/* no CPU online there, or a driver without a table */
		if (n)
			n = common(v, n, w, m);
		else
			memcpy(v, w, sizeof(*v) * (size_t)(n = m));
	}
	if (!n)
		n = table(b->kind->cpu_khz, v);
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
		jetwatt_board_error_set(err, -ENODEV, "the CPU's clock steps are not known");
		jetwatt_error_why(err, "no policy has scaling_available_frequencies or cpuinfo_min_freq");
		jetwatt_error_fix(err, "use the board's own cpufreq driver");
		return -ENODEV;
	}
	for (int i = 0; i < n; i++)
		b->cpu_khz[b->nr_cpu++] = (uint32_t)v[i];
	return 0;
}

int jetwatt_steps_devfreq(const struct jetwatt_board *b, const char *device, const uint64_t *known,
			 uint64_t *v)
{
	char path[PATH_LEN];
	uint64_t lo, hi;
	int n;

	snprintf(path, sizeof(path), "class/devfreq/%s/available_frequencies", device);
	n = jetwatt_sysfs_list(b, path, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0)
		return n;
	n = table(known, v);
	if (n)
		return n;
	snprintf(path, sizeof(path), "class/devfreq/%s/min_freq", device);
	if (jetwatt_sysfs_u64(b, path, &lo) || !lo)
		return 0;
	snprintf(path, sizeof(path), "class/devfreq/%s/max_freq", device);
	if (jetwatt_sysfs_u64(b, path, &hi) || hi < lo)
		return 0;
	v[0] = lo;
	v[1] = hi;
	return hi > lo ? 2 : 1;
}

/* @device: devfreq device of the memory, "": none. Its own steps come first where it is the
 * only cap. */
int jetwatt_steps_emc(struct jetwatt_board *b, const char *device)
{
	uint64_t lo, hi, *v = b->emc_hz;
	char path[PATH_LEN];
	int n = 0;

	if (b->by_remote)
		return jetwatt_remote_emc(b, v);
	snprintf(path, sizeof(path), "class/devfreq/%s/available_frequencies", device);
	if (*device && !b->emc_rate)
		n = jetwatt_sysfs_list(b, path, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0)
		return n;
	/* In kHz; in Hz where no memory could be that fast in kHz (20 GHz). */
	n = jetwatt_sysfs_list(b, JETWATT_EMC_STEPS, v, JETWATT_BOARD_FREQS_MAX);
	if (n > 0) {
		if (v[n - 1] < 20000000)
			for (int i = 0; i < n; i++)
				v[i] *= 1000;
		return n;
	}
	if (*device) {
		n = jetwatt_steps_devfreq(b, device, b->kind->emc_hz, v);
		if (n)
			return n;
	}
	n = table(b->kind->emc_hz, v);
	if (n)
		return n;
	if (!jetwatt_sysfs_u64(b, EMC_RANGE "min_rate", &lo) && lo &&
	    !jetwatt_sysfs_u64(b, EMC_RANGE "max_rate", &hi) && hi >= lo) {
		v[0] = lo;
		v[1] = hi;
		return hi > lo ? 2 : 1;
	}
	return 0;
}

int jetwatt_board_cores(const struct jetwatt_board *b, const uint32_t **v)
{
	*v = b->cores;
	return b->nr_cores;
}

int jetwatt_board_cpu_khz(const struct jetwatt_board *b, const uint32_t **v)
{
	*v = b->cpu_khz;
	return b->nr_cpu;
}

int jetwatt_board_gpu_hz(const struct jetwatt_board *b, const uint64_t **v)
{
	*v = b->gpu_hz;
	return b->nr_gpu;
}

int jetwatt_board_emc_hz(const struct jetwatt_board *b, const uint64_t **v)
{
	*v = b->emc_hz;
	return b->nr_emc;
}
