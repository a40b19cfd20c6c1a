// SPDX-License-Identifier: GPL-2.0
/* Recognise, attach and detach chips. */
#include "sensors/chip.h"

#include <linux/errno.h>
#include <linux/i2c.h>
#include <linux/jetwatt.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/of.h>
#include <linux/string.h>
#include "event.h"
#include "fault_inject.h"
#include "sensors/board.h"
#include "sensors/rail.h"
#include "sensors/rail_graph.h"

#define CHIP_OPS(name, driver)	&jetwatt_##name,
static const struct jetwatt_chip_ops * const chip_ops[] = { JETWATT_CHIPS(CHIP_OPS) };

/**
 * jetwatt_chip_ops_of() - return the operations of a supported chip
 * @client: an i2c device
 *
 * A device-tree node identifies the chip by its compatible string, whether or not a driver is
 * bound. Without a node, the chip is identified by the name of the client, and only if a driver
 * is bound, because only a driver has verified what the chip is.
 *
 * Return: the chip's operations, or NULL if the device is not a supported sensor.
 */
const struct jetwatt_chip_ops *jetwatt_chip_ops_of(const struct i2c_client *client)
{
	const struct device_node *np = client->dev.of_node;
	char compatible[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chip_ops); i++) {
		snprintf(compatible, sizeof(compatible), "ti,%s", chip_ops[i]->name);
		if (np ? of_device_is_compatible(np, compatible) :
			 client->dev.driver && !strcmp(client->name, chip_ops[i]->name))
			return chip_ops[i];
	}
	return NULL;
}

/**
 * jetwatt_chip_attached() - return the number of attached chips
 *
 * Context: takes jetwatt_board.lock. Return: number of chips that have an i2c client.
 */
unsigned int jetwatt_chip_attached(void)
{
	unsigned int i, n = 0;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_chip_count(); i++)
		n += !!jetwatt_chip_at(i)->client;
	rt_mutex_unlock(&jetwatt_board.lock);
	return n;
}

/**
 * jetwatt_chip_has() - test whether an i2c client belongs to an attached chip
 * @client: the client
 *
 * Context: takes jetwatt_board.lock. Return: true if a chip uses @client.
 */
bool jetwatt_chip_has(const struct i2c_client *client)
{
	bool has = false;
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_chip_count(); i++)
		has |= jetwatt_chip_at(i)->client == client;
	rt_mutex_unlock(&jetwatt_board.lock);
	return has;
}

static int read_configs(struct jetwatt_sensor_chip *chip)
{
	struct jetwatt_reg reg[JETWATT_CONFIGS_MAX];
	unsigned int i;
	int err;

	for (i = 0; i < chip->ops->nr_configs; i++)
		reg[i] = jetwatt_chip_config_reg(chip, i);
	err = jetwatt_bus_read(chip->bus, reg, i);
	while (!err && i--)
		jetwatt_chip_configured(chip, i, reg[i].value);
	return err;
}

/*
 * Return the detached chip that @client belongs to: the chip with the same device-tree node or,
 * without a node, with the same adapter number, address and model, because at this address there
 * may be another chip now. NULL if there is none.
 */
static struct jetwatt_sensor_chip *find_known(const struct i2c_client *client,
					      const struct jetwatt_chip_ops *ops)
{
	struct device_node *np = client->dev.of_node;
	struct jetwatt_sensor_chip *chip;
	unsigned int i;

	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		if (chip->client || chip->node != np)
			continue;
		if (np || (chip->addr == client->addr && chip->ops == ops &&
			   chip->bus_nr == i2c_adapter_id(client->adapter)))
			return chip;
	}
	return NULL;
}

static struct jetwatt_sensor_chip *init_chip(const struct i2c_client *client,
					     const struct jetwatt_chip_ops *ops)
{
	struct jetwatt_sensor_chip *chip = jetwatt_chip_next();

	if (!chip)
		return NULL;
	chip->id = jetwatt_chip_count();
	chip->addr = client->addr;
	chip->bus_nr = i2c_adapter_id(client->adapter);
	chip->ops = ops;
	chip->sum_slot = -1;
	chip->node = of_node_get(client->dev.of_node);
	if (jetwatt_rail_add_all(chip)) {
		of_node_put(chip->node);
		chip->node = NULL;
		return NULL;
	}
	return chip;
}

/*
 * Return: true if the kernel log does not yet say that the chip is not used. Every scan finds the
 * chip again, so this function remembers the adapter number, address and model of reported chips.
 * A scan finds at most JETWATT_CHIPS_MAX chips, so the table has room for all of them.
 */
static bool report_is_due(const struct i2c_client *client, const struct jetwatt_chip_ops *ops)
{
	/* Not locked, because jetwatt_chip_attach() has one caller at a time. */
	static struct {
		const struct jetwatt_chip_ops *ops;
		int bus_nr;
		u16 addr;
	} reported[JETWATT_CHIPS_MAX];
	static unsigned int next;
	int bus_nr = i2c_adapter_id(client->adapter);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reported); i++)
		if (reported[i].ops == ops && reported[i].bus_nr == bus_nr &&
		    reported[i].addr == client->addr)
			return false;
	i = next++ % ARRAY_SIZE(reported);
	reported[i].ops = ops;
	reported[i].bus_nr = bus_nr;
	reported[i].addr = client->addr;
	return true;
}

/*
 * Return: true if the adapter can read the chip's registers: each of two bytes, or of the width of
 * its voltages.
 */
static bool adapter_suffices(const struct i2c_client *client, const struct jetwatt_chip_ops *ops)
{
	unsigned int bytes = max(jetwatt_chip_ops_bytes(ops, JETWATT_REG_SHUNT),
				 jetwatt_chip_ops_bytes(ops, JETWATT_REG_BUS));
	u32 smbus = I2C_FUNC_SMBUS_READ_WORD_DATA |
		    (bytes > 2 ? I2C_FUNC_SMBUS_READ_I2C_BLOCK : 0);

	if (i2c_check_functionality(client->adapter, I2C_FUNC_I2C) ||
	    i2c_check_functionality(client->adapter, smbus))
		return true;
	if (report_is_due(client, ops))
		dev_warn(&client->dev, "not used: the adapter cannot read registers of %u bytes\n",
			 bytes);
	return false;
}

/**
 * jetwatt_chip_attach() - attach a new chip, or a known chip whose client was deleted
 * @client: the chip's i2c device. On success the chip takes over the caller's references to the
 *	devices of the client and of its adapter.
 *
 * The reference to the adapter's device keeps the adapter usable: i2c_del_adapter() waits until the
 * reference is dropped. The adapter driver's module is not pinned and can be unloaded: the client
 * is then deleted first, and the bus notifier in scan.c detaches the chip.
 *
 * If the configuration of the chip cannot be read, the function succeeds too: the chip is attached
 * as lost, and the sampler retries it.
 *
 * Context: one caller at a time; takes jetwatt_board.lock; sleeps.
 * Return: 0, -ENOSPC if there are too many buses, chips, rails or series, -ENODEV if the client
 * is no supported sensor any more, -EOPNOTSUPP if its adapter cannot read its registers, -ENOMEM by
 * fault injection.
 */
int jetwatt_chip_attach(struct i2c_client *client)
{
	const struct jetwatt_chip_ops *ops = jetwatt_chip_ops_of(client);
	struct jetwatt_sensor_chip *chip;
	struct jetwatt_bus *bus;
	int err = -ENOSPC;
	bool again;

	if (jetwatt_fail(JETWATT_FAIL_ATTACH))
		return -ENOMEM;
	/* The driver may have been unbound since the scan has found the client. */
	if (!ops)
		return -ENODEV;
	if (!adapter_suffices(client, ops))
		return -EOPNOTSUPP;
	rt_mutex_lock(&jetwatt_board.lock);
	bus = jetwatt_bus_get(client->adapter);
	if (!bus)
		goto unlock;
	chip = find_known(client, ops);
	again = chip;
	if (!chip)
		chip = init_chip(client, ops);
	if (!chip) {
		jetwatt_bus_put(bus);
		goto unlock;
	}
	chip->client = client;
	chip->bus = bus;
	chip->consecutive_errors = 0;
	chip->aux_reg_due = 0;
	chip->sum_observe_due = 0;
	jetwatt_sum_forget(&chip->sum);
	WRITE_ONCE(chip->bus_nr, bus->nr);
	jetwatt_bus_refresh_hz(bus);
	WRITE_ONCE(chip->bus_hz, jetwatt_bus_hz(bus));
	err = read_configs(chip);
	if (err) {
		WRITE_ONCE(chip->errors, chip->errors + 1);
		chip->consecutive_errors = JETWATT_ERRORS_LOST;
		chip->retry_due = 0;
	}
	WRITE_ONCE(chip->lost, err);
	jetwatt_chip_publish(chip);
	jetwatt_graph_update();
	if (again && !err)
		jetwatt_event_post(JETWATT_EVENT_CHIP_BACK, chip->id, 0);
	else if (!again)
		jetwatt_event_post(JETWATT_EVENT_CONFIG_CHANGED, JETWATT_EVENT_NO_CHIP, 0);
	err = 0;
unlock:
	rt_mutex_unlock(&jetwatt_board.lock);
	return err;
}

/*
 * Detach the chip, mark it as lost and return its client. After releasing jetwatt_board.lock, the
 * caller must pass the client to jetwatt_chip_put_client().
 */
static struct i2c_client *release_client(struct jetwatt_sensor_chip *chip)
{
	struct i2c_client *client = chip->client;

	chip->client = NULL;
	jetwatt_bus_put(chip->bus);
	chip->bus = NULL;
	WRITE_ONCE(chip->lost, true);
	WRITE_ONCE(chip->read_mhz, 0);
	return client;
}

/**
 * jetwatt_chip_put_client() - drop the references to a client and to its adapter
 * @client: the client
 *
 * Context: sleeps; jetwatt_board.lock must not be held.
 */
void jetwatt_chip_put_client(struct i2c_client *client)
{
	put_device(&client->adapter->dev);
	put_device(&client->dev);
}

/**
 * jetwatt_chip_detach() - detach the chip of an i2c device that is being or has been removed
 * @dev: the i2c device; the function does nothing if no chip uses this device
 *
 * Context: takes jetwatt_board.lock, so it waits for the tick under way.
 */
void jetwatt_chip_detach(const struct device *dev)
{
	struct i2c_client *client = NULL;
	struct jetwatt_sensor_chip *chip;
	unsigned int i;

	rt_mutex_lock(&jetwatt_board.lock);
	for (i = 0; i < jetwatt_chip_count() && !client; i++) {
		chip = jetwatt_chip_at(i);
		if (!chip->client || &chip->client->dev != dev)
			continue;
		if (!chip->lost)
			jetwatt_event_post(JETWATT_EVENT_CHIP_LOST, i, 0);
		client = release_client(chip);
	}
	rt_mutex_unlock(&jetwatt_board.lock);
	if (client)
		jetwatt_chip_put_client(client);
}

/**
 * jetwatt_chip_exit() - detach all chips
 *
 * Context: module exit, after the sampler thread and the scans have stopped.
 */
void jetwatt_chip_exit(void)
{
	struct i2c_client *client;
	struct jetwatt_sensor_chip *chip;
	unsigned int i;

	for (i = 0; i < jetwatt_chip_count(); i++) {
		chip = jetwatt_chip_at(i);
		rt_mutex_lock(&jetwatt_board.lock);
		client = chip->client ? release_client(chip) : NULL;
		rt_mutex_unlock(&jetwatt_board.lock);
		if (client)
			jetwatt_chip_put_client(client);
		of_node_put(chip->node);
	}
}
