// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=1 icount modules="governor_simpleondemand;jetwatt-sim adc_offset_uv=800 tell_hz=0;ina3221;i2c-dev;jetwatt" timeout=120
/*
 * Test that what ticks read does not change again and again at a rate near the limit. The bus runs
 * at 94 kHz, but its device tree says 100 kHz. From transfers of few registers, the module then
 * expects that ticks have time to read all shunts; from transfers of all shunts, that they do not.
 */
#include "chip_register.h"
#include "family.h"

#include "kselftest_harness.h"

#define BUS_HZ_PARAM	"/sys/module/jetwatt_sim/parameters/bus_hz"

/* Number of ticks, and of those with the first shunt. */
struct seen {
	uint32_t ticks, shunts;
};

static void note(struct nlmsghdr *nlh, void *arg)
{
	const int32_t *shunt;
	struct seen *s = arg;
	struct batch b;
	uint32_t i;

	if (!batch_of(nlh, JETWATT_CMD_SAMPLES_GET, &b))
		return;
	shunt = series_of(&b, JETWATT_SERIES_SHUNT_UV, 0);
	s->ticks += b.count;
	for (i = 0; i < b.count; i++)
		s->shunts += shunt[i] != JETWATT_VALUE_NONE;
}

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
	write_number(BUS_HZ_PARAM, 100000);
	family_close(&self->f);
}

TEST_F_TIMEOUT(board, what_is_read_does_not_alternate, 90)
{
	static const uint32_t hz[] = { 186, 200, 204, 206 };
	uint32_t i, k, all, changes;
	bool read, was = false;
	struct nl_msg *msg;
	struct seen s;

	if (slow_kernel())
		SKIP(return, "the memory checks of this kernel limit the rate");
	/* The chip converts as fast as possible, and its sum has all channels. */
	ASSERT_EQ(0, write_register(1, 0x40, 0, 0x7007));
	ASSERT_EQ(0, write_register(1, 0x40, 0x0f, 0x7000));
	ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, 100));
	sleep_ms(8000);
	ASSERT_EQ(7, chip_of(&self->f, 0, JETWATT_A_CHIP_SUM_CHANNELS));
	ASSERT_EQ(0, write_number(BUS_HZ_PARAM, 94000));
	for (k = 0; k < 4; k++) {
		ASSERT_EQ(0, set_u32(&self->f, JETWATT_A_CONFIG_RATE_HZ, hz[k]))
			TH_LOG("%s", self->f.text);
		sleep_ms(2500);
		for (all = changes = 0, i = 0; i < 8; i++) {
			memset(&s, 0, sizeof(s));
			msg = request(&self->f, JETWATT_CMD_SAMPLES_GET);
			nla_put_u64(msg, JETWATT_A_SAMPLES_SEQ,
				    stat_of(&self->f, JETWATT_A_STATS_TICKS) + 1);
			sleep_ms(1000);
			ASSERT_EQ(0, dump(&self->f, msg, note, &s));
			read = s.shunts > s.ticks / 4;
			all += read;
			changes += i && read != was;
			was = read;
		}
		TH_LOG("%u Hz: in %u of 8 seconds, ticks read the first shunt", hz[k], all);
		/* One change is permitted: the module measures the transfers for some seconds. */
		EXPECT_GE(1, changes);
	}
}

TEST_HARNESS_MAIN
