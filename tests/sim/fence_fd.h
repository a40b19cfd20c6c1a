/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptors that poll() sees ready when a fence has passed. */
#ifndef SIM_FENCE_FD_H
#define SIM_FENCE_FD_H

#include <linux/fs.h>

/*
 * Return: a new descriptor named @name; its number is told apart from those of another
 * driver by @fops. Or a negative errno.
 */
int sim_fence_fd_new(const char *name, const struct file_operations *fops, int flags);
/* Have descriptor @fd become ready when syncpoint @id reaches @threshold. */
long sim_fence_fd_arm(int fd, const struct file_operations *fops, u32 id, u32 threshold);

/* For @fops. */
__poll_t sim_fence_fd_poll(struct file *file, struct poll_table_struct *pt);
int sim_fence_fd_release(struct inode *inode, struct file *file);

#endif
