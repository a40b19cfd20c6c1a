/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's kernel: modules in and out of it, and what it is like. */
#ifndef TESTS_KERNEL_H
#define TESTS_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Return: 0 or -errno, as the kernel said. */
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

/* One that checks every access (make check-debug): what a transfer costs the CPU there
 * is not what the module or the board makes it cost. */
static inline bool slow_kernel(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/* The lowest rate that passes for one of @hz that the bus allows: there a transfer takes up to an
 * eighth longer than its bits. */
static inline unsigned int least_hz(unsigned int hz)
{
	return slow_kernel() ? hz - hz / 8 : hz;
}

#endif
