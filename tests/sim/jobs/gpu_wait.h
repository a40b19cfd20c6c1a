/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of a job for the simulated GPU, through the nodes of the simulated JetPack release.
 * Functions return 0, or -1 with errno set.
 */
#ifndef SIM_JOBS_GPU_WAIT_H
#define SIM_JOBS_GPU_WAIT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "gpu_uapi.h"

/**
 * struct gpu_wait - open descriptors
 * @jp5: whether the device nodes are those of JetPack 5 (otherwise of JetPack 6)
 * @ctl: descriptor of the node that creates and arms poll descriptors
 * @node: descriptor of the node with the ioctl SYNCPOINT_WAIT or SYNCPT_WAITMEX
 * @pollfd: poll descriptor
 * @event: descriptor of the event BLOCKING_SYNC of a channel group
 */
struct gpu_wait {
	int jp5, ctl, node, pollfd, event;
};

static inline int gpu_wait_create(struct gpu_wait *w)
{
	struct sim_nvhost_poll_fd old = { .fd = -1 };
	struct sim_create_pollfd create = { .fd = -1 };

	if (w->jp5 ? ioctl(w->ctl, SIM_NVHOST_POLL_FD_CREATE, &old) :
		     ioctl(w->ctl, SIM_CREATE_POLLFD, &create))
		return -1;
	w->pollfd = w->jp5 ? old.fd : create.fd;
	return 0;
}

static inline int gpu_wait_open(struct gpu_wait *w)
{
	struct sim_event_id_ctrl enable = { .cmd = SIM_EVENT_ID_ENABLE,
					    .event_id = SIM_EVENT_BLOCKING_SYNC };
	int tsg = open("/dev/nvgpu/igpu0/tsg", O_RDWR | O_CLOEXEC);

	if (tsg < 0 || ioctl(tsg, SIM_EVENT_ID_CTRL, &enable))
		return -1;
	w->event = enable.event_fd;
	w->ctl = open("/dev/nvhost-ctrl", O_RDWR | O_CLOEXEC);
	w->jp5 = w->ctl >= 0;
	if (!w->jp5)
		w->ctl = open("/dev/host1x-fence", O_RDWR | O_CLOEXEC);
	w->node = w->jp5 ? w->ctl : open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	return w->ctl < 0 || w->node < 0 ? -1 : gpu_wait_create(w);
}

static inline int gpu_wait_arm(const struct gpu_wait *w, uint32_t id, uint32_t threshold)
{
	struct sim_nvhost_trigger old = { .fd = w->pollfd, .id = id, .threshold = threshold };
	struct sim_trigger_pollfd t = { .fd = w->pollfd, .id = id, .threshold = threshold };

	return w->jp5 ? ioctl(w->ctl, SIM_NVHOST_POLL_FD_TRIGGER, &old) :
			ioctl(w->ctl, SIM_TRIGGER_POLLFD, &t);
}

static inline int gpu_wait_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	while (ppoll(&p, 1, NULL, NULL) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

static inline int gpu_wait_pollfd(const struct gpu_wait *w, uint32_t id, uint32_t threshold)
{
	return gpu_wait_arm(w, id, threshold) || gpu_wait_ready(w->pollfd) ? -1 : 0;
}

static inline int gpu_wait_syncpt(const struct gpu_wait *w, uint32_t id, uint32_t threshold)
{
	struct sim_nvhost_wait old = { .id = id, .threshold = threshold, .timeout_ms = -1 };
	struct sim_syncpoint_wait wait = { .id = id, .threshold = threshold,
					   .timeout_ns = INT64_MAX };

	while (w->jp5 ? ioctl(w->node, SIM_NVHOST_WAITMEX, &old) :
			ioctl(w->node, SIM_SYNCPOINT_WAIT, &wait))
		if (errno != EINTR)
			return -1;
	return 0;
}

/*
 * The event only reports that some job's GPU work is finished; the mapped counter shows whether it
 * is this job's work.
 */
static inline int gpu_wait_event(const struct gpu_wait *w, const volatile uint32_t *counter,
				 uint32_t threshold)
{
	while ((int32_t)(*counter - threshold) < 0)
		if (gpu_wait_ready(w->event))
			return -1;
	return 0;
}

#endif
