// SPDX-License-Identifier: GPL-2.0
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
 * struct scan_result - clients that look like ours, each with two references held:
 *	its own device's and its adapter's
 * @n: how many
 * @client: they
 */
struct scan_result {
	unsigned int n;
	struct i2c_client *client[JETWATT_CHIPS_MAX];
};

/*
 * Called with the i2c core's lock held, which i2c_del_adapter() needs for its
 * last step: so the adapter's memory is still there, even if its device is
 * about to be gone. Then it has no references left and is not taken.
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

/* A device tree may list chips in any order: ids are given by place. */
static int by_place(const void *a, const void *b)
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
 * A client may be deleted between being found and being attached: then the
 * notifier has run too early to detach it. But a client whose deletion has
 * been announced for the second time (BUS_NOTIFY_REMOVED_DEVICE) is no longer
 * on the bus's list, and one that has not been will be: so looking at the list
 * once more after attaching leaves no gap.
 */
static void scan(void)
{
	struct scan_result found = {}, still = {};
	unsigned int i;

	i2c_for_each_dev(&found, collect);
	sort(found.client, found.n, sizeof(found.client[0]), by_place, NULL);
	for (i = 0; i < found.n; i++) {
		/* A second pair of references, so that found keeps its own. */
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

/* One scan at a time: a work item never runs beside itself. */
static DECLARE_DELAYED_WORK(scan_work, scan_fn);

static int scan_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case BUS_NOTIFY_ADD_DEVICE:
	case BUS_NOTIFY_BOUND_DRIVER:
		/* Chips come in groups: one scan for all of them. */
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
 * jetwatt_scan_init() - attach all chips there are, and those to come
 * @scanned: called by a work item after each scan; may sleep
 *
 * Return: 0 or a negative errno. No chip at all is no error.
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
 * jetwatt_scan_exit() - let go of all chips
 */
void jetwatt_scan_exit(void)
{
	bus_unregister_notifier(&i2c_bus_type, &scan_notifier);
	cancel_delayed_work_sync(&scan_work);
	jetwatt_chip_exit();
}
