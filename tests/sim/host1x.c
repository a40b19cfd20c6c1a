// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes on which CUDA waits: /dev/host1x-fence (poll descriptors) and
 * tegra-drm's SYNCPOINT_WAIT on a render node.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "board.h"
#include "gpu_uapi.h"
#include "syncpt.h"

/* A poll descriptor waits for one fence at a time: the last that was put on it. All are of one
 * syncpoint: a sleeper's poll table holds the file, and the file holds the syncpoint, so it
 * may not be exchanged while somebody sleeps on it.
 */
struct fence_fd {
	struct mutex lock;
	struct sim_syncpt *sp;		/* NULL before the first */
	u32 threshold;
	wait_queue_head_t wait;		/* of nobody: poll() before the first fence */
};

static __poll_t pollfd_poll(struct file *file, poll_table *pt)
{
	struct fence_fd *p = file->private_data;
	__poll_t mask = 0;

	mutex_lock(&p->lock);
	poll_wait(file, p->sp ? &p->sp->wait : &p->wait, pt);
	if (p->sp && sim_syncpt_reached(p->sp, p->threshold))
		mask = EPOLLIN | EPOLLPRI;
	mutex_unlock(&p->lock);
	return mask;
}

static int pollfd_release(struct inode *inode, struct file *file)
{
	struct fence_fd *p = file->private_data;

	if (p->sp)
		sim_syncpt_put(p->sp);
	kfree(p);
	return 0;
}

static const struct file_operations pollfd_fops = {
	.owner = THIS_MODULE,
	.poll = pollfd_poll,
	.release = pollfd_release,
};

static long create_pollfd(void __user *arg)
{
	struct sim_create_pollfd a = { };
	struct fence_fd *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int fd;

	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	init_waitqueue_head(&p->wait);
	fd = anon_inode_getfd("host1x_pollfd", &pollfd_fops, p, O_CLOEXEC);
	if (fd < 0) {
		kfree(p);
		return fd;
	}
	a.fd = fd;
	/* If this fails the descriptor stays, as with the board's driver: the caller is broken. */
	return copy_to_user(arg, &a, sizeof(a)) ? -EFAULT : 0;
}

static long trigger_pollfd(void __user *arg)
{
	struct sim_trigger_pollfd a;
	struct sim_syncpt *sp;
	struct fence_fd *p;
	struct file *f;
	long err = -EINVAL;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	f = fget(a.fd);
	if (!f)
		return -EBADF;
	if (f->f_op != &pollfd_fops)
		goto out;
	p = f->private_data;
	sp = sim_syncpt_get(a.id);
	if (!sp)
		goto out;
	err = 0;
	mutex_lock(&p->lock);
	if (p->sp && p->sp != sp) {
		err = -EBUSY;
	} else {
		swap(p->sp, sp);
		p->threshold = a.threshold;
	}
	mutex_unlock(&p->lock);
	if (sp)
		sim_syncpt_put(sp);
out:
	fput(f);
	return err;
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

int sim_host1x_register(void)
{
	int err = misc_register(&fence);

	if (err)
		return err;
	err = misc_register(&render);
	if (err)
		misc_deregister(&fence);
	return err;
}

void sim_host1x_unregister(void)
{
	misc_deregister(&render);
	misc_deregister(&fence);
}
