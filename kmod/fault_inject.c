// SPDX-License-Identifier: GPL-2.0
#include "fault_inject.h"

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
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

/*
 * If the kernel has its own fault injection (Documentation/fault-injection), each fault is a fault
 * attribute of that kernel facility: a debugfs directory with the files "probability", "times" and
 * so on. Debian's and NVIDIA's kernels lack fault injection; with them, each fault is a debugfs
 * file with the number of attempts that are to fail. On both kinds of kernels, only root can inject
 * faults.
 */
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
static struct fault_attr faults[JETWATT_FAIL_COUNT] = {
	[0 ... JETWATT_FAIL_COUNT - 1] = FAULT_ATTR_INITIALIZER,
};

/*
 * Injected faults print no stack trace unless 2 is written to the file "verbose", because the trace
 * looks like that of a warning, and the kernel's fail-nth makes these faults occur too.
 */
static void create_fault(enum jetwatt_fail what, struct dentry *dir)
{
	faults[what].verbose = 0;
	fault_create_debugfs_attr(names[what], dir, &faults[what]);
}

/**
 * jetwatt_fail() - test whether an attempt must fail
 * @what: the operation that is about to be attempted
 *
 * Context: any. Return: true if the attempt must fail.
 */
bool jetwatt_fail(enum jetwatt_fail what)
{
	return should_fail(&faults[what], 1);
}
#else
static atomic_t faults[JETWATT_FAIL_COUNT];

static void create_fault(enum jetwatt_fail what, struct dentry *dir)
{
	debugfs_create_atomic_t(names[what], 0600, dir, &faults[what]);
}

/**
 * jetwatt_fail() - test whether an attempt must fail
 * @what: the operation that is about to be attempted
 *
 * Context: any. Return: true if the attempt must fail; the fault's counter is then decremented.
 */
bool jetwatt_fail(enum jetwatt_fail what)
{
	return unlikely(atomic_read(&faults[what]) > 0) &&
	       atomic_dec_if_positive(&faults[what]) >= 0;
}
#endif

static struct dentry *dir;

static unsigned int fail_init;
module_param(fail_init, uint, 0);
MODULE_PARM_DESC(fail_init, "for tests: number of the initialization step that fails; 0: none (default 0)");

/* Number of initialization steps so far; used only by the thread that loads the module. */
static unsigned int step;

/**
 * jetwatt_fail_vzalloc() - allocate zeroed memory like vzalloc(), with fault injection
 * @size: size in bytes
 *
 * Fails if JETWATT_FAIL_ALLOC is injected. A failed allocation is not logged, because requests of
 * clients cause most of them and could flood the kernel log.
 *
 * Context: sleeps. Return: memory to be freed with vfree(), or NULL.
 */
void *jetwatt_fail_vzalloc(size_t size)
{
	if (jetwatt_fail(JETWATT_FAIL_ALLOC))
		return NULL;
	return __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
}

/**
 * jetwatt_fail_step() - count an initialization step, and let it fail if its number is fail_init
 *
 * Each step of loading the module calls this function before it acquires resources. A test loads
 * the module with fail_init=1, 2, ... until loading succeeds, and so runs the error path of each
 * step once.
 *
 * Context: module loading only. Return: 0, or -ENOMEM if the number of this call, counted from 1,
 * is fail_init.
 */
int jetwatt_fail_step(void)
{
	return ++step == fail_init ? -ENOMEM : 0;
}

/**
 * jetwatt_fail_init() - create the faults in debugfs
 *
 * Return: 0 or a negative errno. Without debugfs in the kernel, the function succeeds too, but no
 * fault can be injected.
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
		create_fault(i, dir);
	return 0;
}

/**
 * jetwatt_fail_exit() - remove the faults from debugfs
 */
void jetwatt_fail_exit(void)
{
	debugfs_remove_recursive(dir);
}
