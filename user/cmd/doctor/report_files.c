// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies files of the board into a report: only files that match the patterns below, those of the
 * telemetry series, and those of device tree nodes (report_tree.c). Of these, alarm files are not read,
 * because reading an alarm clears it, and neither are files of serial numbers and MAC addresses.
 */
#include "cmd/doctor/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/series_files.h"

#define FILE_MAX	65536
#define FILES_MAX	8000

#define CPU	"sys/devices/system/cpu/"
#define DEVFREQ	"sys/class/devfreq/*/"
#define BPMP	"sys/kernel/debug/bpmp/debug/"
#define ENGINE	"sys/bus/platform/devices/*/"
#define SENSOR	"sys/bus/i2c/drivers/ina*/*/hwmon/hwmon*/"

static const char *const patterns[] = {
	/* files of the release of the board's software, and of its power modes */
	"etc/nv_tegra_release", "etc/nvpmodel.conf", "var/lib/nvpmodel/status",
	"var/lib/nvpmodel/conf_file_path",
	"sys/devices/soc0/family", "sys/devices/soc0/machine", "sys/devices/soc0/soc_id",
	"sys/devices/soc0/revision",
	/* CPUs and their clocks */
	CPU "possible", CPU "present", CPU "online", CPU "isolated", CPU "cpu[0-9]*/online",
	CPU "cpu[0-9]*/cpu_capacity", CPU "cpu[0-9]*/topology/cluster_id",
	CPU "cpufreq/policy*/related_cpus", CPU "cpufreq/policy*/affected_cpus",
	CPU "cpufreq/policy*/cpuinfo_m??_freq", CPU "cpufreq/policy*/cpuinfo_transition_latency",
	CPU "cpufreq/policy*/scaling_available_*", CPU "cpufreq/policy*/scaling_m??_freq",
	CPU "cpufreq/policy*/scaling_cur_freq", CPU "cpufreq/policy*/scaling_driver",
	CPU "cpufreq/policy*/scaling_governor",
	/* GPU and other devfreq devices */
	DEVFREQ "name", DEVFREQ "governor", DEVFREQ "available_governors",
	DEVFREQ "available_frequencies", DEVFREQ "min_freq", DEVFREQ "max_freq", DEVFREQ "cur_freq",
	DEVFREQ "target_freq", DEVFREQ "polling_interval", DEVFREQ "device/load",
	DEVFREQ "device/enable_3d_scaling", DEVFREQ "device/railgate_enable",
	DEVFREQ "device/power/runtime_status", DEVFREQ "device/previous_freq",
	DEVFREQ "device/last_status",
	"sys/devices/platform/gpu.0/*_pg_mask", "sys/devices/gpu.0/*_pg_mask",
	"sys/devices/platform/gpu.0/load", "sys/devices/gpu.0/load",
	"proc/driver/nvidia/version", "proc/driver/nvidia/params", "sys/kernel/gpu_static_pg/*",
	/* files of the memory clock and its caps */
	"sys/kernel/nvpmodel_clk_cap/*", "sys/kernel/nvpmodel_emc_cap/*",
	BPMP "emc/possible_rates", BPMP "clk/emc/rate", BPMP "clk/emc/min_rate",
	BPMP "clk/emc/max_rate", BPMP "clk/emc/mrq_rate_locked",
	"sys/kernel/debug/clk/emc/clk_rate",
	/* files of the clocks of the deep learning accelerators and other engines */
	ENGINE "clk_cap/*", ENGINE "acm/clk_cap/*", BPMP "clk/nafll_dla0_core/max_rate",
	BPMP "clk/nafll_dla/max_rate",
	/* files of power sensors and their buses */
	"sys/bus/i2c/devices/i2c-*/name", "sys/bus/i2c/devices/i2c-*/bus_clk_rate",
	"sys/bus/i2c/devices/*-00[0-9a-f]*/name", "proc/device-tree/aliases/i2c*",
	SENSOR "name", SENSOR "samples", SENSOR "update_interval", SENSOR "in*_label",
	SENSOR "in*_input", SENSOR "in*_enable", SENSOR "curr*_input", SENSOR "curr*_max",
	SENSOR "curr*_crit", SENSOR "power*_input", SENSOR "shunt*_resistor",
	"sys/class/hwmon/hwmon*/name", "sys/class/hwmon/hwmon*/oc*_throt_en",
	/* files of thermal zones and cooling devices */
	"sys/class/thermal/thermal_zone*/type", "sys/class/thermal/thermal_zone*/temp",
	"sys/class/thermal/thermal_zone*/mode", "sys/class/thermal/thermal_zone*/policy",
	"sys/class/thermal/thermal_zone*/trip_point_*_temp",
	"sys/class/thermal/thermal_zone*/trip_point_*_type",
	"sys/class/thermal/thermal_zone*/trip_point_*_hyst",
	"sys/class/thermal/thermal_zone*/cdev*_trip_point",
	"sys/class/thermal/thermal_zone*/cdev*/type",
	"sys/class/thermal/cooling_device*/type", "sys/class/thermal/cooling_device*/cur_state",
	"sys/class/thermal/cooling_device*/max_state",
	/* files of settings that tracing and real-time scheduling depend on */
	"proc/sys/kernel/perf_event_paranoid", "proc/sys/kernel/unprivileged_bpf_disabled",
	"proc/sys/kernel/kptr_restrict", "proc/sys/kernel/sched_rt_runtime_us",
	"proc/sys/kernel/sched_rt_period_us", "proc/sys/kernel/osrelease",
	"proc/sys/net/core/bpf_jit_enable", "sys/kernel/security/lockdown",
	"sys/module/jetwatt/parameters/*",
	NULL
};

static bool printable(const char *buf, size_t len, bool lines)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)buf[i] < ' ' || (unsigned char)buf[i] > '~')
			if (!lines || (buf[i] != '\n' && buf[i] != '\t'))
				return false;
	return true;
}

/* Return: whether the data are device tree strings: zero-terminated, printable, and none empty. */
static bool is_dt_strings(const char *buf, size_t len)
{
	if (!len || buf[len - 1])
		return false;
	for (size_t at = 0; at < len; at += strlen(buf + at) + 1)
		if (!buf[at] || !printable(buf + at, strlen(buf + at), false))
			return false;
	return true;
}

static void report_contents(struct jetwatt_gather *g, const char *buf, size_t len)
{
	char *hex;

	if (printable(buf, len, true)) {
		jetwatt_json_string(&g->j, "text", buf);
	} else if (is_dt_strings(buf, len)) {
		jetwatt_json_array(&g->j, "strings");
		for (size_t at = 0; at < len; at += strlen(buf + at) + 1)
			jetwatt_json_string(&g->j, NULL, buf + at);
		jetwatt_json_end(&g->j);
	} else if ((hex = malloc(2 * len + 1))) {
		for (size_t i = 0; i < len; i++)
			sprintf(hex + 2 * i, "%02x", (unsigned char)buf[i]);
		jetwatt_json_string(&g->j, "hex", hex);
		free(hex);
	}
}

static int read_board_file(const char *name, char *buf, size_t *len)
{
	/* Open with O_NONBLOCK, because reading some debugfs files would block forever. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
	ssize_t got = 1;

	*len = 0;
	if (fd < 0)
		return -errno;
	while (!rc && got > 0 && *len < FILE_MAX) {
		got = read(fd, buf + *len, FILE_MAX - *len);
		if (got > 0)
			*len += (size_t)got;
		else if (got < 0)
			rc = -errno;
	}
	close(fd);
	buf[*len] = '\0';
	return rc ? rc : *len == FILE_MAX ? -EFBIG : 0;
}

/* Add @path to the list of reported files. Return: true if the file must not be reported: it was in
 * the list already, the list is full, or memory is exhausted. */
static bool mark_reported(struct jetwatt_gather *g, const char *path)
{
	for (size_t i = 0; i < g->nr_seen; i++)
		if (!strcmp(g->seen[i], path))
			return true;
	if (!g->seen)
		g->seen = calloc(FILES_MAX, sizeof(*g->seen));
	if (!g->seen || g->nr_seen == FILES_MAX)
		return true;
	g->seen[g->nr_seen] = strdup(path);
	return !g->seen[g->nr_seen] || !++g->nr_seen;
}

void jetwatt_gather_file(struct jetwatt_gather *g, const char *path)
{
	const char *leaf = strrchr(path, '/');
	char name[600], *buf;
	struct stat st;
	size_t len;
	int rc;

	leaf = leaf ? leaf + 1 : path;
	if (strcasestr(leaf, "serial") || strstr(leaf, "mac-address") || strstr(leaf, "alarm") ||
	    snprintf(name, sizeof(name), "%s/%s", g->root, path) >= (int)sizeof(name) ||
	    stat(name, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 0444) ||
	    mark_reported(g, path))
		return;
	buf = malloc(FILE_MAX + 1);
	if (!buf)
		return;
	rc = read_board_file(name, buf, &len);
	jetwatt_json_object(&g->j, NULL);
	jetwatt_json_string(&g->j, "path", path);
	if (rc) {
		jetwatt_json_string(&g->j, "error", strerror(-rc));
		g->denied += rc == -EACCES || rc == -EPERM;
	} else {
		report_contents(g, buf, len);
	}
	jetwatt_json_end(&g->j);
	free(buf);
}

static void gather_matches(struct jetwatt_gather *g, const char *pattern)
{
	char name[600];
	glob_t found;

	snprintf(name, sizeof(name), "%s/%s", g->root, pattern);
	if (glob(name, 0, NULL, &found))
		return;
	for (size_t k = 0; k < found.gl_pathc; k++)
		jetwatt_gather_file(g, found.gl_pathv[k] + strlen(g->root) + 1);
	globfree(&found);
}

/* Add the files of a series, of a hwmon attribute those of all hwmon devices. */
static void gather_series(struct jetwatt_gather *g, const struct jetwatt_series_row *row)
{
	struct jetwatt_series_files f;
	char pattern[sizeof("sys") + sizeof(f.pattern)];
	const char *entry = row->files;

	while ((entry = jetwatt_series_files(entry, 0, &f))) {
		snprintf(pattern, sizeof(pattern), "sys%s", f.pattern);
		gather_matches(g, pattern);
	}
}

void jetwatt_gather_files(struct jetwatt_gather *g)
{
	for (int i = 0; patterns[i]; i++)
		gather_matches(g, patterns[i]);
	for (uint32_t kind = 0; kind < __JETWATT_SERIES_KINDS; kind++)
		gather_series(g, jetwatt_series_row(kind));
}
