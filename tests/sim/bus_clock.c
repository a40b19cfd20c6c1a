// SPDX-License-Identifier: GPL-2.0-only
/* Store the clock of the simulated i2c adapter on kernels whose i2c core does not store it. */
#include "bus_clock.h"

#include <linux/device.h>
#include <linux/i2c.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static ssize_t bus_clk_rate_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", sim_bus_clock_hz(to_i2c_adapter(dev)));
}

/*
 * Like NVIDIA's kernel, parse the number with memparse(). Refuse 0, because no transfer would be
 * possible, and numbers above U32_MAX.
 */
static ssize_t bus_clk_rate_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	struct sim_bus_clock *clock = to_i2c_adapter(dev)->algo_data;
	char *end;
	u64 hz = memparse(buf, &end);

	if (!hz || hz > U32_MAX)
		return -EINVAL;
	WRITE_ONCE(clock->hz, hz);
	return count;
}
static DEVICE_ATTR_RW(bus_clk_rate);

static struct attribute *bus_clock_attrs[] = {
	&dev_attr_bus_clk_rate.attr,
	NULL,
};
ATTRIBUTE_GROUPS(bus_clock);

/* Only an adapter of this simulation with tell_hz=1 has bus_clk_rate and reports its clock. */
static bool is_ours(const struct i2c_adapter *adapter)
{
	return adapter->dev.groups == bus_clock_groups;
}

int i2c_get_adapter_bus_clk_rate(struct i2c_adapter *adapter);
int i2c_get_adapter_bus_clk_rate(struct i2c_adapter *adapter)
{
	return is_ours(adapter) ? sim_bus_clock_hz(adapter) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(i2c_get_adapter_bus_clk_rate);

/* This function must be called before the adapter is added. */
void sim_bus_clock_init(struct i2c_adapter *adapter)
{
	struct sim_bus_clock *clock = adapter->algo_data;

	if (clock->tells)
		adapter->dev.groups = bus_clock_groups;
}

u32 sim_bus_clock_hz(struct i2c_adapter *adapter)
{
	struct sim_bus_clock *clock = adapter->algo_data;

	return READ_ONCE(clock->hz);
}
