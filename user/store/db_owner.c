// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find and take on the user rights with which root uses a database.
 *
 * SQLite trusts the directory of its database: when it opens FILE, it rolls back FILE-journal, and
 * the journal may name another file to delete. Therefore a user with write access to the directory
 * could, with a forged journal, make a root process delete any file. To prevent that, root uses a
 * database with the rights of the user who owns the first directory or symbolic link in the
 * database's path that is not root's, and refuses a database in a directory that several users may
 * write.
 *
 * setfsuid(2) changes the rights of one thread only: the other threads stay root.
 */
#include "store/db_private.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* maximum number of symbolic links in a path; same as the kernel's limit */
#define LINKS_MAX	40
#define NO_GROUP	65534

/* A path that is being resolved: @dir is the part of the path that is resolved already, @ahead
 * the rest of it. */
struct path_walk {
	char dir[PATH_MAX], ahead[PATH_MAX];
	int links;
};

static int refuse_shared_dir(const struct path_walk *w, struct jetwatt_error_text *err)
{
	snprintf(err->why, sizeof(err->why), "other users may write the directory %.180s, and could have root "
		 "delete files", *w->dir ? w->dir : "/");
	snprintf(err->fix, sizeof(err->fix),
		 "use a file (--db, JETWATT_DB or the setting db) in a directory that only one user may write");
	return -EPERM;
}

/* Replace a symbolic link by its target. Return: 0; negative errno. */
static int follow_link(struct path_walk *w, const char *path)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	strcpy(rest, w->ahead);
	if ((size_t)snprintf(w->ahead, sizeof(w->ahead), "%s/%s", target, rest) >= sizeof(w->ahead))
		return -ENAMETOOLONG;
	if (*target == '/')
		w->dir[0] = '\0';
	return 0;
}

/* Split the next name off the rest of the path. Return: its length; 0 if the path has no further
 * name. */
static size_t walk_next_name(struct path_walk *w, char *name)
{
	const char *begin = w->ahead + strspn(w->ahead, "/");
	size_t n = strcspn(begin, "/");

	if (n > NAME_MAX)
		n = NAME_MAX;
	memcpy(name, begin, n);
	name[n] = '\0';
	memmove(w->ahead, begin + n, strlen(begin + n) + 1);
	return n;
}

/*
 * Resolve the next name, and set *@st to its attributes. Enter a directory; follow a symbolic link
 * only if root owns it. Return: 1 after a directory or a symbolic link; 0 at the end of the path,
 * also if the name does not exist or is no directory; negative errno.
 */
static int walk_one(struct path_walk *w, struct stat *st, struct jetwatt_error_text *err)
{
	char name[NAME_MAX + 1], path[PATH_MAX + NAME_MAX + 2];
	struct stat dir;
	int open_to_all;

	st->st_uid = 0;
	if (stat(*w->dir ? w->dir : "/", &dir))
		return -errno;
	if (!walk_next_name(w, name) || !strcmp(name, "."))
		return *w->ahead ? 1 : 0;
	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	open_to_all = dir.st_mode & 022;
	if (lstat(path, st)) {
		/* A missing directory is checked after it has been created. */
		if (errno != ENOENT)
			return -errno;
		return open_to_all && !w->ahead[strspn(w->ahead, "/")] ? refuse_shared_dir(w, err)
								       : 0;
	}
	/* In a directory with the sticky bit, like /tmp, an existing entry belongs to its owner,
	 * but any user may create the next one. */
	if (open_to_all && (!(dir.st_mode & S_ISVTX) || !(S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode))))
		return refuse_shared_dir(w, err);
	if (S_ISLNK(st->st_mode)) {
		int rc = st->st_uid ? 0 : follow_link(w, path);

		return rc ? rc : 1;
	}
	if (!S_ISDIR(st->st_mode))
		return 0;
	if (strlen(path) >= sizeof(w->dir))
		return -ENAMETOOLONG;
	strcpy(w->dir, path);
	return 1;
}

int jetwatt_db_owner_find(const char *path, struct jetwatt_db_owner *o,
			  struct jetwatt_error_text *err)
{
	const struct passwd *pw;
	struct stat st = { .st_uid = 0 };
	struct path_walk *w;
	int rc = 1;

	*o = (struct jetwatt_db_owner){ 0 };
	if (geteuid())
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	if (*path != '/' && !getcwd(w->dir, sizeof(w->dir)))
		rc = -errno;
	else if ((size_t)snprintf(w->ahead, sizeof(w->ahead), "%s/%s", w->dir, path) >= sizeof(w->ahead))
		rc = -ENAMETOOLONG;
	w->dir[0] = '\0';
	while (rc > 0 && !st.st_uid)
		rc = walk_one(w, &st, err);
	free(w);
	if (rc <= 0)
		return rc;
	o->uid = st.st_uid;
	pw = getpwuid(st.st_uid);
	o->gid = pw && pw->pw_gid ? pw->pw_gid : st.st_gid ? st.st_gid : NO_GROUP;
	snprintf(o->name, sizeof(o->name), "%s", pw ? pw->pw_name : "");
	if (!pw)
		snprintf(o->name, sizeof(o->name), "%u", st.st_uid);
	return 0;
}

static struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };

int jetwatt_db_take_rights(const struct jetwatt_db_owner *o, struct jetwatt_db_rights *was)
{
	struct __user_cap_data_struct none[2];

	*was = (struct jetwatt_db_rights){ 0 };
	/* The process keeps its own rights, or this thread has the owner's rights already, because one
	 * function of the database has called another. */
	if (!o->uid || (uid_t)setfsuid((uid_t)-1) == o->uid)
		return 0;
	was->groups = getgroups(JETWATT_DB_GROUPS, was->group);
	if (was->groups < 0 || syscall(SYS_capget, &head, was->cap))
		return -errno;
	was->gid = (gid_t)setfsgid((gid_t)-1);
	memcpy(none, was->cap, sizeof(none));
	none[0].effective = none[1].effective = 0;
	was->taken = true;
	/* The C library's setgroups() would change the rights of all threads, so call the
	 * kernel directly. */
	if (!syscall(SYS_setgroups, 0, NULL)) {
		setfsgid(o->gid);
		setfsuid(o->uid);
		if ((uid_t)setfsuid((uid_t)-1) == o->uid && (gid_t)setfsgid((gid_t)-1) == o->gid &&
		    !syscall(SYS_capset, &head, none))
			return 0;
	}
	jetwatt_db_restore_rights(was);
	return -EPERM;
}

void jetwatt_db_restore_rights(struct jetwatt_db_rights *was)
{
	if (!was->taken)
		return;
	was->taken = false;
	syscall(SYS_capset, &head, was->cap);
	setfsuid(0);
	setfsgid(was->gid);
	syscall(SYS_setgroups, was->groups, was->group);
}

struct jetwatt_db_rights jetwatt_db_become_owner(const struct jetwatt_db *db)
{
	struct jetwatt_db_rights was;

	/* Taking on the owner's rights worked when the database was opened. Never
	 * continue as root. */
	if (jetwatt_db_take_rights(&db->owner, &was))
		abort();
	return was;
}
