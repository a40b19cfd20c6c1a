// SPDX-License-Identifier: GPL-2.0-only
/* /dev/jetwatt-sim-gpu: interface of a job to the GPU and to the job's data loader. Each open file
 * is a job. */
#include <linux/err.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "drivers.h"
#include "gpu_uapi.h"
#include "plant.h"
#include "syncpt.h"

struct client {
	struct sim_syncpt *sp;
	struct sim_job *job;
	struct page *page;	/* holds the value of the syncpoint, for mmap() */
};

static int open(struct inode *inode, struct file *file)
{
	struct client *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err = -ENOMEM;

	if (!c)
		return err;
	c->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!c->page)
		goto err_client;
	c->sp = sim_syncpt_new();
	if (IS_ERR(c->sp)) {
		err = PTR_ERR(c->sp);
		goto err_page;
	}
	c->sp->shadow = page_address(c->page);
	c->job = sim_job_new(c->sp);
	if (!c->job)
		goto err_sp;
	file->private_data = c;
	return 0;

err_sp:
	sim_syncpt_put(c->sp);
err_page:
	put_page(c->page);
err_client:
	kfree(c);
	return err;
}

static int release(struct inode *inode, struct file *file)
{
	struct client *c = file->private_data;

	/* Only the job's work increments the syncpoint, so after this, other processes that still
	 * wait for it do not wake up. */
	sim_job_free(c->job);
	sim_syncpt_put(c->sp);
	put_page(c->page);
	kfree(c);
	return 0;
}

static bool sane(u32 kind, u32 permille)
{
	return kind <= SIM_KIND_INFER && permille && permille <= 100000;
}

static long load(struct client *c, void __user *arg)
{
	struct sim_load a;
	int err;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (!sane(a.kind, a.permille) || a.now > 1)
		return -EINVAL;
	err = sim_job_load(c->job, a.kind, a.permille, a.now);
	return err ?: sim_job_wait(c->job);
}

static long submit(struct client *c, void __user *arg)
{
	struct sim_submit a;
	int err;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (!sane(a.kind, a.permille) || !a.pieces || a.pieces > 1000 || !a.piece ||
	    a.piece > a.pieces)
		return -EINVAL;
	err = sim_job_submit(c->job, a.kind, a.permille, a.piece, a.pieces, &a.threshold);
	if (err)
		return err;
	a.syncpt = c->sp->id;
	return copy_to_user(arg, &a, sizeof(a)) ? -EFAULT : 0;
}

static long kernel(struct client *c, void __user *arg)
{
	struct sim_kernel a;
	int err;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	if (!(a.flop || a.bytes) || a.flop > SIM_KERNEL_MAX || a.bytes > SIM_KERNEL_MAX ||
	    a.launches > SIM_LAUNCHES_MAX)
		return -EINVAL;
	err = sim_job_kernel(c->job, &a);
	if (err)
		return err;
	a.syncpt = c->sp->id;
	return copy_to_user(arg, &a, sizeof(a)) ? -EFAULT : 0;
}

static long ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case SIM_LOAD:
		return load(file->private_data, (void __user *)arg);
	case SIM_SUBMIT:
		return submit(file->private_data, (void __user *)arg);
	case SIM_KERNEL:
		return kernel(file->private_data, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int mmap(struct file *file, struct vm_area_struct *vma)
{
	struct client *c = file->private_data;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff || vma->vm_flags & VM_WRITE)
		return -EINVAL;
	return vm_insert_page(vma, vma->vm_start, c->page);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.unlocked_ioctl = ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = mmap,
};

static struct miscdevice gpu = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "jetwatt-sim-gpu",
	.fops = &fops,
	.mode = 0666,
};

int sim_job_register(void)
{
	return misc_register(&gpu);
}

void sim_job_unregister(void)
{
	misc_deregister(&gpu);
}
