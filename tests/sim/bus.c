// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated i2c adapter, with the chips that the device tree has on it.
 *
 * A transfer takes its time on the wire: a start condition per message, nine bits per byte, and a
 * stop condition at the end; to write the pointer and read a word takes 48 bits. A register is read
 * or written at the simulated time at which its bytes are on the wire.
 */
#include "bus.h"

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/i2c.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>

#include "bus_clock.h"
#include "chip.h"
#include "fault.h"

#define BUS_CHIPS	4
#define STUCK_NS	NSEC_PER_SEC	/* timeout of a transfer, like that of i2c-tegra */

static uint bus_hz;
module_param(bus_hz, uint, 0644);
MODULE_PARM_DESC(bus_hz, "clock of the i2c bus: 100000, 400000 or 1000000 (0: from the device tree); can be changed at run time with tell_hz=0");

static bool tell_hz = true;
module_param(tell_hz, bool, 0444);
MODULE_PARM_DESC(tell_hz, "the kernel reports and sets the bus clock (bus_clk_rate), as up to JetPack 5 (default)");

static uint start_us;
module_param(start_us, uint, 0644);
MODULE_PARM_DESC(start_us, "time that the adapter's driver takes to start a transfer, us (default 0)");

static bool smbus_only;
module_param(smbus_only, bool, 0444);
MODULE_PARM_DESC(smbus_only, "the adapters only support SMBus, with reads of bytes and words (default: off)");

struct bus {
	struct i2c_adapter adapter;
	struct sim_bus_clock clock;
	struct chip {			/* protected by the adapter's lock */
		const struct sim_part *part;
		void *state;
		u16 addr;
		u8 pointer;
	} chips[BUS_CHIPS];
	u32 nr_chips;
};

#define PART(name)	&sim_part_##name,
static const struct sim_part *const parts[] = { SIM_PARTS(PART) };

static u64 seed;

static int add_chip(struct bus *bus, struct device_node *node, u32 addr,
		    const struct sim_part *part)
{
	struct device *dev = bus->adapter.dev.parent;
	struct chip *chip = &bus->chips[bus->nr_chips];

	if (bus->nr_chips == BUS_CHIPS)
		return 0;
	chip->state = devm_kzalloc(dev, part->size, GFP_KERNEL);
	if (!chip->state)
		return -ENOMEM;
	chip->part = part;
	chip->addr = addr;
	part->init(chip->state, node, addr, ktime_get_ns(), seed + addr);
	bus->nr_chips++;
	return 0;
}

static int find_chips(struct bus *bus, struct device_node *node)
{
	struct device_node *child;
	int err = 0;
	u32 addr, i;

	for_each_available_child_of_node(node, child) {
		if (of_property_read_u32(child, "reg", &addr))
			continue;
		for (i = 0; i < ARRAY_SIZE(parts) && !err; i++)
			if (of_device_is_compatible(child, parts[i]->compatible))
				err = add_chip(bus, child, addr, parts[i]);
	}
	return err;
}

static struct chip *find(struct bus *bus, u16 addr)
{
	u32 i;

	for (i = 0; i < bus->nr_chips; i++)
		if (bus->chips[i].addr == addr)
			return &bus->chips[i];
	return NULL;
}

/*
 * Return: duration in ns of @bits bits at the present clock; without tell_hz, the module parameter
 * bus_hz may have changed the clock.
 */
static u64 bits_ns(struct bus *bus, u64 bits)
{
	u32 hz = tell_hz ? 0 : READ_ONCE(bus_hz);

	return div_u64(bits * NSEC_PER_SEC, hz ?: sim_bus_clock_hz(&bus->adapter));
}

static void sleep_until(u64 t)
{
	ktime_t end = ns_to_ktime(t);

	while (ktime_get_ns() < t) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	}
}

/* The chips have no auto-increment: a long read returns the same register repeatedly. */
static void pass_bytes(struct bus *bus, struct i2c_msg *msg, u64 t)
{
	struct chip *chip = find(bus, msg->addr);
	u32 i, bytes = 0, left = 0;
	u64 value = 0;

	if (msg->flags & I2C_M_RD) {
		for (i = 0; i < msg->len; i++) {
			if (!left) {
				value = chip->part->read(chip->state, chip->pointer, t, &bytes);
				left = bytes;
			}
			msg->buf[i] = value >> 8 * --left & 0xff;
		}
		return;
	}
	if (msg->len)
		chip->pointer = msg->buf[0];
	if (msg->len >= 3)
		chip->part->write(chip->state, msg->buf[0], msg->buf[1] << 8 | msg->buf[2], t);
}

static bool refused(int i)
{
	return sim_fault(SIM_FAIL_I2C_NAK) || (i == 4 && sim_fault(SIM_FAIL_I2C_NAK_LATE));
}

/*
 * Time in ns that the simulation of the bus and the chips has run. On a board, hardware (adapter,
 * bus and chips) does the work of the simulation, so a benchmark must subtract this time from the
 * CPU time. What remains stands for an ideal adapter driver, which starts a transfer and sleeps
 * until one interrupt.
 */
static atomic64_t spent;

u64 sim_bus_spent_ns(void)
{
	return atomic64_read(&spent);
}

static int transfer(struct i2c_adapter *adapter, struct i2c_msg *msgs, int n)
{
	struct bus *bus = i2c_get_adapdata(adapter);
	u64 begin, bits = 0, start;
	int i, acked = n;

	udelay(READ_ONCE(start_us));
	begin = ktime_get_ns();
	if (sim_fault(SIM_FAIL_I2C_STUCK)) {
		sleep_until(begin + STUCK_NS);
		return -ETIMEDOUT;
	}
	/*
	 * First sleep for the duration of the transfer on the wire, then calculate the values of
	 * the registers at the past times at which they were read. If the transfer's time is slept
	 * first, the time of the calculation is added only once per transfer, and does not shift
	 * the times of the values.
	 */
	for (i = 0; i < n; i++) {
		bits += 1 + 9;
		if (!find(bus, msgs[i].addr) || refused(i)) {
			acked = i;
			break;
		}
		bits += 9 * msgs[i].len;
	}
	atomic64_add(ktime_get_ns() - begin, &spent);
	sleep_until(begin + bits_ns(bus, bits + 1));

	start = ktime_get_ns();
	for (i = 0, bits = 0; i < acked; i++) {
		bits += 1 + 9 + 9 * msgs[i].len;
		pass_bytes(bus, &msgs[i], begin + bits_ns(bus, bits));
	}
	atomic64_add(ktime_get_ns() - start, &spent);
	return acked == n ? n : -ENXIO;
}

static u32 functionality(struct i2c_adapter *adapter)
{
	if (smbus_only)
		return I2C_FUNC_SMBUS_BYTE_DATA | I2C_FUNC_SMBUS_WORD_DATA;
	return I2C_FUNC_I2C | (I2C_FUNC_SMBUS_EMUL & ~I2C_FUNC_SMBUS_QUICK);
}

static const struct i2c_algorithm algorithm = {
	.master_xfer = transfer,
	.functionality = functionality,
};

/* Clocks of Tegra194's and later controllers: the clk_divisor members of tegra194_i2c_hw in mainline's
 * drivers/i2c/busses/i2c-tegra.c. */
static bool is_rate(u32 hz)
{
	return hz == I2C_MAX_STANDARD_MODE_FREQ || hz == I2C_MAX_FAST_MODE_FREQ ||
	       hz == I2C_MAX_FAST_MODE_PLUS_FREQ;
}

static int probe(struct platform_device *pdev)
{
	struct bus *bus = devm_kzalloc(&pdev->dev, sizeof(*bus), GFP_KERNEL);
	struct i2c_adapter *adapter;
	int err;

	if (!bus)
		return -ENOMEM;
	bus->clock.tells = tell_hz;
	bus->clock.hz = bus_hz;
	if (!bus_hz && of_property_read_u32(pdev->dev.of_node, "clock-frequency", &bus->clock.hz))
		bus->clock.hz = 100000;
	if (!is_rate(bus->clock.hz)) {
		dev_err(&pdev->dev, "%u Hz: the bus runs at 100000, 400000 or 1000000\n", bus->clock.hz);
		return -EINVAL;
	}
	bus->adapter.dev.parent = &pdev->dev;
	err = find_chips(bus, pdev->dev.of_node);
	if (err)
		return err;
	adapter = &bus->adapter;
	adapter->owner = THIS_MODULE;
	adapter->algo = &algorithm;
	adapter->dev.of_node = pdev->dev.of_node;
	adapter->algo_data = &bus->clock;
	strscpy(adapter->name, "jetwatt-sim", sizeof(adapter->name));
	i2c_set_adapdata(adapter, bus);
	sim_bus_clock_init(adapter);
	platform_set_drvdata(pdev, bus);
	return i2c_add_adapter(adapter);
}

/*
 * This function is registered as a devm action instead of as .remove, whose prototype differs
 * between kernel versions.
 */
static void forget(void *adapter)
{
	i2c_del_adapter(adapter);
}

static int probe_managed(struct platform_device *pdev)
{
	struct bus *bus;
	int err = probe(pdev);

	if (err)
		return err;
	bus = platform_get_drvdata(pdev);
	return devm_add_action_or_reset(&pdev->dev, forget, &bus->adapter);
}

static const struct of_device_id bus_ids[] = {
	{ .compatible = "jetwatt,sim-i2c" },
	{ }
};
MODULE_DEVICE_TABLE(of, bus_ids);

static struct platform_driver driver = {
	.probe = probe_managed,
	.driver = {
		.name = "jetwatt-sim-i2c",
		.of_match_table = bus_ids,
	},
};

int sim_bus_register(u64 with)
{
	seed = with;
	return platform_driver_register(&driver);
}

void sim_bus_unregister(void)
{
	platform_driver_unregister(&driver);
}
