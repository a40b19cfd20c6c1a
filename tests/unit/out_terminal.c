// SPDX-License-Identifier: GPL-2.0-only
/* Text of jobs and of other machines on the terminal. */
#include "kselftest_harness.h"
#include "out/terminal.h"

static const char *plain(const char *text, size_t len)
{
	static char buf[64];

	memset(buf, '#', sizeof(buf));
	return jetwatt_terminal_plain(text, buf, len);
}

TEST(control_characters_do_not_reach_the_terminal)
{
	EXPECT_STREQ("a?[31mb?c?", plain("a\033[31mb\nc\177", 64));
	/* U+009B begins a control sequence too, as a character of UTF-8 and as a byte. */
	EXPECT_STREQ("a?31m", plain("a\xc2\x9b" "31m", 64));
	EXPECT_STREQ("a?31m", plain("a\x9b" "31m", 64));
	EXPECT_STREQ("caf\xc3\xa9 \xe2\x82\xac", plain("caf\xc3\xa9 \xe2\x82\xac", 64));
}

TEST(cut_text_ends_between_characters)
{
	EXPECT_STREQ("abcdefg", plain("abcdefg", 8));
	EXPECT_STREQ("abcd...", plain("abcdefgh", 8));
	EXPECT_STREQ("abc...", plain("abc\xc3\xa9" "fghi", 8));
	EXPECT_STREQ("ab\xc3\xa9...", plain("ab\xc3\xa9" "efgh", 8));
	EXPECT_STREQ("abc", plain("abcdefgh", 4));
	EXPECT_STREQ("a?", plain("a\xe2\x82", 3));
}

TEST_HARNESS_MAIN
