// SPDX-License-Identifier: GPL-2.0
#include "fault_inject.h"

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/moduleparam.h>
#include <linux/vmalloc.h>

static const char * const names[JETWATT_FAIL_COUNT] = {
	[JETWATT_FAIL_SKB] = "fail_skb",
	[JETWATT_FAIL_ALLOC] = "fail_alloc",
	[JETWATT_FAIL_ATTACH] = "fail_attach",
	[JETWATT_FAIL_TRANSFER] = "fail_transfer",
	[JETWATT_FAIL_CLOCK] = "fail_clock",
	[JETWATT_FAIL_SEND] = "fail_send",
	[JETWATT_FAIL_HOOK] = "fail_hook",
	[JETWATT_FAIL_LOOK] = "fail_look",
	[JETWATT_FAIL_ASLEEP] = "fail_asleep",
	[JETWATT_FAIL_COPY] = "fail_copy",
	[JETWATT_FAIL_REAP] = "fail_reap",
};

/* How many of the next ones fail. Written through debugfs by root. */
static atomic_t left[JETWATT_FAIL_COUNT];
static struct dentry *dir;

static unsigned int fail_init;
module_param(fail_init, uint, 0);
MODULE_PARM_DESC(fail_init, "for tests: the Nth step of loading fails");

/* Only the single thread that loads the module counts. */
static unsigned int step;

/**
 * jetwatt_fail() - is this one told to fail?
 * @what: what is about to be tried
 *
 * Context: any. Return: true if it has to fail; the knob is one down then.
 */
bool jetwatt_fail(enum jetwatt_fail what)
{
	return unlikely(atomic_read(&left[what]) > 0) &&
	       atomic_dec_if_positive(&left[what]) >= 0;
}

/**
 * jetwatt_fail_vzalloc() - vzalloc() that JETWATT_FAIL_ALLOC makes fail
 * @size: in bytes
 *
 * Whoever asked is told that there is no memory; the log gets no trace of it,
 * which a size that came from outside could fill.
 *
 * Context: sleeps. Return: what vfree() takes back, or NULL.
 */
void *jetwatt_fail_vzalloc(size_t size)
{
	if (jetwatt_fail(JETWATT_FAIL_ALLOC))
		return NULL;
	return __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
}

/**
 * jetwatt_fail_step() - one step of loading is about to be taken
 *
 * Stands before everything that loading the module acquires, so that
 * fail_init=1, 2, ... walks through all unwind paths until loading succeeds.
 *
 * Context: module loading only. Return: 0 or -ENOMEM.
 */
int jetwatt_fail_step(void)
{
	return ++step == fail_init ? -ENOMEM : 0;
}

/**
 * jetwatt_fail_init() - offer the knobs in debugfs
 *
 * Return: 0 or a negative errno. A kernel without debugfs has no knobs, which
 * is no error.
 */
int jetwatt_fail_init(void)
{
	unsigned int i;
	int err;

	err = jetwatt_fail_step();
	if (err)
		return err;
	dir = debugfs_create_dir("jetwatt", NULL);
	for (i = 0; i < JETWATT_FAIL_COUNT; i++)
		debugfs_create_atomic_t(names[i], 0600, dir, &left[i]);
	return 0;
}

/**
 * jetwatt_fail_exit() - take the knobs away
 */
void jetwatt_fail_exit(void)
{
	debugfs_remove_recursive(dir);
}
