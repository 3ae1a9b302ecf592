/* SPDX-License-Identifier: MIT */
/*
 * Sends datagrams to itself, which the receiver's software interrupt handles: a hundred, and then a
 * pause of a millisecond, until its input ends. Argument: the CPU that it stays on.
 */
#include "load.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#define AT_ONCE 100

static int open_receiver(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, size) ||
	    getsockname(fd, (struct sockaddr *)address, &size))
		err(1, "receiver");
	return fd;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int receiver = open_receiver(&address), sender = socket(AF_INET, SOCK_DGRAM, 0);
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char bytes[1000] = "";

	if (argc != 2)
		errx(2, "usage: load_flood CPU");
	stay_on_cpu(atoi(argv[1]));
	while (poll(&input, 1, 1) == 0) {
		for (int i = 0; i < AT_ONCE; i++)
			sendto(sender, bytes, sizeof(bytes), 0, (struct sockaddr *)&address,
			       sizeof(address));
		while (recv(receiver, bytes, sizeof(bytes), 0) > 0)
			;
	}
	return 0;
}
