// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount overlay=tests/sim/boards/two-chips.dtso chip=ina228 modules="jetwatt-sim smbus_only=1;ina3221;jetwatt" timeout=60
/*
 * Test chips on an i2c adapter that only supports SMBus, without reads of blocks. The INA3221 works,
 * because its registers are words. The two INA228 have registers of 24 bits and must not be used.
 */
#include "family.h"

#include "kselftest_harness.h"

#define BUS	"/sys/bus/i2c/devices/i2c-1/"

FIXTURE(board) {
	struct family f;
};

FIXTURE_SETUP(board)
{
	ASSERT_EQ(0, family_open(&self->f));
}

FIXTURE_TEARDOWN(board)
{
	set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 0);
	family_close(&self->f);
}

struct models {
	int ina3221, others;
};

static void note_model(struct nlmsghdr *nlh, void *arg)
{
	struct models *m = arg;

	if (!strcmp(text_of(nlh, JETWATT_A_CHIP_MODEL), "ina3221"))
		m->ina3221++;
	else
		m->others++;
}

/* Return: number of messages in the kernel log that contain @text */
static int messages(const char *text)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), found = 0;
	char line[2048];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		found += strstr(line, text) != NULL;
	}
	close(fd);
	return found;
}

TEST_F(board, chip_with_wide_registers_is_not_used)
{
	struct models m = {};

	ASSERT_EQ(0, dump(&self->f, request(&self->f, JETWATT_CMD_CHIP_GET), note_model, &m));
	EXPECT_EQ(1, m.ina3221);
	EXPECT_EQ(0, m.others);
}

/* A new device on the bus causes a scan, which finds the same chips again. */
TEST_F(board, unused_chips_are_reported_once_each)
{
	ASSERT_EQ(0, write_file(BUS "new_device", "dummy 0x60"));
	sleep_ms(300);
	ASSERT_EQ(0, write_file(BUS "delete_device", "0x60"));
	EXPECT_EQ(1, messages("1-0041: not used: the adapter cannot read registers of 3 bytes"));
	EXPECT_EQ(1, messages("1-0044: not used: the adapter cannot read registers of 3 bytes"));
}

TEST_F(board, words_are_read_one_by_one)
{
	const int32_t *shunt, *volts;
	int32_t last_uv = 0;
	struct batch b;
	uint64_t end;
	uint32_t i;

	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 50));
	ASSERT_EQ(0, simple(&self->f, JETWATT_CMD_SUBSCRIBE));
	for (end = now_ns() + 1000000000ULL; now_ns() < end && next_batch(&self->f, 2000, &b);) {
		shunt = series_of(&b, JETWATT_SERIES_SHUNT_UV, 0);
		volts = series_of(&b, JETWATT_SERIES_BUS_UV, 0);
		ASSERT_NE(NULL, shunt);
		for (i = 0; i < b.count; i++) {
			EXPECT_NE(JETWATT_VALUE_NONE, shunt[i]);
			if (volts && volts[i] != JETWATT_VALUE_NONE)
				last_uv = volts[i];
		}
	}
	/* The rail VDD_IN of the simulated board has 5.06 V without load. */
	EXPECT_LT(4900000, last_uv);
	EXPECT_GT(5100000, last_uv);
	EXPECT_EQ(0, chip_of(&self->f, 0, JETWATT_A_CHIP_ERRORS));
	EXPECT_EQ(0, simple(&self->f, JETWATT_CMD_UNSUBSCRIBE));
}

TEST_HARNESS_MAIN
