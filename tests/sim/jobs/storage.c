// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storage with a given speed: a FUSE file system with one file, "data", whose bytes arrive at the
 * speed of a disk. Data that a process has read stays in the kernel's page cache, so the kernel
 * does not request it again. Requests are served one at a time, as from a single queue. The program
 * exits when the file system is unmounted.
 *
 *   storage DIR MIB MBPS     MIB: size of the file; MBPS: speed in MB/s
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILE_INO	2
#define CHUNK		(128 * 1024)
#define FOREVER_S	1000000

static int dev;
static uint64_t size, mbps, free_ns;
static char zeros[CHUNK], request[CHUNK + 4096];

static void fail(const char *what)
{
	fprintf(stderr, "storage: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void reply(const struct fuse_in_header *in, int err, const void *body, size_t len)
{
	struct fuse_out_header out = { .len = sizeof(out) + (err ? 0 : len), .error = err,
				       .unique = in->unique };
	struct iovec v[] = { { &out, sizeof(out) }, { (void *)body, len } };

	/* writev() fails with ENOENT if the requesting process was interrupted meanwhile. */
	if (writev(dev, v, err || !len ? 1 : 2) < 0 && errno != ENOENT)
		fail("reply");
}

static void attributes(uint64_t ino, struct fuse_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->ino = ino;
	a->nlink = 1;
	a->mode = ino == FILE_INO ? S_IFREG | 0444 : S_IFDIR | 0555;
	a->size = ino == FILE_INO ? size : 0;
	a->blksize = CHUNK;
}

static void lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out e = { .nodeid = FILE_INO, .entry_valid = FOREVER_S,
				    .attr_valid = FOREVER_S };

	attributes(FILE_INO, &e.attr);
	reply(in, strcmp(name, "data") ? -ENOENT : 0, &e, sizeof(e));
}

/*
 * Respond to a read request when the simulated disk has served all earlier requests and has read
 * the data.
 */
static void deliver(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	uint64_t n = r->offset < size ? size - r->offset : 0, now;
	struct timespec t;

	n = n < r->size ? n : r->size;
	n = n < CHUNK ? n : CHUNK;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000000000ull + t.tv_nsec;
	free_ns = (free_ns > now ? free_ns : now) + n * 1000 / mbps;
	t.tv_sec = free_ns / 1000000000;
	t.tv_nsec = free_ns % 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	reply(in, 0, zeros, n);
}

static void answer(const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_readahead = CHUNK, .max_write = CHUNK, .max_background = 8,
				      .flags = FUSE_ASYNC_READ };
	struct fuse_attr_out attr = { .attr_valid = FOREVER_S };
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		lookup(in, body);
		break;
	case FUSE_GETATTR:
		attributes(in->nodeid, &attr.attr);
		reply(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		deliver(in, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char options[100];
	ssize_t n;

	if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[3]) < 1) {
		fprintf(stderr, "usage: storage DIR MIB MBPS\n");
		return 2;
	}
	size = atoll(argv[2]) << 20;
	mbps = atoll(argv[3]);
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		fail("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,max_read=%d", dev,
		 CHUNK);
	if (mount("storage", argv[1], "fuse", MS_NODEV | MS_NOSUID | MS_RDONLY, options))
		fail(argv[1]);
	for (;;) {
		n = read(dev, request, sizeof(request));
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer((void *)request, request + sizeof(struct fuse_in_header));
		else if (n < 0 && errno == ENODEV)
			return 0;
		else if (n >= 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
			fail("request");
	}
}
