// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the minibatches of a trace with their energy, computed as jetwatt does, for batch.py.
 *
 *   batch-trace TRACE [LOST SEED]
 *
 * LOST: share of the waits that are removed before minibatches are searched, as if the ring buffer
 * had overrun; the wait after a removed one reports the loss.
 *
 * First line: length of the trace in s, its size in bytes, number of rails, number of samples. Then
 * one line per minibatch: process, kind, flags, end in ns, energy in uJ (-1: not measured), its
 * standard error, and the covered share.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/jetwatt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "energy/energy.h"
#include "minibatch/minibatch.h"


#define CHIPS_MAX	16
#define HOLD_MS		500

struct run {
	struct jetwatt_rail rail[JETWATT_RAILS_MAX];
	struct jetwatt_chip chip[CHIPS_MAX];
	double bus_uv[JETWATT_RAILS_MAX];
	int rails, chips;
	struct jetwatt_join *join;
	struct jetwatt_power *power;
	struct jetwatt_sync *sync;
	size_t powers, powers_max, syncs, syncs_max;
	double lose;
	uint32_t lost;
};

static void *room(void *at, size_t n, size_t *max, size_t size)
{
	if (n < *max)
		return at;
	*max = *max ? 2 * *max : 4096;
	at = reallocarray(at, *max, size);
	if (!at)
		exit(1);
	return at;
}

static void on_power(const struct jetwatt_power *p, void *arg)
{
	struct run *r = arg;

	r->power = room(r->power, r->powers, &r->powers_max, sizeof(*p));
	r->power[r->powers++] = *p;
}

static void on_wait(const struct jetwatt_sync *s, void *arg)
{
	struct run *r = arg;

	if (r->lose > 0 && drand48() < r->lose) {
		r->lost++;
		return;
	}
	r->sync = room(r->sync, r->syncs, &r->syncs_max, sizeof(*s));
	r->sync[r->syncs] = *s;
	r->sync[r->syncs++].lost += r->lost;
	r->lost = 0;
}

static void on_rail(const struct jetwatt_rail *rail, void *arg)
{
	struct run *r = arg;
	int i = 0;

	while (i < r->rails && r->rail[i].id != rail->id)
		i++;
	if (i == JETWATT_RAILS_MAX || (i == r->rails && r->join))
		return;
	r->rail[i] = *rail;
	r->rails += i == r->rails;
}

static void on_chip(const struct jetwatt_chip *chip, void *arg)
{
	struct run *r = arg;
	int i = 0;

	while (i < r->chips && r->chip[i].id != chip->id)
		i++;
	if (i == CHIPS_MAX)
		return;
	r->chip[i] = *chip;
	r->chips += i == r->chips;
}

static void join(struct run *r)
{
	if (r->join)
		return;
	if (jetwatt_join_new_rails(&r->join, r->rail, r->rails, HOLD_MS))
		exit(1);
	jetwatt_join_set(r->join, on_power, on_wait, r);
}

static void on_samples(const struct jetwatt_samples *s, void *arg)
{
	struct run *r = arg;

	join(r);
	for (uint32_t i = 0; i < s->nr_series; i++) {
		const struct jetwatt_series_view *v = &s->series[i];

		for (int k = 0; k < r->rails && v->kind == JETWATT_SERIES_BUS_UV; k++)
			if (r->rail[k].id == v->index && v->value[s->count - 1] > 0)
				r->bus_uv[k] = v->value[s->count - 1];
	}
	jetwatt_join_samples(s, r->join);
}

static void on_sync(const struct jetwatt_sync *s, void *arg)
{
	struct run *r = arg;

	join(r);
	jetwatt_join_sync(s, r->join);
}

static void read_trace(struct run *r, const char *path)
{
	static const struct jetwatt_trace_calls calls = {
		.samples = on_samples, .sync = on_sync, .rail = on_rail, .chip = on_chip,
	};
	struct jetwatt_trace_reader *reader;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || jetwatt_trace_reader_new(&reader, fd, &calls, r)) {
		fprintf(stderr, "batch-trace: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	while ((rc = jetwatt_trace_read(reader)) > 0)
		;
	if (rc < 0 || !r->join || !r->powers) {
		fprintf(stderr, "batch-trace: %s: no samples in the trace\n", path);
		exit(1);
	}
	jetwatt_join_flush(r->join);
	printf("%.3f %lld %d %zu\n",
	       (double)(r->power[r->powers - 1].time_ns - r->power[0].time_ns) * 1e-9,
	       (long long)st.st_size, r->rails, r->powers);
	jetwatt_trace_reader_free(reader);
	close(fd);
}

static void sensors(const struct run *r, struct jetwatt_batch_sensor *s)
{
	for (int i = 0; i < r->rails; i++) {
		const struct jetwatt_chip *chip = NULL;

		for (int k = 0; k < r->chips; k++)
			if (r->chip[k].id == r->rail[i].chip)
				chip = &r->chip[k];
		s[i] = jetwatt_batch_sensor(&r->rail[i], chip, r->bus_uv[i]);
		s[i].idle_uw = -1;
		s[i].counts = r->rail[i].in_total != 0;
	}
}

int main(int argc, char **argv)
{
	struct jetwatt_batch_sensor s[JETWATT_RAILS_MAX];
	struct jetwatt_batch_bound *b;
	struct jetwatt_batch_info info;
	struct run r = { 0 };
	int n;

	if (argc != 2 && argc != 4)
		return 2;
	r.lose = argc > 2 ? atof(argv[2]) : 0;
	if (argc > 2)
		srand48(atol(argv[3]));
	read_trace(&r, argv[1]);
	sensors(&r, s);
	b = calloc(2 * r.syncs + 1, sizeof(*b));
	if (!b)
		return 1;
	n = jetwatt_batch_segment(r.sync, r.syncs, b, &info);
	for (int i = 0; i < n; i++) {
		struct jetwatt_batch_energy_result c = { .total_uj = -1 };

		if (jetwatt_batch_energy_result(r.power, r.powers, s, r.rails, &b[i], &c))
			c.total_uj = -1;
		printf("%u %d %u %" PRIu64 " %.0f %.0f %.4f\n", b[i].tgid, b[i].kind, b[i].flags,
		       b[i].end_ns, c.total_uj, c.total_sd_uj, c.covered);
	}
	jetwatt_join_free(r.join);
	free(r.power);
	free(r.sync);
	free(b);
	return n < 0 && n != -ENODATA;
}
