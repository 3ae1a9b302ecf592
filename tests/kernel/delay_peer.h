/* SPDX-License-Identifier: MIT */
/*
 * Whom the server of load_delay.c has to do with, each a process of its own.
 */
#ifndef DELAY_PEER_H
#define DELAY_PEER_H

#include "delay_work.h"

#define CONNECTIONS 64

/* What a client asks for: 0 us leaves a phase out, one in `one_in` requests has it. */
struct mixture {
	uint32_t phase_us[PHASES];
	uint32_t one_in[PHASES];
};

/* Of words NAME=MICROSECONDS[/ONE_IN], apart by spaces; ends the program if it is none. */
void mixture_parse(struct mixture *mixture, const char *text);

/* The next request by it. */
void mixture_draw(const struct mixture *mixture, struct request *ret_request);

/* Never return. */
void upstream_run(void);
void client_run(uint16_t port);
void competitor_run(int cpu, uint32_t spin_us, uint32_t sleep_us);

#endif
