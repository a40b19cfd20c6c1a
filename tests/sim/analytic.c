// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analytic plant, a model of a board: it calculates the duration and power of a workload from
 * the constants of the board.
 *
 * Duration: every layer takes the longest of arithmetic, memory traffic and launches (roofline);
 * the GPU's time is the sum over the layers. The loader's workers run in parallel; the stall is the
 * time by which the loader's time exceeds the GPU's time (without workers, the loader's whole
 * time), plus the time to fetch the minibatch from the loader. Power: C V^2 f of the active
 * units, with a voltage that is constant at low clocks and rises in steps of the regulator; leakage
 * grows with voltage and with the temperature that results from the mean power; DRAM power grows
 * with traffic. The constants are those of the module (boards.c); an AGX Orin draws 10 to 55 W.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>

#include "analytic_work.h"
#include "boards.h"
#include "knobs.h"
#include "plant.h"

#define KERNEL_GPU_CLKS		1900	/* duration of an empty kernel, GPU clock cycles */
#define KERNEL_EFFICIENCY	930	/* rate of a multiply-add kernel, permille of the peak */
#define WORKERS_MAX		64

static const struct sim_work *work;
static int workers_wanted = -1;
static const struct sim_steps *steps;
static const struct sim_magnitudes *board;
static u32 cores_max, cluster_cores;

static int set_workload(const char *text, const struct kernel_param *kp)
{
	char name[16];
	const struct sim_work *w;

	strscpy(name, text, sizeof(name));
	w = sim_work_find(strim(name));
	if (!w) {
		pr_err("unknown workload \"%s\"; known: resnet, loader, lstm, tiny\n", name);
		return -EINVAL;
	}
	WRITE_ONCE(work, w);
	sim_knobs_again();
	return 0;
}

static int get_workload(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%s\n", READ_ONCE(work) ? work->name : "resnet");
}

static const struct kernel_param_ops workload_ops = {
	.set = set_workload,
	.get = get_workload,
};
module_param_cb(workload, &workload_ops, NULL, 0644);
MODULE_PARM_DESC(workload, "analytic plant: resnet (the default), loader, lstm or tiny");

static int set_workers(const char *text, const struct kernel_param *kp)
{
	int n, err = kstrtoint(text, 0, &n);

	if (err)
		return err;
	if (n < -1 || n > WORKERS_MAX)
		return -EINVAL;
	WRITE_ONCE(workers_wanted, n);
	sim_knobs_again();
	return 0;
}

static const struct kernel_param_ops workers_ops = {
	.set = set_workers,
	.get = param_get_int,
};
module_param_cb(workers, &workers_ops, &workers_wanted, 0644);
MODULE_PARM_DESC(workers, "analytic plant: number of processes that load ahead, up to 64; 0: the job loads between minibatches (default -1: the workload's number)");

/* The regulator has steps of 12.5 mV. */
static u64 voltage(const struct sim_volts *v, u32 khz)
{
	u32 i, mv;

	for (i = 1; i < SIM_VOLTS - 1 && khz > v[i].khz; i++)
		;
	if (khz <= v[0].khz)
		mv = v[0].mv;
	else
		mv = v[i - 1].mv + (v[i].mv - v[i - 1].mv) * (u64)(khz - v[i - 1].khz) /
					   (v[i].khz - v[i - 1].khz);
	return DIV_ROUND_UP(mv * 10, 125) * 125 / 10;
}

/*
 * Return: share of the theoretical memory bandwidth that is reached, permille. The share is low at
 * the lowest memory clock, where refresh and bus turn-around take most time.
 */
static u32 emc_efficiency(u64 hz)
{
	return hz < 400000000 ? 610 : hz < 1000000000 ? 690 : hz < 2500000000ULL ? 770 : 790;
}

static u64 cpu_ns(u64 kcycles, u32 cpu_khz)
{
	return div_u64(kcycles * 1000000000ULL, cpu_khz);
}

static u32 workers(const struct sim_work *work)
{
	int n = READ_ONCE(workers_wanted);

	return n < 0 || !work->load_mcycles ? work->workers : n;
}

/* Return: effective number of loader workers, in 1/1000 worker. */
static u32 running(const struct sim_work *work, const struct sim_mode *m)
{
	/* Without workers, the training process loads the data itself and does nothing else
	 * meanwhile. */
	if (!workers(work))
		return 1000;
	if (m->cores > workers(work))
		return workers(work) * 1000;
	/* The training process itself needs part of a core, which the workers cannot use. */
	return m->cores == 1 ? 640 : m->cores * 1000 - 350;
}

struct times {
	u64 arithmetic, traffic, launch;	/* parts of @busy; these parts overlap in time */
	u64 busy, load, stall;
	u64 bytes;
};

static void times(const struct sim_work *work, const struct sim_mode *m, struct times *t)
{
	u32 gpu_khz = div_u64(m->gpu_hz, 1000), emc_khz = div_u64(m->emc_hz, 1000);
	u64 emc_byte_per_ms = (u64)emc_khz * board->emc_byte * emc_efficiency(m->emc_hz) / 1000;
	u64 byte_per_ms = min_t(u64, emc_byte_per_ms, (u64)gpu_khz * board->gpu_byte);
	/* On one or two cores, other tasks delay the launches of kernels. */
	u32 crowd = m->cores == 1 ? 160 : m->cores == 2 ? 115 : 100;
	/* A workload without a loader consists of kernels of known work, which does not depend on
	 * the board's minibatch size. */
	u32 size = work->load_mcycles ? board->minibatch : 1000;
	const struct sim_layer *l;
	u64 load;

	memset(t, 0, sizeof(*t));
	for (l = work->layers; l < work->layers + ARRAY_SIZE(work->layers) && l->launches; l++) {
		u64 flop_per_ms = (u64)board->gpu_flop * gpu_khz / 1000 * l->efficiency;
		u64 a = div64_u64(l->mflop * 1000000000ULL * size, flop_per_ms) +
			div_u64((u64)l->launches * KERNEL_GPU_CLKS * 1000000, gpu_khz);
		u64 q = div64_u64(l->kbyte * 1000000ULL * size, byte_per_ms);
		u64 c = cpu_ns((u64)l->launches * work->launch_kcycles * crowd / 100, m->cpu_khz);

		t->arithmetic += a;
		t->traffic += q;
		t->launch += c;
		t->busy += max3(a, q, c);
		t->bytes += (u64)l->kbyte * size;
	}
	if (!work->load_mcycles)
		return;
	load = work->load_mcycles - work->serial_mcycles;
	t->load = cpu_ns(div_u64(load * 1000 * size, running(work, m)), m->cpu_khz) +
		  cpu_ns((u64)work->serial_mcycles * size, m->cpu_khz) +
		  div64_u64(work->load_kbyte * 1000000ULL * size, emc_byte_per_ms);
	t->stall = cpu_ns(work->dequeue_kcycles, m->cpu_khz) + 60000;
	if (!workers(work))
		t->stall += t->load;
	else if (t->load > t->busy)
		t->stall += t->load - t->busy;
}

/* Return: dynamic power C V^2 f in uW, for C in pF, V in mV and f in kHz. */
static u64 cvvf_uw(u32 pf, u64 mv, u32 khz)
{
	return div_u64(pf * mv * mv / 1000 * khz, 1000000);
}

/*
 * Leakage: the power is @uw at 1 V and 50 degrees Celsius, proportional to the cube of the voltage,
 * and rises by 1.3 % per degree.
 */
static u64 leak_uw(u32 uw, u64 mv, u32 temp_mc)
{
	s64 warm = 1000 + div_s64(((s64)temp_mc - 50000) * 13, 1000);

	return div_u64(div_u64(uw * mv * mv / 1000 * mv, 1000000) * max_t(s64, warm, 400), 1000);
}

static u32 share(u64 part, u64 whole)
{
	return min_t(u64, div64_u64(part * 1000, whole ?: 1), 1000);
}

/*
 * Calculate the power @uw of every rail: @gpu permille of the GPU's units switch, @cpu permille of a
 * core are busy (12000: all of twelve cores), memory traffic is @mbps megabytes per second.
 */
static void rails(const struct sim_mode *m, u32 temp_mc, u32 gpu, u32 cpu, u64 mbps, u32 *uw)
{
	u32 gpu_khz = div_u64(m->gpu_hz, 1000), emc_mhz = div_u64(m->emc_hz, 1000000);
	u64 gpu_mv = voltage(board->gpu_volts, gpu_khz);
	u64 cpu_mv = voltage(board->cpu_volts, m->cpu_khz);
	u32 clusters = DIV_ROUND_UP(m->cores, cluster_cores);
	u64 mss = emc_mhz * 390 + mbps * 9, ddr;

	/* When the GPU is idle, its clock trees still switch a tenth of its capacitance. */
	uw[SIM_RAIL_GPU_SOC] = cvvf_uw(board->gpu_pf, gpu_mv, gpu_khz) * (100 + gpu * 9 / 10) / 1000 +
			       leak_uw(board->gpu_leak_uw, gpu_mv, temp_mc) + board->gpu_uw;
	uw[SIM_RAIL_CPU_CV] = cvvf_uw(board->cpu_pf, cpu_mv, m->cpu_khz) *
			      (m->cores * 60ULL + cpu) / 1000 +
			      m->cores * leak_uw(board->cpu_leak_uw, cpu_mv, temp_mc) +
			      clusters * (cvvf_uw(board->cluster_pf, cpu_mv, m->cpu_khz) +
					  board->cluster_uw) + board->cpu_uw;
	uw[board->mss_on_cpu ? SIM_RAIL_CPU_CV : SIM_RAIL_GPU_SOC] += mss;
	ddr = (420000 + emc_mhz * 310 + mbps * 29) * board->ddr / 1000;
	uw[SIM_RAIL_DDR] = ddr;
	/* The loss of the DDR regulator is 12 % of its output. */
	uw[SIM_RAIL_SYS_5V0] = board->sys_uw + ddr * 112 / 100;
}

static void point_of(const struct sim_work *work, const struct sim_mode *mode, struct sim_point *p)
{
	/* With workers, loading runs ahead and in parallel with the GPU. */
	u32 temp_mc = 55000, gpu, launch, ahead = workers(work) ? running(work, mode) : 0;
	struct times t;
	int i;

	times(work, mode, &t);
	p->part_ns[SIM_STALL] = t.stall;
	p->part_ns[SIM_BUSY] = t.busy;
	p->part_ns[SIM_IDLE] = 0;
	gpu = share(t.busy / 5 + t.arithmetic * 62 / 100 + t.traffic * 18 / 100, t.busy);
	launch = share(t.launch, t.busy);

	/* Temperature and power depend on each other; four iterations are enough to converge. */
	for (i = 0; i < 4; i++) {
		u64 load_kb = (u64)work->load_kbyte * board->minibatch / 1000;

		rails(mode, temp_mc, 30, 1000 + ahead, div64_u64(load_kb * 1000000, t.load ?: 1),
		      p->uw[SIM_STALL]);
		rails(mode, temp_mc, gpu, 150 + launch +
		      (u64)ahead * share(t.load, t.busy) / 1000,
		      div64_u64(t.bytes * 1000 + (ahead ? load_kb : 0) * 1000000, t.busy),
		      p->uw[SIM_BUSY]);
		rails(mode, temp_mc, 0, 100, 50, p->uw[SIM_IDLE]);
		temp_mc = 32000 + div_u64(sim_point_module_uw(p) * 900ULL, 1000000);
	}
}

static void analytic_point(const struct sim_mode *mode, struct sim_point *p)
{
	point_of(READ_ONCE(work), mode, p);
}

static void analytic_kernel(const struct sim_mode *mode, u64 flop, u64 bytes, u32 launches,
			    struct sim_point *p)
{
	struct sim_work kernel = {
		.layers = { { div_u64(flop, 1000000), KERNEL_EFFICIENCY, div_u64(bytes, 1000), launches } },
		.launch_kcycles = 11,
	};

	point_of(&kernel, mode, p);
}

static int analytic_open(struct sim_steps *s, u32 cores)
{
	const struct sim_model_board *is = sim_model_board();

	if (!work)
		work = sim_work_find("resnet");
	board = &is->magnitudes;
	cluster_cores = is->cluster;
	sim_model_steps(is, s);
	steps = s;
	cores_max = cores;
	return 0;
}

static void analytic_close(void)
{
}

static u32 analytic_modes(void)
{
	return cores_max * steps->nr_cpu * steps->nr_gpu * steps->nr_emc;
}

static void analytic_mode(u32 i, struct sim_mode *mode)
{
	mode->emc_hz = steps->emc_hz[i % steps->nr_emc];
	i /= steps->nr_emc;
	mode->gpu_hz = steps->gpu_hz[i % steps->nr_gpu];
	i /= steps->nr_gpu;
	mode->cpu_khz = steps->cpu_khz[i % steps->nr_cpu];
	mode->cores = i / steps->nr_cpu + 1;
}

const struct sim_model sim_analytic = {
	.name = "analytic",
	.open = analytic_open,
	.close = analytic_close,
	.point = analytic_point,
	.kernel = analytic_kernel,
	.modes = analytic_modes,
	.mode = analytic_mode,
};
