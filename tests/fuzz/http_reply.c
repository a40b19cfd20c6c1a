// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer target for the parser of HTTP replies: make fuzz FUZZ=http_reply */
#include <stdint.h>
#include <stdlib.h>

#include "../../user/util/http_reply.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *raw = malloc(len + 1), *body = NULL;
	size_t body_len = 0;
	int status, err;

	if (!raw)
		return 0;
	memcpy(raw, data, len);
	err = jetwatt_http_reply(raw, len, 1, &status, &body, &body_len);
	if (err == -EAGAIN)
		abort();
	if (!err && (body < raw || body_len > len || body + body_len > raw + len))
		abort();
	memcpy(raw, data, len);
	/* A reply that is invalid when the connection is closed must not be complete before. */
	if (err && !jetwatt_http_reply(raw, len, 0, &status, &body, &body_len))
		abort();
	free(raw);
	return 0;
}
