/* SPDX-License-Identifier: MIT */
/* To be included as "config/config.h": collectd has a "config.h", too. */
#ifndef EBPF_CONFIG_H
#define EBPF_CONFIG_H

#include "hook.h"
#include "table_config.h"
#include "util/number.h"
#include "util/regex.h"

#include "bpf/lib/function.h"
#include "bpf/lib/requests/response.h"

#include <stdbool.h>
#include <stddef.h>

struct oconfig_item_s;

#define CONFIG_NAME_MAX 64 /* of a service or probe, with the NUL */
#define CONFIG_PERCENTILES_MAX 16
#define CONFIG_SERVICES_MAX 512 /* Service blocks */
#define CONFIG_PROBES_MAX 128   /* Probe blocks */
#define CONFIG_CONTAINER_STATES_MAX 64
#define CONFIG_MAX_SERVICES 4096 /* rows for services without a Service block */
#define CONFIG_MAX_NEW_SERVICES 1000000
#define CONFIG_MAX_MEMORY_MIB (1 << 20)
#define CONFIG_ROWS 64   /* default of Rows, for tables that give rows on first use */
#define CONFIG_NAMES 256 /* default of Rows, for tables of keys: names with series */
#define CONFIG_ROWS_MAX 1024
#define CONFIG_HOOK_SETS_MAX 16 /* hook sets of a probe */
#define CONFIG_KEEP_HOURS_MAX 87600
#define CONFIG_KEEP_MIB_MAX (1 << 20)
#define CONFIG_PROFILE_S_MAX 600
#define CONFIG_FREQUENCY_MAX 1000         /* Hz, of samplers */
#define CONFIG_PARAMETERS_MAX 256         /* of a probe */
#define CONFIG_ATTACHES_MAX 256           /* Attach lines of a Probe block */
#define CONFIG_FUNCTION_ATTACHES_MAX 1024 /* of all Function blocks of a probe */
#define CONFIG_LABELS_MAX 16              /* of a probe */
#define CONFIG_LABEL_NAMES_MAX 256        /* of a label */
#define CONFIG_GLOBS_MAX 256              /* each of Collect and Ignore; of OnThreshold */

/* Words of DiskName, in the order of the default; every device has the last name. */
enum disk_name_word {
	DISK_NAME_DM,     /* of a device-mapper volume */
	DISK_NAME_MD,     /* of an array, in /dev/md */
	DISK_NAME_BY_ID,  /* in /dev/disk/by-id */
	DISK_NAME_KERNEL, /* in /sys/block */
	DISK_NAME_WORDS,
};

/* What names a block device: the first word of which it has a name, at last the kernel's name. */
struct disk_names {
	enum disk_name_word word[DISK_NAME_WORDS];
	size_t count;
};

/* `once` of a block has the lines that may occur once, as "Interval 10". */

struct service_config {
	char name[CONFIG_NAME_MAX];
	struct strings commands; /* exact, as the kernel keeps them: 15 bytes */
	struct strings cgroups;  /* relative to the root of cgroup2, no slash at either end */
	struct strings units, containers; /* globs */
	struct strings pid_files;
	struct strings match_texts; /* texts of `matches` */
	struct regex *matches;
	size_t match_count;
	struct response_rules responses;
	bool per_process;
	unsigned top_n;
	bool is_partial; /* a NEEDED line was ignored and reported */
	struct strings once;
};

/* The value of a variable of an object, set before load. */
struct parameter_config {
	char *name;
	bool is_boolean; /* the value is 1 or 0 */
	struct number value;
};

/* Which rows of tables of keys have series: those whose label has one of these names. */
struct label_config {
	char *word;           /* of the label */
	struct strings globs; /* globs of names */
};

/* A hook to which a program is attached in addition. */
struct attach_config {
	char *text;    /* as in the file */
	char *program; /* its name, NULL: the only program of the object that can be attached there */
	struct hook hook;
};

/* What is measured of an argument. */
struct argument_config {
	enum function_flag
		use;     /* FUNCTION_SUM, FUNCTION_HISTOGRAM or FUNCTION_LABEL, 0: there is none */
	unsigned number; /* of the argument, from 1; 0: by its name, or what is returned */
	char name[64];   /* of an argument of a function of the kernel, empty: by its number */
	bool is_returned;
	struct function_type type; /* of size 0: as debug information has it */
};

/* Functions that are counted under one name. */
struct function_config {
	char text[CONFIG_NAME_MAX];     /* its name as it was given */
	char name[CONFIG_NAME_MAX];     /* as series have it, without hyphens */
	struct attach_config *attaches; /* without a program */
	size_t attach_count;
	struct strings services; /* names of Service blocks; none: every service */
	bool latency;
	bool replaces; /* Returns "replace": the kernel replaces the return address (a uretprobe) */
	bool has_errors;
	enum function_comparison
		comparison; /* a return value is an error if it compares so to error_value */
	int64_t error_value;
	struct function_type error_type;
	struct argument_config argument;
	double max_overhead; /* percent of the machine, 0: only the probe's limit */
	bool is_partial;     /* a NEEDED line was ignored and reported */
	struct strings once;
};

struct probe_config {
	char name[CONFIG_NAME_MAX]; /* that of the object */
	char *object;               /* path, or NULL for the one in the object directory */
	struct strings options;     /* of the object: switch on programs that are off by default */
	struct strings collect, ignore; /* globs of metrics */
	struct parameter_config *parameters;
	size_t parameter_count;
	struct label_config *labels; /* one of each word */
	size_t label_count;
	struct attach_config *attaches;
	size_t attach_count;
	struct table_config *tables; /* one of each map */
	size_t table_count;
	struct function_config *functions;
	size_t function_count;
	double interval_s;     /* 0: the plugin's */
	unsigned rows;         /* Rows, 0: the default of the kind of table */
	unsigned hook_set;     /* the only hook set to try, 0: all */
	double frequency_hz;   /* of its samplers, 0: as in their tags */
	double budget_percent; /* of one CPU, for all its samplers, 0: max_sampling */
	double max_overhead;   /* percent of the machine, 0: the plugin's, if that is set */
	bool enable;
	bool enable_set; /* the block has Enable, which also switches on what is off by default */
	bool function_ignored; /* a Function block was ignored and reported */
	struct strings once;
};

/* The Profiles block, see stack/store.h. */
struct profiles_config {
	char *directory;
	unsigned keep_hours;
	unsigned keep_mib;           /* of all files together, by disk usage */
	struct strings on_threshold; /* clean names of probes */
	unsigned seconds;            /* duration of a profile that a threshold has started */
	struct strings once;
};

struct config {
	struct profiles_config profiles;
	char *object_dir;
	char *symbol_helper;
	char *event_file;                /* "": events are not kept */
	double interval_s;               /* 0: the daemon's */
	struct strings container_states; /* directories of runtimes */
	unsigned max_services;
	unsigned max_new_services; /* in an hour, 0: max_services */
	unsigned max_memory_mib;
	double max_sampling; /* percent of one CPU, for samplers of probes without Budget */
	double max_overhead; /* percent of the machine, for all probes that are off by default */
	unsigned
		services_from; /* bits of enum service_source, for processes without a Service block */
	struct disk_names disk_names;
	bool buckets;
	double percentiles[CONFIG_PERCENTILES_MAX];
	size_t percentile_count;
	struct service_config *services;
	size_t service_count;
	struct strings classes; /* of responses, each once */
	struct probe_config *probes;
	size_t probe_count;
	struct strings once;
};

/* Sets the defaults, except those of paths. */
void config_init(struct config *config);

/* Reads a <Plugin> block into config. Blocks of one name are joined, also those of several <Plugin> blocks. Mistakes,
 * and lines and blocks without an effect, are reported and ignored; returns their number. */
unsigned config_read(struct config *config, const struct oconfig_item_s *block);

/* Checks the whole configuration after the last block; returns the number of mistakes. */
unsigned config_finish(struct config *config);

/* Sets the paths that no line has set. Files are below base_dir, which is known after the last block. 0 or -ENOMEM. */
int config_set_paths(struct config *config, const char *object_dir, const char *symbol_helper,
		     const char *base_dir);

/* Does a probe run only after a threshold has started a profile? */
bool config_on_threshold(const struct config *config, const char *probe);

/* Do services need the units and containers of processes? */
bool config_needs_groups(const struct config *config);

/* How many new services may get series in an hour. */
unsigned config_new_services(const struct config *config);

/* Does a Service block have Response? */
bool config_has_responses(const struct config *config);

/* Do Service blocks need /proc (ProcessMatch, PidFile)? */
bool config_needs_proc(const struct config *config);

/* The block of the probe with this name, or NULL. */
const struct probe_config *config_probe(const struct config *config, const char *name);

/* The Table block of a map, or NULL. */
const struct table_config *config_table(const struct probe_config *probe, const char *map);

void service_config_done(struct service_config *service);
void function_config_done(struct function_config *function);
void config_done(struct config *config);

#endif
