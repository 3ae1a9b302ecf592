/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_CONFIG_H
#define EBPF_RUNTIME_CONFIG_H

#include "state_files.h"

/* Writes the path that a setting (KEY = "PATH", "KEY": "PATH") of a runtime's configuration file in JSON or TOML has, and
 * returns the text after it; NULL: there is none. It is absolute or begins with a variable, such as $HOME. */
const char *runtime_setting(const char *text, const char *key, char to[STATE_PATH_MAX]);

/* Adds the directories that a configuration file of docker, containerd, CRI-O or containers/storage names. */
void runtime_config_read(struct state_files *state, struct file_helper *files, const char *path,
			 struct file_view view);

/* Adds the directories that runtimes have by default, and those that their configuration files name. */
void runtime_defaults_add(struct state_files *state, struct file_helper *files,
			  struct file_view view);

#endif
