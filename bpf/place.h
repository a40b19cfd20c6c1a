/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What a thread is at, as sync.bpf.c remembers it between calls. The library
 * looks there for who is waiting now. Plain types, so that both sides can include it.
 */
#ifndef JETWATT_BPF_PLACE_H
#define JETWATT_BPF_PLACE_H

/* tegra-drm, with and without a time stamp in the reply */
#define SYNCPOINT_WAIT_NVIDIA	0xC0206462
#define SYNCPOINT_WAIT_MAINLINE	0xC0186462
/* nvhost-ctrl: of these the fence comes first */
#define NVHOST_SYNCPT_WAIT	0x400C4803
#define NVHOST_SYNCPT_WAITEX	0xC0104806
#define NVHOST_SYNCPT_WAITMEX	0xC0204809

#define WAIT_POLL		1
#define DUPLICATE		2	/* no wait, but remembered as they are */

/*
 * A thread's call, from its entry to its exit and, if it was interrupted, to
 * the next that takes it up again. The entry stays for the thread's next call:
 * adding and deleting would cost more than all the rest.
 */
enum { IDLE, RUNNING, UNFINISHED };
struct wait {
	unsigned long long enter_ns;
	unsigned long long ptr;		/* its argument in user memory */
	unsigned long long fence;	/* ioctl: id and threshold; poll: bit i: entry i was armed */
	unsigned int kind;		/* the ioctl's number, or WAIT_POLL, DUPLICATE */
	unsigned int state;
	int fd;				/* ioctl: its descriptor; poll: number of entries */
	int name[2];			/* descriptors that are in @named as of @names_gen */
	unsigned int names_gen;
	unsigned int armer;		/* its process has armed a pollfd */
	unsigned int hits;		/* bit i: entry i of the poll that ends is ready */
};

/*
 * Every thread has its place in an array, which is found without a look-up. Who
 * finds his taken goes to the hash. Two that claim one place in the same instant
 * may mix up the first of their waits.
 */
#define PLACES	8192	/* power of two */

/* Free again, but others that found it taken may still be in the hash. */
#define LEFT	(~0u)

struct place {
	unsigned int tid;	/* 0: free, as it ever was; or LEFT */
	unsigned int pad;
	struct wait w;
};

/* A call of libcuda or libcudart that waits. */
struct call {
	unsigned long long enter_ns, sp;
	unsigned int call, pad;
};

/*
 * A thread that asks whether the GPU is done, until it is.
 * @enter_ns: begin of the first query that found it busy, 0: the thread isn't waiting
 * @last_ns: end of the last such query
 * @handle: the event or stream of that wait, or of the last one
 * @waits: how many have ended
 * @begin_ns, @sp, @asked: of the query under way; @sp 0: none
 */
struct query {
	unsigned long long enter_ns, last_ns, handle;
	unsigned long long begin_ns, sp, asked, waits;
};

/*
 * Launches of a process since its last wait, by whichever thread.
 * @flags: DRIVER: it launches through the driver's calls, so the runtime's are the same ones;
 *	WAITS: it has waited in a call of a library
 */
#define DRIVER		1
#define WAITS		2
struct launched {
	unsigned long long first_ns;
	unsigned int nr, flags;
};

/* An entry point, where process @tgid has it in memory. */
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
 * A pollfd that fences are or were pending on. The first poll after the arming begins the
 * wait; a thread may be asleep in poll() before another one arms. An event is always armed:
 * the program sees it made, or the library finds it among a process's descriptors.
 */
struct armed {
	unsigned long long armed_ns;	/* event: when the last poll of it timed out */
	unsigned long long enter_ns;
	unsigned int pending, pollers;
	int ctl_fd;
	unsigned int event;
};

/* A descriptor of a process. */
struct fd_key {
	unsigned int tgid;
	int fd;
};

/* Of processes of which there is something to know: only polls of those that have armed a
 * pollfd are looked at. */
#define ARMED	1
#define NAMED	2	/* descriptors of it stand in records */

#endif
