// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system's part of a report: kernel, kernel options and command line, and versions of the
 * board's packages.
 */
#include "cmd/doctor/report.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

/* Kernel options that decide what works: sensors and clocks, tracing, real-time scheduling, module
 * loading, cgroups. Patterns of fnmatch(). */
static const char *const options[] = {
	"ARM64_4K_PAGES", "ARM64_64K_PAGES", "BPF", "BPF_EVENTS", "BPF_JIT", "BPF_JIT_ALWAYS_ON",
	"BPF_SYSCALL", "BPF_UNPRIV_DEFAULT_OFF", "CGROUPS", "CGROUP_BPF", "CGROUP_FREEZER",
	"CPU_FREQ", "CPU_THERMAL", "DEBUG_FS", "DEBUG_INFO_BTF", "DEBUG_INFO_REDUCED",
	"DEVFREQ_THERMAL", "DYNAMIC_FTRACE", "FTRACE_SYSCALLS", "FUNCTION_TRACER", "FUSE_FS",
	"HWMON", "HZ", "I2C_CHARDEV", "I2C_MUX", "I2C_TEGRA", "IKCONFIG", "KPROBES", "KPROBE_EVENTS",
	"LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY", "MODULE_SIG", "MODULE_SIG_FORCE", "MODVERSIONS",
	"NO_HZ_FULL", "NO_HZ_IDLE", "OF_OVERLAY", "PERF_EVENTS", "PM_DEVFREQ", "PREEMPT",
	"PREEMPT_DYNAMIC", "PREEMPT_NONE", "PREEMPT_RT", "PREEMPT_VOLUNTARY", "RT_GROUP_SCHED",
	"SCHED_DEBUG", "SECURITY_LOCKDOWN_LSM", "SENSORS_INA*", "TASK_TASKSTATS",
	"TEGRA_BPMP", "TEGRA_HOST1X", "THERMAL", "TRACEPOINTS", "UPROBES", "UPROBE_EVENTS", "USER_NS",
	"VHOST", NULL
};

/* Parse a line of a kernel configuration such as "CONFIG_HZ=250" or "# CONFIG_KPROBES is not set".
 * @value: text after "=", or "n". Return: true if the line sets or unsets an option, else false. */
static bool parse_config_line(const char *line, char *name, size_t len, const char **value)
{
	size_t n;

	if (!strncmp(line, "# ", 2) && strstr(line, " is not set")) {
		line += 2;
		*value = "n";
	} else if (strchr(line, '=')) {
		*value = strchr(line, '=') + 1;
	} else {
		return false;
	}
	if (strncmp(line, "CONFIG_", 7))
		return false;
	n = strcspn(line + 7, "= ");
	if (n >= len)
		return false;
	memcpy(name, line + 7, n);
	name[n] = '\0';
	return true;
}

/* gzgets() also reads an uncompressed file such as /boot/config-RELEASE. */
static bool report_kernel_config(struct jetwatt_gather *g, const char *path)
{
	char name[600], line[512], key[80];
	const char *value;
	gzFile f;

	snprintf(name, sizeof(name), "%s/%s", g->root, path);
	f = gzopen(name, "re");
	if (!f)
		return false;
	jetwatt_json_object(&g->j, "options");
	while (gzgets(f, line, sizeof(line))) {
		line[strcspn(line, "\n")] = '\0';
		if (!parse_config_line(line, key, sizeof(key), &value))
			continue;
		for (int i = 0; options[i]; i++)
			if (!fnmatch(options[i], key, 0))
				jetwatt_json_string(&g->j, key, value);
	}
	gzclose(f);
	jetwatt_json_end(&g->j);
	return true;
}

/* Add the words of the kernel command line that affect measurements, and no other words. */
static void report_command_line(struct jetwatt_gather *g)
{
	static const char *const words[] = {
		"isolcpus=", "nohz_full=", "rcu_nocbs=", "irqaffinity=", "lockdown=", "lsm=",
		"preempt=", "cgroup_", "systemd.unified_cgroup_hierarchy=", "module.sig_enforce",
		"maxcpus=", "nr_cpus=", "cpufreq.", "cpuidle.", "threadirqs", NULL
	};
	char name[600], text[4096], *save, *word;
	size_t n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/cmdline", g->root);
	f = fopen(name, "re");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	jetwatt_json_array(&g->j, "command_line");
	for (word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		for (int i = 0; words[i]; i++)
			if (!strncmp(word, words[i], strlen(words[i])))
				jetwatt_gather_string(g, NULL, word);
	jetwatt_json_end(&g->j);
}

/* Add the versions of the board's software packages, from dpkg's status file. */
static void report_packages(struct jetwatt_gather *g)
{
	static const char *const part[] = {
		"nvidia-l4t-core", "nvidia-l4t-kernel", "nvidia-l4t-cuda", "nvidia-l4t-nvpmodel",
		"nvidia-l4t-bootloader", "nvidia-jetpack", "cuda-cudart-", "cuda-runtime-",
		"libnvinfer", "jetwatt", NULL
	};
	char name[600], line[1024], package[128] = "";
	FILE *f;

	snprintf(name, sizeof(name), "%s/var/lib/dpkg/status", g->root);
	f = fopen(name, "re");
	jetwatt_json_object(&g->j, "packages");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			*package = '\0';
		if (!strncmp(line, "Package: ", 9))
			for (int i = 0; part[i]; i++)
				if (!strncmp(line + 9, part[i], strlen(part[i])))
					snprintf(package, sizeof(package), "%.120s", line + 9);
		if (*package && !strncmp(line, "Version: ", 9)) {
			jetwatt_json_string(&g->j, package, line + 9);
			if (!strcmp(package, "nvidia-l4t-core"))
				fprintf(g->text, "L4T      %s\n", line + 9);
			*package = '\0';
		}
	}
	if (f)
		fclose(f);
	jetwatt_json_end(&g->j);
}

void jetwatt_gather_system(struct jetwatt_gather *g)
{
	char path[160];
	struct utsname u;

	uname(&u);
	jetwatt_json_object(&g->j, "kernel");
	jetwatt_gather_string(g, "release", u.release);
	jetwatt_gather_string(g, "version", u.version);
	jetwatt_json_string(&g->j, "machine", u.machine);
	report_command_line(g);
	snprintf(path, sizeof(path), "boot/config-%.65s", u.release);
	if (!report_kernel_config(g, "proc/config.gz") && !report_kernel_config(g, path))
		jetwatt_json_null(&g->j, "options");
	jetwatt_json_end(&g->j);
	fprintf(g->text, "kernel   %s, %s\n", u.release, u.machine);
	report_packages(g);
}
