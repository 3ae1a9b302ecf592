/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Reads the bytes that the current thread has just received or sent, from its memory: the
 * arguments of its system call say where they are. The reads never wait: a page that is not
 * resident is not fetched. The location is unknown for 32-bit programs, io_uring, calls for
 * several messages, sendfile and splice, and kernel threads. The contents are untrusted: another
 * thread of the process may change them at any time.
 */
#ifndef BUFFER_BPF_H
#define BUFFER_BPF_H

#include "kernel/sched.bpf.h"
#include "kernel/syscall.bpf.h"
#include "socket.bpf.h"

#define BUFFER_PIECES_MAX 1024
#define BUFFER_SEEK_MAX 128 /* pieces from one read to the next */

/* A piece: the call's bytes from start to end are at address. */
struct buffer {
	u64 address;
	u64 begin, end;
	u64 vectors; /* address of struct iovec[], 0: the piece above is the only one */
	u32 pieces;
	u32 next; /* index of the next piece */
};

/* Layouts of 64-bit programs. */
struct user_iovec {
	u64 base;
	u64 length;
};

struct user_vectors {
	u64 address;
	u64 pieces;
};

struct user_msghdr {
	u64 name;
	u64 name_length;
	struct user_vectors vectors;
};

/* false: nothing of what processes receive and send is read, so no protocol is recognised. The
 * verifier then removes these reads. */
const volatile bool payload = true;

static __always_inline bool buffer_read_user(void *to, u32 size, u64 address)
{
	return payload && !bpf_probe_read_user(to, size, (const void *)address);
}

static __always_inline void buffer_of_vectors(struct buffer *b, u64 vectors, u64 pieces)
{
	b->vectors = vectors;
	b->pieces = pieces < BUFFER_PIECES_MAX ? pieces : BUFFER_PIECES_MAX;
}

/* io_uring may complete its own work at the end of a call that is about another file. */
static __always_inline bool buffer_may_be_other(struct task_struct *task, u64 fd,
						const struct sock *sk)
{
	return bpf_core_field_exists(task->io_uring) && task->io_uring && socket_of(task, fd) != sk;
}

/* Finds the buffers of the current thread's call, which has moved bytes of this socket. false:
 * unknown. */
static __always_inline bool buffer_of_call(const struct sock *sk, struct buffer *ret_buffer)
{
	struct task_struct *task = current_task();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct user_vectors vectors = {};
	struct buffer b = {};

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER) || regs_32_bit(regs) ||
	    buffer_may_be_other(task, call_argument(regs, 1), sk))
		return false;
	switch (call_bytes(call_number(regs))) {
	case BYTES_BUFFER:
		b.address = call_argument(regs, 2);
		b.end = call_argument(regs, 3);
		break;
	case BYTES_VECTORS:
		buffer_of_vectors(&b, call_argument(regs, 2), call_argument(regs, 3));
		break;
	case BYTES_MESSAGE:
		if (!buffer_read_user(&vectors, sizeof(vectors),
				      call_argument(regs, 2) +
					      offsetof(struct user_msghdr, vectors)))
			return false;
		buffer_of_vectors(&b, vectors.address, vectors.pieces);
		/* Otherwise the compiler merges these loads with those above, and the verifier
		 * rejects one load for two kinds of memory. */
		barrier_var(b.vectors);
		barrier_var(b.pieces);
		break;
	default:
		return false;
	}
	*ret_buffer = b;
	return true;
}

/* A call that has moved bytes of a connection, and how far these have been inspected. */
struct moved {
	struct buffer buffer;
	u64 begin; /* bytes before it have been inspected */
	u64 end;
	u64 now;
	u32 flags;
	u16 found; /* 1: the buffer has been found */
	u16 tried; /* 1: moved_find() has tried */
};

/* Finds the buffer, at the first use. Global, as the functions below: verified once, not with each
 * call. */
__noinline int moved_find(struct moved *m, u64 sk)
{
	if (!m)
		return false;
	if (!m->tried)
		m->found = !(m->flags & MSG_TRUNC) &&
			   buffer_of_call((const struct sock *)sk, &m->buffer);
	m->tried = true;
	return m->found;
}

static __always_inline bool buffer_next(struct buffer *b)
{
	struct user_iovec piece = {};

	if (b->next >= b->pieces ||
	    !buffer_read_user(&piece, sizeof(piece), b->vectors + b->next * sizeof(piece)))
		return false;
	b->next++;
	b->address = piece.base;
	b->begin = b->end;
	b->end += piece.length;
	return true;
}

/* Makes the piece with this byte the current one. false: it cannot be read. */
__noinline int buffer_seek(struct buffer *b, u64 offset)
{
	if (!b)
		return false;
	if (offset < b->begin) {
		if (!b->vectors)
			return false;
		b->begin = 0;
		b->end = 0;
		b->next = 0;
	}
	for (int i = 0; i < BUFFER_SEEK_MAX; i++) {
		if (offset < b->end)
			return true;
		if (!buffer_next(b))
			return false;
	}
	return offset < b->end;
}

/* -1: it cannot be read. */
__noinline int buffer_byte(struct buffer *b, u64 offset)
{
	u8 byte = 0;

	if (!b || !buffer_seek(b, offset) ||
	    !buffer_read_user(&byte, sizeof(byte), b->address + (offset - b->begin)))
		return -1;
	return byte;
}

/* Reads size bytes, a constant, from offset on, if they are in one piece. */
static __always_inline bool buffer_read_here(struct buffer *b, u64 offset, void *ret_bytes,
					     u32 size)
{
	return ((offset >= b->begin && offset < b->end) || buffer_seek(b, offset)) &&
	       size <= b->end - offset &&
	       buffer_read_user(ret_bytes, size, b->address + (offset - b->begin));
}

/* Reads them across pieces, too. false: not all can be read. Reading in ascending order looks up
 * each piece once. */
static __always_inline bool buffer_read(struct buffer *b, u64 offset, void *ret_bytes, u32 size)
{
	u8 *bytes = ret_bytes;

	if (buffer_read_here(b, offset, bytes, size))
		return true;
	for (u32 i = 0; i < size; i++) {
		int byte = buffer_byte(b, offset + i);

		if (byte < 0)
			return false;
		bytes[i] = byte;
	}
	return true;
}

#endif
