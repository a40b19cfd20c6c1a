// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurements for tests/hw/check: takes samples at the highest rate for some seconds, and at the
 * same time reads the same rails from hwmon ten times per second. Prints lines "KEY VALUE" and one
 * line per chip and per rail. Reads no alarms, because reading an alarm clears it.
 *
 *   measure SECONDS
 */
#include <dirent.h>
#include <errno.h>
#include <jetwatt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct rail {
	struct jetwatt_rail info;
	char hwmon[96];
	double ours, theirs;	/* sums of the module's and of hwmon's readings, W */
	unsigned long n, m;
};

static struct rail rails[JETWATT_RAILS_MAX];
static int nr;
static unsigned long gaps, samples;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void find_hwmon(struct rail *r, const struct jetwatt_chip *chip)
{
	char parent[64];
	struct dirent *e;
	DIR *dir;

	snprintf(parent, sizeof(parent), "/sys/bus/i2c/devices/%u-%04x/hwmon", chip->bus, chip->addr);
	dir = opendir(parent);
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, "hwmon", 5))
			snprintf(r->hwmon, sizeof(r->hwmon), "%s/%.16s", parent, e->d_name);
	if (dir)
		closedir(dir);
}

/* Return: value of a hwmon attribute; -1: it cannot be read. */
static double attribute(const struct rail *r, const char *kind)
{
	char path[160];
	double v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%u_input", r->hwmon, kind, r->info.channel + 1);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lf", &v) != 1)
		v = -1;
	if (f)
		fclose(f);
	return v;
}

static void power(const struct jetwatt_power *p, void *arg)
{
	uint32_t i;

	(void)arg;
	samples++;
	gaps += p->gap;
	for (i = 0; i < p->nr; i++)
		if (p->valid & (1u << i)) {
			rails[i].ours += p->uw[i] * 1e-6;
			rails[i].n++;
		}
}

static void read_hwmon(void)
{
	double mv, ma;
	int i;

	for (i = 0; i < nr; i++) {
		mv = attribute(&rails[i], "in");
		ma = attribute(&rails[i], "curr");
		if (mv < 0 || ma < 0)
			continue;
		rails[i].theirs += mv * ma * 1e-6;
		rails[i].m++;
	}
}

static int find_rails(struct jetwatt *jw)
{
	struct jetwatt_rail list[JETWATT_RAILS_MAX];
	struct jetwatt_chip chips[16];
	int i, nr_chips = jetwatt_chips(jw, chips, 16);

	nr = jetwatt_rails(jw, list, JETWATT_RAILS_MAX);
	for (i = 0; i < nr; i++) {
		rails[i].info = list[i];
		if ((int)list[i].chip < nr_chips)
			find_hwmon(&rails[i], &chips[list[i].chip]);
	}
	for (i = 0; i < nr_chips && i < 16; i++)
		printf("chip %s %u-%04x bus_hz %u config 0x%04x errors %llu\n", chips[i].model,
		       chips[i].bus, chips[i].addr, chips[i].bus_hz, chips[i].config,
		       (unsigned long long)chips[i].errors);
	return nr;
}

static void print(struct jetwatt *jw, const struct jetwatt_stats *before)
{
	struct jetwatt_rail list[JETWATT_RAILS_MAX];
	struct jetwatt_stats s;
	int i, n = jetwatt_rails(jw, list, JETWATT_RAILS_MAX);

	jetwatt_stats(jw, &s);
	printf("ticks %llu\nmissed %llu\ni2c_errors %llu\nlost %llu\n",
	       (unsigned long long)(s.ticks - before->ticks),
	       (unsigned long long)(s.missed - before->missed),
	       (unsigned long long)(s.i2c_errors - before->i2c_errors),
	       (unsigned long long)(s.lost - before->lost));
	printf("late_p50_us %.1f\nlate_p99_us %.1f\ntick_us %.1f\nbus_permille %u\n",
	       s.late_p50_ns / 1e3, s.late_p99_ns / 1e3, s.tick_ns / 1e3, s.bus_permille);
	printf("samples %lu\ngaps %lu\n", samples, gaps);
	for (i = 0; i < nr && i < n; i++)
		printf("rail %s enabled %u read_hz %.1f fresh_hz %.1f ours_w %.4f hwmon_w %.4f\n",
		       list[i].label, list[i].enabled, list[i].read_mhz / 1e3,
		       list[i].fresh_mhz / 1e3, rails[i].n ? rails[i].ours / rails[i].n : -1,
		       rails[i].m ? rails[i].theirs / rails[i].m : -1);
}

int main(int argc, char **argv)
{
	uint64_t end, next, seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
	struct jetwatt_join *join = NULL;
	struct jetwatt_stats before;
	struct jetwatt_config was, now, c;
	struct jetwatt *jw = NULL;
	struct pollfd p;
	int err;

	err = jetwatt_open(&jw);
	if (err) {
		fprintf(stderr, "measure: %s\n", jetwatt_error(NULL));
		return 1;
	}
	err = find_rails(jw) <= 0 || jetwatt_config_get(jw, &was) || jetwatt_stats(jw, &before) ||
	      jetwatt_join_new(&join, jw, 500);
	if (err)
		goto out;
	jetwatt_join_set(join, power, NULL, NULL);
	c = (struct jetwatt_config){ 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 };
	err = jetwatt_config_set(jw, &c) || jetwatt_config_get(jw, &now) ||
	      jetwatt_subscribe(jw, jetwatt_join_samples, join);
	if (err)
		goto out;
	p = (struct pollfd){ .fd = jetwatt_fd(jw), .events = POLLIN };
	next = now_ns();
	end = next + seconds * 1000000000ULL;
	while (now_ns() < end && !err) {
		if (poll(&p, 1, 20) > 0)
			err = jetwatt_dispatch(jw) < 0;
		if (now_ns() >= next) {
			read_hwmon();
			next += 100000000;
		}
	}
	jetwatt_join_flush(join);
	printf("requested_hz %u\nrate_hz %u\n", was.rate_hz, now.rate_hz);
	print(jw, &before);
	c.rate_hz = was.rate_hz;
	err |= jetwatt_config_set(jw, &c);
out:
	if (err)
		fprintf(stderr, "measure: %s\n", jetwatt_error(jw));
	jetwatt_join_free(join);
	jetwatt_close(jw);
	return !!err;
}
