// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulate the jobs: the data loader and the GPU work of each.
 *
 * A minibatch of a job is a wait for the loader, followed by one or more pieces of GPU work. The
 * end of a piece is calculated from the end of the previous piece, not from the time at which the
 * process submits it: on a board, the GPU has the next work queued by then, and the loader
 * prefetches. So when a piece of work ends, the simulation starts the piece that probably follows,
 * at once. If the process submits this piece within GRACE_NS, the progress so far counts;
 * otherwise, the job becomes idle. Thus the duration of a minibatch is exact, independent of
 * scheduling delays of the process.
 *
 * After a minibatch of a server, and after a kernel that is submitted alone, the GPU is idle until
 * the next submission. After any other kernel of known work, the simulation starts a kernel of the
 * same size at once, without a loader, as if the kernels were queued. The process has
 * KERNEL_GRACE_NS to submit this kernel, because other tasks may keep it from its CPU. The emulator
 * of a guest can delay a process for long: in QEMU before 8.1 with icount, a CPU that wakes up
 * waits 20 to 80 ms, while a busy CPU runs until the next timer.
 *
 * If n jobs use the GPU at the same time, each of them runs at 1/n of its speed. The same holds for
 * n loaders.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "drivers.h"
#include "gpu_uapi.h"
#include "plant_state.h"
#include "syncpt.h"
#include "trace.h"

#define GRACE_NS	(30 * NSEC_PER_MSEC)
#define KERNEL_GRACE_NS	NSEC_PER_SEC
#define FIRST_PERMILLE	1200	/* duration of the first minibatch after a change of the mode */

struct sim_job {
	struct list_head node;
	struct sim_syncpt *sp;
	wait_queue_head_t wait;		/* waits for the loader */
	enum sim_phase phase;
	bool asked;			/* the process has requested this piece */
	pid_t tgid;
	u32 kind, permille, piece, pieces;
	u64 flop, bytes;		/* operations and memory traffic of a kernel of known work */
	u32 launches;			/* number of launches that share that work */
	bool alone;			/* no kernel is queued behind this one */
	struct sim_point kernel;	/* duration and power of this kernel in the present mode */
	u32 jitter;			/* factor of this minibatch's duration, 1/65536 */
	u32 switches;			/* number of mode changes before this minibatch */
	u64 start;			/* start of this minibatch */
	u64 length;			/* duration of this piece */
	s64 left;			/* remaining duration; below 0: the duration is over, but the
					 * process has not submitted the piece yet */
	u64 grace;			/* time until which the process may submit the piece */
};

static const struct sim_point *point_of(const struct sim_job *job)
{
	return job->kind == SIM_KIND_KERNEL ? &job->kernel : &sim_state.point;
}

static u64 length_of(const struct sim_job *job)
{
	u64 ns = point_of(job)->part_ns[job->phase];

	ns = mul_u64_u32_shr(div_u64(ns * job->permille, 1000), job->jitter, 16);
	return job->phase == SIM_BUSY ? div_u64(ns, job->pieces) : ns;
}

static void begin_minibatch(struct sim_job *job, u64 t)
{
	s64 jitter = 65536 + (s64)sim_noise_gauss(&sim_state.noise) * sim_noise_time / 1000;

	if (job->switches != sim_state.switches)
		jitter = jitter * FIRST_PERMILLE / 1000;
	job->switches = sim_state.switches;
	job->jitter = max_t(s64, jitter, 16384);
	job->start = t;
}

/* Start the piece of work that probably follows, as of @over nanoseconds ago. */
static void guess(struct sim_job *job, u64 over)
{
	if (job->phase == SIM_STALL) {
		job->phase = SIM_BUSY;
		job->piece = 1;
	} else if (job->piece < job->pieces) {
		job->piece++;
	} else if (job->kind == SIM_KIND_INFER || (job->kind == SIM_KIND_KERNEL && job->alone)) {
		job->phase = SIM_IDLE;
	} else if (job->kind == SIM_KIND_KERNEL) {
		begin_minibatch(job, sim_state.now - over);
	} else {
		job->phase = SIM_STALL;
		begin_minibatch(job, sim_state.now - over);
	}
	job->asked = false;
	job->length = length_of(job);
	job->left = (s64)job->length - (s64)over;
	job->grace = sim_state.now - over +
		     (job->kind == SIM_KIND_KERNEL ? KERNEL_GRACE_NS : GRACE_NS);
}

/* Finish the piece that the process has submitted and that ended @over nanoseconds ago. */
static void complete_piece(struct sim_job *job, u64 over)
{
	u64 t = sim_state.now - over;

	if (job->phase == SIM_STALL) {
		guess(job, over);
		wake_up_all(&job->wait);
		return;
	}
	sim_syncpt_raise(job->sp, t);
	sim_tsg_post();
	if (job->piece == job->pieces)
		sim_trace_log_minibatch(job->start, t, job->kind, job->tgid);
	guess(job, over);
}

static u32 sharing(enum sim_phase phase)
{
	struct sim_job *job;
	u32 n = 0;

	list_for_each_entry(job, &sim_state.jobs, node)
		n += job->phase == phase;
	return n;
}

u64 sim_work_next(void)
{
	struct sim_job *job;
	u64 next = U64_MAX;

	list_for_each_entry(job, &sim_state.jobs, node) {
		if (job->phase == SIM_IDLE)
			continue;
		if (job->asked)
			next = min(next, sim_state.now +
				   (job->left > 0 ? job->left * sharing(job->phase) : 0));
		else
			next = min(next, job->grace);
	}
	return next;
}

void sim_work_progress(u64 ns)
{
	u32 n[SIM_PHASES] = { 1, max(sharing(SIM_STALL), 1U), max(sharing(SIM_BUSY), 1U) };
	struct sim_job *job;

	list_for_each_entry(job, &sim_state.jobs, node)
		if (job->phase != SIM_IDLE)
			job->left -= n[job->phase] == 1 ? ns : div_u64(ns, n[job->phase]);
}

void sim_work_events(void)
{
	struct sim_job *job;

	list_for_each_entry(job, &sim_state.jobs, node) {
		if (job->phase == SIM_IDLE)
			continue;
		/* Each job's share of the time is rounded down, so up to one nanosecond of progress
		 * per job may be missing. */
		if (job->asked && job->left <= 0)
			complete_piece(job, -job->left);
		else if (!job->asked && sim_state.now >= job->grace)
			job->phase = SIM_IDLE;
	}
}

void sim_work_rescale(const struct sim_point *old)
{
	struct sim_job *job;

	list_for_each_entry(job, &sim_state.jobs, node) {
		u64 before = old->part_ns[job->phase];

		if (job->phase == SIM_IDLE)
			continue;
		if (job->kind == SIM_KIND_KERNEL) {
			before = job->kernel.part_ns[job->phase];
			sim_state.model->kernel(&sim_state.mode, job->flop, job->bytes,
						job->launches, &job->kernel);
		}
		if (job->left > 0 && before)
			job->left = mul_u64_u64_div_u64(job->left, point_of(job)->part_ns[job->phase],
							before);
		job->length = length_of(job);
	}
}

enum sim_phase sim_work_phase(void)
{
	struct sim_job *job;
	enum sim_phase phase = SIM_IDLE;

	list_for_each_entry(job, &sim_state.jobs, node)
		phase = max(phase, job->phase);
	return phase;
}

const struct sim_point *sim_work_kernel(void)
{
	const struct sim_point *kernel = NULL;
	struct sim_job *job;

	list_for_each_entry(job, &sim_state.jobs, node) {
		if (job->phase == SIM_IDLE)
			continue;
		if (job->kind != SIM_KIND_KERNEL)
			return NULL;
		kernel = &job->kernel;
	}
	return kernel;
}

struct sim_job *sim_job_new(struct sim_syncpt *sp)
{
	struct sim_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	unsigned long flags;

	if (!job)
		return NULL;
	job->sp = sp;
	job->tgid = current->tgid;
	init_waitqueue_head(&job->wait);
	spin_lock_irqsave(&sim_state.lock, flags);
	job->switches = sim_state.switches;
	list_add_tail(&job->node, &sim_state.jobs);
	spin_unlock_irqrestore(&sim_state.lock, flags);
	return job;
}

void sim_job_free(struct sim_job *job)
{
	unsigned long flags;

	spin_lock_irqsave(&sim_state.lock, flags);
	sim_plant_advance();
	list_del(&job->node);
	sim_plant_follow();
	sim_plant_arm();
	spin_unlock_irqrestore(&sim_state.lock, flags);
	kfree(job);
}

/*
 * Submit a piece of work. The simulation may have started this piece already, as the probable next
 * one (guess()): then the time since that start counts as progress. If @now is set, that time does
 * not count: the piece starts now.
 */
static int ask(struct sim_job *job, enum sim_phase phase, u32 kind, u32 permille, u32 piece,
	       u32 pieces, bool now, u32 *threshold)
{
	unsigned long flags;
	u64 gone;
	int err = -EBUSY;

	spin_lock_irqsave(&sim_state.lock, flags);
	sim_plant_advance();
	if (job->asked) {
		/* If a signal has interrupted a wait for the loader, a repeated call continues this
		 * wait. */
		if (phase == SIM_STALL && job->phase == SIM_STALL)
			err = 0;
		goto out;
	}
	gone = job->phase == SIM_IDLE || now ? 0 : job->length - job->left;
	if (job->phase == SIM_IDLE && (phase == SIM_STALL || piece == 1))
		begin_minibatch(job, sim_state.now);
	job->phase = phase;
	job->asked = true;
	job->kind = kind;
	job->permille = permille;
	job->piece = piece;
	job->pieces = pieces;
	if (kind == SIM_KIND_KERNEL)
		sim_state.model->kernel(&sim_state.mode, job->flop, job->bytes, job->launches,
					&job->kernel);
	job->length = length_of(job);
	job->left = (s64)job->length - (s64)gone;
	if (threshold)
		*threshold = (u32)atomic_read(&job->sp->value) + 1;
	if (job->left <= 0)
		complete_piece(job, -job->left);
	sim_plant_follow();
	sim_plant_arm();
	err = 0;
out:
	spin_unlock_irqrestore(&sim_state.lock, flags);
	return err;
}

int sim_job_load(struct sim_job *job, u32 kind, u32 permille, bool now)
{
	return ask(job, SIM_STALL, kind, permille, 0, 1, now, NULL);
}

int sim_job_wait(struct sim_job *job)
{
	return wait_event_interruptible(job->wait, !(READ_ONCE(job->asked) &&
						     READ_ONCE(job->phase) == SIM_STALL));
}

int sim_job_submit(struct sim_job *job, u32 kind, u32 permille, u32 piece, u32 pieces,
		   u32 *threshold)
{
	return ask(job, SIM_BUSY, kind, permille, piece, pieces, false, threshold);
}

int sim_job_kernel(struct sim_job *job, struct sim_kernel *k)
{
	if (!sim_state.model->kernel)
		return -EOPNOTSUPP;
	job->flop = k->flop;
	job->bytes = k->bytes;
	job->launches = k->launches ?: 1;
	job->alone = k->alone;
	return ask(job, SIM_BUSY, SIM_KIND_KERNEL, 1000, 1, 1, false, &k->threshold);
}
