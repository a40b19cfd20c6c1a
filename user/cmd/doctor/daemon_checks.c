// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of jetwattd, jetwatt-knobs and jetwatt's systemd units, and of other programs that set
 * clocks.
 */
#include "cmd/doctor/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board/remote.h"
#include "util/unix_request.h"

#define say	jetwatt_doctor_finding
#define POLICY	"/etc/jetwatt/jetwattd.conf"

/* Return: 1 if jetwattd answers on the default control socket, even if it refuses; else 0. */
static int check_daemon(struct jetwatt_doctor *d)
{
	static char answer[JETWATTD_RESPONSE_MAX + 1];
	int err = jetwatt_unix_request(JETWATT_CONTROL_SOCKET, SOCK_STREAM, "status\n", answer, sizeof(answer));
	int wanted = !access(POLICY, F_OK);
	const char *unseen = strstr(answer, "\nunseen ");
	char jobs[80], why[80];

	if (!err && unseen && sscanf(unseen, " unseen %79[^\n] %79[^\n]", jobs, why) == 2)
		say(d, WARN, 0, "daemon", "Linux 6.6 or later, or man jetwattd, Privileges",
		    "jetwattd does not see %s %s", jobs, why);
	answer[strcspn(answer, "\n")] = '\0';
	if (err == -EACCES || err == -EPERM ||
	    (!err && !strncmp(answer, JETWATTD_NOT_PERMITTED, strlen(JETWATTD_NOT_PERMITTED))))
		say(d, WARN, 0, "daemon", "sudo jetwatt doctor",
		    "not checked: only root and members of the group that may query jetwattd (default: jetwatt) can");
	else if (!err && !strncmp(answer, JETWATTD_REFUSED, strlen(JETWATTD_REFUSED)))
		say(d, WARN, 0, "daemon", "systemctl status jetwattd",
		    "jetwattd refused to report its status: %.120s",
		    answer + strlen(JETWATTD_REFUSED));
	else if (!err)
		say(d, OK, 0, "daemon", NULL, "jetwattd is running: %.120s", answer);
	else if (err != -ENOENT && err != -ECONNREFUSED)
		say(d, WARN, 0, "daemon", "systemctl status jetwattd",
		    "jetwattd does not answer: %s", strerror(-err));
	else if (wanted)
		say(d, WARN, 0, "daemon",
		    "systemctl status jetwattd; systemctl enable --now jetwattd",
		    "jetwattd is not running, but a policy exists: " POLICY);
	else
		say(d, OK, 0, "daemon", NULL,
		    "jetwattd is not running, and no policy asks for it");
	return !err;
}

static void check_knobs(struct jetwatt_doctor *d, int daemon)
{
	char answer[JETWATT_REMOTE_RESPONSE];
	unsigned long refused = 0, strangers = 0;
	int err = jetwatt_unix_request(JETWATT_REMOTE_SOCKET, SOCK_SEQPACKET, "status", answer,
			      sizeof(answer));
	int holder = 0;

	if (err == -EACCES || err == -EPERM) {
		say(d, WARN, 0, "helper", "sudo jetwatt doctor", "not checked: needs root");
	} else if (err == -ENOENT || err == -ECONNREFUSED) {
		say(d, OK, 0, "helper", NULL,
		    daemon ?
		    "jetwatt-knobs is not running: jetwattd runs as root"
			   : "jetwatt-knobs is not running, and it is not needed");
	} else if (err ||
		   sscanf(answer, "ok holder %d applied %*u restored %*u refused %lu strangers %lu",
			  &holder, &refused, &strangers) != 3) {
		say(d, WARN, 0, "helper", "systemctl status jetwatt-knobs",
		    "jetwatt-knobs does not answer: %s", err ? strerror(-err) :
		    "it refused the request");
	} else if (strangers) {
		say(d, WARN, 0, "helper",
		    "only root and the user jetwatt may connect; find the program that uses " JETWATT_REMOTE_SOCKET,
		    "jetwatt-knobs refused %lu connections, of other users or too many at a time", strangers);
	} else {
		say(d, OK, 0, "helper", NULL, "jetwatt-knobs is running, %s; %lu requests refused",
		    holder ? "a mode is applied" : "no mode is applied", refused);
	}
}

/* Read the state of a systemd unit. @load, @active, @enabled: arrays of 32 bytes that receive
 * LoadState, ActiveState and UnitFileState; "": unknown. Return: 1, 0 if systemctl failed. */
static int query_unit(const char *name, char *load, char *active, char *enabled)
{
	char command[160], line[64];
	FILE *f;

	*load = *active = *enabled = '\0';
	snprintf(command, sizeof(command),
		 "systemctl show -p LoadState -p ActiveState -p UnitFileState %s 2>/dev/null",
		 name);
	f = popen(command, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "LoadState=%31s", load);
		sscanf(line, "ActiveState=%31s", active);
		sscanf(line, "UnitFileState=%31s", enabled);
	}
	return f && !pclose(f) && *load;
}

static void check_units(struct jetwatt_doctor *d)
{
	static const char *const ours[] = { "jetwattd", "jetwatt-knobs", "jetwatt-files", "jetwatt-exporter",
					    "jetwatt-telemetry", "jetwatt-mqtt", "jetwatt-sync",
					    "jetwatt-sync.timer", "jetwatt-profiles.socket", NULL };
	/* nvpmodel is not in this list of units, because it sets a mode only once, at boot, before
	 * the state is saved. */
	static const char *const others[] = { "jetson_clocks", "jtop", "tlp", "tuned",
					      "power-profiles-daemon", NULL };
	char load[32], active[32], enabled[32], failed[240] = "", turn[200] = "";
	int there = 0;

	if (access("/run/systemd/system", F_OK)) {
		say(d, OK, 0, "units", NULL, "systemd is not running here");
		return;
	}
	for (int i = 0; ours[i]; i++)
		if (query_unit(ours[i], load, active, enabled)) {
			there += !strcmp(load, "loaded");
			if (!strcmp(active, "failed"))
				snprintf(failed + strlen(failed), sizeof(failed) - strlen(failed),
					 " %s", ours[i]);
		}
	for (int i = 0; others[i]; i++)
		if (query_unit(others[i], load, active, enabled) && !strcmp(active, "active"))
			snprintf(turn + strlen(turn), sizeof(turn) - strlen(turn), " %s",
				 others[i]);
	if (*failed)
		say(d, WARN, 0, "units", "systemctl status UNIT; journalctl -u UNIT", "failed:%s",
		    failed);
	else
		say(d, OK, 0, "units", NULL, "%d of jetwatt's units are installed, none failed",
		    there);
	if (*turn)
		say(d, WARN, 0, "units",
		    "systemctl disable --now UNIT, or stop jetwattd and let UNIT set the clocks",
		    "active units that also set clocks:%s", turn);
}

/* Look for running programs that also set clocks or read the sensors' registers. */
static void check_writers(struct jetwatt_doctor *d)
{
	static const char *const name[] = { "nvpmodel", "jetson_clocks", "nvpower", "jtop",
					    "power-profiles-daemon", "tuned", NULL };
	char found[160] = "", path[300], comm[32];
	struct dirent *e;
	DIR *dir = opendir("/proc");

	while (dir && (e = readdir(dir))) {
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f)) {
			comm[strcspn(comm, "\n")] = '\0';
			for (int i = 0; name[i]; i++)
				if (!strncmp(comm, name[i], 15) &&
				    strlen(found) + 40 < sizeof(found))
					snprintf(found + strlen(found),
						 sizeof(found) - strlen(found), "%s%.15s (%.10s)",
						 *found ? ", " : "", comm, e->d_name);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	if (*found)
		say(d, WARN, 0, "others", "stop programs that set clocks while jetwatt measures",
		    "these may set clocks or read the sensors: %s", found);
	else
		say(d, OK, 0, "others", NULL, "no other program that sets clocks was found");
}

void jetwatt_doctor_daemon(struct jetwatt_doctor *d)
{
	check_knobs(d, check_daemon(d));
	check_units(d);
	check_writers(d);
}
