/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulated boards and workloads for searches, deliberately not of the model's parametric family. A
 * minibatch is a sequence of kernels, each limited by the slowest of compute, memory and launch (a
 * hard maximum). Each level of the memory clock (EMC) has its own efficiency. A data loader fetches
 * whole items in whole rounds of its workers. Power is the sum of V^2 f terms, with a minimum
 * voltage and scaled by utilisation, of leakage that grows with V, of memory power, and of a
 * constant. Optional: jitter, and a few outliers. */
#ifndef JETWATT_SYNTH_H
#define JETWATT_SYNTH_H

#include <math.h>
#include <stdlib.h>

#include "search_run.h"

#define SYNTH_KERNELS	5

struct synth {
	int cores, cpus, gpus, emcs, workers, items;
	double flop[SYNTH_KERNELS], bytes[SYNTH_KERNELS], launch[SYNTH_KERNELS];
	double item_cycles, item_bytes, fixed, serial;
	double emc_eff[16], base, gpu_c, gpu_idle, gpu_leak, cpu_c, cpu_leak, emc_w, byte_w;
	double gpu_vmin, gpu_slope, cpu_vmin, cpu_slope;
};

static double synth_between(uint64_t *s, double lo, double hi)
{
	return lo * pow(hi / lo, search_uniform(s));
}

static double synth_emc(const struct synth *w, int e)
{
	static const double orin[] = { 0.204, 0.6656, 2.133, 3.199 };
	static const double xavier[] = { 0.204, 0.4080, 0.6656, 0.8, 1.0656, 1.3312, 1.6, 1.866,
					 2.133 };

	return w->emcs == 9 ? xavier[e] : orin[e + 4 - w->emcs];
}

/* Boards whose clock levels are simulated: AGX Orin, AGX Xavier, Orin Nano. */
enum { SYNTH_ORIN, SYNTH_XAVIER, SYNTH_NANO };

/* Create a board of @kind. The power range of the board is that of an AGX Orin, so that budgets
 * from 15 to 45 W are useful. */
static void synth_make(struct synth *w, uint64_t seed, int kind)
{
	uint64_t s = seed * 1000003 + 17, *r = &s;
	static const int workers[] = { 0, 1, 2, 4, 4, 8 };
	double gpu = synth_between(r, 8, 120), mem = gpu * synth_between(r, 0.1, 1.2);
	double load = gpu * synth_between(r, 0.05, 1.5), launch = gpu * synth_between(r, 0.02, 0.6);
	double part[SYNTH_KERNELS], sum = 0;

	static const struct synth board[] = {
		[SYNTH_ORIN] = { .cores = 12, .cpus = 29, .gpus = 13, .emcs = 4 },
		[SYNTH_XAVIER] = { .cores = 8, .cpus = 29, .gpus = 14, .emcs = 9 },
		[SYNTH_NANO] = { .cores = 6, .cpus = 20, .gpus = 5, .emcs = 3 },
	};

	*w = board[kind];
	w->workers = workers[(int)(search_uniform(r) * 6)];
	w->items = 16;
	for (int k = 0; k < SYNTH_KERNELS; k++)
		sum += part[k] = synth_between(r, 0.1, 1);
	for (int k = 0; k < SYNTH_KERNELS; k++) {
		double lean = synth_between(r, 0.3, 3);

		w->flop[k] = gpu * part[k] / sum * lean;
		w->bytes[k] = mem * part[k] / sum / lean;
		w->launch[k] = launch * part[k] / sum;
	}
	w->item_cycles = load * (w->workers ? w->workers : 0.3) / w->items;
	w->item_bytes = load * synth_between(r, 0.02, 0.2) / w->items;
	w->fixed = gpu * synth_between(r, 0.005, 0.1);
	w->serial = gpu * synth_between(r, 0.01, 0.2);
	for (int e = 0; e < w->emcs; e++) {
		double least = e ? w->emc_eff[e - 1] * synth_emc(w, e - 1) / synth_emc(w, e) : 0;

		/* A higher EMC level never gives a lower bandwidth. */
		w->emc_eff[e] = fmax(0.7 + 0.3 * search_uniform(r), least);
	}
	w->base = synth_between(r, 6, 11);
	w->gpu_c = synth_between(r, 5, 14);
	w->gpu_idle = synth_between(r, 0.1, 0.5);
	w->gpu_leak = synth_between(r, 0.5, 3);
	w->cpu_c = synth_between(r, 0.5, 1.3);
	w->cpu_leak = synth_between(r, 0.05, 0.25);
	w->emc_w = synth_between(r, 0.5, 2);
	w->byte_w = synth_between(r, 1, 7);
	w->gpu_vmin = 0.55 + 0.1 * search_uniform(r);
	w->gpu_slope = 0.35 + 0.2 * search_uniform(r);
	w->cpu_vmin = 0.6 + 0.1 * search_uniform(r);
	w->cpu_slope = 0.2 + 0.15 * search_uniform(r);
}

static double synth_volt(double f, double vmin, double slope)
{
	double v = 0.45 + slope * f;

	return v > vmin ? v : vmin;
}

static struct jetwatt_row synth_row(const struct synth *w, int cores, double fc, double fg,
				    double fe, double eff)
{
	double gpu = w->fixed + w->serial / fc, busy = 0, bytes = 0, load, t;
	double vg = synth_volt(fg, w->gpu_vmin, w->gpu_slope);
	double vc = synth_volt(fc, w->cpu_vmin, w->cpu_slope), bw = fe / 3.2 * eff, used, p;

	for (int k = 0; k < SYNTH_KERNELS; k++) {
		double c = w->flop[k] / fg, m = w->bytes[k] / bw, l = w->launch[k] / fc;
		double on = c > m ? c : m;

		gpu += on > l ? on : l;
		busy += on;
		bytes += w->bytes[k];
	}
	if (w->workers) {
		int hands = cores > w->workers ? w->workers : cores;
		int rounds = (w->items + hands - 1) / hands;

		load = rounds * (w->item_cycles / fc + hands * w->item_bytes / bw);
		t = gpu > load ? gpu : load;
	} else {
		load = w->items * (w->item_cycles / fc + w->item_bytes / bw);
		t = gpu + load;
	}
	used = (w->items * w->item_cycles + w->serial) / fc / t + 0.4;
	used = used > cores ? cores : used;
	p = w->base + w->gpu_leak * vg + w->cpu_leak * cores * vc;
	p += w->gpu_c * vg * vg * fg * (w->gpu_idle + (1 - w->gpu_idle) * busy / t) * 2;
	p += w->cpu_c * vc * vc * fc * (used + 0.15 * (cores - used));
	p += w->emc_w * fe / 3.2 + w->byte_w * bytes / t / 2;
	return (struct jetwatt_row){ .time_ms = t, .power_w = p };
}

/* Store a row for every mode of the grid of the board in @out, which the caller frees. @dirt: share
 * of outliers, whose power is 15 % too low; above 0, every row has jitter too. Return: number of
 * modes; -ENOMEM. */
static long synth_rows(const struct synth *w, struct jetwatt_row **out, double dirt, uint64_t seed)
{
	size_t n = (size_t)w->cores * w->cpus * w->gpus * w->emcs, i = 0;
	struct jetwatt_row *r = malloc(n * sizeof(*r));
	uint64_t s = seed * 31 + 5;

	if (!r)
		return -ENOMEM;
	for (int c = 1; c <= w->cores; c++)
		for (int k = 0; k < w->cpus; k++)
			for (int g = 0; g < w->gpus; g++)
				for (int e = 0; e < w->emcs; e++) {
					double fc = 0.1152 + k * 2.0864 / (w->cpus - 1);
					double fg = 0.11475 + g * 1.18575 / (w->gpus - 1);
					double fe = synth_emc(w, e);

					r[i] = synth_row(w, c, fc, fg, fe, w->emc_eff[e]);
					r[i].mode = (struct jetwatt_mode){
						.cores = c, .cpu_khz = fc * 1e6 + 0.5,
						.gpu_hz = fg * 1e9 + 0.5, .emc_hz = fe * 1e9 + 0.5,
					};
					if (dirt > 0) {
						r[i].time_ms *= exp(0.01 * search_normal(&s));
						r[i].power_w *= exp(0.015 * search_normal(&s));
						if (search_uniform(&s) < dirt)
							r[i].power_w *= 0.85;
					}
					i++;
				}
	*out = r;
	return n;
}

#endif
