// SPDX-License-Identifier: GPL-2.0-only
/* Normalise a command line and a cgroup, so that runs can be compared. */
#include "store/workload.h"

#include <ctype.h>
#include <sha256.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/utf8.h"

/* Options, without dashes and with _ for -, whose values differ between runs without changing what
 * a minibatch does; and options whose values are secrets. */
static const char * const ignored_options[] = {
	"checkpoint", "checkpoint_dir", "ckpt", "epochs", "exp_name", "log", "log_dir", "logdir",
	"log_interval", "master_port", "max_epochs", "max_steps", "name", "num_epochs", "out",
	"out_dir", "output", "output_dir", "port", "print_freq", "project", "resume", "run_name",
	"save", "save_dir", "seed", "steps", "tensorboard_dir", "total_steps", "wandb_project",
	"api_key", "hf_token", "key", "password", "secret", "token", "wandb_key", NULL,
};
/* Options whose value is the minibatch size. */
static const char * const batch_options[] = {
	"b", "batch", "batch_size", "batchsize", "bs", "mini_batch_size", "minibatch_size",
	"per_device_train_batch_size", "train_batch_size", NULL,
};

/* Parse an option. @name: the option's name in lower case, with _ for -; *@value: the option's
 * value; NULL: the value is in the next word, or there is none. @bare: accept "batch=16" without
 * dashes too. Return: false if the word is not an option. */
static bool parse_option(const char *word, bool bare, char name[64], const char **value)
{
	size_t dashes = strspn(word, "-"), n = strcspn(word + dashes, "=");

	*value = word[dashes + n] ? word + dashes + n + 1 : NULL;
	if (!n || n > 63 || dashes > 2 || (!dashes && !(bare && *value)))
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = word[dashes + i] == '-' ? '_' :
			  (char)tolower((unsigned char)word[dashes + i]);
	name[n] = '\0';
	return true;
}

static bool in_list(const char *name, const char * const *list)
{
	while (*list && strcmp(name, *list))
		list++;
	return *list;
}

/* A text to which words are appended; words that do not fit are hashed. */
struct text {
	char *at, *end;
	SHA2_CTX rest;
	bool full;
};

static void text_append(struct text *t, const char *s, size_t n)
{
	if (!t->full && (size_t)(t->end - t->at) <= n)
		t->full = true;
	if (t->full) {
		SHA256Update(&t->rest, (const uint8_t *)s, n);
		return;
	}
	memcpy(t->at, s, n);
	t->at += n;
}

static void text_append_word(struct text *t, const char *s, bool first)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+@%";
	size_t n = strlen(s);

	if (!first)
		text_append(t, " ", 1);
	if (n && strspn(s, plain) == n) {
		text_append(t, s, n);
		return;
	}
	text_append(t, "'", 1);
	for (; *s; s += n) {
		/* Characters are appended as a whole, so that the text is not cut within one. */
		n = (size_t)jetwatt_utf8_length(s);
		n = n ? n : 1;
		if (*s == '\'')
			text_append(t, "'\\''", 4);
		else
			text_append(t, s, n);
	}
	text_append(t, "'", 1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void jetwatt_workload_command(const char *const *arg, int n, char *buf, size_t len)
{
	char digest[SHA256_DIGEST_STRING_LENGTH];
	/* Leave space for " ..." and half a hash. */
	struct text t = { .at = buf, .end = buf + len - 38 };
	const char *value;
	char name[64];

	SHA256Init(&t.rest);
	for (int i = 0; i < n; i++) {
		if (!i || !parse_option(arg[i], true, name, &value)) {
			text_append_word(&t, i ? arg[i] : base_name(arg[i]), !i);
			continue;
		}
		if (in_list(name, ignored_options)) {
			/* Skip the value in the next word, unless the next word is an option. */
			if (!value && i + 1 < n && arg[i + 1][0] != '-')
				i++;
			continue;
		}
		if (value && arg[i][0] == '-') {
			char word[80];

			snprintf(word, sizeof(word), "%.*s", (int)(value - arg[i] - 1), arg[i]);
			text_append_word(&t, word, false);
			text_append_word(&t, value, false);
		} else {
			text_append_word(&t, arg[i], false);
		}
	}
	*t.at = '\0';
	if (t.full) {
		SHA256End(&t.rest, digest);
		sprintf(t.at, " ...%.32s", digest);
	}
}

uint32_t jetwatt_workload_batch(const char *const *arg, int n)
{
	const char *value;
	char name[64], *end;

	for (int i = 1; i < n; i++) {
		unsigned long v;

		if (!parse_option(arg[i], true, name, &value) || !in_list(name, batch_options))
			continue;
		if (!value)
			value = i + 1 < n ? arg[i + 1] : "";
		if (!isdigit((unsigned char)*value))
			continue;
		v = strtoul(value, &end, 10);
		if (!*end && v && v <= 1u << 24)
			return (uint32_t)v;
	}
	return 0;
}

/* Replace ids by '*': "docker-9f86d081884c.scope" becomes "docker-*.scope". Ids have 12 or more
 * hexadecimal digits. */
static void strip_ids(char *s)
{
	char *to = s;

	while (*s) {
		size_t hex = strspn(s, "0123456789abcdef");

		if (hex >= 12) {
			*to++ = '*';
			s += hex;
		} else if (hex) {
			memmove(to, s, hex);
			to += hex;
			s += hex;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* Replace the number in "run-123.scope" and "session-4.scope" by '*'. */
static void strip_number(char *part)
{
	char *dash = strchr(part, '-');
	size_t n = dash ? strspn(dash + 1, "0123456789ru*") : 0;

	if (n && dash[1 + n] == '.' && (!strncmp(part, "run-", 4) || !strncmp(part, "session-", 8))) {
		dash[1] = '*';
		memmove(dash + 2, dash + 1 + n, strlen(dash + 1 + n) + 1);
	}
}

void jetwatt_workload_cgroup(const char *line, char *buf, size_t len)
{
	/* the line of cgroup v2 has "::"; with v1, any line is used */
	const char *path = strstr(line, "::");
	char *last;

	if (!path)
		path = strrchr(line, ':');
	path = path ? path + strspn(path, ":") : line;
	snprintf(buf, len, "%.*s", (int)strcspn(path, "\n"), path);
	if (!strncmp(buf, "/user.slice", 11)) {
		snprintf(buf, len, "user.slice");
		return;
	}
	strip_ids(buf);
	last = strrchr(buf, '/');
	if (last)
		strip_number(last + 1);
	memmove(buf, buf + strspn(buf, "/"), strlen(buf + strspn(buf, "/")) + 1);
}

void jetwatt_workload_key(const struct jetwatt_workload *w, char key[JETWATT_WORKLOAD_KEY])
{
	const char *part[] = { w->command, w->cgroup, w->board, w->release, w->params };
	SHA2_CTX ctx;
	char batch[16];

	SHA256Init(&ctx);
	/* Hash each field with its zero byte, so that the boundaries between fields count. */
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		SHA256Update(&ctx, (const uint8_t *)part[i], strlen(part[i]) + 1);
	snprintf(batch, sizeof(batch), "%u", w->batch);
	SHA256Update(&ctx, (const uint8_t *)batch, strlen(batch));
	SHA256End(&ctx, key);
}
