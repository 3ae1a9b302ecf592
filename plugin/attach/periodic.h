/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PERIODIC_H
#define EBPF_PERIODIC_H

#include "object/object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stddef.h>

#define PERIODIC_CPUS_MAX 4096 /* bytes of a list of CPUs */

/* Programs SEC("perf_event") with a PERIODIC tag: each CPU that is online and not idle runs them at
 * this frequency, by its clock. */

/* Lists the CPUs that are online, in the format of /sys/devices/system/cpu/online; empty: the file
 * cannot be read. */
void periodic_list_online(char list[PERIODIC_CPUS_MAX]);

/* Returns the frequency in Hz that the program's tag wants; 0: no tag, or a wrong one. */
unsigned periodic_hz(const struct object *object, const struct bpf_program *program);

/* Checks the PERIODIC tags of an object whose parameters are set; before load. A const volatile u32
 * `hz` of the object overrides the tags. -EINVAL: a tag is wrong, and the error names the program.
 * -ENOMEM. */
int periodic_prepare(struct object *object, struct error *error);

/* Attaches the programs on all online CPUs or on none. Returns 0 or a negative errno. */
int periodic_attach(struct object *object, struct error *error);

/* Attaches the programs again if `online`, see periodic_list_online(), has changed since the last
 * time: a CPU that was offline has lost its clock. Errors of periodic_attach(). */
int periodic_follow(struct object *object, const char *online, struct error *error);

/* Returns the number of links. */
size_t periodic_links(const struct object *object);

/* Detaches the programs; periodic_attach() can attach them again. */
void periodic_undo(struct object *object);

#endif
