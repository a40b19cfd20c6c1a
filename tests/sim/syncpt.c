// SPDX-License-Identifier: GPL-2.0-only
/* host1x syncpoints. */
#include "syncpt.h"

#include <linux/err.h>
#include <linux/idr.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* Number of syncpoints of Tegra234's host1x, where id 0 is reserved. */
#define SYNCPTS	1024

static DEFINE_MUTEX(lock);	/* protects the table, and the release of the last reference */
static DEFINE_IDR(table);

struct sim_syncpt *sim_syncpt_new(void)
{
	struct sim_syncpt *sp = kzalloc(sizeof(*sp), GFP_KERNEL);
	int id;

	if (!sp)
		return ERR_PTR(-ENOMEM);
	init_waitqueue_head(&sp->wait);
	kref_init(&sp->ref);
	mutex_lock(&lock);
	id = idr_alloc_cyclic(&table, sp, 1, SYNCPTS, GFP_KERNEL);
	mutex_unlock(&lock);
	if (id < 0) {
		kfree(sp);
		return ERR_PTR(id);
	}
	sp->id = id;
	return sp;
}

struct sim_syncpt *sim_syncpt_get(u32 id)
{
	struct sim_syncpt *sp;

	mutex_lock(&lock);
	sp = idr_find(&table, id);
	if (sp)
		kref_get(&sp->ref);
	mutex_unlock(&lock);
	return sp;
}

static void release(struct kref *ref)
{
	struct sim_syncpt *sp = container_of(ref, struct sim_syncpt, ref);

	idr_remove(&table, sp->id);
	mutex_unlock(&lock);
	kfree(sp);
}

void sim_syncpt_put(struct sim_syncpt *sp)
{
	kref_put_mutex(&sp->ref, release, &lock);
}

void sim_syncpt_raise(struct sim_syncpt *sp, u64 time_ns)
{
	u32 value;

	WRITE_ONCE(sp->time_ns, time_ns);
	value = atomic_inc_return(&sp->value);
	if (sp->shadow)
		WRITE_ONCE(*sp->shadow, value);
	wake_up_all(&sp->wait);
}
