// SPDX-License-Identifier: GPL-2.0-only
/* Test that a file is replaced as a whole or not at all, and what stays of the existing one. */
#include "util/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kselftest_harness.h"

FIXTURE(dir)
{
	char dir[32];
	struct jetwatt_outfile out;
};

FIXTURE_SETUP(dir)
{
	strcpy(self->dir, "/tmp/jetwatt.XXXXXX");
	ASSERT_NE(mkdtemp(self->dir), NULL);
	ASSERT_EQ(chdir(self->dir), 0);
	ASSERT_EQ(system("echo old > a && chmod 640 a && ln -s a link && ln a hard && ln -s new dangling"), 0);
}

FIXTURE_TEARDOWN(dir)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(system(command), 0);
}

/* Write "new" to a file; @err: fail with it. Return: as jetwatt_outfile_end(). */
static int put_new(struct jetwatt_outfile *out, const char *path, int err)
{
	int rc = jetwatt_outfile_open(out, path, 0600);

	if (rc)
		return rc;
	fputs("new\n", out->f);
	return jetwatt_outfile_end(out, err);
}

static bool holds(const char *path, const char *text)
{
	char command[96];

	snprintf(command, sizeof(command), "[ \"$(cat %s)\" = '%s' ]", path, text);
	return !system(command);
}

/* Return whether @n files are in the directory: no temporary file is left. */
static bool has_files(int n)
{
	char command[64];

	snprintf(command, sizeof(command), "[ \"$(ls -A | wc -l)\" = %d ]", n);
	return !system(command);
}

TEST_F(dir, new_file_has_the_given_mode)
{
	struct stat st;

	EXPECT_EQ(put_new(&self->out, "b", 0), 0);
	EXPECT_TRUE(holds("b", "new"));
	ASSERT_EQ(stat("b", &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0600);
	EXPECT_TRUE(has_files(5));
	EXPECT_EQ(put_new(&self->out, "no/b", 0), -ENOENT);
	EXPECT_EQ(put_new(&self->out, ".", 0), -EISDIR);
}

/* A file that is not written to its end does not change the existing one, and no other file is left. */
TEST_F(dir, failure_keeps_the_existing_file)
{
	EXPECT_EQ(put_new(&self->out, "a", -EPROTO), -EPROTO);
	EXPECT_TRUE(holds("a", "old"));
	EXPECT_EQ(put_new(&self->out, "link", 1), 1);
	EXPECT_TRUE(holds("link", "old"));
	EXPECT_EQ(put_new(&self->out, "b", 1), 1);
	EXPECT_EQ(put_new(&self->out, "dangling", 1), 1);
	EXPECT_TRUE(has_files(4));
}

TEST_F(dir, existing_file_keeps_its_mode_and_owner)
{
	struct stat st;

	ASSERT_EQ(unlink("hard"), 0);
	if (!geteuid())
		ASSERT_EQ(chown("a", 990, 991), 0);
	EXPECT_EQ(put_new(&self->out, "a", 0), 0);
	EXPECT_TRUE(holds("a", "new"));
	ASSERT_EQ(stat("a", &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0640);
	EXPECT_EQ(st.st_uid, geteuid() ? geteuid() : 990);
	EXPECT_EQ(st.st_gid, geteuid() ? getegid() : 991);
	EXPECT_TRUE(has_files(3));
}

/* The access control list of an existing file stays: user 12345 may read it. The values are those of
 * setfacl -m u:12345:r, in the form of struct posix_acl_xattr_header and _entry of
 * include/uapi/linux/posix_acl_xattr.h. */
TEST_F(dir, existing_file_keeps_its_acl)
{
	static const struct { uint32_t version; struct { uint16_t tag, perm; uint32_t id; } entry[5]; } acl = {
		2, { { 0x01, 6, -1 }, { 0x02, 4, 12345 }, { 0x04, 4, -1 }, { 0x10, 4, -1 }, { 0x20, 0, -1 } }
	};
	char got[sizeof(acl)];

	ASSERT_EQ(unlink("hard"), 0);
	if (setxattr("a", "system.posix_acl_access", &acl, sizeof(acl), 0))
		SKIP(return, "the file system has no ACLs");
	EXPECT_EQ(put_new(&self->out, "a", 0), 0);
	EXPECT_TRUE(holds("a", "new"));
	EXPECT_EQ(getxattr("a", "system.posix_acl_access", got, sizeof(got)), (ssize_t)sizeof(acl));
	EXPECT_EQ(memcmp(got, &acl, sizeof(acl)), 0);
	EXPECT_TRUE(has_files(3));
}

/* Symbolic links and further names of a file stay, and lead to the new contents. */
TEST_F(dir, links_stay)
{
	struct stat st;

	EXPECT_EQ(put_new(&self->out, "link", 0), 0);
	EXPECT_TRUE(holds("a", "new") && holds("hard", "new"));
	ASSERT_EQ(lstat("link", &st), 0);
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	ASSERT_EQ(system("rm hard && echo old > a"), 0);
	EXPECT_EQ(put_new(&self->out, "link", 0), 0);
	EXPECT_TRUE(holds("a", "new"));
	ASSERT_EQ(lstat("link", &st), 0);
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	EXPECT_EQ(put_new(&self->out, "dangling", 0), 0);
	EXPECT_TRUE(holds("new", "new"));
	ASSERT_EQ(lstat("dangling", &st), 0);
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	EXPECT_TRUE(has_files(4));
}

/* A device or FIFO is written directly, and a descriptor of a file goes on in the same file. */
TEST_F(dir, devices_and_descriptors_are_written_directly)
{
	int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600), copy = dup(STDOUT_FILENO), rc;

	ASSERT_EQ(system("mkfifo fifo && : > got && { cat fifo > got & }"), 0);
	EXPECT_EQ(put_new(&self->out, "fifo", 0), 0);
	for (int i = 0; i < 100 && !holds("got", "new"); i++)
		usleep(10000);
	EXPECT_TRUE(holds("got", "new"));
	EXPECT_EQ(put_new(&self->out, "/dev/full", 0), -ENOSPC);
	EXPECT_EQ(put_new(&self->out, "/dev/null", 0), 0);
	ASSERT_EQ(system("[ -p fifo ] && [ -c /dev/full ] && [ -c /dev/null ]"), 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	rc = put_new(&self->out, "/dev/stdout", 0);
	dup2(copy, STDOUT_FILENO);
	EXPECT_EQ(rc, 0);
	ASSERT_EQ(write(fd, "more\n", 5), 5);
	EXPECT_TRUE(holds("log", "new\nmore"));
	close(fd);
	close(copy);
}

/* What is written after jetwatt_outfile_put() is in the file in place, also in one with several names. */
TEST_F(dir, file_in_place_grows)
{
	for (int hard = 1; hard >= 0; hard--) {
		ASSERT_EQ(jetwatt_outfile_open(&self->out, "a", 0600), 0);
		fputs("begin\n", self->out.f);
		fflush(self->out.f);
		EXPECT_TRUE(holds("a", hard ? "old" : "begin\nend"));
		EXPECT_EQ(jetwatt_outfile_put(&self->out), 0);
		EXPECT_TRUE(holds("a", "begin"));
		fputs("end\n", self->out.f);
		EXPECT_EQ(jetwatt_outfile_end(&self->out, 1), 1);
		EXPECT_TRUE(holds("a", "begin\nend"));
		EXPECT_TRUE(!hard || !unlink("hard"));
	}
	EXPECT_TRUE(has_files(3));
}

TEST_HARNESS_MAIN
