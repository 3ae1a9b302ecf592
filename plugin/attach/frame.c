/* SPDX-License-Identifier: MIT */
/*
 * Stack frames of BPF programs. Since Linux 6.13 a frame that is too large for the thread's stack
 * is on a private stack, of which a program has one per CPU. The kernel does not guard uprobe
 * programs against a second run on the CPU while the first is preempted; bpf/lib/preempt.bpf.h
 * does.
 *
 * The size of a frame is the lowest address that an instruction loads, stores or computes from the
 * frame pointer (for helpers). Branches are not followed: a compiler computes an address just
 * before it uses it.
 */
#include "frame.h"

#include "attachment_list.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define FRAME_OF_THREAD_MAX \
	48           /* the kernel rounds up to 16; from 64 (BPF_PRIV_STACK_MIN_SIZE) the
			        * stack is private */
#define NO_POINTER 1 /* a frame is below its pointer */

struct registers {
	int at[MAX_BPF_REG]; /* offset from the frame pointer, or NO_POINTER */
	int lowest;
};

static void forget_registers(struct registers *registers, unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++)
		registers->at[i] = NO_POINTER;
}

static void use(struct registers *registers, unsigned number, int offset)
{
	int at = registers->at[number];

	if (at != NO_POINTER && at + offset < registers->lowest)
		registers->lowest = at + offset;
}

static void compute(struct registers *registers, const struct bpf_insn *instruction)
{
	int *at = &registers->at[instruction->dst_reg];

	if (instruction->code == (BPF_ALU64 | BPF_MOV | BPF_X)) {
		*at = registers->at[instruction->src_reg];
	} else if (instruction->code == (BPF_ALU64 | BPF_ADD | BPF_K) && *at != NO_POINTER) {
		*at += instruction->imm;
		use(registers, instruction->dst_reg, 0);
	} else {
		*at = NO_POINTER;
	}
}

static void track_instruction(struct registers *registers, const struct bpf_insn *instruction)
{
	switch (BPF_CLASS(instruction->code)) {
	case BPF_ALU64:
	case BPF_ALU:
		compute(registers, instruction);
		break;
	case BPF_LDX:
		use(registers, instruction->src_reg, instruction->off);
		registers->at[instruction->dst_reg] = NO_POINTER;
		break;
	case BPF_ST:
	case BPF_STX:
		use(registers, instruction->dst_reg, instruction->off);
		break;
	case BPF_LD:
		registers->at[instruction->dst_reg] = NO_POINTER;
		break;
	default:
		if (BPF_OP(instruction->code) == BPF_CALL)
			forget_registers(registers, BPF_REG_0, BPF_REG_5);
		else if (BPF_OP(instruction->code) == BPF_EXIT)
			forget_registers(registers, BPF_REG_0, BPF_REG_9);
	}
}

static bool is_tail_call(const struct bpf_insn *instruction)
{
	return instruction->code == (BPF_JMP | BPF_CALL) && instruction->src_reg == 0 &&
	       instruction->imm == BPF_FUNC_tail_call;
}

unsigned frame_size(const struct bpf_insn *instructions, size_t count)
{
	struct registers registers = { .lowest = 0 };

	forget_registers(&registers, BPF_REG_0, BPF_REG_9);
	for (size_t i = 0; i < count; i++) {
		if (is_tail_call(&instructions[i]))
			return 0;
		track_instruction(&registers, &instructions[i]);
	}
	return (unsigned)-registers.lowest;
}

static bool kernel_has_private_stacks(void)
{
	struct utsname kernel;
	unsigned major = 0, minor = 0;

	if (uname(&kernel) || sscanf(kernel.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 13);
}

/* The declaration is enough: it is up to the author to call it in the right program. */
static bool disables_preemption(const struct object *object)
{
	return btf__find_by_name_kind(bpf_object__btf(object->bpf), "bpf_preempt_disable",
				      BTF_KIND_FUNC) > 0;
}

struct program_search {
	const struct bpf_program *program;
	bool is_found;
};

static void match_program(void *with, const struct attachment *attachment)
{
	struct program_search *search = with;

	if (attachment->program == search->program && attachment_is_of_file(attachment))
		search->is_found = true;
}

static bool is_attached_to_files(const struct object *object, const struct bpf_program *program)
{
	struct program_search search = { .program = program };

	attachments_each(object, 0, match_program, &search);
	return search.is_found;
}

void frame_check(const struct object *object, const char *probe)
{
	struct bpf_program *program;

	if (!kernel_has_private_stacks() || disables_preemption(object))
		return;
	bpf_object__for_each_program(program, object->bpf)
	{
		unsigned size =
			frame_size(bpf_program__insns(program), bpf_program__insn_cnt(program));

		if (size > FRAME_OF_THREAD_MAX && is_attached_to_files(object, program))
			message(LOG_NOTICE,
				"probe %s: the program %s may count wrong where the kernel preempts "
				"it: threads on one CPU share the frame of a function of it, which is "
				"of %u bytes; make that %u at most, or begin the program with "
				"on_stack_of_thread() of preempt.bpf.h",
				probe, bpf_program__name(program), size, FRAME_OF_THREAD_MAX);
	}
}
