/* SPDX-License-Identifier: MIT */
/*
 * Where the arguments of functions and markers are: in registers of x86-64 and arm64, as the kernel
 * saves them in struct pt_regs, or in memory.
 */
#include "argument.h"

#include "object/annotation.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

#define REGISTER(reg) offsetof(struct pt_regs, reg)

static const size_t BY_NUMBER[] = { REGISTER(rdi), REGISTER(rsi), REGISTER(rdx),
				    REGISTER(rcx), REGISTER(r8),  REGISTER(r9) };
#define STACK_POINTER REGISTER(rsp)
#define STACK_FIRST 8 /* above the return address */

/* The names of a register, one for each width. */
static const struct {
	const char *names[5];
	size_t offset;
} REGISTERS[] = {
	{ { "rax", "eax", "ax", "al", "ah" }, REGISTER(rax) },
	{ { "rbx", "ebx", "bx", "bl", "bh" }, REGISTER(rbx) },
	{ { "rcx", "ecx", "cx", "cl", "ch" }, REGISTER(rcx) },
	{ { "rdx", "edx", "dx", "dl", "dh" }, REGISTER(rdx) },
	{ { "rsi", "esi", "si", "sil" }, REGISTER(rsi) },
	{ { "rdi", "edi", "di", "dil" }, REGISTER(rdi) },
	{ { "rbp", "ebp", "bp", "bpl" }, REGISTER(rbp) },
	{ { "rsp", "esp", "sp", "spl" }, REGISTER(rsp) },
	{ { "r8", "r8d", "r8w", "r8b" }, REGISTER(r8) },
	{ { "r9", "r9d", "r9w", "r9b" }, REGISTER(r9) },
	{ { "r10", "r10d", "r10w", "r10b" }, REGISTER(r10) },
	{ { "r11", "r11d", "r11w", "r11b" }, REGISTER(r11) },
	{ { "r12", "r12d", "r12w", "r12b" }, REGISTER(r12) },
	{ { "r13", "r13d", "r13w", "r13b" }, REGISTER(r13) },
	{ { "r14", "r14d", "r14w", "r14b" }, REGISTER(r14) },
	{ { "r15", "r15d", "r15w", "r15b" }, REGISTER(r15) },
	{ { "rip", "eip" }, REGISTER(rip) },
};

#define HIGH_NAME 4 /* its second byte; such an operand is not supported */

static bool find_register(const char *name, size_t length, uint32_t *ret_offset)
{
	for (size_t i = 0; i < sizeof(REGISTERS) / sizeof(*REGISTERS); i++)
		for (size_t k = 0; k < HIGH_NAME; k++) {
			const char *one = REGISTERS[i].names[k];

			if (!one || strlen(one) != length || strncmp(one, name, length) != 0)
				continue;
			*ret_offset = (uint32_t)REGISTERS[i].offset;
			return true;
		}
	return false;
}

#else

#define OF_REGISTER(n) ((n) * sizeof(uint64_t)) /* struct pt_regs starts with x0 to x30 */

static const size_t BY_NUMBER[] = {
	OF_REGISTER(0), OF_REGISTER(1), OF_REGISTER(2), OF_REGISTER(3),
	OF_REGISTER(4), OF_REGISTER(5), OF_REGISTER(6), OF_REGISTER(7)
};
#define STACK_POINTER OF_REGISTER(31)
#define STACK_FIRST 0

/* Accepts x0 to x30, w0 to w30 and sp. */
static bool find_register(const char *name, size_t length, uint32_t *ret_offset)
{
	char *end;
	unsigned long number;

	if (length == 2 && !strncmp(name, "sp", 2)) {
		*ret_offset = STACK_POINTER;
		return true;
	}
	if (length < 2 || length > 3 || (name[0] != 'x' && name[0] != 'w') || name[1] < '0' ||
	    name[1] > '9')
		return false;
	number = strtoul(name + 1, &end, 10);
	*ret_offset = (uint32_t)OF_REGISTER(number);
	return end == name + length && number <= 30;
}

#endif

#define IN_REGISTERS (sizeof(BY_NUMBER) / sizeof(*BY_NUMBER))
#define ENTRY_ARGUMENTS_MAX 12 /* the most that a BPF trampoline passes */

bool argument_by_number(unsigned number, struct function_argument *ret_argument, char *why,
			size_t size)
{
	if (!number) {
		snprintf(why, size, "an argument has a number from 1");
		return false;
	}
	if (number <= IN_REGISTERS)
		*ret_argument = (struct function_argument){
			.source = FUNCTION_REGISTER,
			.offset = (uint32_t)BY_NUMBER[number - 1],
		};
	else
		*ret_argument = (struct function_argument){
			.source = FUNCTION_MEMORY,
			.offset = STACK_POINTER,
			.value = STACK_FIRST + 8 * (int64_t)(number - IN_REGISTERS - 1),
		};
	return true;
}

bool argument_of_entry(unsigned number, struct function_argument *ret_argument, char *why,
		       size_t size)
{
	if (!number || number > ENTRY_ARGUMENTS_MAX) {
		snprintf(why, size, "fentry: has arguments 1 to %d", ENTRY_ARGUMENTS_MAX);
		return false;
	}
	*ret_argument = (struct function_argument){ .source = FUNCTION_REGISTER,
						    .offset = 8 * (number - 1) };
	return true;
}

/* --- by name --- */

/* Returns false if the type is neither a number nor an address. */
static bool type_of_argument(const struct btf *btf, uint32_t id, struct function_type *ret_type)
{
	int resolved = btf__resolve_type(btf, id);
	const struct btf_type *type =
		resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);

	if (!type || !(btf_is_int(type) || btf_is_any_enum(type) || btf_is_ptr(type)))
		return false;
	*ret_type = (struct function_type){
		.size = btf_is_ptr(type) ? 8 : (uint8_t)type->size,
		.is_signed = btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED,
	};
	return ret_type->size == 1 || ret_type->size == 2 || ret_type->size == 4 ||
	       ret_type->size == 8;
}

bool argument_by_name(const struct btf *btf, const char *function, const char *name,
		      unsigned *ret_number, struct function_type *ret_type, char *why, size_t size)
{
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	const struct btf_type *proto = type ? btf__type_by_id(btf, type->type) : NULL;
	size_t length;

	if (!proto || !btf_is_func_proto(proto)) {
		snprintf(why, size,
			 "the kernel does not say which arguments %.100s has; if there is such a "
			 "function, name the argument by its number",
			 function);
		return false;
	}
	snprintf(why, size, "%.100s has ", function);
	for (int i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *param = &btf_params(proto)[i];
		const char *its = annotation_name(btf, param->name_off);

		if (!strcmp(its, name) && type_of_argument(btf, param->type, ret_type)) {
			*ret_number = (unsigned)i + 1;
			return true;
		}
		length = strlen(why);
		snprintf(why + length, size - length, "%s\"%.60s\"", i ? ", " : "", its);
	}
	length = strlen(why);
	snprintf(why + length, size - length, "%s",
		 btf_vlen(proto) ? "; it takes one of these that is a number or an address"
				 : "no arguments");
	return false;
}

/* --- of markers --- */

static bool parse_displacement(const char **at, __s64 *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoll(*at, &end, 0);
	if (errno || end == *at)
		return false;
	*at = end;
	return true;
}

static bool parse_register(const char **at, const char *prefix, const char *ends,
			   uint32_t *ret_offset)
{
	size_t length;

	if (strncmp(*at, prefix, strlen(prefix)) != 0)
		return false;
	*at += strlen(prefix);
	length = strcspn(*at, ends);
	if (!find_register(*at, length, ret_offset))
		return false;
	*at += length;
	return true;
}

#ifdef __x86_64__

/* Parses $NUMBER, %REGISTER or NUMBER(%REGISTER). */
static bool parse_operand(const char *at, struct function_argument *argument)
{
	if (*at == '$') {
		argument->source = FUNCTION_CONSTANT;
		at++;
		return parse_displacement(&at, &argument->value) && !*at;
	}
	if (*at == '%') {
		argument->source = FUNCTION_REGISTER;
		return parse_register(&at, "%", "", &argument->offset) && !*at;
	}
	argument->source = FUNCTION_MEMORY;
	if (*at != '(' && !parse_displacement(&at, &argument->value))
		return false;
	return parse_register(&at, "(%", ")", &argument->offset) && !strcmp(at, ")");
}

#else

/* Parses NUMBER, REGISTER, [REGISTER] or [REGISTER, NUMBER]. */
static bool parse_operand(const char *at, struct function_argument *argument)
{
	if (*at == '-' || (*at >= '0' && *at <= '9')) {
		argument->source = FUNCTION_CONSTANT;
		return parse_displacement(&at, &argument->value) && !*at;
	}
	if (*at != '[') {
		argument->source = FUNCTION_REGISTER;
		return parse_register(&at, "", "", &argument->offset) && !*at;
	}
	argument->source = FUNCTION_MEMORY;
	if (!parse_register(&at, "[", ",]", &argument->offset))
		return false;
	if (*at == ',') {
		at++;
		if (!parse_displacement(&at, &argument->value))
			return false;
	}
	return !strcmp(at, "]");
}

#endif

/* Parses SIZE@OPERAND; SIZE is in bytes, negative for a signed value. */
static bool parse_marker_argument(const char *text, struct function_argument *ret_argument)
{
	struct function_argument argument = { 0 };
	__s64 bytes;

	if (!parse_displacement(&text, &bytes) || *text != '@')
		return false;
	argument.type.is_signed = bytes < 0;
	bytes = bytes < 0 ? -bytes : bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	argument.type.size = (uint8_t)bytes;
	if (!parse_operand(text + 1, &argument))
		return false;
	*ret_argument = argument;
	return true;
}

/* Length of the first operand; blanks within brackets belong to it. */
static size_t operand_length(const char *text)
{
	size_t length = 0;
	bool inside = false;

	for (; text[length] && (inside || text[length] != ' '); length++)
		inside = text[length] == '[' || (inside && text[length] != ']');
	return length;
}

bool argument_of_marker(const char *arguments, unsigned number,
			struct function_argument *ret_argument, char *why, size_t size)
{
	const char *at = arguments ?: "";
	unsigned count = 0;
	char text[64];

	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		size_t length = operand_length(at);

		if (++count == number) {
			snprintf(text, sizeof(text), "%.*s", (int)length, at);
			if (length < sizeof(text) && parse_marker_argument(text, ret_argument))
				return true;
			snprintf(why, size, "its argument %u, \"%s\", cannot be read", number,
				 text);
			return false;
		}
		at += length;
	}
	if (count)
		snprintf(why, size, "the marker has %u argument%s", count, count > 1 ? "s" : "");
	else
		snprintf(why, size, "the marker has no arguments");
	return false;
}
