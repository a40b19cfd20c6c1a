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
#include "sensors/board.h"

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

/**
 * struct bus_speed - the thread that measures the buses
 * @worker: the thread
 * @regs: the registers of one transfer; the worker's own
 * @max: greatest number of transfers for one chip, by bus; the worker's own
 */
static struct bus_speed {
	struct kthread_worker *worker;
	struct jetwatt_reg regs[32];
	u8 max[JETWATT_BUSES_MAX];
} bus_speed;

static int read_config(struct jetwatt_chip *chip, unsigned int n)
{
	unsigned int i;
	int err;

	for (i = 0; i < n; i++)
		bus_speed.regs[i] = jetwatt_chip_config_reg(chip, 0);
	jetwatt_bus_refresh_hz(chip->bus);
	err = jetwatt_bus_read(chip->bus, bus_speed.regs, n);
	if (!err)
		jetwatt_chip_configured(chip, 0, bus_speed.regs[0].value);
	WRITE_ONCE(chip->bus_hz, jetwatt_bus_hz(chip->bus));
	return err;
}

/* Return: whether there is more to be learnt from chip and bus. */
static bool measure_once(struct jetwatt_chip *chip, unsigned int i)
{
	unsigned int bus;

	if (!chip->client || chip->lost)
		return false;
	bus = chip->bus - jetwatt_board.buses;
	if (i >= bus_speed.max[bus])
		return false;
	/* On a bus that is stuck a read takes very long: one for all its chips is enough. */
	if (read_config(chip, lengths[i]))
		bus_speed.max[bus] = 0;
	/* A slow one would be so with the next chips as well. */
	else if (i + 1 == ARRAY_SIZE(lengths))
		bus_speed.max[bus] = SURE;
	return i + 1 < SURE || jetwatt_bus_is_slow(chip->bus);
}

static void measure_buses(struct kthread_work *unused)
{
	unsigned int i, n;
	bool more;

	memset(bus_speed.max, ARRAY_SIZE(lengths), sizeof(bus_speed.max));
	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_board.nr_chips; i++)
		if (jetwatt_board.chips[i].client && !jetwatt_board.chips[i].lost)
			jetwatt_bus_measure_again(jetwatt_board.chips[i].bus);
	rt_mutex_unlock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_chip_count(); i++)
		/* Let go of in between: a sampler that runs is held up for one at most. */
		for (n = 0, more = true; more && n < ARRAY_SIZE(lengths); n++) {
			rt_mutex_lock(&jetwatt_board.lock);
			more = measure_once(jetwatt_chip_at(i), n);
			rt_mutex_unlock(&jetwatt_board.lock);
		}
}

static DEFINE_KTHREAD_WORK(measure_work, measure_buses);

/* The first work item. */
static void place_worker(struct kthread_work *unused)
{
	static struct cpumask cpus;

	jetwatt_housekeeping(&cpus);
	sched_set_fifo(current);
}

static DEFINE_KTHREAD_WORK(place_work, place_worker);

/**
 * jetwatt_bus_speed_measure() - find out how fast each bus is now
 *
 * The clock of a bus may have been changed since it was last used. The best of
 * several reads counts (bus.c).
 *
 * Context: sleeps, a few milliseconds for each chip; takes jetwatt_board.lock.
 * Callers exclude each other.
 */
void jetwatt_bus_speed_measure(void)
{
	kthread_queue_work(bus_speed.worker, &measure_work);
	kthread_flush_work(&measure_work);
}

/**
 * jetwatt_bus_speed_init() - start the thread
 *
 * Return: 0 or a negative errno.
 */
int jetwatt_bus_speed_init(void)
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	bus_speed.worker = kthread_run_worker(0, "jetwatt-measure");
	if (IS_ERR(bus_speed.worker))
		return PTR_ERR(bus_speed.worker);
	kthread_queue_work(bus_speed.worker, &place_work);
	kthread_flush_work(&place_work);
	return 0;
}

/**
 * jetwatt_bus_speed_exit() - stop it
 */
void jetwatt_bus_speed_exit(void)
{
	kthread_destroy_worker(bus_speed.worker);
}
