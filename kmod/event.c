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
static struct {
	spinlock_t lock;
	struct jetwatt_posted_event note[WAITING];
	unsigned int first, nr;
	void (*send)(const struct jetwatt_posted_event *note);
} events = { .lock = __SPIN_LOCK_UNLOCKED(events.lock) };

static void send_events(struct work_struct *work)
{
	void (*send)(const struct jetwatt_posted_event *note);
	struct jetwatt_posted_event note;
	bool any;

	for (;;) {
		spin_lock(&events.lock);
		any = events.nr;
		send = events.send;
		if (any) {
			note = events.note[events.first];
			events.first = (events.first + 1) % WAITING;
			events.nr--;
		}
		spin_unlock(&events.lock);
		if (!any)
			return;
		if (send)
			send(&note);
	}
}

static DECLARE_WORK(event_work, send_events);

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
	struct jetwatt_posted_event *note;

	spin_lock(&events.lock);
	/* Before the family is there and after it has gone there is nobody to tell. */
	if (events.send) {
		if (events.nr == WAITING) {
			events.first = (events.first + 1) % WAITING;
			events.nr--;
		}
		note = &events.note[(events.first + events.nr++) % WAITING];
		note->time_ns = ktime_get_ns();
		note->kind = kind;
		note->chip = chip;
		note->value = value;
		schedule_work(&event_work);
	}
	spin_unlock(&events.lock);
}

/**
 * jetwatt_event_open() - from now on events are told
 * @send: called from a work item, may sleep
 */
void jetwatt_event_open(void (*send)(const struct jetwatt_posted_event *note))
{
	spin_lock(&events.lock);
	events.send = send;
	spin_unlock(&events.lock);
}

/**
 * jetwatt_event_close() - no event is told any more
 *
 * Context: sleeps until the sender is not being called any more.
 */
void jetwatt_event_close(void)
{
	spin_lock(&events.lock);
	events.send = NULL;
	events.nr = 0;
	spin_unlock(&events.lock);
	cancel_work_sync(&event_work);
}
