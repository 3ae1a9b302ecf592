/* SPDX-License-Identifier: MIT */
/*
 * Directories in the configuration files of container runtimes. Of JSON and TOML no more is parsed than a setting with a
 * string: what a wrong one names is examined before it is believed.
 */
#include "runtime_config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_SIZE_MAX (1 << 18)
#define CONFIG_WAIT_MS 200

/* Does this line begin with #? */
static bool is_commented_out(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at[strspn(at, " \t")] == '#';
}

/* After the key: its closing quote, = or :, and the opening quote of its value. NULL: this is no setting. */
static const char *find_setting_value(const char *at)
{
	at += *at == '"' || *at == '\'';
	at += strspn(at, " \t\r\n");
	if (*at != '=' && *at != ':')
		return NULL;
	at++;
	at += strspn(at, " \t\r\n");
	return (*at == '"' || *at == '\'') && at[1] && strchr("/$", at[1]) ? at : NULL;
}

static bool is_key_start(const char *text, const char *at)
{
	return at == text || !(isalnum((unsigned char)at[-1]) || strchr("_-.", at[-1]));
}

const char *runtime_setting(const char *text, const char *key, char to[STATE_PATH_MAX])
{
	const char *value, *end;

	for (const char *at = text; (at = strstr(at, key)); at++) {
		if (!is_key_start(text, at) || is_commented_out(text, at))
			continue;
		value = find_setting_value(at + strlen(key));
		end = value ? strchr(value + 1, *value) : NULL;
		if (!end || end - value > STATE_PATH_MAX)
			continue;
		memcpy(to, value + 1, (size_t)(end - value - 1));
		to[end - value - 1] = '\0';
		return end + 1;
	}
	return NULL;
}

void runtime_config_read(struct state_files *state, struct file_helper *files, const char *path,
			 struct file_view view)
{
	static const char *const keys[] = { "data-root", "graph",     "state",
					    "root",      "graphroot", "runroot" };
	struct file_request request = { .path = path,
					.size_max = CONFIG_SIZE_MAX,
					.follow = true,
					.wait_ms = CONFIG_WAIT_MS,
					.budget = FILE_OF_ROOT };
	char directory[STATE_PATH_MAX];
	struct file file;

	if (state_file_read(files, &request, view, &file) != 0)
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		for (const char *at = file.bytes; (at = runtime_setting(at, keys[i], directory));)
			if (directory[0] == '/')
				state_files_add(state, files, directory, view);
	free(file.bytes);
}

void runtime_defaults_add(struct state_files *state, struct file_helper *files,
			  struct file_view view)
{
	static const char *const directories[] = {
		"/run/containerd",
		"/run/k3s/containerd", /* of rke2, too */
		"/run/k0s/containerd",
		"/var/snap/microk8s/common/run/containerd",
		"/var/lib/docker",
		"/var/snap/docker/common/var-lib-docker",
		"/var/lib/containers/storage",
		"/run/containers/storage",
	};
	static const char *const configs[] = {
		"/etc/containerd/config.toml",  "/etc/k0s/containerd.toml",
		"/etc/docker/daemon.json",      "/var/snap/docker/current/config/daemon.json",
		"/etc/containers/storage.conf", "/usr/share/containers/storage.conf",
		"/etc/crio/crio.conf",
	};

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		state_files_add(state, files, directories[i], view);
	for (size_t i = 0; i < sizeof(configs) / sizeof(*configs); i++)
		runtime_config_read(state, files, configs[i], view);
}
