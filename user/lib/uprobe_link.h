/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Attaches single uprobes, with as few capabilities as the kernel permits.
 *
 * The usual way, a perf event per uprobe, needs CAP_SYS_ADMIN since Linux 6.16 and in the stable
 * kernels since July 2025 (5.10.240, 5.15.189, 6.1.146, 6.6.99, 6.12.39: CVE-2025-38466); before,
 * CAP_PERFMON was enough. A BPF link of the kind uprobe_multi (Linux 6.6) needs CAP_BPF and
 * CAP_PERFMON only. Which of both is used must be decided before a program is loaded, because a
 * program that is loaded for one cannot be attached by the other.
 */
#ifndef JETWATT_LIB_UPROBE_LINK_H
#define JETWATT_LIB_UPROBE_LINK_H

#include <stdint.h>

struct bpf_link;
struct bpf_program;

/* An attached uprobe. @link: link of libbpf; NULL: none. @fd: 1 + descriptor of a link of the kind
 * uprobe_multi; 0: none. All zero: not attached. */
struct jetwatt_uprobe {
	struct bpf_link *link;
	int fd;
};

/* Return whether to use links of the kind uprobe_multi: this process lacks CAP_SYS_ADMIN, and the
 * kernel has such links. */
int jetwatt_uprobe_multi(void);

/* Before @prog is loaded: let it be loaded for links of the kind uprobe_multi. */
void jetwatt_uprobe_set_multi(struct bpf_program *prog);

/**
 * jetwatt_uprobe_attach() - attach a program to an instruction of a file
 * @out: receives the uprobe
 * @prog: the loaded program
 * @multi: 1: jetwatt_uprobe_set_multi() was called for @prog
 * @on_return: 1: run @prog when the function at @offset returns; 0: when it is called
 * @path: the file
 * @offset: offset in the file, bytes
 *
 * Return: 0; -EACCES or -EPERM: a capability is missing; other negative errno.
 */
int jetwatt_uprobe_attach(struct jetwatt_uprobe *out, struct bpf_program *prog, int multi,
			  int on_return, const char *path, uint64_t offset);

/* Detach; does nothing if @u is not attached. */
void jetwatt_uprobe_detach(struct jetwatt_uprobe *u);

#endif
