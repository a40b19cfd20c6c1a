/* SPDX-License-Identifier: GPL-2.0-only */
/* host1x syncpoints: counters that the GPU increments and processes wait for. */
#ifndef SIM_SYNCPT_H
#define SIM_SYNCPT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/wait.h>

struct sim_syncpt {
	u32 id;
	atomic_t value;
	u64 time_ns;		/* time of the last increment */
	u32 *shadow;		/* memory of a job that mirrors the value, or NULL */
	wait_queue_head_t wait;
	struct kref ref;
};

struct sim_syncpt *sim_syncpt_new(void);
struct sim_syncpt *sim_syncpt_get(u32 id);
void sim_syncpt_put(struct sim_syncpt *sp);
/* Context: any. */
void sim_syncpt_raise(struct sim_syncpt *sp, u64 time_ns);

static inline bool sim_syncpt_reached(struct sim_syncpt *sp, u32 threshold)
{
	return (s32)((u32)atomic_read(&sp->value) - threshold) >= 0;
}

#endif
