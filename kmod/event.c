// SPDX-License-Identifier: GPL-2.0
#include "event.h"

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define WAITING	32

/*
 * The sampler's thread must not build messages, so events wait here for a
 * work item. If nobody takes them away the oldest is dropped: what counts is
 * how things stand, and that can be asked for.
 */
static DEFINE_SPINLOCK(lock);
static struct jetwatt_note notes[WAITING];
static unsigned int first, nr;
static void (*sender)(const struct jetwatt_note *note);

static void work_fn(struct work_struct *work)
{
	void (*send)(const struct jetwatt_note *note);
	struct jetwatt_note note;
	bool any;

	for (;;) {
		spin_lock(&lock);
		any = nr;
		send = sender;
		if (any) {
			note = notes[first];
			first = (first + 1) % WAITING;
			nr--;
		}
		spin_unlock(&lock);
		if (!any)
			return;
		if (send)
			send(&note);
	}
}

static DECLARE_WORK(work, work_fn);

/**
 * jetwatt_event_post() - note an event
 * @kind: enum jetwatt_event
 * @chip: id of the chip or JETWATT_EVENT_NO_CHIP
 * @value: see enum jetwatt_event
 *
 * Context: process; does not sleep.
 */
void jetwatt_event_post(u32 kind, u32 chip, u64 value)
{
	struct jetwatt_note *note;

	spin_lock(&lock);
	/* Before the family is there and after it has gone there is nobody to tell. */
	if (sender) {
		if (nr == WAITING) {
			first = (first + 1) % WAITING;
			nr--;
		}
		note = &notes[(first + nr++) % WAITING];
		note->time_ns = ktime_get_ns();
		note->kind = kind;
		note->chip = chip;
		note->value = value;
		schedule_work(&work);
	}
	spin_unlock(&lock);
}

/**
 * jetwatt_event_open() - from now on events are told
 * @send: called from a work item, may sleep
 */
void jetwatt_event_open(void (*send)(const struct jetwatt_note *note))
{
	spin_lock(&lock);
	sender = send;
	spin_unlock(&lock);
}

/**
 * jetwatt_event_close() - no event is told any more
 *
 * Context: sleeps until the sender is not being called any more.
 */
void jetwatt_event_close(void)
{
	spin_lock(&lock);
	sender = NULL;
	nr = 0;
	spin_unlock(&lock);
	cancel_work_sync(&work);
}
