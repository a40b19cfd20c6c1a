// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading. jetwatt_init() sets up the parts of the module in order, and the netlink
 * family last; on an error, its labels undo the steps done so far in reverse order.
 */
#include <linux/module.h>

#include "fault_inject.h"
#include "interface/batcher.h"
#include "interface/hwmon.h"
#include "interface/netlink.h"
#include "interface/pmu.h"
#include "interface/subscriber.h"
#include "interface/wait_subscriber.h"
#include "sampler/aux_series.h"
#include "sampler/blackbox.h"
#include "sampler/bus_speed.h"
#include "sampler/config.h"
#include "sampler/ring.h"
#include "sampler/sampler.h"
#include "sensors/chip_ops.h"
#include "sensors/scan.h"

/* Called after each scan. The function does nothing before hwmon and perf are registered. */
static void update_interfaces(void)
{
	jetwatt_hwmon_update();
	jetwatt_pmu_update();
}

static int __init jetwatt_init(void)
{
	int err;

	err = jetwatt_fail_init();
	if (err)
		return err;
	err = jetwatt_ring_init();
	if (err)
		goto fail;
	err = jetwatt_aux_init();
	if (err)
		goto ring;
	err = jetwatt_scan_init(update_interfaces);
	if (err)
		goto aux;
	err = jetwatt_bus_speed_init();
	if (err)
		goto scan;
	err = jetwatt_sampler_init(jetwatt_batcher_new_sample);
	if (err)
		goto bus_speed;
	err = jetwatt_subscriber_init();
	if (err)
		goto sampler;
	err = jetwatt_wait_subscriber_init();
	if (err)
		goto subscriber;
	err = jetwatt_hwmon_init();
	if (err)
		goto wait_subscriber;
	err = jetwatt_pmu_init();
	if (err)
		goto hwmon;
	/*
	 * The netlink family is registered last, because its handlers use all other parts of the
	 * module.
	 */
	err = jetwatt_netlink_init();
	if (err)
		goto pmu;
	return 0;

pmu:
	jetwatt_pmu_exit();
hwmon:
	jetwatt_hwmon_exit();
wait_subscriber:
	jetwatt_wait_subscriber_exit();
subscriber:
	jetwatt_subscriber_close();
	jetwatt_subscriber_exit();
sampler:
	jetwatt_config_exit();
	jetwatt_sampler_exit();
bus_speed:
	jetwatt_bus_speed_exit();
scan:
	jetwatt_scan_exit();
aux:
	jetwatt_aux_exit();
ring:
	jetwatt_blackbox_exit();
	jetwatt_ring_exit();
fail:
	jetwatt_fail_exit();
	return err;
}

static void __exit jetwatt_exit(void)
{
	jetwatt_netlink_exit();
	jetwatt_pmu_exit();
	jetwatt_hwmon_exit();
	jetwatt_wait_subscriber_exit();
	/*
	 * The subscribers are closed before config.c, because the work item that removes a
	 * subscriber with a closed socket requests an update from config.c.
	 */
	jetwatt_subscriber_close();
	jetwatt_config_exit();
	jetwatt_sampler_exit();
	jetwatt_subscriber_exit();
	jetwatt_bus_speed_exit();
	jetwatt_scan_exit();
	jetwatt_aux_exit();
	jetwatt_blackbox_exit();
	jetwatt_ring_exit();
	jetwatt_fail_exit();
}

module_init(jetwatt_init);
module_exit(jetwatt_exit);

MODULE_DESCRIPTION("Power rails and clocks of Jetson boards at their full rate");
MODULE_AUTHOR("The jetwatt developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(JETWATT_VERSION);
/* Load the hwmon drivers before the module reads the chips, because they configure the chips. */
#define HWMON_DRIVER(name, driver)	" " #driver
MODULE_SOFTDEP("pre:" JETWATT_CHIPS(HWMON_DRIVER));
/*
 * There is no MODULE_ALIAS_GENL_FAMILY: with it, any process could load the module by resolving
 * the family by its name. Only the administrator decides whether the module is loaded.
 */
