/* SPDX-License-Identifier: GPL-2.0-only */
/* Modules in and out of a guest's kernel. */
#ifndef TESTS_INSMOD_H
#define TESTS_INSMOD_H

#include <errno.h>
#include <fcntl.h>
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

#endif
