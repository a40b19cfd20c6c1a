// SPDX-License-Identifier: GPL-2.0-only
/* Build and install the seccomp filters. */
#include "util/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define ARCH	AUDIT_ARCH_AARCH64
#elif defined(__x86_64__)
#define ARCH	AUDIT_ARCH_X86_64
#endif

/* System calls of the x32 ABI on x86-64 have this bit in their number; the filter denies all x32
 * calls. */
#define X32_BIT	0x40000000

/* The headers of JetPack 5 lack the newer numbers. Since Linux 5.1 a new call has the same number
 * on arm64 and x86-64. */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd	438
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise	440
#endif
#ifndef SYS_open_tree
#define SYS_open_tree	428
#define SYS_move_mount	429
#define SYS_fsopen	430
#define SYS_fsconfig	431
#define SYS_fsmount	432
#define SYS_fspick	433
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr	442
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd	443
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr	467
#endif

#define CALLS_MAX	64
#define REFUSE		(SECCOMP_RET_ERRNO | EPERM)

/* Install a filter: the @n calls in @call get the action @these, all others @others. Return: 0;
 * negative errno. */
static int fence_install(const int *call, size_t n, unsigned int these, unsigned int others)
{
	struct sock_filter code[CALLS_MAX + 8];
	struct sock_fprog program = { .filter = code };
	size_t at = 0;
	long rc;

#ifndef ARCH
	(void)call;
	(void)n;
	(void)these;
	(void)others;
	(void)program;
	(void)at;
	(void)rc;
	return -EOPNOTSUPP;
#else
	if (n > CALLS_MAX)
		return -E2BIG;
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, REFUSE);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, REFUSE);
	for (size_t i = 0; i < n; i++)
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call[i],
							  (unsigned char)(n - i), 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, these);
	program.len = (unsigned short)at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* A library may have started threads already, so install the filter in all threads, or
	 * fail. */
	rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	return rc < 0 ? -errno : rc ? -EBUSY : 0;
#endif
}

int jetwatt_seccomp_deny(void)
{
	static const int call[] = {
		SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
		SYS_process_madvise, SYS_kcmp, SYS_move_pages, SYS_migrate_pages,
		SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
		SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_mount, SYS_umount2,
		SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_open_tree_attr, SYS_move_mount, SYS_fsopen,
		SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_setns, SYS_unshare,
		SYS_open_by_handle_at, SYS_acct, SYS_quotactl, SYS_quotactl_fd, SYS_add_key,
		SYS_request_key, SYS_keyctl, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
		SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_personality,
	};

	return fence_install(call, sizeof(call) / sizeof(call[0]), REFUSE, SECCOMP_RET_ALLOW);
}

int jetwatt_seccomp_links_only(void)
{
	static const int call[] = {
		SYS_ppoll, SYS_accept4, SYS_getsockopt, SYS_recvfrom, SYS_sendto, SYS_close,
		SYS_readlinkat, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
	};

	return fence_install(call, sizeof(call) / sizeof(call[0]), SECCOMP_RET_ALLOW, REFUSE);
}
