/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated board: the readings of a sensor chip for its rails, and the true energy of each rail.
 * The simulation has bursts of GPU work within minibatches, sequential conversion of the channels,
 * averaging, quantisation, and a reader with its own clock. */
#ifndef JETWATT_TESTS_PLANT_H
#define JETWATT_TESTS_PLANT_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "jetwatt.h"

#define PLANT_RAILS	3

/*
 * struct plant_shape - a job and a sensor
 * @batch_ms: length of a minibatch, in ms
 * @seconds: length of the run, in seconds
 * @kernels: number of GPU bursts per minibatch, which differ in length and power
 * @ct, @avg: conversion time and averaging codes of CONFIG
 * @rate_hz: rate of the reader
 * @late: maximum delay of a read, as a share of the sample period
 * @noise: standard deviation of the noise of a conversion, in LSBs
 * @lost: share of the samples that the reader loses
 */
struct plant_shape {
	const char *name;
	double batch_ms, seconds;
	int kernels, ct, avg;
	double rate_hz, late, noise, lost;
};

/* An interval of constant power. */
struct plant_piece {
	double from_s, w[PLANT_RAILS], j[PLANT_RAILS];	/* j: energy up to from_s, in J */
};

struct plant {
	struct plant_piece *piece;
	size_t pieces;
	uint64_t *bound_ns;
	size_t bounds;
	struct jetwatt_power *power;
	size_t samples;
	struct jetwatt_rail rail[PLANT_RAILS];
	struct jetwatt_chip chip;
};

static const struct {
	double volt, ohm;
} plant_rail[PLANT_RAILS] = { { 19, 0.002 }, { 19, 0.002 }, { 5, 0.005 } };
static const double plant_ct_s[] = { 140e-6, 204e-6, 332e-6, 588e-6, 1100e-6 };
static const int plant_avg[] = { 1, 4, 16 };

static uint64_t plant_random(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double plant_uniform(uint64_t *s)
{
	return (double)(plant_random(s) >> 11) / 9007199254740992.0;
}

static double plant_normal(uint64_t *s)
{
	return sqrt(-2 * log(1 - plant_uniform(s))) * cos(6.283185307179586 * plant_uniform(s));
}

static size_t plant_find(const struct plant *p, double s)
{
	size_t lo = 0, hi = p->pieces;

	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->piece[mid].from_s <= s)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Return the true energy of a rail from the start of the run to time @s, in J. */
static double plant_energy(const struct plant *p, int rail, double s)
{
	const struct plant_piece *at = &p->piece[plant_find(p, s)];

	return at->j[rail] + at->w[rail] * (s - at->from_s);
}

static void plant_add(struct plant *p, double from_s, double gpu_w, double cpu_w, double sys_w)
{
	struct plant_piece *to = &p->piece[p->pieces++];

	*to = (struct plant_piece){ .from_s = from_s, .w = { gpu_w, cpu_w, sys_w } };
	for (int r = 0; r < PLANT_RAILS && p->pieces > 1; r++)
		to->j[r] = to[-1].j[r] + to[-1].w[r] * (from_s - to[-1].from_s);
}

/* Create the job's power over time: in each minibatch a data loader, then GPU kernels with short
 * pauses. */
static void plant_job(struct plant *p, const struct plant_shape *h, uint64_t *z)
{
	size_t n = (size_t)(h->seconds * 1e3 / h->batch_ms) + 2, room = n * ((size_t)h->kernels * 2 + 2);
	double now = 0, length[64], height[64], sum = 0, base = 3 + 4 * plant_uniform(z);

	p->piece = calloc(room, sizeof(*p->piece));
	p->bound_ns = calloc(n + 1, sizeof(*p->bound_ns));
	if (!p->piece || !p->bound_ns)
		abort();
	for (int k = 0; k < h->kernels; k++) {
		length[k] = 0.2 + plant_uniform(z);
		height[k] = 4 + 16 * plant_uniform(z);
		sum += length[k] * 1.1;
	}
	while (now < h->seconds) {
		double batch = h->batch_ms * 1e-3 * (1 + 0.02 * plant_normal(z));
		double load = 0.1 * batch * (0.5 + plant_uniform(z)), unit = (batch - load) / sum;

		p->bound_ns[p->bounds++] = (uint64_t)(now * 1e9);
		plant_add(p, now, base, 5 + 2 * plant_uniform(z), 4);
		now += load;
		for (int k = 0; k < h->kernels; k++) {
			plant_add(p, now, base + height[k] * (1 + 0.03 * plant_normal(z)), 3, 4.5);
			now += length[k] * unit;
			plant_add(p, now, base + 1, 2.5, 4.2);
			now += length[k] * unit * 0.1;
		}
	}
	p->bound_ns[p->bounds++] = (uint64_t)(now * 1e9);
}

/* Simulate the chip's registers over time, and a reader that samples them. */
static void plant_read(struct plant *p, const struct plant_shape *h, uint64_t *z)
{
	double ct = plant_ct_s[h->ct], cycle = PLANT_RAILS * 2 * ct * (0.9 + 0.2 * plant_uniform(z));
	double at = plant_uniform(z) * cycle, out[PLANT_RAILS] = { 0 };
	double uw[PLANT_RAILS], step[PLANT_RAILS], skip = 0;
	int begun = 0;

	ct = cycle / (2 * PLANT_RAILS);
	p->power = calloc((size_t)(h->seconds * h->rate_hz) + 16, sizeof(*p->power));
	if (!p->power)
		abort();
	p->chip = (struct jetwatt_chip){ .config = 7u << 12 | (uint32_t)h->avg << 9 |
					 (uint32_t)h->ct << 6 | (uint32_t)h->ct << 3 | 7,
					 .refresh_mhz = (uint32_t)(1e3 / (6 * plant_ct_s[h->ct])),
					 .model = "ina3221" };
	for (int r = 0; r < PLANT_RAILS; r++) {
		step[r] = 40e-6 / plant_rail[r].ohm * plant_rail[r].volt;
		p->rail[r] = (struct jetwatt_rail){ .id = (uint32_t)r, .shunt_uohm = (uint32_t)(plant_rail[r].ohm * 1e6),
						    .fresh_mhz = p->chip.refresh_mhz };
	}
	/* In each cycle of the chip, channel r converts its shunt voltage between 2 r ct and (2 r +
	 * 1) ct; ct is the conversion time. */
	for (double t = 0.01; t < h->seconds - 0.01; t += 1 / h->rate_hz) {
		double when = t + h->late / h->rate_hz * plant_uniform(z);
		struct jetwatt_power *s = &p->power[p->samples];

		while (at + cycle <= when) {
			for (int r = 0; r < PLANT_RAILS; r++) {
				double from = at + 2 * r * ct, w;

				w = (plant_energy(p, r, from + ct) - plant_energy(p, r, from)) / ct;
				w = step[r] * rint(w / step[r] + h->noise * plant_normal(z));
				out[r] = begun ? out[r] + (w - out[r]) / plant_avg[h->avg] : w;
				uw[r] = step[r] * rint(out[r] / step[r]) * 1e6;
			}
			begun = 1;
			at += cycle;
		}
		if (!begun)
			continue;
		if (plant_uniform(z) < h->lost) {
			skip = 1;
			continue;
		}
		*s = (struct jetwatt_power){ .time_ns = (uint64_t)(when * 1e9), .nr = PLANT_RAILS,
					     .valid = (1u << PLANT_RAILS) - 1, .gap = skip > 0 };
		for (int r = 0; r < PLANT_RAILS; r++)
			s->uw[r] = (int64_t)uw[r];
		skip = 0;
		p->samples++;
	}
}

static void plant_make(struct plant *p, const struct plant_shape *h, uint64_t seed)
{
	*p = (struct plant){ 0 };
	plant_job(p, h, &seed);
	plant_read(p, h, &seed);
}

static void plant_free(struct plant *p)
{
	free(p->piece);
	free(p->bound_ns);
	free(p->power);
}

#endif
