// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/nvgpu/igpu0/tsg, a group of GPU channels, as far as needed to wait: descriptors that are
 * ready when the GPU has released a semaphore (event BLOCKING_SYNC). The driver does not know which
 * job's semaphore was released. Therefore the driver posts the event to every group, and the
 * polling process checks in memory whether its own work is finished. The event stays posted until a
 * poll() has reported it. (OE4T/linux-nvgpu jetson_35.3.1 and jetson_36.4.3, drivers/gpu/nvgpu:
 * os/linux/ioctl_tsg.c, common/fifo/channel.c nvgpu_channel_semaphore_wakeup(), os/linux/ioctl.c;
 * include/uapi/linux/nvgpu.h.)
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "drivers.h"
#include "gpu_uapi.h"

#define EVENTS	6	/* NVGPU_IOCTL_CHANNEL_EVENT_ID_MAX */

struct event {
	struct list_head node;
	wait_queue_head_t wait;
	u32 id;
	bool posted;
};

static DEFINE_SPINLOCK(lock);
static LIST_HEAD(events);

static __poll_t event_poll(struct file *file, poll_table *pt)
{
	struct event *e = file->private_data;
	__poll_t mask;

	poll_wait(file, &e->wait, pt);
	spin_lock_irq(&lock);
	mask = e->posted ? EPOLLIN | EPOLLPRI : 0;
	e->posted = false;
	spin_unlock_irq(&lock);
	return mask;
}

static int event_release(struct inode *inode, struct file *file)
{
	struct event *e = file->private_data;

	spin_lock_irq(&lock);
	list_del(&e->node);
	spin_unlock_irq(&lock);
	kfree(e);
	return 0;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.poll = event_poll,
	.release = event_release,
};

static int enable(u32 id)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;
	struct event *e;
	char name[32];

	if (fd < 0)
		return fd;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e) {
		put_unused_fd(fd);
		return -ENOMEM;
	}
	e->id = id;
	init_waitqueue_head(&e->wait);
	INIT_LIST_HEAD(&e->node);
	snprintf(name, sizeof(name), "nvgpu-event%u-fd%d", id, fd);
	file = anon_inode_getfile(name, &event_fops, e, O_RDWR);
	if (IS_ERR(file)) {
		kfree(e);
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	spin_lock_irq(&lock);
	list_add_tail(&e->node, &events);
	spin_unlock_irq(&lock);
	fd_install(fd, file);
	return fd;
}

static long ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct sim_event_id_ctrl a;

	if (cmd != SIM_EVENT_ID_CTRL)
		return -ENOTTY;
	if (copy_from_user(&a, (void __user *)arg, sizeof(a)))
		return -EFAULT;
	if (a.event_id >= EVENTS || a.cmd != SIM_EVENT_ID_ENABLE)
		return -EINVAL;
	a.event_fd = enable(a.event_id);
	if (a.event_fd < 0)
		return a.event_fd;
	return copy_to_user((void __user *)arg, &a, sizeof(a)) ? -EFAULT : 0;
}

void sim_tsg_post(void)
{
	unsigned long flags;
	struct event *e;

	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(e, &events, node) {
		if (e->id != SIM_EVENT_BLOCKING_SYNC)
			continue;
		e->posted = true;
		wake_up_all(&e->wait);
	}
	spin_unlock_irqrestore(&lock, flags);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice tsg = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "jetwatt-sim-tsg",
	.nodename = "nvgpu/igpu0/tsg",
	.fops = &fops,
	.mode = 0666,
};

int sim_tsg_add(void)
{
	return misc_register(&tsg);
}

void sim_tsg_remove(void)
{
	misc_deregister(&tsg);
}
