/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PERIODIC_H
#define EBPF_PERIODIC_H

#include "object/object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stddef.h>

#define PERIODIC_CPUS_MAX 4096 /* bytes of a list of CPUs */

/* Programs SEC("perf_event") with a PERIODIC tag: run so many times a second on each CPU that is
 * online and not idle, by its clock. */

/* How often its tag wants a program to be run a second; 0: it has none, or a wrong one. */
unsigned periodic_hz(const struct object *object, const struct bpf_program *program);

/* Are the PERIODIC tags of an object right, and on such programs? Before load, with the object's parameters
 * set: `hz` of the object, a const volatile u32, counts instead of the tags, where there is one.
 * -EINVAL: the error names the program. -ENOMEM. */
int periodic_prepare(struct object *object, struct error *error);

/* Attaches them to all CPUs that are online, or to none. Returns 0 or a negative errno. */
int periodic_attach(struct object *object, struct error *error);

/* Attaches them anew where other CPUs are online now than when that was done last: a CPU that
 * has been offline has lost its clock. `online`: as /sys/devices/system/cpu/online has it. The error is
 * that of periodic_attach(). */
int periodic_follow(struct object *object, const char *online, struct error *error);

/* How many links there are. */
size_t periodic_links(const struct object *object);

/* Detaches them; they stay known. */
void periodic_undo(struct object *object);

#endif
