/* SPDX-License-Identifier: GPL-2.0 */
/* The buses, chips and rails that were found on this machine. */
#ifndef JETWATT_BOARD_H
#define JETWATT_BOARD_H

#include <linux/rtmutex.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include "sensors/bus.h"
#include "sensors/chip.h"

/**
 * struct jetwatt_sensor_board - buses, chips and rails of the machine
 * @lock: held by the sampler thread while it reads the chips, and by other threads while they
 *	attach or detach a chip, measure a bus or calculate rates. Detaching therefore waits for the
 *	tick under way, and afterwards the sampler thread does not use the i2c client of the
 *	detached chip any more. Priority inheritance keeps an unprivileged reader (CONFIG_GET,
 *	CHIP_GET, RAIL_GET) from blocking the sampler thread for long.
 * @buses: adapters with chips; a slot whose adapter is NULL is free
 * @chips: every chip that has been attached since the module was loaded
 * @nr_chips: number of chips in @chips; increased after a new chip is complete
 * @rails: every rail of these chips
 * @nr_rails: number of rails in @rails; increased after a new rail is complete
 *
 * There is one instance: a Jetson has one set of sensors, and the netlink family, the hwmon device
 * and the PMU describe all of it. State that only one source file uses is static in that file.
 *
 * @chips and @rails only grow, and their entries stay where they are, so a pointer to a chip or
 * rail is valid for the life of the module. A reader that does not hold @lock must only use entries
 * whose index is below the result of jetwatt_chip_count() or jetwatt_rail_count().
 */
struct jetwatt_sensor_board {
	struct rt_mutex lock;
	struct jetwatt_bus buses[JETWATT_BUSES_MAX];
	struct jetwatt_sensor_chip chips[JETWATT_CHIPS_MAX];
	unsigned int nr_chips;
	struct jetwatt_sensor_rail rails[JETWATT_RAILS_MAX];
	unsigned int nr_rails;
};

extern struct jetwatt_sensor_board jetwatt_board;

/**
 * jetwatt_bus_at() - return a bus slot
 * @i: 0 to JETWATT_BUSES_MAX - 1
 *
 * Return: the bus in the slot; its adapter is NULL if the slot is free.
 */
static inline struct jetwatt_bus *jetwatt_bus_at(unsigned int i)
{
	return &jetwatt_board.buses[i];
}

/**
 * jetwatt_chip_count() - return the number of chips attached since the module was loaded
 *
 * Context: any. Return: number of chips, which never decreases.
 */
static inline unsigned int jetwatt_chip_count(void)
{
	/* Pairs with jetwatt_chip_publish(): chips with an id below nr_chips are complete. */
	return smp_load_acquire(&jetwatt_board.nr_chips);
}

/**
 * jetwatt_chip_at() - return a chip by its id
 * @i: id of the chip, less than a value that jetwatt_chip_count() has returned
 *
 * Context: any. Return: the chip.
 */
static inline struct jetwatt_sensor_chip *jetwatt_chip_at(unsigned int i)
{
	return &jetwatt_board.chips[i];
}

/**
 * jetwatt_rail_count() - return the number of rails
 *
 * Context: any. Return: number of rails, which never decreases.
 */
static inline unsigned int jetwatt_rail_count(void)
{
	/* Pairs with add_rail(): rails with an id below nr_rails are complete. */
	return smp_load_acquire(&jetwatt_board.nr_rails);
}

/**
 * jetwatt_rail_at() - return a rail by its id
 * @i: id of the rail, less than a value that jetwatt_rail_count() has returned
 *
 * Context: any. Return: the rail.
 */
static inline struct jetwatt_sensor_rail *jetwatt_rail_at(unsigned int i)
{
	return &jetwatt_board.rails[i];
}

struct jetwatt_sensor_chip *jetwatt_chip_next(void);
void jetwatt_chip_publish(const struct jetwatt_sensor_chip *chip);

#endif
