// SPDX-License-Identifier: GPL-2.0-only
/* Replace a file as a whole: outfile.h says what is kept of the existing one. */
#include "util/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Open the existing file @path, or create the one that a symbolic link to no file leads to. The kernel
 * follows the links, so that its checks of links and files of other users in /tmp hold
 * (fs.protected_symlinks; fs.protected_regular, which needs O_CREAT). Return: descriptor; negative errno,
 * -ENOENT: a new file. */
static int outfile_existing(struct jetwatt_outfile *o, const char *path, mode_t mode)
{
	bool missing = faccessat(AT_FDCWD, path, F_OK, AT_EACCESS);
	struct stat st;
	int fd;

	if (missing && (errno != ENOENT || lstat(path, &st)))
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	o->created = missing && fd >= 0;
	return fd < 0 ? -errno : fd;
}

/* Return whether @path names a descriptor, such as /dev/stdout: other programs go on writing the file
 * that it refers to, so this file has to stay the same. */
static bool outfile_is_descriptor(const char *path)
{
	return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/dev/std", 8) || !strncmp(path, "/proc/", 6);
}

/* Return whether the open file has an access control list, which a new file would not have. */
static bool outfile_has_acl(int fd)
{
	return fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0;
}

/* Open a temporary file, beside the existing file with the properties @st if that is open. Return:
 * descriptor; negative errno. */
static int outfile_temp(struct jetwatt_outfile *o, const char *path, const struct stat *st, mode_t mode)
{
	bool exists = o->old >= 0;
	char self[32];
	mode_t mask;
	int fd, err;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->old);
	if (exists && readlink(self, o->path, sizeof(o->path) - 1) < 0)
		return -errno;
	if (!exists && snprintf(o->path, sizeof(o->path), "%s", path) >= (int)sizeof(o->path))
		return -ENAMETOOLONG;
	if (snprintf(o->temp, sizeof(o->temp), "%s.XXXXXX", o->path) >= (int)sizeof(o->temp))
		return -ENAMETOOLONG;
	fd = mkostemp(o->temp, O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (err)
		o->temp[0] = '\0';
	/* A name that is as long as possible, for example. There is nothing to lose. */
	if (err && !exists) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
		return fd < 0 ? -errno : fd;
	}
	/* An existing file can be written, but nothing else in its directory. */
	if (err)
		fd = memfd_create("jetwatt-out", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	mask = umask(0);
	umask(mask);
	o->copy = exists && (err || st->st_nlink != 1 || outfile_is_descriptor(path) || outfile_has_acl(o->old) ||
			     fchown(fd, st->st_uid, st->st_gid) || fchmod(fd, st->st_mode & 0777));
	if (!exists && fchmod(fd, mode & ~mask)) {
		err = -errno;
		close(fd);
		return err;
	}
	if (o->copy && *o->temp) {
		unlink(o->temp);
		o->temp[0] = '\0';
	}
	return fd;
}

int jetwatt_outfile_open(struct jetwatt_outfile *o, const char *path, mode_t mode)
{
	struct stat st = { .st_mode = S_IFREG };
	int fd, err;

	*o = (struct jetwatt_outfile){ .f = NULL };
	o->old = outfile_existing(o, path, mode);
	if (o->old < 0 && o->old != -ENOENT)
		return o->old;
	if (o->old >= 0 && fstat(o->old, &st)) {
		fd = -errno;
	} else if (S_ISREG(st.st_mode)) {
		fd = outfile_temp(o, path, &st, mode);
	} else {
		fd = o->old;
		o->old = -1;
	}
	o->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->f)
		return 0;
	err = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
	if (*o->temp)
		unlink(o->temp);
	if (o->old >= 0)
		close(o->old);
	return err;
}

/* Sync the directory of @path, if it can be read: only after that is a rename on disk. */
static int outfile_sync_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	int fd, err;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash == path ? 1 : slash - path), path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	err = fsync(fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
	close(fd);
	return err;
}

/* Write the contents of the temporary file into the existing one, to which the stream refers then. */
static int outfile_copy(struct jetwatt_outfile *o)
{
	int fd = fileno(o->f);
	off_t at = 0;
	ssize_t n;

	if (ftruncate(o->old, 0))
		return -errno;
	do
		n = sendfile(o->old, fd, &at, 1 << 20);
	while (n > 0);
	return n < 0 || dup3(o->old, fd, O_CLOEXEC) < 0 ? -errno : 0;
}

int jetwatt_outfile_put(struct jetwatt_outfile *o)
{
	int err = !o->f ? 0 : fflush(o->f) ? -errno : ferror(o->f) ? -EIO : 0;

	if (err || !o->f || (!o->copy && !*o->temp))
		return err;
	if (o->copy) {
		err = outfile_copy(o);
	} else if (rename(o->temp, o->path)) {
		/* The file is a mount point, as in a container. */
		err = errno == EBUSY && o->old >= 0 ? outfile_copy(o) : -errno;
		unlink(o->temp);
	}
	o->copy = false;
	o->temp[0] = '\0';
	return err;
}

int jetwatt_outfile_end(struct jetwatt_outfile *o, int err)
{
	bool replaces = *o->temp, created = o->created && (o->copy || replaces);

	if (!o->f)
		return err;
	if (!err && replaces && (fflush(o->f) || fsync(fileno(o->f))))
		err = -errno;
	if (!err)
		err = jetwatt_outfile_put(o);
	if (!err && replaces)
		err = outfile_sync_dir(o->path);
	if (fclose(o->f) && !err)
		err = -errno;
	o->f = NULL;
	if (*o->temp)
		unlink(o->temp);
	if (err && created)
		unlink(o->path);
	if (o->old >= 0)
		close(o->old);
	return err;
}
