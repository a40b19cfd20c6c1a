/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of a file is in the page cache. */
#ifndef JETWATT_JOB_PAGE_CACHE_H
#define JETWATT_JOB_PAGE_CACHE_H

#include <stdint.h>

/* Return the number of pages of the file @fd, of @size bytes, that are in the page cache. @pages: number of
 * pages examined; 0: the pages could not be examined. */
uint64_t jetwatt_cached_pages(int fd, uint64_t size, uint64_t *pages);

#endif
