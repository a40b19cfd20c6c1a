// SPDX-License-Identifier: GPL-2.0
/* The table of the buses, chips and rails of this machine, and how a chip is added to it. */
#include "sensors/board.h"

struct jetwatt_sensor_board jetwatt_board = {
	.lock = __RT_MUTEX_INITIALIZER(jetwatt_board.lock),
};

/**
 * jetwatt_chip_next() - return the unused entry for a new chip
 *
 * Context: jetwatt_board.lock held. Return: the entry, which other functions do not see until
 * jetwatt_chip_publish(); NULL if there are already JETWATT_CHIPS_MAX chips.
 */
struct jetwatt_sensor_chip *jetwatt_chip_next(void)
{
	unsigned int n = jetwatt_board.nr_chips;

	return n < JETWATT_CHIPS_MAX ? &jetwatt_board.chips[n] : NULL;
}

/**
 * jetwatt_chip_publish() - make a new chip visible to jetwatt_chip_count()
 * @chip: the entry from jetwatt_chip_next(), with all fields set; if the chip is already published,
 *	the function does nothing
 *
 * Context: jetwatt_board.lock held.
 */
void jetwatt_chip_publish(const struct jetwatt_sensor_chip *chip)
{
	if (chip != jetwatt_chip_next())
		return;
	/* Pairs with jetwatt_chip_count(). */
	smp_store_release(&jetwatt_board.nr_chips, jetwatt_board.nr_chips + 1);
}
