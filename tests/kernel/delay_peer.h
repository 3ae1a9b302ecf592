/* SPDX-License-Identifier: MIT */
/*
 * The upstream, the clients and the CPU competitor of load_delay.c's server, each a process.
 */
#ifndef DELAY_PEER_H
#define DELAY_PEER_H

#include "delay_work.h"

#define CONNECTIONS 64

/* What a client requests: each phase is in one of `one_in` requests; 0 us: in none. */
struct mixture {
	uint32_t phase_us[PHASES];
	uint32_t one_in[PHASES];
};

/* Parses words NAME=MICROSECONDS[/ONE_IN], separated by spaces; exits if they are malformed. */
void mixture_parse(struct mixture *mixture, const char *text);

/* Makes the next request of a mixture. */
void mixture_draw(const struct mixture *mixture, struct request *ret_request);

/* Never return. */
void upstream_run(void);
void client_run(uint16_t port);
void competitor_run(int cpu, uint32_t spin_us, uint32_t sleep_us);

#endif
