// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes a trace: collects records in a block and writes complete blocks.
 *
 * The writer needs memory for one block and the description, however long the run is. After a
 * failed write, nothing more is written: with a full disk, the trace would have gaps.
 */
#include "lib/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/crc32c.h"

#define HEAD_AGAIN_NS	60000000000ull	/* interval of repeating the description of the run, ns */
#define CLOCKS_AGAIN_NS	10000000000ull	/* interval of the records of type CLOCKS, ns */

static uint64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t jetwatt_trace_now(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

int jetwatt_trace_fail(struct jetwatt_trace_writer *w, int err)
{
	if (!w->err)
		w->err = err;
	return w->err;
}

/*
 * A write failed after @part bytes of the block: truncate the file to the last complete block, because an
 * incomplete one is useless, and another recording may be appended. If other data follow the block, it stays.
 */
static int truncate_block(struct jetwatt_trace_writer *w, size_t part, int err)
{
	if (w->end_of_last >= 0 && (lseek(w->fd, 0, SEEK_END) != w->end_of_last + (off_t)part ||
				    ftruncate(w->fd, w->end_of_last)))
		w->end_of_last = -1;
	return jetwatt_trace_fail(w, err);
}

int jetwatt_trace_write_out(struct jetwatt_trace_writer *w)
{
	struct jetwatt_trace_block b = {
		.version = JETWATT_TRACE_VERSION, .flags = w->flags, .number = w->number,
		.length = w->block.len - JETWATT_TRACE_HEADER, .time_ns = w->time_ns,
	};
	uint8_t *at = w->block.byte;
	size_t left = w->block.len;

	if (w->block.failed)
		return jetwatt_trace_fail(w, -ENOMEM);
	b.crc = jetwatt_crc32c(0, at + JETWATT_TRACE_HEADER, b.length);
	jetwatt_trace_block_put(at, &b);
	while (left) {
		ssize_t n = write(w->fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return truncate_block(w, w->block.len - left, n ? -errno : -EIO);
		at += n;
		left -= n;
	}
	w->written += w->block.len;
	if (w->end_of_last >= 0)
		w->end_of_last += w->block.len;
	w->block.len = 0;
	w->flags = 0;
	w->number++;
	return 0;
}

void jetwatt_trace_add(struct jetwatt_trace_writer *w, enum jetwatt_trace_tag tag)
{
	jetwatt_trace_put_record(&w->block, tag, &w->scratch);
	w->scratch.len = 0;
}

static void add_clocks(struct jetwatt_trace_writer *w, uint64_t now)
{
	jetwatt_trace_put_uint(&w->scratch, jetwatt_trace_now());
	jetwatt_trace_put_uint(&w->scratch, now_ns(CLOCK_BOOTTIME));
	jetwatt_trace_put_uint(&w->scratch, now_ns(CLOCK_REALTIME));
	jetwatt_trace_add(w, JETWATT_TRACE_CLOCKS);
	w->clocks_ns = now;
}

static void add_lost(struct jetwatt_trace_writer *w)
{
	jetwatt_trace_put_uint(&w->scratch, w->waits);
	jetwatt_trace_put_uint(&w->scratch, w->lost);
	jetwatt_trace_add(w, JETWATT_TRACE_LOST);
}

/* Reset the state at the start of a block: no number in a block may refer to an earlier block. */
void jetwatt_trace_open(struct jetwatt_trace_writer *w, uint64_t time_ns)
{
	static const uint8_t room[JETWATT_TRACE_HEADER];
	uint64_t now = jetwatt_trace_now();

	if (w->block.len)
		return;
	jetwatt_trace_put(&w->block, room, sizeof(room));
	w->time_ns = w->last.exit_ns = time_ns;
	w->last.cgroup = w->last.tgid = w->last.tid = w->last.call = 0;
	w->nr_series = 0;
	w->opened_ns = now;
	if (!w->head_ns || now - w->head_ns >= HEAD_AGAIN_NS) {
		w->flags |= JETWATT_TRACE_HEAD;
		w->head_ns = now;
		for (int i = 0; i < w->nr_kept; i++)
			jetwatt_trace_put_record(&w->block, w->kept[i].tag, &w->kept[i].payload);
		w->clocks_ns = 0;
	}
	if (!w->clocks_ns || now - w->clocks_ns >= CLOCKS_AGAIN_NS)
		add_clocks(w, now);
	add_lost(w);
}

int jetwatt_trace_writer_new(struct jetwatt_trace_writer **writer, int fd)
{
	struct jetwatt_trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	/* lseek() returns -1 for a pipe; truncate_block() then truncates nothing. With O_APPEND, the first block
	 * is written behind what the file has. */
	w->end_of_last = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
	*writer = w;
	return 0;
}

void jetwatt_trace_writer_free(struct jetwatt_trace_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->nr_kept; i++)
		free(w->kept[i].payload.byte);
	free(w->block.byte);
	free(w->scratch.byte);
	free(w);
}

int jetwatt_trace_flush(struct jetwatt_trace_writer *w, uint64_t waits_lost, int all)
{
	uint64_t now = jetwatt_trace_now();

	if (w->err || w->finished)
		return w->err;
	/* Write the description of the run first and at once: a full disk is then detected
	 * before the run, and a reader may be waiting for the description. */
	if (!w->head_ns) {
		jetwatt_trace_open(w, now);
		all = 1;
	}
	if (waits_lost != w->lost) {
		w->lost = waits_lost;
		jetwatt_trace_open(w, now);
		add_lost(w);
	}
	if (w->block.len && (all || now - w->opened_ns >= JETWATT_TRACE_AGE_NS))
		jetwatt_trace_write_out(w);
	return w->err;
}

int jetwatt_trace_finish(struct jetwatt_trace_writer *w, const struct jetwatt_trace_end *e)
{
	if (w->err || w->finished)
		return w->err;
	w->lost = e->waits_lost;
	jetwatt_trace_open(w, e->ended_ns);
	add_lost(w);
	jetwatt_trace_put_int(&w->scratch, e->ended_ns - w->time_ns);
	jetwatt_trace_put_uint(&w->scratch, e->waits_lost);
	jetwatt_trace_put_uint(&w->scratch, e->missed);
	jetwatt_trace_put_int(&w->scratch, e->status);
	jetwatt_trace_add(w, JETWATT_TRACE_END);
	w->flags |= JETWATT_TRACE_LAST;
	if (!jetwatt_trace_write_out(w))
		w->finished = 1;
	return w->err;
}

uint64_t jetwatt_trace_written(const struct jetwatt_trace_writer *w)
{
	return w->written;
}
