// SPDX-License-Identifier: GPL-2.0
#include "sampler/ring.h"

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/jetwatt.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include "fault_inject.h"

#ifndef CONFIG_64BIT
#error "jetwatt needs a 64-bit kernel: sequence numbers and times are read without a lock"
#endif

#define RING_MIN	64
#define RING_MAX	1048576

static unsigned int ring_samples = 8192;
module_param_named(ring, ring_samples, uint, 0444);
MODULE_PARM_DESC(ring, "samples that the ring holds, rounded up to a power of two (default 8192)");

/*
 * Each slot is its own seqlock: the writer takes the sequence number out of
 * it, writes, and puts the new one in. A reader that finds the number it
 * wants before and after its copy has a whole sample. The head is published
 * after the slot; it is the last sample that can be read.
 */
static struct {
	struct jetwatt_sample *slots;
	unsigned int mask;
	u64 head;
	/* The sample that is being taken. Its slot holds the oldest sample until the commit. */
	struct jetwatt_sample draft;
} ring;

static struct jetwatt_sample *slot_at(u64 seq)
{
	return &ring.slots[seq & ring.mask];
}

/**
 * jetwatt_ring_begin() - open the next sample for writing
 * @nr_series: how many columns it gets; all of them are NONE
 *
 * Context: the sampler's thread only; it is the single writer.
 * Return: the sample, good until jetwatt_ring_commit().
 */
struct jetwatt_sample *jetwatt_ring_begin(unsigned int nr_series)
{
	unsigned int i;

	ring.draft.nr_series = nr_series;
	for (i = 0; i < nr_series; i++)
		ring.draft.value[i] = JETWATT_VALUE_NONE;
	return &ring.draft;
}

/**
 * jetwatt_ring_commit() - publish the sample that was begun
 * @time_ns: its time
 *
 * Context: the sampler's thread only. Return: its sequence number.
 */
u64 jetwatt_ring_commit(u64 time_ns)
{
	u64 seq = ring.head + 1;
	struct jetwatt_sample *sample = slot_at(seq);

	WRITE_ONCE(sample->seq, 0);
	/* No value may be seen to change while the old number still stands. */
	smp_wmb();
	sample->time_ns = time_ns;
	sample->nr_series = ring.draft.nr_series;
	memcpy(sample->value, ring.draft.value, ring.draft.nr_series * sizeof(ring.draft.value[0]));
	/* The number after the values, the head after the number. */
	smp_store_release(&sample->seq, seq);
	/* Pairs with jetwatt_ring_head(). */
	smp_store_release(&ring.head, seq);
	return seq;
}

/**
 * jetwatt_ring_head() - the newest sample
 *
 * Context: any. Return: its sequence number, 0 if there is none yet.
 */
u64 jetwatt_ring_head(void)
{
	/* Pairs with jetwatt_ring_commit(). */
	return smp_load_acquire(&ring.head);
}

/**
 * jetwatt_ring_size() - how many samples the ring holds
 *
 * Return: a power of two.
 */
unsigned int jetwatt_ring_size(void)
{
	return ring.mask + 1;
}

/**
 * jetwatt_ring_time() - when a sample was taken
 * @seq: its sequence number
 *
 * Context: any. Return: its time, 0 if the ring does not hold it any more.
 */
u64 jetwatt_ring_time(u64 seq)
{
	struct jetwatt_sample *slot = slot_at(seq);
	u64 time_ns;

	/* The same steps as in copy(). */
	if (smp_load_acquire(&slot->seq) != seq)
		return 0;
	time_ns = READ_ONCE(slot->time_ns);
	/* As there. */
	smp_rmb();
	return READ_ONCE(slot->seq) == seq ? time_ns : 0;
}

static bool copy_slot(u64 seq, struct jetwatt_sample *row)
{
	struct jetwatt_sample *slot = slot_at(seq);

	/* Pairs with jetwatt_ring_commit(): the values are those of the number. */
	if (smp_load_acquire(&slot->seq) != seq)
		return false;
	row->seq = seq;
	row->time_ns = slot->time_ns;
	/* May be torn if the writer laps us here: bounded, and thrown away below. */
	row->nr_series = min_t(u32, READ_ONCE(slot->nr_series), JETWATT_SERIES_SLOTS);
	memcpy(row->value, slot->value, row->nr_series * sizeof(row->value[0]));
	/* The copy is done before the number is looked at again. */
	smp_rmb();
	return READ_ONCE(slot->seq) == seq;
}

/**
 * jetwatt_ring_read() - copy samples out
 * @seq: in: the sample to start at; out: the one it did start at, which is
 *	later if the ring has overwritten some
 * @rows: room for @max samples
 * @max: at most so many
 *
 * The rows have consecutive sequence numbers and the same number of series.
 *
 * Context: any; never waits for the writer. Return: the number of rows.
 */
unsigned int jetwatt_ring_read(u64 *seq, struct jetwatt_sample *rows, unsigned int max)
{
	unsigned int n = 0;
	u64 from = max_t(u64, *seq, 1), last, oldest;

	for (last = jetwatt_ring_head(); n < max && from + n <= last;
	     last = jetwatt_ring_head()) {
		if (copy_slot(from + n, &rows[n])) {
			if (n && rows[n].nr_series != rows[0].nr_series)
				break;
			n++;
			continue;
		}
		if (n)
			break;
		/* A sixteenth of head start, or the writer laps us again. */
		oldest = last > ring.mask ? last - ring.mask : 1;
		from = max(from + 1, oldest + (ring.mask + 1) / 16);
		from = min(from, last);
	}
	*seq = from;
	return n;
}

/**
 * jetwatt_ring_init() - get the memory
 *
 * Return: 0, -EINVAL for a size out of range, -ENOMEM.
 */
int jetwatt_ring_init(void)
{
	int err;

	if (ring_samples < RING_MIN || ring_samples > RING_MAX)
		return -EINVAL;
	err = jetwatt_fail_step();
	if (err)
		return err;
	ring_samples = roundup_pow_of_two(ring_samples);
	ring.slots = __vmalloc(array_size(ring_samples, sizeof(*ring.slots)),
			       GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!ring.slots)
		return -ENOMEM;
	ring.mask = ring_samples - 1;
	return 0;
}

/**
 * jetwatt_ring_exit() - give it back
 *
 * Context: no writer and no reader is left.
 */
void jetwatt_ring_exit(void)
{
	vfree(ring.slots);
}
