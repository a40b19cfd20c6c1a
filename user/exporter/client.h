/* SPDX-License-Identifier: GPL-2.0-only */
/* A question to jetwattd over its control socket, of those who hand on what it counts. */
#ifndef JETWATT_EXPORTER_CLIENT_H
#define JETWATT_EXPORTER_CLIENT_H

#include <stddef.h>

#include "util/unix_request.h"

/* @text: room for JETWATTD_ASK_TEXT bytes, @len of them are the answer. Return: 0;
 * -EACCES: refused; -EPROTO: too long, or nothing; negative errno; @len is 0 then. */
int jetwattd_ask(const char *path, const char *line, char *text, size_t *len);

#endif
