// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store the clocks and online cores that the board's drivers have set, and pass changes of them to
 * the plant.
 */
#include "knobs.h"

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mutex.h>

#include "boards.h"

struct sim_steps sim_steps;

static DEFINE_MUTEX(lock);	/* protects the state below */
static bool live;
static u32 khz[SIM_CLUSTERS_MAX];
static bool online[SIM_CORES_MAX];
static u64 gpu_hz, emc_hz;

u32 sim_knobs_cluster(u32 cpu)
{
	const struct sim_model_board *board = sim_model_board();

	/* If the machine has more CPUs than the simulated board, the excess CPUs belong to the last
	 * cluster. */
	return min(cpu, board->cores - 1) / board->cluster;
}

static void current_mode(struct sim_mode *mode)
{
	u64 sum = 0;
	u32 i;

	mode->cores = 0;
	for (i = 0; i < SIM_CORES_MAX; i++) {
		if (!online[i])
			continue;
		mode->cores++;
		sum += khz[sim_knobs_cluster(i)];
	}
	mode->cores = max(mode->cores, 1U);
	/* Clusters may have different clocks, so use the mean clock over the online cores. */
	mode->cpu_khz = div_u64(sum, mode->cores) ?: khz[0];
	mode->gpu_hz = gpu_hz;
	mode->emc_hz = emc_hz;
}

void sim_knobs_init(void)
{
	u32 i;

	for (i = 0; i < SIM_CLUSTERS_MAX; i++)
		khz[i] = sim_steps.cpu_khz[sim_steps.nr_cpu - 1];
	gpu_hz = sim_steps.gpu_hz[sim_steps.nr_gpu - 1];
	emc_hz = sim_steps.emc_hz[sim_steps.nr_emc - 1];
	for (i = 0; i < SIM_CORES_MAX; i++)
		online[i] = i < nr_cpu_ids && cpu_online(i);
}

void sim_knobs_mode(struct sim_mode *mode)
{
	mutex_lock(&lock);
	current_mode(mode);
	mutex_unlock(&lock);
}

void sim_knobs_live(bool is)
{
	mutex_lock(&lock);
	live = is;
	mutex_unlock(&lock);
}

void sim_knobs_again(void)
{
	struct sim_mode now;

	mutex_lock(&lock);
	current_mode(&now);
	if (live)
		sim_plant_switch(&now);
	mutex_unlock(&lock);
}

/*
 * Pass a change to the plant. The caller holds the lock, so that changes reach the plant in order.
 */
static void tell(const struct sim_mode *before)
{
	struct sim_mode now;

	current_mode(&now);
	if (live && (now.cores != before->cores || now.cpu_khz != before->cpu_khz ||
		     now.gpu_hz != before->gpu_hz || now.emc_hz != before->emc_hz))
		sim_plant_switch(&now);
}

#define CHANGE(what)				\
do {						\
	struct sim_mode before;			\
						\
	mutex_lock(&lock);			\
	current_mode(&before);			\
	what;					\
	tell(&before);				\
	mutex_unlock(&lock);			\
} while (0)

void sim_knobs_set_core(u32 cpu, bool is)
{
	if (cpu < SIM_CORES_MAX)
		CHANGE(online[cpu] = is);
}

void sim_knobs_set_cpu(u32 cluster, u32 to)
{
	CHANGE(khz[cluster] = to);
}

void sim_knobs_set_gpu(u64 hz)
{
	CHANGE(gpu_hz = hz);
}

void sim_knobs_set_emc(u64 hz)
{
	CHANGE(emc_hz = hz);
}

u32 sim_knobs_cpu(u32 cluster)
{
	return READ_ONCE(khz[cluster]);
}

u64 sim_knobs_gpu(void)
{
	return READ_ONCE(gpu_hz);
}

u64 sim_knobs_emc(void)
{
	return READ_ONCE(emc_hz);
}
