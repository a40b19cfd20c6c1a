// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the true state of the plant, which no sensor shows, in debugfs. Tests and the report of the
 * demo read the debugfs files; the tool under test must never read them.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "bus.h"
#include "chip.h"
#include "drivers.h"
#include "knobs.h"
#include "plant.h"
#include "plant_state.h"
#include "trace.h"

/*
 * In the files that are lists, position 0 is the header line, and entry n (from 0) has position
 * n + 1.
 */
static void *next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct seq_operations *op = m->op;

	++*pos;
	return op->start(m, pos);
}

static void stop(struct seq_file *m, void *v)
{
}

static void *modes_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= sim_state.model->modes() ? pos : NULL;
}

static int modes_show(struct seq_file *m, void *v)
{
	loff_t pos = *(loff_t *)v;
	struct sim_point point;
	struct sim_mode mode;
	u64 ns, milli_w;
	u32 us;

	if (!pos) {
		seq_puts(m, "cores,cpu_khz,gpu_hz,emc_hz,time_ms,power_w\n");
		return 0;
	}
	sim_state.model->mode(pos - 1, &mode);
	sim_state.model->point(&mode, &point);
	ns = sim_point_time_ns(&point);
	us = do_div(ns, 1000000);
	milli_w = DIV_ROUND_CLOSEST(sim_point_module_uw(&point), 1000);
	seq_printf(m, "%u,%u,%llu,%llu,%llu.%06u,%llu.%03llu\n", mode.cores, mode.cpu_khz,
		   mode.gpu_hz, mode.emc_hz, ns, us, milli_w / 1000, milli_w % 1000);
	return 0;
}

static const struct seq_operations modes_sops = {
	.start = modes_start, .next = next, .stop = stop, .show = modes_show,
};
DEFINE_SEQ_ATTRIBUTE(modes);

/* Get the energy entry at position *pos, and skip entries that were overwritten meanwhile. */
static bool seek_energy(loff_t *pos, struct sim_energy_entry *e)
{
	unsigned long flags;
	int found;

	if (!*pos)
		return true;
	spin_lock_irqsave(&sim_state.lock, flags);
	if (*pos - 1 < sim_trace_first_energy())
		*pos = sim_trace_first_energy() + 1;
	found = sim_trace_get_energy(*pos - 1, e);
	spin_unlock_irqrestore(&sim_state.lock, flags);
	return found > 0;
}

static void *energy_start(struct seq_file *m, loff_t *pos)
{
	struct sim_energy_entry e;

	return seek_energy(pos, &e) ? pos : NULL;
}

static int energy_show(struct seq_file *m, void *v)
{
	loff_t pos = *(loff_t *)v;
	struct sim_energy_entry e;

	if (!pos)
		seq_puts(m, "t_ns,energy_uj\n");
	else if (seek_energy(&pos, &e))
		seq_printf(m, "%llu,%llu\n", e.t_ns, e.uj);
	return 0;
}

static const struct seq_operations energy_sops = {
	.start = energy_start, .next = next, .stop = stop, .show = energy_show,
};
DEFINE_SEQ_ATTRIBUTE(energy);

static bool seek_minibatch(loff_t *pos, struct sim_minibatch *b)
{
	unsigned long flags;
	int found;

	if (!*pos)
		return true;
	spin_lock_irqsave(&sim_state.lock, flags);
	if (*pos - 1 < sim_trace_first_minibatch())
		*pos = sim_trace_first_minibatch() + 1;
	found = sim_trace_get_minibatch(*pos - 1, b);
	spin_unlock_irqrestore(&sim_state.lock, flags);
	return found > 0;
}

static void *minibatches_start(struct seq_file *m, loff_t *pos)
{
	struct sim_minibatch b;

	return seek_minibatch(pos, &b) ? pos : NULL;
}

static int minibatches_show(struct seq_file *m, void *v)
{
	loff_t pos = *(loff_t *)v;
	struct sim_minibatch b;

	if (!pos)
		seq_puts(m, "n,start_ns,end_ns,kind,tgid,end_uj\n");
	else if (seek_minibatch(&pos, &b))
		seq_printf(m, "%lld,%llu,%llu,%u,%d,%llu\n", pos, b.start_ns, b.end_ns, b.kind,
			   b.tgid, b.end_uj);
	return 0;
}

static const struct seq_operations minibatches_sops = {
	.start = minibatches_start, .next = next, .stop = stop, .show = minibatches_show,
};
DEFINE_SEQ_ATTRIBUTE(minibatches);

static int now_show(struct seq_file *m, void *v)
{
	static const char *const phases[] = { "idle", "stall", "busy" };
	struct sim_point point;
	struct sim_now now;

	sim_plant_now(&now);
	sim_state.model->point(&now.mode, &point);
	seq_printf(m, "t_ns %llu\nenergy_uj %llu\n", now.t_ns, now.energy_uj);
	seq_printf(m, "power_uw_VDD_GPU_SOC %u\npower_uw_VDD_CPU_CV %u\n",
		   now.uw[SIM_RAIL_GPU_SOC], now.uw[SIM_RAIL_CPU_CV]);
	seq_printf(m, "power_uw_VIN_SYS_5V0 %u\npower_uw_VDDQ_VDD2_1V8AO %u\n",
		   now.uw[SIM_RAIL_SYS_5V0], now.uw[SIM_RAIL_DDR]);
	seq_printf(m, "energy_uj_VDD_GPU_SOC %llu\nenergy_uj_VDD_CPU_CV %llu\n",
		   now.uj[SIM_RAIL_GPU_SOC], now.uj[SIM_RAIL_CPU_CV]);
	seq_printf(m, "energy_uj_VIN_SYS_5V0 %llu\nenergy_uj_VDDQ_VDD2_1V8AO %llu\n",
		   now.uj[SIM_RAIL_SYS_5V0], now.uj[SIM_RAIL_DDR]);
	seq_printf(m, "cores %u\ncpu_khz %u\ngpu_hz %llu\nemc_hz %llu\n", now.mode.cores,
		   now.mode.cpu_khz, now.mode.gpu_hz, now.mode.emc_hz);
	seq_printf(m, "phase %s\ntemp_mc %d\nplant %s\n", phases[now.phase], now.temp_mc,
		   sim_state.model->name);
	seq_printf(m, "sensors_ns %llu\n", sim_bus_spent_ns());
	/* Print the duration and power of a minibatch in the present mode, without noise. */
	seq_printf(m, "mode_time_ns %llu\nmode_power_uw %u\n", sim_point_time_ns(&point),
		   sim_point_module_uw(&point));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(now);

/*
 * Calculate the duration (ns) and energy (nJ) of a kernel with @flop operations and @bytes of
 * memory traffic in @mode.
 */
static void take(const struct sim_mode *mode, u64 flop, u64 bytes, u64 *ns, u64 *nj)
{
	struct sim_point point;

	sim_state.model->kernel(mode, flop, bytes, 1, &point);
	*ns = sim_point_time_ns(&point);
	*nj = mul_u64_u64_div_u64(*ns, sim_point_module_uw(&point), 1000000);
}

/*
 * List both rooflines of every mode, without noise: operations and bytes per second, energy per
 * operation and per byte, and constant power; for the replay plant, only the header line. The energy
 * per operation is what half a second of operations adds to one second of memory traffic, divided by
 * their number: both run in parallel, so the duration does not change. The energy per byte is what
 * half a second of memory traffic adds to one second of operations, divided by the bytes.
 */
static int roofs_show(struct seq_file *m, void *v)
{
	const u64 flop = 1000000000000, bytes = 100000000000;
	u64 ns, nj, flop_s, byte_s, more, t, eps_flop, eps_mem;
	loff_t pos = *(loff_t *)v;
	struct sim_mode mode;

	if (!pos) {
		seq_puts(m, "cores,cpu_khz,gpu_hz,emc_hz,mflop_s,kbyte_s,eps_flop_aj,eps_mem_aj,pi0_uw\n");
		return 0;
	}
	if (!sim_state.model->kernel)
		return 0;
	sim_state.model->mode(pos - 1, &mode);
	take(&mode, flop, 0, &ns, &nj);
	flop_s = mul_u64_u64_div_u64(flop, NSEC_PER_SEC, ns);
	take(&mode, 0, bytes, &ns, &nj);
	byte_s = mul_u64_u64_div_u64(bytes, NSEC_PER_SEC, ns);

	take(&mode, 0, byte_s, &t, &nj);
	take(&mode, flop_s / 2, byte_s, &t, &more);
	eps_flop = mul_u64_u64_div_u64(more - nj, 2 * NSEC_PER_SEC, flop_s);
	take(&mode, flop_s, 0, &t, &nj);
	take(&mode, flop_s, byte_s / 2, &t, &more);
	eps_mem = mul_u64_u64_div_u64(more - nj, 2 * NSEC_PER_SEC, byte_s);
	nj -= mul_u64_u64_div_u64(eps_flop, flop_s, NSEC_PER_SEC);
	seq_printf(m, "%u,%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", mode.cores, mode.cpu_khz,
		   mode.gpu_hz, mode.emc_hz, div_u64(flop_s, 1000000), div_u64(byte_s, 1000),
		   eps_flop, eps_mem, mul_u64_u64_div_u64(nj, 1000000, t));
	return 0;
}

static const struct seq_operations roofs_sops = {
	.start = modes_start, .next = next, .stop = stop, .show = roofs_show,
};
DEFINE_SEQ_ATTRIBUTE(roofs);

void sim_truth_files(struct dentry *dir)
{
	struct dentry *truth = debugfs_create_dir("truth", dir);

	debugfs_create_file("modes", 0400, truth, NULL, &modes_fops);
	debugfs_create_file("energy", 0400, truth, NULL, &energy_fops);
	debugfs_create_file("minibatches", 0400, truth, NULL, &minibatches_fops);
	debugfs_create_file("roofs", 0400, truth, NULL, &roofs_fops);
	debugfs_create_file("now", 0400, truth, NULL, &now_fops);
}
