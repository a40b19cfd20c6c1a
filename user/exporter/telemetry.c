// SPDX-License-Identifier: GPL-2.0-only
#include "exporter/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/jetwatt.h>
#include <stdio.h>
#include <string.h>

#include "lib/rail_label.h"
#include "out/metrics.h"
#include "util/unix_request.h"

/* The devices hwmonN and thermal_zoneN with N below this number are searched. */
#define DEVICES_MAX	64
/* Number of the total in the names of the hwmon attributes, and of the rail with the id 0. */
#define TOTAL		1
#define FIRST_RAIL	2
#define PATH_LEN	192

/* A counter of the hwmon device. @label: of the rail or of the total; @uj: the energy, in uJ. */
struct hwmon_counter {
	char label[JETWATT_LABEL_LEN];
	uint64_t uj;
};

/* Read a line of a file below @dir, without its line feed. Return: 0; -ENOENT. */
static int read_line(const char *dir, const char *file, char *line, int len)
{
	char path[PATH_LEN + 40];
	FILE *f;
	int read;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	read = f && fgets(line, len, f);
	if (f)
		fclose(f);
	if (!read)
		return -ENOENT;
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static int read_number(const char *dir, const char *file, int64_t *v)
{
	char line[32];

	return read_line(dir, file, line, sizeof(line)) || sscanf(line, "%" SCNd64, v) != 1 ? -ENOENT : 0;
}

/* Find the directory of the hwmon device of the module. Return: 0; -ENODEV. */
static int find_hwmon(const struct exporter_telemetry *t, char *dir)
{
	char name[32];

	for (int i = 0; i < DEVICES_MAX; i++) {
		snprintf(dir, PATH_LEN, "%.100s/class/hwmon/hwmon%d", t->sys, i);
		if (!read_line(dir, "name", name, sizeof(name)) && !strcmp(name, "jetwatt"))
			return 0;
	}
	return -ENODEV;
}

static int read_counter(const char *dir, unsigned int number, struct hwmon_counter *c)
{
	char file[32];
	int64_t uj;

	snprintf(file, sizeof(file), "energy%u_input", number);
	if (read_number(dir, file, &uj))
		return -ENOENT;
	c->uj = (uint64_t)uj;
	snprintf(file, sizeof(file), "energy%u_label", number);
	return read_line(dir, file, c->label, sizeof(c->label));
}

/* Write the energy of the rails that a family contains. @in_total: 1: enabled rails that belong to the
 * total; 0: other enabled rails; -1: all rails, because the rail graph is unknown. */
static void write_rails(const struct jetwatt_metrics *m, const char *dir, const struct jetwatt_rail *rail,
			int rails, int in_total, const char *name, const char *help)
{
	struct jetwatt_rail seen[JETWATT_RAILS_MAX];
	const char *label;
	struct hwmon_counter c;
	char sample[64];
	int any = 0, n = 0;

	snprintf(sample, sizeof(sample), "%s_total", name);
	for (unsigned int id = 0; id < JETWATT_RAILS_MAX; id++) {
		const struct jetwatt_rail *r = NULL;

		for (int i = 0; i < rails; i++)
			if (rail[i].id == id)
				r = &rail[i];
		if (in_total >= 0 && (!r || !r->enabled || !!r->in_total != in_total))
			continue;
		if (read_counter(dir, id + FIRST_RAIL, &c))
			continue;
		if (!any++)
			jetwatt_metrics_family(m, name, "counter", "joules", help);
		if (r) {
			label = r->label;
		} else {
			/* In hwmon, two rails may have the same label. */
			seen[n].id = id;
			memcpy(seen[n].label, c.label, sizeof(c.label));
			jetwatt_rail_label_unique(seen, n);
			label = seen[n++].label;
		}
		jetwatt_metrics_sample(m, sample, "rail", label, c.uj * 1e-6);
	}
}

static int write_energy(const struct exporter_telemetry *t, const struct jetwatt_metrics *m)
{
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct hwmon_counter total;
	char dir[PATH_LEN], *end;
	int rails = t->module ? jetwatt_rails(t->module, rail, JETWATT_RAILS_MAX) : -ENOENT;
	int64_t uw;

	if (find_hwmon(t, dir) || read_counter(dir, TOTAL, &total))
		return -ENODEV;
	/* jetwattd says "module" and "board" for "module total" and "board total". */
	end = strstr(total.label, " total");
	if (end)
		*end = '\0';
	jetwatt_metrics_family(m, "jetwatt_module_energy_joules", "counter", "joules",
			       "Energy of all rails of the total since the kernel module was loaded");
	jetwatt_metrics_sample(m, "jetwatt_module_energy_joules_total", "scope", total.label, total.uj * 1e-6);
	if (!read_number(dir, "power1_input", &uw))
		jetwatt_metrics_gauge(m, "jetwatt_module_power_watts", "watts",
				      "Total power of the latest power sample", uw * 1e-6);
	if (rails < 0) {
		write_rails(m, dir, NULL, 0, -1, "jetwatt_unsorted_rail_energy_joules",
			    "Energy of a rail; which rails supply others is not known here, so do not add them");
		return 0;
	}
	rails = rails < JETWATT_RAILS_MAX ? rails : JETWATT_RAILS_MAX;
	write_rails(m, dir, rail, rails, 1, "jetwatt_rail_energy_joules",
		    "Energy of a rail that belongs to the total");
	write_rails(m, dir, rail, rails, 0, "jetwatt_inner_rail_energy_joules",
		    "Energy of a rail that is fed by another rail or does not belong to the total");
	return 0;
}

/* Write the family of one kind of clock: the highest of its clocks, as in a power mode. */
static void write_clock(const struct jetwatt_metrics *m, const struct jetwatt_clock *clock, int clocks,
			uint32_t kind, const char *name, const char *help)
{
	int32_t khz = 0;

	for (int i = 0; i < clocks; i++)
		if (clock[i].kind == kind && clock[i].value != JETWATT_VALUE_NONE && clock[i].value > khz)
			khz = clock[i].value;
	if (khz)
		jetwatt_metrics_gauge(m, name, "hertz", help, khz * 1e3);
}

static void put_highest(struct jetwatt_telemetry *of, int slot, int64_t v)
{
	if (slot >= 0 && v > of->value[slot])
		of->value[slot] = v;
}

/* Set the temperature to that of the hottest thermal zone. */
static void read_zones(const struct exporter_telemetry *t, struct jetwatt_telemetry *of)
{
	char dir[PATH_LEN];
	int64_t mc;

	for (int i = 0; i < DEVICES_MAX; i++) {
		snprintf(dir, sizeof(dir), "%.100s/class/thermal/thermal_zone%d", t->sys, i);
		/* A zone that is off has no temperature. */
		if (!read_number(dir, "temp", &mc))
			put_highest(of, JETWATT_TELEMETRY_TEMP_MC, mc);
	}
}

static void write_series(struct exporter_telemetry *t, const struct jetwatt_metrics *m)
{
	struct jetwatt_clock clock[JETWATT_CLOCKS_MAX];
	int clocks = t->module ? jetwatt_clocks(t->module, clock, JETWATT_CLOCKS_MAX) : -ENOENT;
	struct jetwatt_reading reading;

	clocks = clocks < JETWATT_CLOCKS_MAX ? clocks : JETWATT_CLOCKS_MAX;
	jetwatt_sysfs_read(t->series, &reading);
	for (int i = 0; i < clocks; i++)
		/* All thermal zones share a slot, which receives their highest temperature. */
		if (clock[i].value != JETWATT_VALUE_NONE)
			put_highest(&reading.of, jetwatt_telemetry_slot(clock[i].kind, 1), clock[i].value);
	/* While no program takes samples, the module does not request temperatures. */
	if (reading.of.value[JETWATT_TELEMETRY_TEMP_MC] == JETWATT_TELEMETRY_NONE)
		read_zones(t, &reading.of);
	write_clock(m, clock, clocks, JETWATT_SERIES_CPU_KHZ, "jetwatt_cpu_frequency_hertz", "Clock of the CPU");
	write_clock(m, clock, clocks, JETWATT_SERIES_GPU_KHZ, "jetwatt_gpu_frequency_hertz", "Clock of the GPU");
	write_clock(m, clock, clocks, JETWATT_SERIES_EMC_KHZ, "jetwatt_emc_frequency_hertz", "Clock of the memory");
	jetwatt_metrics_telemetry(m, &reading.of);
}

int exporter_telemetry_open(struct exporter_telemetry *t, const char *sys)
{
	*t = (struct exporter_telemetry){ .sys = sys };
	return jetwatt_sysfs_open(&t->series, sys);
}

int exporter_telemetry_write(struct exporter_telemetry *t, int open, char *text, size_t *len)
{
	struct jetwatt_metrics m = { fmemopen(text, JETWATTD_RESPONSE_MAX, "w"), open };
	int err;

	*len = 0;
	if (!m.f)
		return -errno;
	/* The family gets another number when the module is loaded again. */
	if (!t->module || jetwatt_rails(t->module, NULL, 0) < 0) {
		jetwatt_close(t->module);
		jetwatt_open(&t->module);
	}
	jetwatt_metrics_family(&m, "jetwatt_build_info", "gauge", NULL, "The version, always 1");
	jetwatt_metrics_sample(&m, "jetwatt_build_info", "version", JETWATT_VERSION, 1);
	err = write_energy(t, &m);
	if (!err) {
		write_series(t, &m);
		jetwatt_metrics_end(&m);
		*len = (size_t)ftell(m.f);
	}
	if (fclose(m.f) && !err)
		err = -EMSGSIZE;
	*len = err ? 0 : *len;
	return err;
}

void exporter_telemetry_close(struct exporter_telemetry *t)
{
	jetwatt_close(t->module);
	jetwatt_sysfs_close(t->series);
}
