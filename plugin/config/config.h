/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONFIG_H
#define EBPF_CONFIG_H

#include "point.h"
#include "table_config.h"
#include "util/number.h"
#include "util/pattern.h"

#include "bpf/lib/function.h"
#include "bpf/lib/response.h"

#include <stdbool.h>
#include <stddef.h>

/* Own name: "config.h" without a path is collectd's. */
struct oconfig_item_s;

#define CONFIG_NAME_MAX 64 /* of a service or probe, with the NUL */
#define CONFIG_PERCENTILES_MAX 16
#define CONFIG_SERVICES_MAX 512  /* Service blocks */
#define CONFIG_PROBES_MAX 128    /* Probe blocks */
#define CONFIG_MAX_SERVICES 4096 /* rows for command names */
#define CONFIG_MAX_NEW_SERVICES 1000000
#define CONFIG_MAX_MEMORY_MIB (1 << 20)
#define CONFIG_ROWS 64   /* of a probe that gives rows on first use */
#define CONFIG_NAMES 256 /* likewise, of one whose rows keys name: how many names have series */
#define CONFIG_ROWS_MAX 1024
#define CONFIG_TIERS_MAX 16 /* hook tiers of a probe */
#define CONFIG_KEEP_HOURS_MAX 87600
#define CONFIG_KEEP_MIB_MAX (1 << 20)
#define CONFIG_PROFILE_S_MAX 600
#define CONFIG_FREQUENCY_MAX 1000         /* Hz, of samplers */
#define CONFIG_PARAMETERS_MAX 256         /* of a probe */
#define CONFIG_ATTACHES_MAX 256           /* likewise */
#define CONFIG_FUNCTION_ATTACHES_MAX 1024 /* of all Function blocks of a probe */
#define CONFIG_LABELS_MAX 16              /* likewise */
#define CONFIG_LABEL_NAMES_MAX 256        /* of a label */
#define CONFIG_PATTERNS_MAX 256           /* likewise, of Collect and of Ignore */

/* In each block `once` has the lines that may stand there once, as "Interval 10". */

struct service_config {
	char name[CONFIG_NAME_MAX];
	struct strings commands;          /* exact, as the kernel keeps them: 15 bytes */
	struct strings cgroups;           /* path below the cgroup2 root, no slash at either end */
	struct strings units, containers; /* patterns */
	struct strings pid_files;
	struct strings match_texts; /* of matches, as they were written */
	struct pattern *matches;
	size_t match_count;
	struct response_rules responses;
	bool per_process;
	unsigned top_n;
	bool is_partial; /* what it needs is ignored, which was told */
	struct strings once;
};

/* What a variable of an object is to be before it is loaded. */
struct parameter_config {
	char *name;
	bool is_boolean; /* true or false, as 1 or 0 */
	struct number value;
};

/* Of rows that are named by their keys: what a label has to be called for a row to have series. */
struct label_config {
	char *word;              /* of the label */
	struct strings patterns; /* of names */
};

/* A further attach point of a program. */
struct attach_config {
	char *text;    /* as it was written */
	char *program; /* its name, NULL: the only one of the object that fits */
	struct point point;
};

/* What is told of an argument. */
struct argument_config {
	enum function_flag
		use;     /* FUNCTION_SUM, FUNCTION_HISTOGRAM or FUNCTION_LABEL, 0: there is none */
	unsigned number; /* of the argument, from 1; 0: by its name, or what is returned */
	char name[64];   /* of an argument of a function of the kernel, empty: by its number */
	bool is_returned;
	struct function_type type; /* of size 0: as it is known */
};

/* Functions that are counted under one name. */
struct function_config {
	char name[CONFIG_NAME_MAX];     /* clean, without hyphens */
	struct attach_config *attaches; /* of no program */
	size_t attach_count;
	struct strings services; /* names of Service blocks; none: every service */
	bool latency;
	bool replaces; /* Returns "replace" */
	bool has_errors;
	enum function_comparison comparison; /* of what is returned with this: then it is one */
	int64_t error_value;
	struct function_type error_type;
	struct argument_config argument;
	double max_overhead; /* percent of the machine, 0: that of the probe alone counts */
	bool is_partial;     /* what it needs is ignored, which was told */
	struct strings once;
};

struct probe_config {
	char name[CONFIG_NAME_MAX];     /* clean */
	char *object;                   /* path, or NULL for the one in the object directory */
	struct strings options;         /* of the object: programs that are off without */
	struct strings collect, ignore; /* patterns of metrics */
	struct parameter_config *parameters;
	size_t parameter_count;
	struct label_config *labels; /* each once */
	size_t label_count;
	struct attach_config *attaches;
	size_t attach_count;
	struct table_config *tables; /* each map once */
	size_t table_count;
	struct function_config *functions;
	size_t function_count;
	double interval_s;     /* 0: the plugin's */
	unsigned rows;         /* of tables that give them on first use, 0: CONFIG_ROWS */
	unsigned tier;         /* the only one to try, 0: all */
	double frequency_hz;   /* of its samplers, 0: as their tags say */
	double budget_percent; /* of one CPU, for all of them, 0: of max_sampling */
	double max_overhead;   /* percent of the machine, 0: of the plugin's, if it has that */
	bool enable;
	bool enable_set;       /* Enable is in the block: what is off by default may be on */
	bool function_ignored; /* which was told */
	struct strings once;
};

/* Where stacks go, see stack/store.h. */
struct profiles_config {
	char *directory;
	unsigned keep_hours;
	unsigned keep_mib;           /* all files together, as they take room on the disk */
	struct strings on_threshold; /* clean names of probes */
	unsigned seconds;            /* that a profile lasts which a threshold has started */
	struct strings once;
};

struct config {
	struct profiles_config profiles;
	char *object_dir;
	char *symbol_reader; /* NULL: as it is installed */
	double interval_s;   /* 0: the daemon's */
	unsigned max_services;
	unsigned max_new_services; /* in an hour, 0: max_services */
	unsigned max_memory_mib;
	double max_sampling; /* percent of one CPU, of samplers without a budget of their own */
	double max_overhead; /* percent of the machine, of all probes that are off by default */
	unsigned
		services_from; /* bits of enum service_source: what names a service that no block does */
	bool buckets;
	double percentiles[CONFIG_PERCENTILES_MAX];
	size_t percentile_count;
	struct service_config *services;
	size_t service_count;
	struct strings classes; /* that responses may have, each once */
	struct probe_config *probes;
	size_t probe_count;
	struct strings once;
};

/* The defaults; object_dir is copied. Returns 0 or -ENOMEM. */
int config_init(struct config *config, const char *object_dir);

/* Reads a <Plugin> block into config. Blocks of one name are one block, also those of several
 * <Plugin> blocks. Lines and blocks that are wrong, or can have no effect, are told and ignored;
 * returns how many that were. */
unsigned config_read(struct config *config, const struct oconfig_item_s *block);

/* Likewise, what is known to be wrong when all of them have been read. */
unsigned config_finish(struct config *config);

/* Does a probe run only when a threshold has started a profile? */
bool config_on_threshold(const struct config *config, const char *probe);

/* Does a process belong to a unit or a container? */
bool config_needs_groups(const struct config *config);

/* How many command names may get series of their own in an hour. */
unsigned config_new_services(const struct config *config);

/* Does a Service block ask for classes of responses? */
bool config_has_responses(const struct config *config);

/* Do Service blocks need /proc (ProcessMatch, PidFile)? */
bool config_needs_proc(const struct config *config);

/* The block of a probe of this name, as it is when cleaned; or NULL. */
const struct probe_config *config_probe(const struct config *config, const char *name);

/* What a Probe block says of a map, or NULL. */
const struct table_config *config_table(const struct probe_config *probe, const char *map);

/* Would the series of services or probes of these names have one name? */
bool config_same_name(const char *a, const char *b);

void service_config_done(struct service_config *service);
void function_config_done(struct function_config *function);
void config_done(struct config *config);

#endif
