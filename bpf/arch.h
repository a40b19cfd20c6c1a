/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Definitions that depend on the architecture: offsets of registers in struct pt_regs, and the
 * numbers of system calls.
 *
 * The general registers are at the start of struct pt_regs, and their order is part of the user ABI
 * (ptrace, core files). Therefore the offsets are the same in all kernels and need no relocation
 * with kernel BTF.
 */
#ifndef JETWATT_BPF_ARCH_H
#define JETWATT_BPF_ARCH_H

#if defined(__TARGET_ARCH_arm64)

#define REG(n)		((n) * 8)
#define OFF_NR		REG(8)		/* x8 has the system call's number at entry and at exit */
/* The first three arguments of a system call are adjacent, so one read copies them. */
#define OFF_ARGS	REG(0)		/* valid at entry only: at exit, x0 is the return value */
#define ARG0		0
#define ARG1		1
#define ARG2		2
#define OFF_SP		REG(31)
#define OFF_PC		REG(32)
#define OFF_RET		REG(0)
/* The first three arguments of a function, at its entry */
#define OFF_ARG0	REG(0)
#define OFF_ARG1	REG(1)
#define OFF_ARG2	REG(2)

#define NR_DUP			23
#define NR_DUP2			(-1)
#define NR_DUP3			24
#define NR_FCNTL		25
#define NR_IOCTL		29
#define NR_CLOSE		57
#define NR_PPOLL		73
#define NR_POLL			(-1)	/* arm64 has only ppoll */
#define NR_EXIT			93
#define NR_RESTART_SYSCALL	128
#define NR_CLONE		220
#define NR_EXECVE		221
#define NR_EXECVEAT		281
#define NR_CLONE3		435
#define NR_CLOSE_RANGE		436
#define NR_FORK			(-1)
#define NR_VFORK		(-1)

#elif defined(__TARGET_ARCH_x86)

#define OFF_NR		120		/* orig_ax */
#define OFF_ARGS	96		/* dx, si, di */
#define ARG0		2
#define ARG1		1
#define ARG2		0
#define OFF_SP		152
#define OFF_PC		128
#define OFF_RET		80		/* ax */
#define OFF_ARG0	112		/* di */
#define OFF_ARG1	104		/* si */
#define OFF_ARG2	96		/* dx */

#define NR_CLOSE		3
#define NR_POLL			7
#define NR_IOCTL		16
#define NR_DUP			32
#define NR_DUP2			33
#define NR_CLONE		56
#define NR_FORK			57
#define NR_VFORK		58
#define NR_EXECVE		59
#define NR_EXIT			60
#define NR_FCNTL		72
#define NR_RESTART_SYSCALL	219
#define NR_PPOLL		271
#define NR_DUP3			292
#define NR_EXECVEAT		322
#define NR_CLONE3		435
#define NR_CLOSE_RANGE		436

#else
#error "unknown architecture: pass -D__TARGET_ARCH_arm64 or -D__TARGET_ARCH_x86"
#endif

#endif
