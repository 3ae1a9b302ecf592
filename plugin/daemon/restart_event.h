/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RESTART_EVENT_H
#define EBPF_RESTART_EVENT_H

#include "service/service.h"

/* Keeps the restarts of services since the last call as events. They are no notifications: nobody has to act. */
void restart_events_record(struct services *services);

#endif
