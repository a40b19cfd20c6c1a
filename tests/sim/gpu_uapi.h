/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface by which a job submits work to the simulated GPU: /dev/jetwatt-sim-gpu.
 *
 * This interface stands for the doorbell in mapped memory by which a job on a board submits work,
 * and for the pipe of its data loader. Waiting for the GPU uses the same nodes and ioctls as on a
 * board: /dev/host1x-fence and /dev/dri/renderD128 (JetPack 6), /dev/nvhost-ctrl (JetPack 5),
 * /dev/nvgpu/igpu0/tsg (both).
 */
#ifndef SIM_GPU_UAPI_H
#define SIM_GPU_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SIM_KIND_TRAIN	0
#define SIM_KIND_EVAL	1
#define SIM_KIND_INFER	2	/* inference on request, at unknown times */
#define SIM_KIND_KERNEL	3	/* a kernel of known work; truth/minibatches of debugfs lists it too */

/*
 * Argument of SIM_LOAD, which waits until the data loader has the next minibatch.
 * @permille: size of the minibatch relative to the normal size, in permille
 * @now: 1: loading begins with this call; 0: it began when the previous minibatch ended, unless the
 *	job has been idle since
 */
struct sim_load {
	__u32 kind;
	__u32 permille;
	__u32 now;
};

/*
 * Argument of SIM_SUBMIT, which starts GPU work: piece @piece (from 1) of the @pieces of a
 * minibatch, one piece at a time.
 */
struct sim_submit {
	__u32 kind;
	__u32 permille;
	__u32 piece;
	__u32 pieces;
	__u32 syncpt;		/* out: id */
	__u32 threshold;	/* out: value of the syncpoint when the piece is finished */
};

#define SIM_LOAD	_IOW('J', 1, struct sim_load)
#define SIM_SUBMIT	_IOWR('J', 2, struct sim_submit)
#define SIM_KERNEL	_IOWR('J', 3, struct sim_kernel)

/*
 * Argument of SIM_KERNEL, which starts a GPU kernel with @flop operations and @bytes of memory
 * traffic, one kernel at a time. Only the analytic plant can calculate the duration of a kernel;
 * other plants refuse the call.
 * @alone: 1: the GPU is idle until the next kernel is submitted; 0: the next kernel begins at once, as
 *	if it had been queued
 * @launches: number of kernels among which the work is divided, each launched by the CPU; 0 is 1
 */
struct sim_kernel {
	__u64 flop;
	__u64 bytes;
	__u32 syncpt;		/* out: id */
	__u32 threshold;	/* out: value of the syncpoint when the kernel is finished */
	__u32 alone;
	__u32 launches;
};

/* Maximum of @flop and of @bytes of a kernel, and of its @launches. */
#define SIM_KERNEL_MAX		10000000000000ULL
#define SIM_LAUNCHES_MAX	1000000

/*
 * mmap() maps one read-only page, whose first u32 is the value of the job's syncpoint, so that a
 * job can poll it without system calls.
 */

/* Arguments of the nodes of host1x; same layout as in NVIDIA's headers. */
struct sim_create_pollfd {
	__s32 fd;		/* out */
	__u32 reserved;
};

struct sim_trigger_pollfd {
	__s32 fd;
	__u32 id;
	__u32 threshold;
	__u32 reserved;
};

struct sim_syncpoint_wait {
	__s64 timeout_ns;	/* absolute, CLOCK_MONOTONIC */
	__u32 id;
	__u32 threshold;
	__u32 value;		/* out */
	__u32 padding;
	__s64 timestamp;	/* out: time of the syncpoint's last increment */
};

#define SIM_CREATE_POLLFD	_IOWR('X', 0x10, struct sim_create_pollfd)
#define SIM_TRIGGER_POLLFD	_IOWR('X', 0x11, struct sim_trigger_pollfd)
#define SIM_SYNCPOINT_WAIT	_IOWR('d', 0x62, struct sim_syncpoint_wait)

/*
 * JetPack 5: Seeed-Studio/Linux_for_Tegra r35.3.1,
 * source/kernel/nvidia/include/uapi/linux/nvhost_ioctl.h. One structure for three ioctls:
 * the argument of SYNCPT_WAIT ends before @value, that of SYNCPT_WAITEX before @tv_sec.
 */
struct sim_nvhost_wait {
	__u32 id;
	__u32 threshold;
	__s32 timeout_ms;	/* -1: no timeout */
	__u32 value;		/* out, as are the fields below: value of the syncpoint */
	__u32 tv_sec;
	__u32 tv_nsec;
	__u32 clock_id;
	__u32 reserved;
};

struct sim_nvhost_poll_fd {
	__s32 fd;		/* out */
	__u32 padding;
};

struct sim_nvhost_trigger {
	__s32 fd;
	__u32 id;
	__u32 threshold;
	__u32 padding;
};

#define SIM_NVHOST_WAIT			_IOC(_IOC_WRITE, 'H', 3, 12)
#define SIM_NVHOST_WAITEX		_IOC(_IOC_READ | _IOC_WRITE, 'H', 6, 16)
#define SIM_NVHOST_WAITMEX		_IOWR('H', 9, struct sim_nvhost_wait)
#define SIM_NVHOST_POLL_FD_CREATE	_IOR('H', 16, struct sim_nvhost_poll_fd)
#define SIM_NVHOST_POLL_FD_TRIGGER	_IOW('H', 17, struct sim_nvhost_trigger)

/* JetPack 5 and 6: OE4T/linux-nvgpu jetson_36.4.3, include/uapi/linux/nvgpu.h. */
struct sim_event_id_ctrl {
	__u32 cmd;
	__u32 event_id;
	__s32 event_fd;		/* out */
	__u32 padding;
};

#define SIM_EVENT_ID_ENABLE	1
#define SIM_EVENT_BLOCKING_SYNC	2
#define SIM_EVENT_ID_CTRL	_IOWR('T', 7, struct sim_event_id_ctrl)

#endif
