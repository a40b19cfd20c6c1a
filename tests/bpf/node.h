/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device nodes on which the ioctls of a Jetson's GPU succeed on a machine without such a GPU: files
 * of a FUSE file system, mounted in a separate mount namespace under the names of JetPack's nodes.
 *
 * The argument of a wait ioctl selects its result: the ioctl sleeps for @timeout_ns and then fails
 * with error @value, or succeeds if @value is 0.
 */
#ifndef JETWATT_TEST_NODE_H
#define JETWATT_TEST_NODE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODE_SYNCPOINT_WAIT	0xC0206462
#define NODE_SYNCPOINT_WAIT_24	0xC0186462
#define NODE_TRIGGER_POLLFD	0xC0105811

#define NODE_NVHOST_WAIT	0x400C4803
#define NODE_NVHOST_WAITEX	0xC0104806
#define NODE_NVHOST_WAITMEX	0xC0204809
#define NODE_NVHOST_TRIGGER	0x40104811

struct node_wait {
	int64_t timeout_ns;
	uint32_t id, threshold, value, padding;
	uint64_t timestamp;
};

struct node_trigger {
	int32_t fd;
	uint32_t id, threshold, reserved;
};

/* @timeout_ms: time after which the wait ioctl fails with EAGAIN; -1: the ioctl succeeds at once */
struct node_nvhost_wait {
	uint32_t id, threshold;
	int32_t timeout_ms;
	uint32_t value, tv_sec, tv_nsec, clock_id, reserved;
};

#define NODES	4

struct node {
	int render, fence, nvhost, other;	/* descriptors of the nodes */
	pid_t server;
};

static inline uint64_t node_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline void node_sleep(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

static inline int node_is_nvhost_wait(uint32_t cmd)
{
	return cmd == NODE_NVHOST_WAIT || cmd == NODE_NVHOST_WAITEX || cmd == NODE_NVHOST_WAITMEX;
}

/*
 * Handle a FUSE request: write the reply to @out. Return: the length of the reply in bytes, 0 if
 * there is no reply.
 */
static inline size_t node_answer(const char *in, char *out)
{
	const struct fuse_in_header *h = (const void *)in;
	struct fuse_out_header *r = (void *)out;
	char *body = out + sizeof(*r);
	size_t len = 0;

	memset(out, 0, 512);
	r->unique = h->unique;
	if (h->opcode == FUSE_INIT) {
		struct fuse_init_out *i = (void *)body;

		i->major = FUSE_KERNEL_VERSION;
		i->minor = FUSE_KERNEL_MINOR_VERSION;
		i->max_write = 4096;
		len = sizeof(*i);
	} else if (h->opcode == FUSE_GETATTR) {
		struct fuse_attr_out *a = (void *)body;

		a->attr_valid = 1000;
		a->attr.ino = 1;
		a->attr.mode = S_IFREG | 0666;
		a->attr.nlink = 1;
		len = sizeof(*a);
	} else if (h->opcode == FUSE_OPEN) {
		len = sizeof(struct fuse_open_out);
	} else if (h->opcode == FUSE_IOCTL) {
		const struct fuse_ioctl_in *ioc = (const void *)(in + sizeof(*h));
		const struct node_wait *w = (const void *)(ioc + 1);

		if (node_is_nvhost_wait(ioc->cmd)) {
			const struct node_nvhost_wait *old = (const void *)w;

			if (old->timeout_ms >= 0) {
				node_sleep(old->timeout_ms * 1000000ull);
				r->error = -EAGAIN;
			}
		} else if (ioc->cmd != NODE_TRIGGER_POLLFD && ioc->cmd != NODE_NVHOST_TRIGGER) {
			if (w->timeout_ns)
				node_sleep(w->timeout_ns);
			r->error = -(int)w->value;
		}
		if (!r->error) {
			len = sizeof(struct fuse_ioctl_out) + ioc->out_size;
			memcpy(body + sizeof(struct fuse_ioctl_out), w, ioc->out_size);
		}
	} else if (h->opcode == FUSE_FORGET || h->opcode == FUSE_INTERRUPT) {
		return 0;
	} else if (h->opcode != FUSE_RELEASE) {
		r->error = -ENOSYS;
	}
	r->len = sizeof(*r) + len;
	return r->len;
}

static inline void node_serve(const int *fuse, int nr)
{
	static char in[FUSE_MIN_READ_BUFFER + 4096], out[512];
	struct pollfd pfd[NODES];
	ssize_t n;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < nr; i++)
		pfd[i] = (struct pollfd){ .fd = fuse[i], .events = POLLIN };
	for (;;) {
		if (poll(pfd, nr, -1) < 0)
			continue;
		for (i = 0; i < nr; i++) {
			if (!(pfd[i].revents & (POLLIN | POLLERR)))
				continue;
			n = read(fuse[i], in, sizeof(in));
			if (n < 0 && errno == ENODEV)
				_exit(0);
			if (n > 0) {
				n = node_answer(in, out);
				if (n > 0 && write(fuse[i], out, n) < 0 && errno != ENOENT)
					_exit(1);
			}
		}
	}
}

static inline int node_mount(const char *path, int *fuse)
{
	char opts[128];
	int fd = open(path, O_CREAT | O_CLOEXEC | O_RDWR, 0666);

	if (fd < 0)
		return -errno;
	close(fd);
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=100666,user_id=0,group_id=0,allow_other",
		 *fuse);
	return mount("gpu", path, "fuse", MS_NOSUID | MS_NODEV, opts) ? -errno : 0;
}

/**
 * node_open() - create the nodes and open them
 * @n: gets the descriptors
 *
 * Return: 0; -ENODEV if the machine has no FUSE or the process is not root; another negative errno
 * on other errors.
 */
static inline int node_open(struct node *n)
{
	static const char *const path[NODES] = { "/dev/dri/renderD128", "/dev/host1x-fence",
						 "/dev/nvhost-ctrl", "/dev/other" };
	int fuse[NODES], *fd[NODES] = { &n->render, &n->fence, &n->nvhost, &n->other }, i, err;

	for (i = 0; i < NODES; i++) {
		fuse[i] = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		if (fuse[i] < 0)
			return -ENODEV;
	}
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/dev", "tmpfs", 0, NULL) || mkdir("/dev/dri", 0755) ||
	    mknod("/dev/null", S_IFCHR | 0666, 1 << 8 | 3))
		return -ENODEV;
	for (i = 0; i < NODES; i++) {
		err = node_mount(path[i], &fuse[i]);
		if (err)
			return err;
	}
	n->server = fork();
	if (n->server < 0)
		return -errno;
	if (!n->server)
		node_serve(fuse, NODES);
	for (i = 0; i < NODES; i++) {
		close(fuse[i]);
		*fd[i] = open(path[i], O_RDWR);
		if (*fd[i] < 0)
			return -errno;
	}
	return 0;
}

static inline void node_close(struct node *n)
{
	kill(n->server, SIGKILL);
	waitpid(n->server, NULL, 0);
}

/*
 * Wait for a syncpoint with an ioctl that sleeps for @ns nanoseconds, and then fails with error @err,
 * or succeeds if @err is 0.
 */
static inline int node_syncpt(int fd, uint32_t id, uint64_t ns, int err)
{
	struct node_wait w = { .timeout_ns = ns, .id = id, .value = err };

	return ioctl(fd, NODE_SYNCPOINT_WAIT, &w) ? -errno : 0;
}

static inline int node_trigger(int fence, int pollfd)
{
	struct node_trigger t = { .fd = pollfd };

	return ioctl(fence, NODE_TRIGGER_POLLFD, &t) ? -errno : 0;
}

/*
 * Set timer @timer, which these tests use in place of a poll descriptor, to become readable after
 * @ns nanoseconds.
 */
static inline void node_signal_in(int timer, uint64_t ns)
{
	struct itimerspec it = { .it_value = { ns / 1000000000, ns % 1000000000 } };

	timerfd_settime(timer, 0, &it, NULL);
}

static inline int node_poll(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms);
}

#endif
