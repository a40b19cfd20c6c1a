// SPDX-License-Identifier: GPL-2.0-only
/*
 * Poll descriptors of the drivers of JetPack 5 and 6. A descriptor can be armed for any number of
 * fences of any syncpoints. A poll() that finds that some of these fences have passed reports the
 * descriptor as ready once and removes these fences; the next poll() is ready when another fence
 * has passed. (JetPack 5: struct nvhost_event_poll_fd_rec in Seeed-Studio/Linux_for_Tegra r35.3.1,
 * source/kernel/nvidia/drivers/video/tegra/host/host1x/host1x.c; JetPack 6: struct host1x_pollfd in
 * OE4T/linux-nv-oot jetson_36.4.3, drivers/gpu/host1x-fence/dev.c.)
 */
#include "fence_fd.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "syncpt.h"

struct fence_fd {
	struct mutex lock;
	struct list_head fences;
	wait_queue_head_t wait;
};

struct fence {
	struct list_head node;
	struct fence_fd *fd;
	struct sim_syncpt *sp;
	u32 threshold;
	wait_queue_entry_t raised;
};

/*
 * This callback runs when the syncpoint is incremented, in the context of the function that
 * increments it.
 */
static int on_raise(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	struct fence *f = container_of(entry, struct fence, raised);

	if (sim_syncpt_reached(f->sp, f->threshold))
		wake_up_all(&f->fd->wait);
	return 0;
}

static void drop(struct fence *f)
{
	remove_wait_queue(&f->sp->wait, &f->raised);
	sim_syncpt_put(f->sp);
	list_del(&f->node);
	kfree(f);
}

__poll_t sim_fence_fd_poll(struct file *file, struct poll_table_struct *pt)
{
	struct fence_fd *p = file->private_data;
	struct fence *f, *next;
	__poll_t mask = 0;

	poll_wait(file, &p->wait, pt);
	mutex_lock(&p->lock);
	list_for_each_entry_safe(f, next, &p->fences, node) {
		if (sim_syncpt_reached(f->sp, f->threshold)) {
			mask = EPOLLIN | EPOLLPRI;
			drop(f);
		}
	}
	mutex_unlock(&p->lock);
	return mask;
}

int sim_fence_fd_release(struct inode *inode, struct file *file)
{
	struct fence_fd *p = file->private_data;
	struct fence *f, *next;

	list_for_each_entry_safe(f, next, &p->fences, node)
		drop(f);
	kfree(p);
	return 0;
}

int sim_fence_fd_new(const char *name, const struct file_operations *fops, int flags)
{
	struct fence_fd *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int fd;

	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->fences);
	init_waitqueue_head(&p->wait);
	fd = anon_inode_getfd(name, fops, p, flags);
	if (fd < 0)
		kfree(p);
	return fd;
}

static long arm(struct fence_fd *p, u32 id, u32 threshold)
{
	struct fence *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->fd = p;
	f->threshold = threshold;
	f->sp = sim_syncpt_get(id);
	if (!f->sp) {
		kfree(f);
		return -EINVAL;
	}
	init_waitqueue_func_entry(&f->raised, on_raise);
	mutex_lock(&p->lock);
	list_add(&f->node, &p->fences);
	add_wait_queue(&f->sp->wait, &f->raised);
	/* The fence may have passed before it was added, so check it once. */
	if (sim_syncpt_reached(f->sp, threshold))
		wake_up_all(&p->wait);
	mutex_unlock(&p->lock);
	return 0;
}

long sim_fence_fd_arm(int fd, const struct file_operations *fops, u32 id, u32 threshold)
{
	struct file *file = fget(fd);
	long err = -EINVAL;

	if (!file)
		return err;
	if (file->f_op == fops)
		err = arm(file->private_data, id, threshold);
	fput(file);
	return err;
}
