// SPDX-License-Identifier: GPL-2.0
/* The ring of samples: the sampler thread writes it without a lock, any thread may read it. */
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
MODULE_PARM_DESC(ring, "samples in the ring, 64 to 1048576, rounded up to a power of two (default 8192)");

/*
 * Each slot works like a seqlock: the writer clears the slot's sequence number, writes the values
 * of the sample, and stores the sample's sequence number in the slot. A reader that finds the
 * expected number both before and after copying has a consistent sample. @head is the sequence
 * number of the newest sample that can be read; it is published after the slot of that sample.
 */
static struct {
	struct jetwatt_sample *slots;
	unsigned int mask;
	u64 head;
	/*
	 * The sample being taken. The ring slot that it will get holds the oldest sample until
	 * jetwatt_ring_commit().
	 */
	struct jetwatt_sample draft;
} ring;

static struct jetwatt_sample *slot_at(u64 seq)
{
	return &ring.slots[seq & ring.mask];
}

/**
 * jetwatt_ring_begin() - begin the next sample
 * @nr_series: number of columns of the sample; all columns are set to JETWATT_VALUE_NONE
 *
 * Context: the sampler thread only, because there is a single writer.
 * Return: the sample, valid until jetwatt_ring_commit() or the next call.
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
 * jetwatt_ring_commit() - publish the sample of the last jetwatt_ring_begin()
 * @time_ns: time of the sample, CLOCK_MONOTONIC
 *
 * Context: the sampler thread only. Return: sequence number of the sample.
 */
u64 jetwatt_ring_commit(u64 time_ns)
{
	u64 seq = ring.head + 1;
	struct jetwatt_sample *sample = slot_at(seq);

	WRITE_ONCE(sample->seq, 0);
	/* The cleared sequence number must be visible before any value changes. */
	smp_wmb();
	sample->time_ns = time_ns;
	sample->nr_series = ring.draft.nr_series;
	memcpy(sample->value, ring.draft.value, ring.draft.nr_series * sizeof(ring.draft.value[0]));
	/* Readers must see the values before sample->seq, and sample->seq before ring.head. */
	smp_store_release(&sample->seq, seq);
	/* Pairs with jetwatt_ring_head(). */
	smp_store_release(&ring.head, seq);
	return seq;
}

/**
 * jetwatt_ring_head() - return the sequence number of the newest sample
 *
 * Context: any. Return: the sequence number; 0 if there is no sample yet.
 */
u64 jetwatt_ring_head(void)
{
	/* Pairs with jetwatt_ring_commit(). */
	return smp_load_acquire(&ring.head);
}

/**
 * jetwatt_ring_size() - return the capacity of the ring, in samples
 *
 * Return: a power of two.
 */
unsigned int jetwatt_ring_size(void)
{
	return ring.mask + 1;
}

/**
 * jetwatt_ring_time() - return the time of a sample
 * @seq: sequence number of the sample
 *
 * Context: any. Return: CLOCK_MONOTONIC (ns); 0 if the ring does not hold the sample.
 */
u64 jetwatt_ring_time(u64 seq)
{
	struct jetwatt_sample *slot = slot_at(seq);
	u64 time_ns;

	/* As in copy_slot(): check the sequence number before and after reading the time. */
	if (smp_load_acquire(&slot->seq) != seq)
		return 0;
	time_ns = READ_ONCE(slot->time_ns);
	/* Read the time before the sequence number is read again. */
	smp_rmb();
	return READ_ONCE(slot->seq) == seq ? time_ns : 0;
}

static bool copy_slot(u64 seq, struct jetwatt_sample *row)
{
	struct jetwatt_sample *slot = slot_at(seq);

	/* Pairs with jetwatt_ring_commit(): the values belong to this sequence number. */
	if (smp_load_acquire(&slot->seq) != seq)
		return false;
	row->seq = seq;
	row->time_ns = slot->time_ns;
	/*
	 * If the writer overwrites the slot now, nr_series may be wrong: it is limited here, and
	 * the copy is discarded at the end.
	 */
	row->nr_series = min_t(u32, READ_ONCE(slot->nr_series), JETWATT_SERIES_SLOTS);
	memcpy(row->value, slot->value, row->nr_series * sizeof(row->value[0]));
	/* Copy the values before the sequence number is read again. */
	smp_rmb();
	return READ_ONCE(slot->seq) == seq;
}

/**
 * jetwatt_ring_read() - copy samples from the ring
 * @seq: in: sequence number of the first sample to copy; out: number of the first sample that was
 *	copied, which is higher if the writer has overwritten the requested sample
 * @rows: array of @max samples to copy to
 * @max: maximum number of samples
 *
 * The copied samples have consecutive sequence numbers and the same number of series.
 *
 * Context: any; never waits for the writer. Return: the number of samples copied.
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
		/*
		 * The writer has overwritten this sample: also skip the oldest sixteenth of the
		 * ring, so that the next samples are not overwritten before they are copied.
		 */
		oldest = last > ring.mask ? last - ring.mask : 1;
		from = max(from + 1, oldest + (ring.mask + 1) / 16);
		from = min(from, last);
	}
	*seq = from;
	return n;
}

/**
 * jetwatt_ring_init() - allocate the ring
 *
 * Return: 0; -EINVAL if the parameter "ring" is out of range; -ENOMEM.
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
 * jetwatt_ring_exit() - free the ring
 *
 * Context: after the writer and all readers have stopped.
 */
void jetwatt_ring_exit(void)
{
	vfree(ring.slots);
}
