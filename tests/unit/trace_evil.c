// SPDX-License-Identifier: GPL-2.0-only
/*
 * Malicious traces. Whatever the block headers claim, a reader computes a bounded number of
 * checksums over each byte; the test counts checksummed bytes. A mark whose index is outside the
 * table of mark names is rejected, as is a time that no clock reaches.
 */
#include <stdint.h>
#include <stddef.h>

#define jetwatt_crc32c counted_crc
uint32_t counted_crc(uint32_t crc, const void *buf, size_t len);
#include "../../user/lib/crc_marks.c"
#include "../../user/lib/trace_reader.c"
#undef jetwatt_crc32c
uint32_t jetwatt_crc32c(uint32_t crc, const void *buf, size_t len);

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/trace_writer.h"
#include "kselftest_harness.h"

#define MIB	(1u << 20)
#define BLOCK	500

static uint64_t counted, most;

uint32_t counted_crc(uint32_t crc, const void *buf, size_t len)
{
	counted += len;
	/* After too many bytes, return a wrong checksum so that the reader gives up, because
	 * otherwise the test would not end. */
	return most && counted > most ? 0 : jetwatt_crc32c(crc, buf, len);
}

static uint64_t state = 1;

static uint32_t draw(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

static size_t put(uint8_t *at, uint32_t number, uint32_t length, int whole)
{
	struct jetwatt_trace_block b = { JETWATT_TRACE_VERSION, 0, number, length, 0, 0 };

	/* The block contains one record of an unknown kind. */
	if (whole) {
		at[JETWATT_TRACE_HEADER] = 100;
		at[JETWATT_TRACE_HEADER + 1] = ((length - 3) & 127) | 128;
		at[JETWATT_TRACE_HEADER + 2] = (length - 3) >> 7;
		for (uint32_t i = 3; i < length; i++)
			at[JETWATT_TRACE_HEADER + i] = draw() & 127;
		b.crc = jetwatt_crc32c(0, at + JETWATT_TRACE_HEADER, length);
	} else {
		b.crc = draw();
	}
	jetwatt_trace_block_put(at, &b);
	return JETWATT_TRACE_HEADER + (whole ? length : 0);
}

static void read_all(const uint8_t *byte, size_t size, struct jetwatt_trace_state *st)
{
	struct jetwatt_trace_calls calls = { .samples = NULL };
	struct jetwatt_trace_reader *r;
	int fd = memfd_create("evil", 0);

	if (fd < 0 || write(fd, byte, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) ||
	    jetwatt_trace_reader_new(&r, fd, &calls, NULL))
		abort();
	while (jetwatt_trace_read(r) > 0)
		;
	jetwatt_trace_state(r, st);
	jetwatt_trace_reader_free(r);
	close(fd);
}

TEST(headers_that_claim_large_blocks)
{
	size_t size = JETWATT_TRACE_MAX + MIB, at = 0;
	uint8_t *byte = malloc(size + JETWATT_TRACE_HEADER);
	struct jetwatt_trace_state st;
	uint32_t n = 0;

	while (at < size)
		at += put(byte + at, n++, JETWATT_TRACE_MAX, 0);
	counted = 0;
	most = 16 * size;
	read_all(byte, size, &st);
	TH_LOG("%.1f bytes of checksum a byte", 1.0 * counted / size);
	EXPECT_GT(most, counted);
	EXPECT_EQ(0, st.blocks);
	EXPECT_LE(MIB / JETWATT_TRACE_HEADER - 1, st.damaged);
	most = 0;
	free(byte);
}

TEST(valid_blocks_among_crafted_headers_are_found)
{
	size_t size = 3 * MIB, at = 0;
	uint8_t *byte = calloc(1, size + JETWATT_TRACE_MAX);
	struct jetwatt_trace_state st;
	uint32_t n = 0, bad = 0;

	while (at < size) {
		if (draw() % 3) {
			at += put(byte + at, 0, draw() % MIB, 0);
			bad++;
		} else if (draw() % 3) {
			at += put(byte + at, n++, 200 + draw() % BLOCK, 1);
		} else {
			at += draw() % 100;
		}
	}
	size = at + MIB;
	counted = 0;
	read_all(byte, size, &st);
	TH_LOG("%u blocks, %u false headers: %.1f bytes checksummed per byte of the file", n, bad,
	       1.0 * counted / size);
	EXPECT_EQ(n, st.blocks);
	EXPECT_EQ(bad, st.damaged);
	EXPECT_EQ(0, st.missing);
	EXPECT_GT(16 * size, counted);
	free(byte);
}

static void count_sync(const struct jetwatt_sync *s, void *arg)
{
	(void)s;
	++*(int *)arg;
}

TEST(mark_names_are_in_the_table)
{
	static const struct jetwatt_trace_calls calls = { .sync = count_sync };
	static const struct { uint32_t call; int32_t ret; int read; } mark[] = {
		{ JETWATT_SYNC_MARK, JETWATT_MARKS_MAX - 1, 1 },
		{ JETWATT_SYNC_MARK, JETWATT_MARKS_MAX, 0 },
		{ JETWATT_SYNC_MARK_BEGIN, INT32_MAX, 0 },
		{ JETWATT_SYNC_MARK, -1, 0 },
		/* For a call that waits, the return value is not an index, so any value is
		 * valid. */
		{ JETWATT_SYNC_POLLFD, JETWATT_MARKS_MAX, 1 },
	};

	for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]); i++) {
		struct jetwatt_sync s = { .enter_ns = 1000, .exit_ns = 2000, .tgid = 1, .tid = 1,
					  .call = mark[i].call, .ret = mark[i].ret };
		int fd = memfd_create("jwt", MFD_CLOEXEC), read = 0;
		struct jetwatt_trace_writer *w;
		struct jetwatt_trace_reader *r;

		jetwatt_trace_writer_new(&w, fd);
		jetwatt_trace_write_sync(&s, w);
		jetwatt_trace_flush(w, 0, 1);
		jetwatt_trace_writer_free(w);
		ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
		ASSERT_EQ(0, jetwatt_trace_reader_new(&r, fd, &calls, &read));
		while (jetwatt_trace_read(r) > 0)
			;
		jetwatt_trace_reader_free(r);
		EXPECT_EQ(mark[i].read, read) TH_LOG("call %u, index %d", mark[i].call, mark[i].ret);
		close(fd);
	}
}

struct times {
	uint64_t event_ns, clock_ns;
};

static void store_event_time(const struct jetwatt_event *e, void *arg)
{
	((struct times *)arg)->event_ns = e->time_ns;
}

static void store_clock_time(const struct jetwatt_trace_clocks *c, void *arg)
{
	((struct times *)arg)->clock_ns = c->boottime_ns;
}

TEST(times_are_limited)
{
	static const struct jetwatt_trace_calls calls = {
		.event = store_event_time, .clocks = store_clock_time,
	};
	const uint64_t limit = (uint64_t)1 << 62;

	for (int clocks = 0; clocks < 2; clocks++)
		for (int over = 0; over < 2; over++) {
			struct jetwatt_event e = { .time_ns = clocks ? 1000 : limit + over };
			int fd = memfd_create("jwt", MFD_CLOEXEC);
			struct jetwatt_trace_writer *w;
			struct jetwatt_trace_reader *r;
			struct times t = { 0 };

			jetwatt_trace_writer_new(&w, fd);
			jetwatt_trace_write_event(&e, w);
			if (clocks) {
				jetwatt_trace_put_uint(&w->scratch, 1000);
				jetwatt_trace_put_uint(&w->scratch, limit + over);
				jetwatt_trace_put_uint(&w->scratch, 1000);
				jetwatt_trace_add(w, JETWATT_TRACE_CLOCKS);
			}
			jetwatt_trace_flush(w, 0, 1);
			jetwatt_trace_writer_free(w);
			ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
			ASSERT_EQ(0, jetwatt_trace_reader_new(&r, fd, &calls, &t));
			while (jetwatt_trace_read(r) > 0)
				;
			jetwatt_trace_reader_free(r);
			EXPECT_EQ(!over, (clocks ? t.clock_ns : t.event_ns) == limit);
			EXPECT_GE(limit, t.event_ns);
			EXPECT_GE(limit, t.clock_ns);
			close(fd);
		}
}

TEST(checksum_of_parts_of_a_stream)
{
	static uint8_t byte[100000];
	struct jetwatt_crc_marks m = { NULL };
	uint32_t crc;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(byte); i++)
		byte[i] = draw();
	while (at < sizeof(byte)) {
		size_t len = draw() % 4 ? draw() % 200 : draw() % sizeof(byte);

		if (len > sizeof(byte) - at)
			len = sizeof(byte) - at;
		ASSERT_EQ(0, jetwatt_crc_marks_of(&m, byte + at, at, len, &crc));
		ASSERT_EQ(jetwatt_crc32c(0, byte + at, len), crc) TH_LOG("%zu bytes at %zu", len, at);
		at += draw() % 10 ? draw() % 70 : draw() % 3000;
	}
	jetwatt_crc_marks_free(&m);
}

TEST_HARNESS_MAIN
