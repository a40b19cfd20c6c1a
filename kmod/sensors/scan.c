// SPDX-License-Identifier: GPL-2.0
/*
 * Scan the i2c buses for supported sensors, at load time and whenever a device is added or a driver
 * is bound, and attach the chips that are found. A bus notifier detaches the chips of deleted
 * devices.
 */
#include "sensors/scan.h"

#include <linux/device.h>
#include <linux/errno.h>
#include <linux/i2c.h>
#include <linux/notifier.h>
#include <linux/sort.h>
#include <linux/workqueue.h>
#include "fault_inject.h"
#include "sensors/board.h"

static void (*on_scan)(void);

/**
 * struct scan_result - i2c clients that are supported sensors
 * @n: number of clients
 * @client: the clients; references to the devices of each client and of its adapter are held
 */
struct scan_result {
	unsigned int n;
	struct i2c_client *client[JETWATT_CHIPS_MAX];
};

/*
 * Called with the i2c core's lock held. i2c_del_adapter() needs that lock for its last step, so the
 * memory of the adapter is valid here even while the adapter is being deleted. If the adapter's
 * device has no references left, the client is skipped.
 */
static int collect(struct device *dev, void *data)
{
	struct i2c_client *client = i2c_verify_client(dev);
	struct scan_result *found = data;

	if (!client || found->n == JETWATT_CHIPS_MAX || !jetwatt_chip_ops_of(client))
		return 0;
	if (!kobject_get_unless_zero(&client->adapter->dev.kobj))
		return 0;
	get_device(dev);
	found->client[found->n++] = client;
	return 0;
}

/* Sort by adapter and address, so that chip ids do not depend on the order of the device tree. */
static int by_adapter(const void *a, const void *b)
{
	const struct i2c_client *x = *(const struct i2c_client **)a;
	const struct i2c_client *y = *(const struct i2c_client **)b;

	return i2c_adapter_id(x->adapter) - i2c_adapter_id(y->adapter) ?: x->addr - y->addr;
}

static bool among(const struct scan_result *found, const struct i2c_client *client)
{
	unsigned int i;

	for (i = 0; i < found->n; i++)
		if (found->client[i] == client)
			return true;
	return false;
}

/*
 * A client may be deleted after it was found and before it is attached. The bus notifier then runs
 * before the client is attached and cannot detach it. Therefore the buses are scanned once more
 * after attaching, and clients that are missing in the second scan are detached. The second scan is
 * sufficient: a client for which BUS_NOTIFY_REMOVED_DEVICE has been sent is no longer in the list
 * of the bus, and for any other client the notification is still to come.
 */
static void scan(void)
{
	struct scan_result found = {}, still = {};
	unsigned int i;

	i2c_for_each_dev(&found, collect);
	sort(found.client, found.n, sizeof(found.client[0]), by_adapter, NULL);
	for (i = 0; i < found.n; i++) {
		/*
		 * jetwatt_chip_attach() takes over a pair of references, so take a second pair for
		 * it.
		 */
		get_device(&found.client[i]->adapter->dev);
		get_device(&found.client[i]->dev);
		if (jetwatt_chip_has(found.client[i]) || jetwatt_chip_attach(found.client[i]))
			jetwatt_chip_put_client(found.client[i]);
	}

	i2c_for_each_dev(&still, collect);
	for (i = 0; i < found.n; i++)
		if (!among(&still, found.client[i]))
			jetwatt_chip_detach(&found.client[i]->dev);
	for (i = 0; i < still.n; i++)
		jetwatt_chip_put_client(still.client[i]);
	for (i = 0; i < found.n; i++)
		jetwatt_chip_put_client(found.client[i]);
	on_scan();
}

static void scan_fn(struct work_struct *work)
{
	scan();
}

/* A work item never runs concurrently with itself, so there is one scan at a time. */
static DECLARE_DELAYED_WORK(scan_work, scan_fn);

static int scan_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case BUS_NOTIFY_ADD_DEVICE:
	case BUS_NOTIFY_BOUND_DRIVER:
		/*
		 * Usually several chips are added at the same time; the delay lets one scan find
		 * all of them.
		 */
		queue_delayed_work(system_freezable_wq, &scan_work, msecs_to_jiffies(20));
		break;
	case BUS_NOTIFY_DEL_DEVICE:
	case BUS_NOTIFY_REMOVED_DEVICE:
		jetwatt_chip_detach(data);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block scan_notifier = { .notifier_call = scan_notify };

/**
 * jetwatt_scan_init() - attach all chips, and follow devices that are added and deleted
 * @scanned: called by a work item after each scan; may sleep
 *
 * Return: 0, even if no chip is found; a negative errno on an error.
 */
int jetwatt_scan_init(void (*scanned)(void))
{
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	on_scan = scanned;
	err = bus_register_notifier(&i2c_bus_type, &scan_notifier);
	if (err)
		return err;
	queue_delayed_work(system_freezable_wq, &scan_work, 0);
	flush_delayed_work(&scan_work);
	return 0;
}

/**
 * jetwatt_scan_exit() - stop scanning and detach all chips
 */
void jetwatt_scan_exit(void)
{
	bus_unregister_notifier(&i2c_bus_type, &scan_notifier);
	cancel_delayed_work_sync(&scan_work);
	jetwatt_chip_exit();
}
