/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of the ioctls by which CUDA waits for a fence or arms a descriptor for a fence. The
 * sources of the numbers are in doc/hardware.md; tests/host/vendor.sh compares the numbers with
 * these sources.
 */
#ifndef JETWATT_IOCTLS_H
#define JETWATT_IOCTLS_H

#include <linux/types.h>

#define SYNCPOINT_WAIT_NVIDIA	0xc0206462	/* _IOWR('d', 0x62, 32 bytes) */
#define SYNCPOINT_WAIT_MAINLINE	0xc0186462	/* 24 bytes: no time stamp in the reply */
#define TRIGGER_POLLFD		0xc0105811	/* _IOWR('X', 0x11, 16 bytes) */
#define NVHOST_SYNCPT_WAIT	0x400c4803	/* _IOW('H', 3, 12 bytes) */
#define NVHOST_SYNCPT_WAITEX	0xc0104806	/* _IOWR('H', 6, 16 bytes) */
#define NVHOST_SYNCPT_WAITMEX	0xc0204809	/* _IOWR('H', 9, 32 bytes) */
#define NVHOST_TRIGGER_EVENT	0x40104811	/* _IOW('H', 17, 16 bytes) */

static inline bool is_drm_wait(u32 cmd)
{
	return cmd == SYNCPOINT_WAIT_NVIDIA || cmd == SYNCPOINT_WAIT_MAINLINE;
}

static inline bool is_syncpoint_wait(u32 cmd)
{
	return is_drm_wait(cmd) || cmd == NVHOST_SYNCPT_WAITMEX ||
	       cmd == NVHOST_SYNCPT_WAITEX || cmd == NVHOST_SYNCPT_WAIT;
}

static inline bool is_trigger(u32 cmd)
{
	return cmd == TRIGGER_POLLFD || cmd == NVHOST_TRIGGER_EVENT;
}

/*
 * Return the offset of the fence (u32 id, u32 threshold) in the ioctl's argument: after the s64
 * timeout in the structure of tegra-drm, at the start of the three structures of nvhost-ctrl.
 */
static inline unsigned int fence_offset(u32 cmd)
{
	return is_drm_wait(cmd) ? 8 : 0;
}

#endif
