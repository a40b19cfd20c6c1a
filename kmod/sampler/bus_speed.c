// SPDX-License-Identifier: GPL-2.0
/* Measure the speed of the i2c buses in a real-time thread. */
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
 * The measured time of a transfer includes the wake-up of the thread that waits for the transfer.
 * If the caller, which has normal priority, made the transfers, the delay of its wake-up on a busy
 * CPU would be counted as bus time. Therefore a thread with the real-time priority of the sampler
 * thread measures.
 *
 * The wake-up of the real-time thread is delayed too while another task is in a non-preemptible
 * section of the kernel. The delay of the wake-up is added once per transfer, not per register. If
 * short transfers indicate a slow bus, longer transfers are made to distinguish a slow bus from a
 * delayed wake-up.
 */
static const u8 lengths[] = { 4, 4, 8, 16, 32 };	/* registers */

#define SURE	2	/* minimum number of transfers per chip */

/**
 * struct bus_speed - the thread that measures the buses
 * @worker: the thread
 * @regs: registers of one transfer; used by the worker only
 * @max: maximum number of transfers per chip, by bus; used by the worker only
 */
static struct bus_speed {
	struct kthread_worker *worker;
	struct jetwatt_reg regs[32];
	u8 max[JETWATT_BUSES_MAX];
} bus_speed;

static int read_config(struct jetwatt_sensor_chip *chip, unsigned int n)
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

/* Return: true if another transfer of this chip can improve the measurement. */
static bool measure_once(struct jetwatt_sensor_chip *chip, unsigned int i)
{
	unsigned int bus;

	if (!chip->client || chip->lost)
		return false;
	bus = chip->bus - jetwatt_board.buses;
	if (i >= bus_speed.max[bus])
		return false;
	/*
	 * A failed transfer may mean a stuck bus, on which every transfer takes very long, so no
	 * further transfer is made on this bus.
	 */
	if (read_config(chip, lengths[i]))
		bus_speed.max[bus] = 0;
	/*
	 * Transfers of all lengths were needed, so the bus is slow; for the other chips on this
	 * bus, SURE transfers are enough.
	 */
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
		/*
		 * Unlock after each transfer, so that a running sampler thread waits for one
		 * transfer at most.
		 */
		for (n = 0, more = true; more && n < ARRAY_SIZE(lengths); n++) {
			rt_mutex_lock(&jetwatt_board.lock);
			more = measure_once(jetwatt_chip_at(i), n);
			rt_mutex_unlock(&jetwatt_board.lock);
		}
}

static DEFINE_KTHREAD_WORK(measure_work, measure_buses);

/* Set CPUs and priority of the worker thread; runs once in this thread, before any measurement. */
static void set_worker_cpus(struct kthread_work *unused)
{
	static struct cpumask cpus;

	jetwatt_housekeeping(&cpus);
	sched_set_fifo(current);
}

static DEFINE_KTHREAD_WORK(set_cpus_work, set_worker_cpus);

/**
 * jetwatt_bus_speed_measure() - measure how fast each bus is at present
 *
 * Needed because the clock of a bus may have changed since it was last used. The shortest of
 * several transfers counts (bus.c).
 *
 * Context: sleeps, a few milliseconds per chip, tens of milliseconds for the first chip on a slow
 * bus; takes jetwatt_board.lock. Callers must exclude each other.
 */
void jetwatt_bus_speed_measure(void)
{
	kthread_queue_work(bus_speed.worker, &measure_work);
	kthread_flush_work(&measure_work);
}

/**
 * jetwatt_bus_speed_init() - start the measuring thread
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
	kthread_queue_work(bus_speed.worker, &set_cpus_work);
	kthread_flush_work(&set_cpus_work);
	return 0;
}

/**
 * jetwatt_bus_speed_exit() - stop the measuring thread
 */
void jetwatt_bus_speed_exit(void)
{
	kthread_destroy_worker(bus_speed.worker);
}
