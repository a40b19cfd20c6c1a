/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File descriptors for fences: poll() reports a descriptor as ready when a fence that it is armed
 * for has passed.
 */
#ifndef SIM_FENCE_FD_H
#define SIM_FENCE_FD_H

#include <linux/fs.h>

/*
 * Create a descriptor named @name. @fops identifies the driver that the descriptor belongs to.
 * Return: the descriptor or a negative errno.
 */
int sim_fence_fd_new(const char *name, const struct file_operations *fops, int flags);
/* Make descriptor @fd ready when syncpoint @id reaches @threshold. */
long sim_fence_fd_arm(int fd, const struct file_operations *fops, u32 id, u32 threshold);

/* For use in @fops. */
__poll_t sim_fence_fd_poll(struct file *file, struct poll_table_struct *pt);
int sim_fence_fd_release(struct inode *inode, struct file *file);

#endif
