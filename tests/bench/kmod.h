/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the benchmarks of the module share. */
#ifndef BENCH_KMOD_H
#define BENCH_KMOD_H

#include <jetwatt.h>
#include <poll.h>

#include "kmod/family.h"

static inline void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Read a true value of the simulated board. */
static inline unsigned long long truth(const char *key)
{
	FILE *f = fopen("/sys/kernel/debug/jetwatt-sim/truth/now", "r");
	unsigned long long value = 0, v;
	char name[64], line[128];

	if (!f)
		die("truth");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %llu", name, &v) == 2 && !strcmp(name, key))
			value = v;
	fclose(f);
	return value;
}

static inline struct jetwatt *open_module(void)
{
	struct jetwatt *jw;

	if (jetwatt_open(&jw)) {
		fprintf(stderr, "bench: %s\n", jetwatt_error(NULL));
		exit(1);
	}
	return jw;
}

/* @age_ms: maximum age of a sample before it is sent, in ms; UINT32_MAX: keep the setting. */
static inline void configure_age(struct jetwatt *jw, uint32_t hz, uint32_t share_pct,
				 uint32_t age_ms)
{
	struct jetwatt_config c = { hz, age_ms == UINT32_MAX ? age_ms : 256, age_ms, share_pct, 0, 0 };

	if (jetwatt_config_set(jw, &c)) {
		fprintf(stderr, "bench: %s\n", jetwatt_error(jw));
		exit(1);
	}
}

static inline void configure(struct jetwatt *jw, uint32_t hz, uint32_t share_pct)
{
	configure_age(jw, hz, share_pct, UINT32_MAX);
}

struct tally {
	uint64_t samples, gaps, sum;
};

static inline void take(const struct jetwatt_samples *s, void *arg)
{
	struct tally *t = arg;
	uint32_t i, k;

	t->samples += s->count;
	t->gaps += s->gap;
	for (i = 0; i < s->nr_series; i++)
		for (k = 0; k < s->count; k++)
			t->sum += s->series[i].value[k];
}

static inline void dispatch_until(struct jetwatt *jw, uint64_t end)
{
	struct pollfd p = { .fd = jetwatt_fd(jw), .events = POLLIN };
	uint64_t now;

	while ((now = now_ns()) < end)
		if (poll(&p, 1, (end - now) / 1000000 + 1) > 0 && jetwatt_dispatch(jw) < 0)
			die("dispatch");
}

/* Set short conversions through hwmon, as tools of JetPack do. */
static inline void convert_fast(void)
{
	static const unsigned int addr[] = { 0x40, 0x41 };
	char dir[128], path[192];
	int i;

	for (i = 0; i < 2; i++) {
		if (!hwmon(addr[i], dir, sizeof(dir)))
			die("hwmon");
		snprintf(path, sizeof(path), "%s/samples", dir);
		if (write_number(path, 1))
			die(path);
		snprintf(path, sizeof(path), "%s/update_interval", dir);
		if (write_number(path, i ? 0 : 1))
			die(path);
	}
}

#endif
