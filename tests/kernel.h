/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions to load and unload modules in the guest, and properties of its kernel. */
#ifndef TESTS_KERNEL_H
#define TESTS_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Load a module with parameters. Return: 0; or the kernel's error as a negative errno. */
static inline int load(const char *module, const char *params)
{
	char path[128];
	int fd, err;

	snprintf(path, sizeof(path), "/lib/modules/jetwatt/%s.ko", module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

static inline int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

/*
 * Is this the kernel of make check-debug? The memory checks of that kernel (KASAN) make transfers
 * slower, so limits of time or rate are relaxed there.
 */
static inline bool slow_kernel(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/*
 * Lowest rate that a test accepts if the bus permits @hz. On the kernel of make check-debug a
 * transfer takes up to an eighth longer than its bits.
 */
static inline unsigned int least_hz(unsigned int hz)
{
	return slow_kernel() ? hz - hz / 8 : hz;
}

#endif
