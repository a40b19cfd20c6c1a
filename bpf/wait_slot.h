/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * State that sync.bpf.c stores for threads, descriptors and processes. The library reads it, for
 * example to find out whether a thread is waiting. This header uses plain types, so that the BPF
 * program and the library can both include it.
 */
#ifndef JETWATT_BPF_WAIT_SLOT_H
#define JETWATT_BPF_WAIT_SLOT_H

/* Waiting ioctls of tegra-drm: NVIDIA's, with a time stamp in the reply, and mainline's, without */
#define SYNCPOINT_WAIT_NVIDIA	0xC0206462
#define SYNCPOINT_WAIT_MAINLINE	0xC0186462
/* Waiting ioctls of nvhost-ctrl; the fence is the first member of their argument structures */
#define NVHOST_SYNCPT_WAIT	0x400C4803
#define NVHOST_SYNCPT_WAITEX	0xC0104806
#define NVHOST_SYNCPT_WAITMEX	0xC0204809

/* Values of wait_call::kind that are not ioctl numbers */
#define WAIT_POLL		1
#define DUPLICATE		2	/* dup(): not a wait, but stored in the same way */

/*
 * struct wait_call - the present call of a thread
 *
 * @enter_ns, @ptr, @kind and @fd are valid from the entry of the call to its exit. If another call
 * may continue the wait, they stay valid until that call. When the call has ended, the map entry is
 * not deleted but reused for the thread's next call, because adding and deleting map entries would
 * cost more than everything else in the program.
 */
enum { IDLE, RUNNING, UNFINISHED };
struct wait_call {
	unsigned long long enter_ns;
	unsigned long long ptr;		/* address of the argument in user memory */
	unsigned long long fence;	/* UNFINISHED ioctl: fence_at(); poll: mask of armed fds */
	unsigned int kind;		/* number of the ioctl, or WAIT_POLL, DUPLICATE */
	unsigned int state;		/* UNFINISHED: another call may continue the wait */
	int fd;				/* ioctl, dup(): descriptor; poll: number of entries */
	int name[2];			/* last descriptors put into the map @named */
	unsigned int names_gen;		/* @name is valid if equal to variable names_gen */
	unsigned int armer;		/* 1: has_armed() was true for the process */
	unsigned int hits;		/* at the end of a poll: bit i: entry i is ready */
};

/*
 * The map @places is an array, because a lookup in an array costs less than in a hash table. The
 * slot of a thread is its tid modulo WAIT_SLOTS. A thread whose slot belongs to another thread has
 * its entry in the hash table @waits instead. If two threads claim a free slot at the same instant,
 * the data of their first waits may be mixed up.
 */
#define WAIT_SLOTS	8192	/* power of two */

/*
 * Value of wait_slot::tid after the owner of the slot has exited. The slot may be used again, but a
 * thread that found the slot in use before may have its entry in @waits.
 */
#define SLOT_FREED	(~0u)

struct wait_slot {
	unsigned int tid;	/* 0: never used; SLOT_FREED; else tid of the owner */
	unsigned int pad;
	struct wait_call w;
};

/*
 * A call of a function of libcuda or libcudart that waits for the GPU or copies; sp: stack pointer
 * at the entry of the function.
 */
struct call {
	unsigned long long enter_ns, sp;
	unsigned int call, pad;
};

/*
 * struct query - a thread that queries the GPU in a loop
 * @enter_ns: start of the first query that returned "not ready"; 0: the thread is not waiting
 * @last_ns: end of the last query of the wait
 * @handle: event or stream that the thread waits for, or has waited for last
 * @begin_ns: start of the query in progress
 * @sp: stack pointer at the entry of the query in progress; 0: no query in progress
 * @asked: event or stream of the query in progress
 * @waits: number of waits that have ended
 * @polls: number of queries since @enter_ns that returned "not ready"
 */
struct query {
	unsigned long long enter_ns, last_ns, handle;
	unsigned long long begin_ns, sp, asked, waits, polls;
};

/*
 * struct launched - number of launches by all threads of a process since its last wait, or since
 *	the last request of a callback that is to be reported as a wait
 * @first_ns: time of the first launch since the last wait; 0: no launch
 * @nr: number of launches since the last wait
 * @flags: DRIVER: the process launches through functions of libcuda, so launches through libcudart,
 *	which calls libcuda, are not counted again; WAITS: a wait in a function of libcuda
 *	or libcudart has begun, or a loop of queries or a callback was reported as a wait
 * @callbacks: number of callbacks since the last wait in a function of libcuda or libcudart
 */
#define DRIVER		1
#define WAITS		2
struct launched {
	unsigned long long first_ns;
	unsigned int nr, flags;
	unsigned int callbacks, pad;
};

/*
 * struct request - a call of a function of the program that libcuda has yet to make
 * @asked_ns: time of the request
 * @first_ns: time of the first launch that @nr counts; 0: none
 * @nr: number of launches before the request that no earlier wait has counted
 * @report: 1: the call is to be reported as a wait; 0: @first_ns and @nr are not set
 */
struct request {
	unsigned long long asked_ns, first_ns;
	unsigned int nr, report;
};

/* An asynchronous copy; launches: number of launches before it since the last wait of the process. */
struct copied {
	unsigned long long enter_ns, exit_ns;
	unsigned int launches, pad;
};

/*
 * Key of two maps. @callbacks: @fn is the address of a function of process @tgid that libcuda
 * calls.
 * @pending: @fn is the argument with which libcuda is to call it.
 */
struct callback_key {
	unsigned long long fn;
	unsigned int tgid, pad;
};

/* Key of the map @entries: address of a traced function in the memory of process @tgid. */
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
 * struct armed_fd - a descriptor for which a fence is or was pending
 *
 * The first poll after the arming begins the wait; if another thread is in poll() at that time, the
 * arming begins it. The descriptor of an event of the GPU's driver is always
 * armed; the BPF program traces its creation, or the library finds it among the open descriptors of
 * the process.
 */
struct armed_fd {
	unsigned long long armed_ns;	/* time of the last arming; event: end of the last poll */
	unsigned long long enter_ns;	/* start of the wait; 0: no wait, or it began at @armed_ns */
	/* Maximum number of pending fences (an event: 1); number of threads in poll(). */
	unsigned int pending, pollers;
	int ctl_fd;			/* descriptor of the arming ioctl; -1: an event */
	unsigned int event;		/* 1: a driver event */
};

/* A descriptor of a process. */
struct fd_key {
	unsigned int tgid;
	int fd;
};

/*
 * Flags of processes in the map @armers. Only polls of processes with the flag ARMED are examined.
 */
#define ARMED	1
#define NAMED	2	/* the map @named contains descriptors of the process */

#endif
