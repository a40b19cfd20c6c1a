// SPDX-License-Identifier: GPL-2.0
#include "sampler/bus_speed.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "fault_inject.h"
#include "sampler/housekeeping.h"
#include "sensors/bus.h"
#include "sensors/chip.h"

/*
 * A transfer ends with somebody being woken up. Whoever asks has an ordinary
 * task's priority, and on a busy CPU would count the time that it waits for it
 * as time of the bus: so a thread with the sampler's priority does it.
 *
 * Even that one waits while another task is inside a kernel that cannot be
 * preempted. That adds to a transfer, not to a register: where short transfers
 * make a bus look slow, longer ones tell whether it is.
 */
static const u8 lengths[] = { 4, 4, 8, 16, 32 };	/* registers */

#define SURE	2	/* so many in any case */

static struct kthread_worker *worker;

/* All of these are the worker's own. */
static struct jetwatt_reg regs[32];
static u8 most[JETWATT_BUSES_MAX];	/* transfers for one chip */

static int transfer(struct jetwatt_chip *chip, unsigned int n)
{
	unsigned int i;
	int err;

	for (i = 0; i < n; i++)
		regs[i] = jetwatt_chip_config_reg(chip, 0);
	jetwatt_bus_ask(chip->bus);
	err = jetwatt_bus_read(chip->bus, regs, n);
	if (!err)
		jetwatt_chip_configured(chip, 0, regs[0].value);
	WRITE_ONCE(chip->bus_hz, jetwatt_bus_hz(chip->bus));
	return err;
}

/* Return: whether there is more to be learnt from chip and bus. */
static bool try(struct jetwatt_chip *chip, unsigned int i)
{
	unsigned int bus;

	if (!chip->client || chip->lost)
		return false;
	bus = chip->bus - jetwatt_buses;
	if (i >= most[bus])
		return false;
	/* On a bus that is stuck a read takes very long: one for all its chips is enough. */
	if (transfer(chip, lengths[i]))
		most[bus] = 0;
	/* A slow one would be so with the next chips as well. */
	else if (i + 1 == ARRAY_SIZE(lengths))
		most[bus] = SURE;
	return i + 1 < SURE || jetwatt_bus_is_slow(chip->bus);
}

static void measure_fn(struct kthread_work *unused)
{
	unsigned int i, n;
	bool more;

	memset(most, ARRAY_SIZE(lengths), sizeof(most));
	rt_mutex_lock(&jetwatt_chip_lock);
	for (i = 0; i < jetwatt_chips_nr; i++)
		if (jetwatt_chips[i].client && !jetwatt_chips[i].lost)
			jetwatt_bus_measure_again(jetwatt_chips[i].bus);
	rt_mutex_unlock(&jetwatt_chip_lock);
	for (i = 0; i < jetwatt_chip_count(); i++)
		/* Let go of in between: a sampler that runs is held up for one at most. */
		for (n = 0, more = true; more && n < ARRAY_SIZE(lengths); n++) {
			rt_mutex_lock(&jetwatt_chip_lock);
			more = try(jetwatt_chip_at(i), n);
			rt_mutex_unlock(&jetwatt_chip_lock);
		}
}

static DEFINE_KTHREAD_WORK(work, measure_fn);

/* The first work item. */
static void place_fn(struct kthread_work *unused)
{
	static struct cpumask cpus;

	jetwatt_housekeeping(&cpus);
	sched_set_fifo(current);
}

static DEFINE_KTHREAD_WORK(place_work, place_fn);

/**
 * jetwatt_measure() - find out how fast each bus is now
 *
 * The clock of a bus may have been changed since it was last used. The best of
 * several reads counts (bus.c).
 *
 * Context: sleeps, a few milliseconds for each chip; takes jetwatt_chip_lock.
 * Callers exclude each other.
 */
void jetwatt_measure(void)
{
	kthread_queue_work(worker, &work);
	kthread_flush_work(&work);
}

/**
 * jetwatt_measure_init() - start the thread
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_measure_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	worker = kthread_run_worker(0, "jetwatt-measure");
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	kthread_queue_work(worker, &place_work);
	kthread_flush_work(&place_work);
	return 0;
}

/**
 * jetwatt_measure_exit() - stop it
 */
void jetwatt_measure_exit(void)
{
	kthread_destroy_worker(worker);
}
