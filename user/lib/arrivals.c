// SPDX-License-Identifier: LGPL-2.1-only
/* Counts requests that arrive at a cgroup: loads bpf/arrive.bpf.c and reads its counter. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "arrive.skel.h"
#include "jetwatt.h"
#include "lib/libbpf_print.h"

struct jetwatt_arrivals {
	struct arrive *bpf;
	struct bpf_link *link;
};

/* Suppress libbpf's messages: libjetwatt prints nothing. */
static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static int attach_arrivals(struct jetwatt_arrivals *a, const char *cgroup_path)
{
	int fd = open(cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	a->bpf = arrive__open_and_load();
	err = a->bpf ? 0 : -errno;
	if (!err) {
		a->link = bpf_program__attach_cgroup(a->bpf->progs.arrive, fd);
		err = libbpf_get_error(a->link);
		if (err)
			a->link = NULL;
	}
	close(fd);
	return err;
}

int jetwatt_arrivals_open(struct jetwatt_arrivals **out, const char *cgroup_path)
{
	struct jetwatt_arrivals *a = calloc(1, sizeof(*a));
	int err;

	*out = NULL;
	if (!a)
		return -ENOMEM;
	jetwatt_libbpf_print_begin(print_nothing);
	err = attach_arrivals(a, cgroup_path);
	jetwatt_libbpf_print_end();
	if (err) {
		jetwatt_arrivals_close(a);
		return err;
	}
	*out = a;
	return 0;
}

uint64_t jetwatt_arrivals(const struct jetwatt_arrivals *a)
{
	return __atomic_load_n(&a->bpf->bss->arrived, __ATOMIC_RELAXED);
}

void jetwatt_arrivals_close(struct jetwatt_arrivals *a)
{
	if (!a)
		return;
	bpf_link__destroy(a->link);
	arrive__destroy(a->bpf);
	free(a);
}
