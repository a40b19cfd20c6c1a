// SPDX-License-Identifier: LGPL-2.1-only
/* The rows of JETWATT_SERIES_ROWS() as a table, and the numbering of telemetry slots. */
#include <stdio.h>

#include "jetwatt.h"

static const struct jetwatt_series_row rows[] = {
#define ROW(ID, reader, channels, type, name, title, unit, per, base, metric, label, files, help) \
	{ JETWATT_SERIES_##ID, JETWATT_SERIES_READER_##reader, channels,		\
	  JETWATT_SERIES_TYPE_##type, JETWATT_TELEMETRY_##ID, per, name, title, unit, base,	\
	  metric, label, files, help },
	JETWATT_SERIES_ROWS(ROW)
#undef ROW
};

const struct jetwatt_series_row *jetwatt_series_row(uint32_t kind)
{
	return kind < sizeof(rows) / sizeof(rows[0]) ? &rows[kind] : NULL;
}

const struct jetwatt_series_row *jetwatt_telemetry_row(unsigned int slot, unsigned int *channel)
{
	const struct jetwatt_series_row *row = rows;

	while (slot - row->first >= row->channels)
		row++;
	if (channel)
		*channel = slot - row->first + 1;
	return row;
}

int jetwatt_telemetry_slot(uint32_t kind, uint32_t channel)
{
	const struct jetwatt_series_row *row = jetwatt_series_row(kind);

	return row && channel - 1 < row->channels ? (int)(row->first + channel - 1) : -1;
}

/* Copy the name or title @text to @buf, with the channel's number in place of '#'. */
static const char *put_channel(const char *text, unsigned int channel, char *buf)
{
	const char *at = text;

	while (*at && *at != '#')
		at++;
	if (*at)
		snprintf(buf, JETWATT_TELEMETRY_NAME_LEN, "%.*s%u%s", (int)(at - text), text,
			 channel, at + 1);
	else
		snprintf(buf, JETWATT_TELEMETRY_NAME_LEN, "%s", text);
	return buf;
}

const char *jetwatt_telemetry_name(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN])
{
	unsigned int channel;
	const struct jetwatt_series_row *row = jetwatt_telemetry_row(slot, &channel);

	return put_channel(row->name, channel, buf);
}

const char *jetwatt_telemetry_title(unsigned int slot, char buf[JETWATT_TELEMETRY_NAME_LEN])
{
	unsigned int channel;
	const struct jetwatt_series_row *row = jetwatt_telemetry_row(slot, &channel);

	return put_channel(row->title, channel, buf);
}

void jetwatt_telemetry_clear(struct jetwatt_telemetry *t)
{
	jetwatt_each_slot(s)
		t->value[s] = JETWATT_TELEMETRY_NONE;
}
