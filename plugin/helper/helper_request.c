/* SPDX-License-Identifier: MIT */
/*
 * The daemon's side of each request to a helper. A reply that breaks off is followed by bytes that
 * the next request would take for its own reply, so a helper is not used again after -EPIPE,
 * -ETIMEDOUT or -ECANCELED.
 */
#include "helper_request.h"

#include "descriptor.h"
#include "symbol_message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPEN_WAIT_MS 5000
#define SYMBOLS_WAIT_MS (SYMBOL_WAIT_MS + 2000) /* the helper ends the program before */
#define EVENT_WAIT_MS 5000
#define STREAM_PART 4096
#define LINK_WAIT_MS \
	10000 /* for each location the kernel visits all processes that have the file mapped */

/* A request, and the struct of its reply. */
struct helper_call {
	enum helper_kind kind;
	const char *path; /* NULL: none */
	int descriptors[HELPER_DESCRIPTORS_MAX];
	uint32_t descriptor_count;
	struct helper_part {
		const void *bytes;
		size_t size;
	} payload[4];
	void *reply; /* begins with an int32_t status */
	size_t reply_size;
	int *ret_fd; /* the descriptor that comes with status 0; NULL: none does */
};

/* Sends all bytes, and the descriptor (negative: none) with them. */
static int send_part(struct file_helper *helper, int fd, const struct helper_part *part,
		     int descriptor, uint64_t end_ns)
{
	size_t size = 0;
	int status = 0;

	while (size < part->size && status == 0) {
		ssize_t sent = descriptor_send(fd, (const char *)part->bytes + size,
					       part->size - size, MSG_DONTWAIT, descriptor);

		if (sent >= 0)
			size += (size_t)sent;
		else if (errno == EAGAIN || errno == EINTR)
			status = helper_wait(helper, fd, POLLOUT, end_ns);
		else
			status = -EPIPE;
	}
	return status;
}

/* Receives at least one byte, and the descriptor that comes with it. Returns how many bytes; 0: the
 * other end has closed the socket. */
static ssize_t receive_part(struct file_helper *helper, int fd, void *to, size_t size,
			    uint64_t end_ns, int *ret_fd)
{
	int status = 0;

	while (status == 0) {
		ssize_t got = descriptor_receive(fd, to, size, MSG_DONTWAIT, ret_fd);

		if (got >= 0)
			return got;
		if (errno != EAGAIN && errno != EINTR)
			return 0;
		status = helper_wait(helper, fd, POLLIN, end_ns);
	}
	return status;
}

/* Receives exactly this many bytes of the helper, and the descriptor that comes with the first. */
static int receive_exactly(struct file_helper *helper, void *to, size_t size, uint64_t end_ns,
			   int *ret_fd)
{
	for (char *at = to; size; ret_fd = NULL) {
		ssize_t got = receive_part(helper, helper->helper_fd, at, size, end_ns, ret_fd);

		if (got <= 0)
			return got ? (int)got : -EPIPE;
		at += got;
		size -= (size_t)got;
	}
	return 0;
}

static int send_call(struct file_helper *helper, const struct helper_call *call, uint64_t end_ns)
{
	size_t parts = sizeof(call->payload) / sizeof(*call->payload);
	size_t path_length = call->path ? strlen(call->path) : 0;
	struct helper_request head = { .kind = call->kind,
				       .path_length = (uint32_t)path_length,
				       .descriptor_count = call->descriptor_count };
	struct helper_part first = { &head, sizeof(head) }, path = { call->path, path_length },
			   byte = { "", 1 };
	int socket = helper->helper_fd, status;

	if (path_length > HELPER_PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < parts; i++)
		head.payload_size += (uint32_t)call->payload[i].size;
	status = send_part(helper, socket, &first, -1, end_ns);
	status = status ?: send_part(helper, socket, &path, -1, end_ns);
	for (size_t i = 0; i < call->descriptor_count && status == 0; i++)
		status = send_part(helper, socket, &byte, call->descriptors[i], end_ns);
	for (size_t i = 0; i < parts && status == 0; i++)
		status = send_part(helper, socket, &call->payload[i], -1, end_ns);
	return status;
}

static int receive_reply(struct file_helper *helper, const struct helper_call *call,
			 uint64_t end_ns)
{
	int32_t result;
	int fd = -1, status = receive_exactly(helper, call->reply, call->reply_size, end_ns,
					      call->ret_fd ? &fd : NULL);

	if (status == 0) {
		memcpy(&result, call->reply, sizeof(result));
		status = call->ret_fd && (fd >= 0) != (result == 0) ? -EPIPE
								    : helper_file_error(result);
	}
	if (status && fd >= 0)
		close(fd);
	if (status == 0 && call->ret_fd)
		*call->ret_fd = fd;
	return status;
}

static int request_once(struct file_helper *helper, uint64_t end_ns, void *with)
{
	const struct helper_call *call = with;

	return send_call(helper, call, end_ns) ?: receive_reply(helper, call, end_ns);
}

/* --- reading a file --- */

struct file_exchange {
	const char *path;
	const struct read_request *read;
	const struct file_stream *stream;
	struct file file;
};

/* Makes room for that many more bytes, and a NUL. */
static int grow_file(struct file *file, size_t more)
{
	char *grown = realloc(file->bytes, file->size + more + 1);

	if (!grown)
		return -ENOMEM;
	file->bytes = grown;
	return 0;
}

/* Appends that many bytes to the file. */
static int receive_into_file(struct file_helper *helper, size_t size, uint64_t end_ns,
			     struct file *file)
{
	int status = grow_file(file, size);

	return status ?: receive_exactly(helper, file->bytes + file->size, size, end_ns, NULL);
}

static int receive_into_stream(struct file_helper *helper, size_t size, uint64_t end_ns,
			       const struct file_stream *stream)
{
	char bytes[STREAM_PART];
	int status = 0;

	while (size && status == 0) {
		size_t part = size < sizeof(bytes) ? size : sizeof(bytes);

		status = receive_exactly(helper, bytes, part, end_ns, NULL);
		if (status == 0)
			stream->receive(stream->of, bytes, part);
		size -= part;
	}
	return status;
}

static int receive_chunks(struct file_helper *helper, uint64_t end_ns,
			  struct file_exchange *exchange)
{
	const struct file_stream *stream = exchange->stream;
	uint64_t size_max = exchange->read->size_max;
	struct file *file = &exchange->file;
	int status = stream ? 0 : grow_file(file, 0);
	int32_t size = 0;

	while (status == 0) {
		status = receive_exactly(helper, &size, sizeof(size), end_ns, NULL);
		if (status || size <= 0)
			break;
		if ((uint64_t)size > size_max - file->size)
			return -EPIPE;
		status = stream ? receive_into_stream(helper, (size_t)size, end_ns, stream)
				: receive_into_file(helper, (size_t)size, end_ns, file);
		if (status == 0)
			file->size += (size_t)size;
	}
	if (file->bytes)
		file->bytes[file->size] = '\0';
	return status ?: helper_file_error(size);
}

static int request_content(struct file_helper *helper, uint64_t end_ns, void *with)
{
	struct file_exchange *exchange = with;
	struct read_reply reply = { 0 };
	struct helper_call call = { .kind = HELPER_READ,
				    .path = exchange->path,
				    .payload = { { exchange->read, sizeof(*exchange->read) } },
				    .reply = &reply,
				    .reply_size = sizeof(reply) };
	int status;

	free(exchange->file.bytes);
	exchange->file = (struct file){ 0 };
	if (exchange->stream)
		exchange->stream->receive(exchange->stream->of, NULL, 0);
	status = request_once(helper, end_ns, &call);
	if (status)
		return status;
	exchange->file.owner = reply.owner;
	exchange->file.mode = reply.mode;
	exchange->file.stamp = reply.stamp;
	return receive_chunks(helper, end_ns, exchange);
}

int helper_read(struct file_helper *helper, const struct file_charge *charge, unsigned wait_ms,
		const char *path, const struct read_request *read, const struct file_stream *stream,
		struct file *ret_file)
{
	struct file_exchange exchange = { .path = path, .read = read, .stream = stream };
	int status = helper_ask(helper, charge, wait_ms, request_content, &exchange);

	if (status)
		free(exchange.file.bytes);
	else
		*ret_file = exchange.file;
	return status;
}

/* --- opening a program or library --- */

int helper_open(struct file_helper *helper, const struct file_charge *charge, const char *path,
		pid_t pid, int *ret_fd, struct open_reply *ret_reply)
{
	struct open_request payload = { .pid = pid };
	struct helper_call call = { .kind = HELPER_OPEN,
				    .path = path,
				    .payload = { { &payload, sizeof(payload) } },
				    .reply = ret_reply,
				    .reply_size = sizeof(*ret_reply),
				    .ret_fd = ret_fd };

	return helper_ask(helper, charge, OPEN_WAIT_MS, request_once, &call);
}

/* --- running ebpf-symbols --- */

struct symbol_exchange {
	const struct symbol_run *run;
	struct symbol_buffer output;
	struct run_reply *ended;
};

static int receive_output(struct file_helper *helper, int socket, struct symbol_buffer *output,
			  uint64_t end_ns)
{
	size_t room = 0;
	ssize_t got;

	do {
		if (output->size == room) {
			char *grown = realloc(output->bytes, room += 65536);

			if (!grown)
				return -ENOMEM;
			output->bytes = grown;
			if (room > SYMBOL_REPLY_MAX)
				return -EBADMSG;
		}
		got = receive_part(helper, socket, output->bytes + output->size,
				   room - output->size, end_ns, NULL);
		output->size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	return (int)got;
}

/* Talks to the program. It may exit before it has read all; its output then says why. */
static int exchange_with_program(struct file_helper *helper, int socket,
				 struct symbol_exchange *exchange, uint64_t end_ns)
{
	const struct symbol_buffer *input = exchange->run->input;
	struct helper_part part = { input->bytes, input->size };
	int status = send_part(helper, socket, &part, -1, end_ns);

	if (status && status != -EPIPE)
		return status;
	return receive_output(helper, socket, &exchange->output, end_ns);
}

static int request_symbols(struct file_helper *helper, uint64_t end_ns, void *with)
{
	struct symbol_exchange *exchange = with;
	const struct symbol_run *run = exchange->run;
	int ends[2], status, ended;

	free(exchange->output.bytes);
	exchange->output = (struct symbol_buffer){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	status = send_call(
		helper,
		&(struct helper_call){
			.kind = HELPER_SYMBOLS,
			.path = run->program,
			.descriptors = { ends[1], run->file, run->debug },
			.descriptor_count = run->debug >= 0 ? SYMBOL_FD_COUNT : SYMBOL_FD_DEBUG,
		},
		end_ns);
	close(ends[1]);
	if (status) {
		close(ends[0]);
		return status;
	}
	status = exchange_with_program(helper, ends[0], exchange, end_ns);
	close(ends[0]);
	/* In every case the helper says how the program has ended. */
	ended = receive_exactly(helper, exchange->ended, sizeof(*exchange->ended), end_ns, NULL);
	return ended ?: status;
}

int helper_run_symbols(struct file_helper *helper, const struct file_charge *charge,
		       const struct symbol_run *run, struct symbol_buffer *ret_output,
		       struct run_reply *ret_ended)
{
	struct symbol_exchange exchange = { .run = run, .ended = ret_ended };
	int status = helper_ask(helper, charge, SYMBOLS_WAIT_MS, request_symbols, &exchange);

	if (status)
		free(exchange.output.bytes);
	else
		*ret_output = exchange.output;
	return status;
}

/* --- uprobes --- */

int helper_open_event(struct file_helper *helper, const struct file_charge *charge, int file,
		      const struct event_request *event, int *ret_fd)
{
	struct uprobe_reply reply;
	struct helper_call call = { .kind = HELPER_UPROBE_EVENT,
				    .descriptors = { file },
				    .descriptor_count = 1,
				    .payload = { { event, sizeof(*event) } },
				    .reply = &reply,
				    .reply_size = sizeof(reply),
				    .ret_fd = ret_fd };

	return helper_ask(helper, charge, EVENT_WAIT_MS, request_once, &call);
}

int helper_link(struct file_helper *helper, const struct uprobe_multi *links, int *ret_fd)
{
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = links->owner };
	struct link_request payload = { .flags = links->at_return ? UPROBE_MULTI_RETURN : 0 };
	size_t size = links->count * sizeof(uint64_t);
	struct uprobe_reply reply;
	struct helper_call call = { .kind = HELPER_UPROBE_MULTI,
				    .descriptors = { links->program, links->file },
				    .descriptor_count = 2,
				    .payload = { { &payload, sizeof(payload) },
						 { links->offsets, size },
						 { links->semaphores, size },
						 { links->cookies, size } },
				    .reply = &reply,
				    .reply_size = sizeof(reply),
				    .ret_fd = ret_fd };

	if (links->count == 0 || links->count > UPROBE_MULTI_MAX)
		return links->count ? -E2BIG : -EINVAL;
	return helper_ask(helper, &charge, LINK_WAIT_MS, request_once, &call);
}
