/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The state of threads and descriptors between calls, shared by sync.bpf.c and the library, which
 * reads it to find out whether a thread is waiting. This header uses plain types, so that the BPF
 * program and the library can both include it.
 */
#ifndef JETWATT_BPF_PLACE_H
#define JETWATT_BPF_PLACE_H

/* ioctls of tegra-drm, with and without a time stamp in the reply */
#define SYNCPOINT_WAIT_NVIDIA	0xC0206462
#define SYNCPOINT_WAIT_MAINLINE	0xC0186462
/* ioctls of nvhost-ctrl; the fence is the first member of their arguments */
#define NVHOST_SYNCPT_WAIT	0x400C4803
#define NVHOST_SYNCPT_WAITEX	0xC0104806
#define NVHOST_SYNCPT_WAITMEX	0xC0204809

/* Values of wait::kind that are not ioctl numbers */
#define WAIT_POLL		1
#define DUPLICATE		2	/* dup(): not a wait, but tracked in the same way */

/*
 * struct wait - the present call of a thread
 *
 * The contents are valid from the entry of the call to its exit. If the call was interrupted, they
 * stay valid until the call that resumes the wait. The map entry is then reused for the thread's
 * next call, because adding and deleting map entries would cost more than everything else.
 */
enum { IDLE, RUNNING, UNFINISHED };
struct wait {
	unsigned long long enter_ns;
	unsigned long long ptr;		/* address of the argument in user memory */
	unsigned long long fence;	/* ioctl: id, threshold; poll: bit i: entry i was armed */
	unsigned int kind;		/* number of the ioctl, or WAIT_POLL, DUPLICATE */
	unsigned int state;		/* IDLE, RUNNING, or UNFINISHED: interrupted */
	int fd;				/* ioctl: its descriptor; poll: number of entries */
	int name[2];			/* descriptors in the map @named, if names_gen is current */
	unsigned int names_gen;		/* value of the variable names_gen when @name was set */
	unsigned int armer;		/* 1: the process has armed a pollfd */
	unsigned int hits;		/* bit i: entry i of the poll that ends is ready */
};

/*
 * An array with one slot per tid modulo WAIT_SLOTS: it costs less than a hash table. A thread whose
 * slot belongs to another thread uses the hash table @waits. If two threads claim a free slot at
 * the same instant, the data of their first waits may be mixed up.
 */
#define WAIT_SLOTS	8192	/* power of two */

/* The slot is free again, but a thread that found it in use may have an entry in @waits. */
#define SLOT_FREED	(~0u)

struct wait_slot {
	unsigned int tid;	/* 0: never used; SLOT_FREED: free again; else the owner */
	unsigned int pad;
	struct wait w;
};

/* A call of a function of libcuda or libcudart that waits; sp: stack pointer at its entry. */
struct call {
	unsigned long long enter_ns, sp;
	unsigned int call, pad;
};

/*
 * struct query - a thread that queries the GPU in a loop
 * @enter_ns: start of the first query that returned "not ready"; 0: the thread is not waiting
 * @last_ns: end of the last query of the wait
 * @handle: the event or stream of the present or the last wait
 * @begin_ns: start of the query in progress
 * @sp: stack pointer of the query in progress; 0: none
 * @asked: event or stream of the query in progress
 * @waits: number of waits that have ended
 */
struct query {
	unsigned long long enter_ns, last_ns, handle;
	unsigned long long begin_ns, sp, asked, waits;
};

/*
 * struct launched - launches of a process since its last wait, by all its threads
 * @first_ns: time of the first launch; 0: none
 * @nr: number of launches
 * @flags: DRIVER: the process launches through functions of libcuda, so calls of libcudart are
 *	not counted again; WAITS: a thread has waited in a function of a library
 */
#define DRIVER		1
#define WAITS		2
struct launched {
	unsigned long long first_ns;
	unsigned int nr, flags;
};

/* An entry point, at its address in the memory of process @tgid. */
struct entry_key {
	unsigned long long address;
	unsigned int tgid, pad;
};

static inline __attribute__((always_inline)) int is_drm_wait(unsigned int cmd)
{
	return cmd == SYNCPOINT_WAIT_NVIDIA || cmd == SYNCPOINT_WAIT_MAINLINE;
}

static inline __attribute__((always_inline)) int is_syncpoint_wait(unsigned int cmd)
{
	return is_drm_wait(cmd) || cmd == NVHOST_SYNCPT_WAITMEX || cmd == NVHOST_SYNCPT_WAITEX ||
	       cmd == NVHOST_SYNCPT_WAIT;
}

/*
 * struct armed - a descriptor for which a fence is or was pending
 *
 * The first poll after the arming begins the wait. A thread may also be in poll() already when
 * another thread arms the descriptor. A descriptor of a driver event is always armed; the BPF
 * program sees its creation, or the library finds it among the descriptors of the process.
 */
struct armed {
	unsigned long long armed_ns;	/* time of the arming; event: end of its last poll */
	unsigned long long enter_ns;	/* start of the wait; 0: no poll since the arming */
	unsigned int pending, pollers;	/* number of pending fences, of threads in poll() */
	int ctl_fd;			/* descriptor whose ioctl armed it; -1: none */
	unsigned int event;		/* 1: a driver event */
};

/* A descriptor of a process. */
struct fd_key {
	unsigned int tgid;
	int fd;
};

/* Flags of processes in the map @armers. Only polls of processes with ARMED are examined. */
#define ARMED	1
#define NAMED	2	/* records contain descriptors of the process */

#endif
