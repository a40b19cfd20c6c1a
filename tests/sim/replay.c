// SPDX-License-Identifier: GPL-2.0-only
/*
 * The replay plant: simulate the power modes that were measured on a real board, from a file.
 *
 * The time and power in a row of the file are the duration of a minibatch and the mean power of the
 * module during it. Values that the file lacks are filled in plausibly: the share of stall in a
 * minibatch, how far the power during a stall is below the mean, the idle power, and the
 * distribution of power over the rails (whose sum is the power of the row). A power mode without a
 * row behaves like the row whose logarithms of clocks and cores are nearest.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "replay.h"

static char *csv;
module_param(csv, charp, 0444);
MODULE_PARM_DESC(csv, "replay plant: path of the file with measured modes");

static uint batch;
module_param(batch, uint, 0444);
MODULE_PARM_DESC(batch, "replay plant: minibatch size to select from a file that has several (0: the largest)");

static uint time_scale = 1000;
module_param(time_scale, uint, 0444);
MODULE_PARM_DESC(time_scale, "replay plant: divisor of all times, permille (default 1000)");

static struct sim_row *rows;
static u32 nr_rows;
static u32 cpu_max;
static u64 gpu_max, emc_max;
static u32 idle_uw;

static int by_mode(const void *a, const void *b)
{
	/* Each argument is a mode, or a row, whose first member is its mode. */
	const struct sim_mode *x = a, *y = b;

	if (x->cores != y->cores)
		return x->cores < y->cores ? -1 : 1;
	if (x->cpu_khz != y->cpu_khz)
		return x->cpu_khz < y->cpu_khz ? -1 : 1;
	if (x->gpu_hz != y->gpu_hz)
		return x->gpu_hz < y->gpu_hz ? -1 : 1;
	if (x->emc_hz != y->emc_hz)
		return x->emc_hz < y->emc_hz ? -1 : 1;
	return 0;
}

/* Binary logarithm, in 1/256. */
static s32 log2_256(u64 v)
{
	u32 whole = ilog2(v);
	u32 part = whole >= 8 ? (v >> (whole - 8)) & 255 : (v << (8 - whole)) & 255;

	/* log2(1 + x) = x + 0.344 x (1 - x), with an error of up to 0.008 */
	return whole * 256 + part + ((part * (256 - part) * 88) >> 16);
}

static const struct sim_row *nearest(const struct sim_mode *mode)
{
	s32 at[4] = { log2_256(mode->cores), log2_256(mode->cpu_khz), log2_256(mode->gpu_hz),
		      log2_256(mode->emc_hz) };
	const struct sim_row *best = rows;
	u32 i, least = U32_MAX;

	for (i = 0; i < nr_rows; i++) {
		const struct sim_mode *m = &rows[i].mode;
		s32 d[4] = { log2_256(m->cores) - at[0], log2_256(m->cpu_khz) - at[1],
			     log2_256(m->gpu_hz) - at[2], log2_256(m->emc_hz) - at[3] };
		u32 sum = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3];

		if (sum < least) {
			least = sum;
			best = &rows[i];
		}
	}
	return best;
}

static const struct sim_row *lookup(const struct sim_mode *mode)
{
	u32 low = 0, high = nr_rows;

	while (low < high) {
		u32 mid = low + (high - low) / 2;
		int c = by_mode(mode, &rows[mid]);

		if (!c)
			return &rows[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return nearest(mode);
}

/*
 * Distribute power @uw over the rails, with plausible weights that depend on the clocks of @mode
 * and the phase.
 */
static void spread(const struct sim_mode *mode, u32 uw, enum sim_phase phase, u32 *rail)
{
	u64 gpu = div64_u64(mode->gpu_hz * 1000, gpu_max);
	u64 cpu = div_u64(mode->cpu_khz * 1000ULL, cpu_max) * mode->cores / SIM_MODULE_RAILS;
	u64 emc = div64_u64(mode->emc_hz * 1000, emc_max);
	u64 w_gpu = 3200 + (phase == SIM_BUSY ? 20 : 7) * gpu;
	u64 w_cpu = 1300 + (phase == SIM_STALL ? 4 : 2) * cpu;
	u64 w_sys = 3000 + 3 * emc;
	u64 sum = w_gpu + w_cpu + w_sys;

	rail[SIM_RAIL_GPU_SOC] = div64_u64(uw * w_gpu, sum);
	rail[SIM_RAIL_CPU_CV] = div64_u64(uw * w_cpu, sum);
	rail[SIM_RAIL_SYS_5V0] = uw - rail[SIM_RAIL_GPU_SOC] - rail[SIM_RAIL_CPU_CV];
	rail[SIM_RAIL_DDR] = rail[SIM_RAIL_SYS_5V0] / 100 * (25 + div_u64(emc, 50));
}

static void replay_point(const struct sim_mode *mode, struct sim_point *p)
{
	const struct sim_row *r = lookup(mode);
	/* Slow cores deliver data late, so the stall is 6 to 30 % of the minibatch; @stall and
	 * @speed are in 1/1024. */
	u64 speed = div_u64((u64)r->mode.cpu_khz * 1024, cpu_max) * min(r->mode.cores, 8U) / 8;
	u64 stall = 307 - 245 * speed / 1024;
	/* The power during a stall is lower than while computing by 30 % of the row's power; the
	 * mean is the row's power. */
	u64 low = r->uw - div_u64(r->uw * 3ULL * (1024 - stall), 10240);
	u64 high = r->uw + div_u64(r->uw * 3ULL * stall, 10240);
	u64 ns = div_u64(r->time_ns * 1000, time_scale);

	p->part_ns[SIM_IDLE] = 0;
	p->part_ns[SIM_STALL] = max_t(u64, ns * stall / 1024, 1000);
	p->part_ns[SIM_BUSY] = ns - p->part_ns[SIM_STALL];
	spread(&r->mode, low, SIM_STALL, p->uw[SIM_STALL]);
	spread(&r->mode, high, SIM_BUSY, p->uw[SIM_BUSY]);
	spread(&r->mode, min_t(u32, idle_uw, low), SIM_IDLE, p->uw[SIM_IDLE]);
}

/* Insert value @v into the ascending list @list, unless it is in the list. */
static int collect(u64 *list, u32 *n, u64 v)
{
	u32 i, k;

	for (i = 0; i < *n && list[i] < v; i++)
		;
	if (i < *n && list[i] == v)
		return 0;
	if (*n == SIM_STEPS_MAX)
		return -EINVAL;
	for (k = (*n)++; k > i; k--)
		list[k] = list[k - 1];
	list[i] = v;
	return 0;
}

/*
 * Select the rows of one minibatch size whose number of cores this machine has. If a power mode has
 * several such rows, select one of them.
 */
static int select_rows(u32 cores)
{
	u32 i, n = 0, other = 0, wide = 0, twice = 0, largest = 0;

	for (i = 0; i < nr_rows; i++)
		largest = max(largest, rows[i].batch);
	if (!batch)
		batch = largest;
	for (i = 0; i < nr_rows; i++) {
		if (rows[i].batch != batch && largest)
			other++;
		else if (rows[i].mode.cores > cores)
			wide++;
		else
			rows[n++] = rows[i];
	}
	nr_rows = n;
	sort(rows, nr_rows, sizeof(*rows), by_mode, NULL);
	for (i = 0, n = 0; i < nr_rows; i++) {
		if (n && !by_mode(&rows[n - 1], &rows[i]))
			twice++;
		else
			rows[n++] = rows[i];
	}
	nr_rows = n;
	pr_info("%s: %u modes, times divided by %u/1000; left out: %u of other batch sizes, %u with more than %u cores, %u modes given twice\n",
		csv, nr_rows, time_scale, other, wide, cores, twice);
	if (nr_rows)
		return 0;
	pr_err("%s: no row with batch %u and at most %u cores\n", csv, batch, cores);
	return -EINVAL;
}

static int tables(struct sim_steps *s)
{
	u64 cpu[SIM_STEPS_MAX];
	u32 i, n = 0;

	idle_uw = U32_MAX;
	for (i = 0; i < nr_rows; i++) {
		const struct sim_row *r = &rows[i];

		if (collect(cpu, &n, r->mode.cpu_khz) ||
		    collect(s->gpu_hz, &s->nr_gpu, r->mode.gpu_hz) ||
		    collect(s->emc_hz, &s->nr_emc, r->mode.emc_hz)) {
			pr_err("%s: more than %d steps of a clock\n", csv, SIM_STEPS_MAX);
			return -EINVAL;
		}
		/* Assume that the idle board draws 60 % of the lowest power of all rows, because
		 * the file has no idle power. */
		idle_uw = min(idle_uw, r->uw / 100 * 60);
	}
	for (i = 0; i < n; i++)
		s->cpu_khz[i] = cpu[i];
	s->nr_cpu = n;
	cpu_max = cpu[n - 1];
	gpu_max = s->gpu_hz[s->nr_gpu - 1];
	emc_max = s->emc_hz[s->nr_emc - 1];
	return 0;
}

static int replay_open(struct sim_steps *s, u32 cores)
{
	int err;

	if (!csv || !time_scale) {
		pr_err("plant=replay needs csv=/path and a time_scale above 0\n");
		return -EINVAL;
	}
	err = sim_replay_read(csv, &rows);
	if (err < 0)
		return err;
	nr_rows = err;
	err = select_rows(cores);
	if (!err)
		err = tables(s);
	if (err)
		vfree(rows);
	return err;
}

static void replay_close(void)
{
	vfree(rows);
}

static u32 replay_modes(void)
{
	return nr_rows;
}

static void replay_mode(u32 i, struct sim_mode *mode)
{
	*mode = rows[i].mode;
}

const struct sim_model sim_replay = {
	.name = "replay",
	.open = replay_open,
	.close = replay_close,
	.point = replay_point,
	.modes = replay_modes,
	.mode = replay_mode,
};
