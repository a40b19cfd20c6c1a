// SPDX-License-Identifier: LGPL-2.1-only
/* Attaches single uprobes: see uprobe_link.h. */
#include "lib/uprobe_link.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/bpf.h before Linux 6.6 lacks these. */
#define TRACE_UPROBE_MULTI	48
#define MULTI_RETURN		1

/* Attributes of BPF_LINK_CREATE; linux/bpf.h before Linux 6.6 lacks the fields from @path on. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, pad;
};

static int link_multi(int prog, int on_return, const char *path, uint64_t offset)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset,
		.count = 1,
		.multi_flags = on_return ? MULTI_RETURN : 0,
	};
	/* The kernel returns a descriptor with FD_CLOEXEC. */
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* Return whether the kernel has links of the kind uprobe_multi: it then refuses a directory with
 * EBADF, and without them any such request with EINVAL. */
static int has_multi(void)
{
	struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
	union bpf_attr attr;
	int prog, link;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t)"GPL";
	attr.expected_attach_type = TRACE_UPROBE_MULTI;
	prog = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (prog < 0)
		return 0;
	link = link_multi(prog, 0, "/", 1);
	close(prog);
	if (link >= 0)
		close(link);
	return link == -EBADF;
}

int jetwatt_uprobe_multi(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (!syscall(SYS_capget, &head, data) && data[0].effective & 1u << CAP_SYS_ADMIN)
		return 0;
	return has_multi();
}

void jetwatt_uprobe_set_multi(struct bpf_program *prog)
{
	bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

int jetwatt_uprobe_attach(struct jetwatt_uprobe *out, struct bpf_program *prog, int multi,
			  int on_return, const char *path, uint64_t offset)
{
	struct bpf_link *link;
	int fd, err;

	*out = (struct jetwatt_uprobe){ NULL, 0 };
	if (multi) {
		fd = link_multi(bpf_program__fd(prog), on_return, path, offset);
		if (fd < 0)
			return fd;
		out->fd = fd + 1;
		return 0;
	}
	link = bpf_program__attach_uprobe(prog, on_return, -1, path, offset);
	err = (int)libbpf_get_error(link);
	if (!err)
		out->link = link;
	return err;
}

void jetwatt_uprobe_detach(struct jetwatt_uprobe *u)
{
	if (u->link)
		bpf_link__destroy(u->link);
	if (u->fd)
		close(u->fd - 1);
	*u = (struct jetwatt_uprobe){ NULL, 0 };
}
