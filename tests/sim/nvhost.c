// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node on which CUDA waits with JetPack 5: /dev/nvhost-ctrl. Sources: numbers and layouts of
 * the ioctls: Seeed-Studio/Linux_for_Tegra r35.3.1,
 * source/kernel/nvidia/include/uapi/linux/nvhost_ioctl.h; behaviour:
 * source/kernel/nvidia/drivers/video/tegra/host/host1x/host1x.c and, for the wait itself,
 * ../nvhost_syncpt.c (nvhost_syncpt_wait_timeout()).
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "drivers.h"
#include "fence_fd.h"
#include "gpu_uapi.h"
#include "syncpt.h"

#define NO_TIMEOUT	(-1)
#define CLOCK_MONO	1	/* NVHOST_CLOCK_MONOTONIC */

/* The argument of an ioctl. Its size is that of the largest argument. */
union argument {
	struct sim_nvhost_wait wait;
	struct sim_nvhost_poll_fd poll_fd;
	struct sim_nvhost_trigger trigger;
};

static const struct file_operations poll_fd_fops = {
	.owner = THIS_MODULE,
	.poll = sim_fence_fd_poll,
	.release = sim_fence_fd_release,
};

static long wait(struct sim_nvhost_wait *a)
{
	long left = a->timeout_ms == NO_TIMEOUT ? MAX_SCHEDULE_TIMEOUT :
		    (long)msecs_to_jiffies(a->timeout_ms);
	struct sim_syncpt *sp = sim_syncpt_get(a->id);
	long err = 0;

	if (!sp)
		return -EINVAL;
	if (!sim_syncpt_reached(sp, a->threshold)) {
		left = left ? wait_event_interruptible_timeout(sp->wait,
				sim_syncpt_reached(sp, a->threshold), left) : 0;
		err = left < 0 ? left : left ? 0 : -EAGAIN;
	}
	a->value = atomic_read(&sp->value);
	sim_syncpt_put(sp);
	return err;
}

/*
 * On a board, the ioctl reports the time of the syncpoint's interrupt or, if it did not have to
 * wait, the time of the call. The simulation reports the time at which the wait has ended.
 */
static long wait_and_tell_when(struct sim_nvhost_wait *a)
{
	struct timespec64 now;
	long err = wait(a);

	ktime_get_ts64(&now);
	a->tv_sec = now.tv_sec;
	a->tv_nsec = now.tv_nsec;
	a->clock_id = CLOCK_MONO;
	return err;
}

static long run(unsigned int cmd, union argument *a)
{
	switch (cmd) {
	case SIM_NVHOST_WAIT:
	case SIM_NVHOST_WAITEX:
		return wait(&a->wait);
	case SIM_NVHOST_WAITMEX:
		return wait_and_tell_when(&a->wait);
	case SIM_NVHOST_POLL_FD_CREATE:
		a->poll_fd.fd = sim_fence_fd_new("nvhost-event-poll-fd", &poll_fd_fops, 0);
		return min(a->poll_fd.fd, 0);
	case SIM_NVHOST_POLL_FD_TRIGGER:
		return sim_fence_fd_arm(a->trigger.fd, &poll_fd_fops, a->trigger.id,
					a->trigger.threshold);
	default:
		return -ENOIOCTLCMD;
	}
}

static long ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	union argument a = { };
	long err;

	if (_IOC_TYPE(cmd) != 'H' || _IOC_SIZE(cmd) > sizeof(a))
		return -ENOIOCTLCMD;
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(&a, (void __user *)arg, _IOC_SIZE(cmd)))
		return -EFAULT;
	err = run(cmd, &a);
	if (!err && _IOC_DIR(cmd) & _IOC_READ &&
	    copy_to_user((void __user *)arg, &a, _IOC_SIZE(cmd)))
		err = -EFAULT;
	return err;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice ctrl = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nvhost-ctrl",
	.fops = &fops,
	.mode = 0666,
};

int sim_nvhost_add(void)
{
	return misc_register(&ctrl);
}

void sim_nvhost_remove(void)
{
	misc_deregister(&ctrl);
}
