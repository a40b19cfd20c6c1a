// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulate the plant over time: integrate the power of each rail from event to event.
 *
 * Power of a rail = power of the model in the present phase x settling x drift.
 *
 * Settling: if the mode changes, or a job starts or ends, 40 % of the change of power takes effect
 * at once, the other 60 % (regulators, junction temperature) with a time constant of 0.7 s. The slow
 * part of the settling follows the mean power over a minibatch, so that settling does not smooth out
 * the phases of a minibatch. Drift: a noise factor around 1 with a time constant of one second.
 * Settling, drift and temperature are updated every 20 ms, as an event, so the power between two
 * events is constant.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>

#include "plant_state.h"
#include "trace.h"

#define TICK_NS		(20 * NSEC_PER_MSEC)
#define SETTLE_SHARE	39322	/* 0.6, in 1/65536 */
#define SETTLE_STEP	1846	/* 1 - exp(-0.02 / 0.7) */
#define DRIFT_KEEP	64238	/* exp(-0.02 / 1) */
#define DRIFT_NEW	12978	/* sqrt(1 - DRIFT_KEEP^2) */
/*
 * Temperature sensor in the die: rise above ambient in 1/1000 degree per watt, and the step per 20
 * ms for a time constant of 12 s. The thermal zones show this temperature unless temp_mc is set, and
 * thermal throttling depends on it. Leakage does not: the analytic model calculates it for the
 * temperature that the mean power of the mode results in.
 */
#define MC_PER_W	900
#define WARM_STEP	109	/* 1 - exp(-0.02 / 12) */

struct sim_state sim_state = {
	.lock = __SPIN_LOCK_UNLOCKED(sim_state.lock),
	.jobs = LIST_HEAD_INIT(sim_state.jobs),
};

uint sim_noise_time = 12;
module_param_named(noise_time, sim_noise_time, uint, 0644);
MODULE_PARM_DESC(noise_time, "standard deviation of the duration of a minibatch, permille (default 12)");

uint sim_noise_power = 4;
module_param_named(noise_power, sim_noise_power, uint, 0644);
MODULE_PARM_DESC(noise_power, "standard deviation of power over seconds, permille (default 4)");

static int ambient_mc = 32000;
module_param(ambient_mc, int, 0644);
MODULE_PARM_DESC(ambient_mc, "ambient temperature, in 1/1000 degree Celsius (default 32000)");

u64 sim_point_time_ns(const struct sim_point *point)
{
	return point->part_ns[SIM_STALL] + point->part_ns[SIM_BUSY];
}

u32 sim_point_mean_uw(const struct sim_point *point, enum sim_rail rail)
{
	u64 ns = sim_point_time_ns(point);

	return mul_u64_u64_div_u64(point->uw[SIM_STALL][rail], point->part_ns[SIM_STALL], ns) +
	       mul_u64_u64_div_u64(point->uw[SIM_BUSY][rail], point->part_ns[SIM_BUSY], ns);
}

u32 sim_point_module_uw(const struct sim_point *point)
{
	u32 uw = 0;
	int i;

	for (i = 0; i < SIM_MODULE_RAILS; i++)
		uw += sim_point_mean_uw(point, i);
	return uw;
}

static u32 goal_uw(const struct sim_point *kernel, int rail)
{
	if (kernel)
		return kernel->uw[SIM_BUSY][rail];
	if (sim_state.phase == SIM_IDLE)
		return sim_state.point.uw[SIM_IDLE][rail];
	return sim_state.mean_uw[rail];
}

static void set_point(const struct sim_point *point)
{
	int i;

	sim_state.point = *point;
	for (i = 0; i < SIM_RAILS; i++)
		sim_state.mean_uw[i] = sim_point_mean_uw(point, i);
}

static u64 module_pj(void)
{
	u64 pj = 0;
	int i;

	for (i = 0; i < SIM_MODULE_RAILS; i++)
		pj += sim_state.pj[i];
	return pj;
}

void sim_plant_follow(void)
{
	struct sim_state *s = &sim_state;
	/* Record the power in the trace when it changes, and also every 10 s, so that products of
	 * power and time fit into 64 bits. */
	bool changed = s->now - s->written > 10 * NSEC_PER_SEC;
	const struct sim_point *kernel = sim_work_kernel(), *point = kernel ?: &s->point;
	int i;

	s->phase = sim_work_phase();
	for (i = 0; i < SIM_RAILS; i++) {
		s64 goal = goal_uw(kernel, i) ?: 1;
		s64 settle = 65536 + div64_s64(((s64)s->slow_uw[i] - goal) * SETTLE_SHARE, goal);
		s64 uw = (((s64)point->uw[s->phase][i] * settle) >> 16) * (65536 + s->drift) >> 16;

		if (uw != s->uw[i])
			changed = true;
		s->uw[i] = uw;
	}
	if (!changed)
		return;
	sim_trace_power(s->now, s->pj, s->uw);
	s->written = s->now;
}

static void tick(void)
{
	struct sim_state *s = &sim_state;
	const struct sim_point *kernel = sim_work_kernel();
	s64 module_uw = 0;
	int i;

	for (i = 0; i < SIM_RAILS; i++) {
		s64 gap = (s64)goal_uw(kernel, i) - s->slow_uw[i];

		s->slow_uw[i] += (gap * SETTLE_STEP) / 65536;
		/* Close the last part of the gap at once, because integer division would leave it
		 * forever. */
		if (gap > -64 && gap < 64)
			s->slow_uw[i] += gap;
		if (i < SIM_MODULE_RAILS)
			module_uw += s->uw[i];
	}
	s->drift = ((s64)s->drift * DRIFT_KEEP + (s64)sim_noise_gauss(&s->noise) *
		    sim_noise_power / 1000 * DRIFT_NEW) / 65536;
	s->temp_uc += (((s64)ambient_mc * 1000 + div_s64(module_uw * MC_PER_W, 1000) - s->temp_uc) *
		       WARM_STEP) / 65536;
	sim_trace_log_energy(s->now, div_u64(module_pj(), 1000000));
	s->tick += TICK_NS;
}

static void integrate(u64 until)
{
	struct sim_state *s = &sim_state;

	if (until == s->now)
		return;
	/* Get the energy from the trace, so that both have the same rounding. */
	sim_trace_energy_at(until, s->pj);
	sim_work_progress(until - s->now);
	s->now = until;
}

void sim_plant_advance(void)
{
	struct sim_state *s = &sim_state;
	u64 present = ktime_get_ns();

	for (;;) {
		u64 next = min(s->tick, sim_work_next());

		if (next > present)
			break;
		integrate(max(next, s->now));
		if (s->now >= s->tick)
			tick();
		sim_work_events();
		sim_plant_follow();
	}
	if (present > s->now)
		integrate(present);
}

void sim_plant_arm(void)
{
	u64 next = min(sim_state.tick, sim_work_next());

	hrtimer_start(&sim_state.timer, ns_to_ktime(next), HRTIMER_MODE_ABS);
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	unsigned long flags;

	spin_lock_irqsave(&sim_state.lock, flags);
	sim_plant_advance();
	sim_plant_arm();
	spin_unlock_irqrestore(&sim_state.lock, flags);
	return HRTIMER_NORESTART;
}

void sim_plant_switch(const struct sim_mode *mode)
{
	struct sim_point point, old;
	unsigned long flags;

	/* Calculate the point without holding the spinlock, because finding it among 20,000 rows of
	 * a replayed file may take long. */
	sim_state.model->point(mode, &point);
	spin_lock_irqsave(&sim_state.lock, flags);
	sim_plant_advance();
	old = sim_state.point;
	sim_state.mode = *mode;
	set_point(&point);
	sim_state.switches++;
	sim_work_rescale(&old);
	sim_plant_follow();
	sim_plant_arm();
	spin_unlock_irqrestore(&sim_state.lock, flags);
}

void sim_plant_energy(u64 t, u64 pj[SIM_RAILS])
{
	unsigned long flags;

	spin_lock_irqsave(&sim_state.lock, flags);
	if (t > sim_state.now)
		sim_plant_advance();
	sim_trace_energy_at(t, pj);
	spin_unlock_irqrestore(&sim_state.lock, flags);
}

void sim_plant_now(struct sim_now *now)
{
	unsigned long flags;
	int i;

	spin_lock_irqsave(&sim_state.lock, flags);
	sim_plant_advance();
	now->t_ns = sim_state.now;
	now->energy_uj = div_u64(module_pj(), 1000000);
	for (i = 0; i < SIM_RAILS; i++) {
		now->uj[i] = div_u64(sim_state.pj[i], 1000000);
		now->uw[i] = sim_state.uw[i];
	}
	now->phase = sim_state.phase;
	now->mode = sim_state.mode;
	now->temp_mc = div_s64(sim_state.temp_uc, 1000);
	spin_unlock_irqrestore(&sim_state.lock, flags);
}

int sim_plant_start(const struct sim_model *model, const struct sim_mode *mode, u64 seed)
{
	struct sim_state *s = &sim_state;
	struct sim_point point;
	unsigned long flags;
	int i, err;

	err = sim_trace_open();
	if (err)
		return err;
	s->model = model;
	s->mode = *mode;
	model->point(mode, &point);
	set_point(&point);
	sim_noise_seed(&s->noise, seed);
	s->temp_uc = (s64)(ambient_mc + 6000) * 1000;
	hrtimer_setup(&s->timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);

	spin_lock_irqsave(&s->lock, flags);
	s->now = ktime_get_ns();
	s->tick = s->now + TICK_NS;
	for (i = 0; i < SIM_RAILS; i++)
		s->slow_uw[i] = s->point.uw[SIM_IDLE][i];
	sim_trace_log_energy(s->now, 0);
	sim_plant_follow();
	sim_plant_arm();
	spin_unlock_irqrestore(&s->lock, flags);
	return 0;
}

void sim_plant_stop(void)
{
	/* No job exists any more, because each job holds a reference to the module. */
	hrtimer_cancel(&sim_state.timer);
	sim_trace_close();
}
