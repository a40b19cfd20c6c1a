/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points of the verbs, one function per verb; jetwatt.c calls them from its table. argv[0] is
 * the verb's name. Return: the exit status of the program, JETWATT_EXIT_* of util/error.h.
 */
#ifndef JETWATT_CMD_VERBS_H
#define JETWATT_CMD_VERBS_H

int jetwatt_cmd_doctor(int argc, char **argv);
int jetwatt_cmd_list(int argc, char **argv);
int jetwatt_cmd_stat(int argc, char **argv);
int jetwatt_cmd_mark(int argc, char **argv);
int jetwatt_cmd_record(int argc, char **argv);
int jetwatt_cmd_top(int argc, char **argv);
int jetwatt_cmd_report(int argc, char **argv);
int jetwatt_cmd_compare(int argc, char **argv);
int jetwatt_cmd_export(int argc, char **argv);
int jetwatt_cmd_profile(int argc, char **argv);
int jetwatt_cmd_predict(int argc, char **argv);
int jetwatt_cmd_eval(int argc, char **argv);
int jetwatt_cmd_roofline(int argc, char **argv);
int jetwatt_cmd_optimize(int argc, char **argv);
int jetwatt_cmd_schedule(int argc, char **argv);
int jetwatt_cmd_apply(int argc, char **argv);
int jetwatt_cmd_restore(int argc, char **argv);
int jetwatt_cmd_daemon(int argc, char **argv);
int jetwatt_cmd_import(int argc, char **argv);
int jetwatt_cmd_sync(int argc, char **argv);

#endif
