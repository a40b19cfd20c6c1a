// SPDX-License-Identifier: GPL-2.0-only
// guest: modules="governor_simpleondemand;jetwatt-sim;i2c-dev"
/* Self-test of the simulated i2c bus: duration of transfers, clock, faults. */
#include "test_board.h"

#include "kselftest_harness.h"

/* Return: shortest duration of several transfers of @n registers, in microseconds. */
static double transfer_us(int n)
{
	uint8_t reg = 1, word[2];
	struct i2c_msg msg[12];
	struct i2c_rdwr_ioctl_data data = { .msgs = msg, .nmsgs = 2 * n };
	int i, fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC);
	double least = 1e9;

	for (i = 0; i < 2 * n; i++)
		msg[i] = (struct i2c_msg){ .addr = 0x40, .flags = i & 1 ? I2C_M_RD : 0,
					   .len = i & 1 ? 2 : 1, .buf = i & 1 ? word : &reg };
	for (i = 0; i < 50; i++) {
		uint64_t t = now_ns();

		if (ioctl(fd, I2C_RDWR, &data) != 2 * n)
			least = -1;
		least = fmin(least, (now_ns() - t) / 1e3);
	}
	close(fd);
	return least;
}

FIXTURE(bus) { };

FIXTURE_SETUP(bus)
{
	ASSERT_EQ(0, put(BUS "bus_clk_rate", "100000"));
}

FIXTURE_TEARDOWN(bus)
{
	put(BUS "bus_clk_rate", "100000");
	put(SIM "fail_i2c_nak", "0");
}

TEST_F(bus, clock_is_that_of_the_device_tree)
{
	EXPECT_EQ(100000, get(BUS "bus_clk_rate"));
}

TEST_F(bus, a_transfer_takes_as_long_as_on_the_wire)
{
	/*
	 * A transfer takes 47 bits per register and one bit for the stop condition. The system call
	 * and the model of the chip add 10 to 22 us of CPU time per register, the most on NVIDIA's
	 * kernel 5.10.104.
	 */
	static const struct { const char *hz; int n; double us; } want[] = {
		{ "100000", 1, 480 }, { "100000", 6, 2830 },
		{ "400000", 1, 120 }, { "400000", 6, 707.5 },
	};
	/* With PREEMPT_RT, a separate kernel thread wakes a normal task, which takes two more
	 * context switches, so permit 160 us instead of 80. */
	double room = access("/sys/kernel/realtime", F_OK) ? 80 : 160;
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		double us;

		ASSERT_EQ(0, put(BUS "bus_clk_rate", want[i].hz));
		us = transfer_us(want[i].n);
		EXPECT_GE(us, want[i].us);
		if (!slow_kernel())
			EXPECT_LE(us, want[i].us + room + 25 * want[i].n) {
				TH_LOG("%d registers at %s Hz: %.0f us", want[i].n, want[i].hz, us);
			}
	}
}

TEST_F(bus, any_clock_is_taken)
{
	ASSERT_EQ(0, put(BUS "bus_clk_rate", "50K"));
	EXPECT_EQ(51200, get(BUS "bus_clk_rate"));
	/* The transfer takes 283 bits: six registers of 47 bits each, and one stop bit. */
	EXPECT_GE(transfer_us(6), 283 / 0.0512);
}

TEST_F(bus, unused_addresses_are_not_acknowledged)
{
	EXPECT_EQ(-ENXIO, reg_read(0x42, 0));
	EXPECT_EQ(0x7127, reg_read(0x41, 0) & 0x7fff);
}

TEST_F(bus, a_fault_affects_the_given_number_of_transfers)
{
	int before = reg_read(0x40, 0);

	ASSERT_GT(before, 0);
	ASSERT_EQ(0, put(SIM "fail_i2c_nak", "2"));
	EXPECT_EQ(-ENXIO, reg_read(0x40, 0));
	EXPECT_EQ(1, get(SIM "fail_i2c_nak"));
	EXPECT_EQ(-ENXIO, reg_read(0x40, 0));
	EXPECT_EQ(before, reg_read(0x40, 0));
}

TEST_F(bus, the_register_pointer_is_kept)
{
	uint8_t word[2], reg = 0xfe;
	struct i2c_msg msg = { .addr = 0x40, .flags = I2C_M_RD, .len = 2, .buf = word };
	struct i2c_rdwr_ioctl_data data = { .msgs = &msg, .nmsgs = 1 };
	int fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC);

	ASSERT_GE(fd, 0);
	EXPECT_EQ(0x5449, reg_read(0x40, reg));
	EXPECT_EQ(1, ioctl(fd, I2C_RDWR, &data));
	EXPECT_EQ(0x54, word[0]);
	EXPECT_EQ(0x49, word[1]);
	close(fd);
}

TEST_HARNESS_MAIN
