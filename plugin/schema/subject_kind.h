/* SPDX-License-Identifier: MIT */
/* What series can be about. */
#ifndef EBPF_SUBJECT_KIND_H
#define EBPF_SUBJECT_KIND_H

#include "config/name.h"

/* Where two kinds want the same name, the kind that comes first here gets it. */
enum subject_kind {
	SUBJECT_NONE, /* as a subject: the plugin itself */
	SUBJECT_SERVICE,
	SUBJECT_PROBE, /* the probe itself, or one of its rows */
	SUBJECT_PROCESS,
	SUBJECT_UNIT,
	SUBJECT_CONTAINER,
	SUBJECT_USER,
	SUBJECT_COMMAND, /* a service that exists only because of its command name */
	SUBJECT_KEY,     /* only of tables: the labels of a row's key name the subject */
};

#endif
