// SPDX-License-Identifier: GPL-2.0
#include "event.h"

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#define EVENT_QUEUE_LEN	32

/*
 * Any part of the module queues events here, and a work item sends them, because the sampler thread
 * must not build netlink messages. If the queue is full, the oldest event is dropped. Dropping an
 * event is acceptable, because an event only announces a change, and clients can request the
 * present state.
 */
static struct {
	spinlock_t lock;
	struct jetwatt_posted_event queue[EVENT_QUEUE_LEN];
	unsigned int first, nr;
	void (*send)(const struct jetwatt_posted_event *event);
} events = { .lock = __SPIN_LOCK_UNLOCKED(events.lock) };

static void send_events(struct work_struct *work)
{
	void (*send)(const struct jetwatt_posted_event *event);
	struct jetwatt_posted_event event;
	bool any;

	for (;;) {
		spin_lock(&events.lock);
		any = events.nr;
		send = events.send;
		if (any) {
			event = events.queue[events.first];
			events.first = (events.first + 1) % EVENT_QUEUE_LEN;
			events.nr--;
		}
		spin_unlock(&events.lock);
		if (!any)
			return;
		if (send)
			send(&event);
	}
}

static DECLARE_WORK(event_work, send_events);

/**
 * jetwatt_event_post() - queue an event for the multicast group
 * @kind: enum jetwatt_event_kind
 * @chip: id of the chip, or JETWATT_EVENT_NO_CHIP
 * @value: number whose meaning depends on @kind, see enum jetwatt_event_kind
 *
 * Context: process; takes events.lock, does not sleep.
 */
void jetwatt_event_post(u32 kind, u32 chip, u64 value)
{
	struct jetwatt_posted_event *event;

	spin_lock(&events.lock);
	/* The event is discarded while the netlink family is not registered. */
	if (events.send) {
		if (events.nr == EVENT_QUEUE_LEN) {
			events.first = (events.first + 1) % EVENT_QUEUE_LEN;
			events.nr--;
		}
		event = &events.queue[(events.first + events.nr++) % EVENT_QUEUE_LEN];
		event->time_ns = ktime_get_ns();
		event->kind = kind;
		event->chip = chip;
		event->value = value;
		schedule_work(&event_work);
	}
	spin_unlock(&events.lock);
}

/**
 * jetwatt_event_open() - start queueing and sending events
 * @send: called from a work item for each event; may sleep
 */
void jetwatt_event_open(void (*send)(const struct jetwatt_posted_event *event))
{
	spin_lock(&events.lock);
	events.send = send;
	spin_unlock(&events.lock);
}

/**
 * jetwatt_event_close() - discard queued events and stop sending
 *
 * Context: sleeps until a running call of the send function has returned.
 */
void jetwatt_event_close(void)
{
	spin_lock(&events.lock);
	events.send = NULL;
	events.nr = 0;
	spin_unlock(&events.lock);
	cancel_work_sync(&event_work);
}
