// SPDX-License-Identifier: GPL-2.0-only
/* Finds out how much of a file is in the page cache. */
#include "job/page_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

/* Return: 1 if the kernel tells this process which pages of the file are cached: it owns the file, may
 * write it, or is root (can_do_mincore() in mm/mincore.c, since Linux 5.2). If not, mincore() reports
 * that all pages are cached. */
static int cache_visible(int fd)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !geteuid() || (!fstat(fd, &st) && st.st_uid == geteuid()) ||
	       !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

uint64_t jetwatt_cached_pages(int fd, uint64_t size, uint64_t *pages)
{
	const uint64_t page = sysconf(_SC_PAGESIZE), most = 1ull << 30;
	struct { uint64_t off, len; } range = { 0, size };
	struct { uint64_t cache, rest[4]; } stat = { 0 };
	unsigned char *in;
	uint64_t n = 0;
	void *at;

	*pages = (size + page - 1) / page;
	if (!syscall(__NR_cachestat, fd, &range, &stat, 0))
		return stat.cache < *pages ? stat.cache : *pages;
	*pages = 0;
	if (!cache_visible(fd))
		return 0;
	/* Linux before 6.5 has no cachestat(): use mincore() on the first GiB of the file and
	 * assume the same fraction for the rest. */
	size = size < most ? size : most;
	*pages = (size + page - 1) / page;
	in = malloc(*pages);
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (in && at != MAP_FAILED && !mincore(at, size, in))
		for (uint64_t i = 0; i < *pages; i++)
			n += in[i] & 1;
	else
		*pages = 0;
	if (at != MAP_FAILED)
		munmap(at, size);
	free(in);
	return n;
}
