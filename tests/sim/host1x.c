// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes on which CUDA waits with JetPack 6: /dev/host1x-fence (poll descriptors) and
 * SYNCPOINT_WAIT of tegra-drm on a render node (OE4T/linux-nv-oot jetson_36.4.3:
 * drivers/gpu/host1x-fence/dev.c, drivers/gpu/drm/tegra/uapi.c).
 */
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "drivers.h"
#include "fence_fd.h"
#include "gpu_uapi.h"
#include "syncpt.h"

static const struct file_operations pollfd_fops = {
	.owner = THIS_MODULE,
	.poll = sim_fence_fd_poll,
	.release = sim_fence_fd_release,
};

static long create_pollfd(void __user *arg)
{
	struct sim_create_pollfd a = { };

	a.fd = sim_fence_fd_new("host1x_pollfd", &pollfd_fops, O_CLOEXEC);
	if (a.fd < 0)
		return a.fd;
	/* If copy_to_user() fails, the descriptor stays open, as with the board's driver. */
	return copy_to_user(arg, &a, sizeof(a)) ? -EFAULT : 0;
}

static long trigger_pollfd(void __user *arg)
{
	struct sim_trigger_pollfd a;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	return sim_fence_fd_arm(a.fd, &pollfd_fops, a.id, a.threshold);
}

static long fence_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case SIM_CREATE_POLLFD:
		return create_pollfd((void __user *)arg);
	case SIM_TRIGGER_POLLFD:
		return trigger_pollfd((void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static long wait_until(struct sim_syncpt *sp, u32 threshold, s64 until)
{
	s64 left = until - ktime_get_ns();
	long err;

	if (sim_syncpt_reached(sp, threshold))
		return 0;
	if (left <= 0)
		return -ETIMEDOUT;
	err = wait_event_interruptible_hrtimeout(sp->wait, sim_syncpt_reached(sp, threshold),
						 ns_to_ktime(left));
	return err == -ETIME ? -ETIMEDOUT : err;
}

static long render_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct sim_syncpoint_wait a;
	struct sim_syncpt *sp;
	long err;

	if (cmd != SIM_SYNCPOINT_WAIT)
		return -ENOTTY;
	if (copy_from_user(&a, (void __user *)arg, sizeof(a)))
		return -EFAULT;
	sp = sim_syncpt_get(a.id);
	if (!sp)
		return -EINVAL;
	err = wait_until(sp, a.threshold, a.timeout_ns);
	a.value = atomic_read(&sp->value);
	a.timestamp = READ_ONCE(sp->time_ns);
	sim_syncpt_put(sp);
	if (!err && copy_to_user((void __user *)arg, &a, sizeof(a)))
		err = -EFAULT;
	return err;
}

static const struct file_operations fence_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = fence_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static const struct file_operations render_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = render_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice fence = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "host1x-fence",
	.fops = &fence_fops,
	.mode = 0666,
};

static struct miscdevice render = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "jetwatt-sim-render",
	.nodename = "dri/renderD128",
	.fops = &render_fops,
	.mode = 0666,
};

int sim_host1x_add(void)
{
	int err = misc_register(&fence);

	if (err)
		return err;
	err = misc_register(&render);
	if (err)
		misc_deregister(&fence);
	return err;
}

void sim_host1x_remove(void)
{
	misc_deregister(&render);
	misc_deregister(&fence);
}
