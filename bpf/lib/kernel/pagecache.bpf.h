/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of the page cache: cached data of files, in folios of one page or more.
 */
#ifndef KERNEL_PAGECACHE_BPF_H
#define KERNEL_PAGECACHE_BPF_H

#include "file.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum pageflags { PG_head = 1 };

typedef struct {
	unsigned long f;
} memdesc_flags_t;

/* The cached data of one file. */
struct address_space {
	struct inode *host;
};

struct folio {
	memdesc_flags_t flags;
	struct address_space *mapping;
	unsigned int _nr_pages;
};

struct folio___v6_17 {
	unsigned long flags;
	unsigned int _folio_nr_pages;
};

#pragma clang attribute pop

/* 6.18 replaced the flags by a struct: 53fbef56e07d ("mm: introduce memdesc_flags_t"). */
static __always_inline bool folio_is_large(const struct folio *folio)
{
	const struct folio___v6_17 *old = (const void *)folio;
	u64 flags = bpf_core_field_exists(folio->flags.f) ? folio->flags.f : old->flags;

	return flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1;
}

/* 6.15 renamed the member that counts them. */
static __always_inline u64 folio_pages(const struct folio *folio)
{
	const struct folio___v6_17 *old = (const void *)folio;

	if (!folio_is_large(folio))
		return 1;
	return bpf_core_field_exists(folio->_nr_pages) ? folio->_nr_pages : old->_folio_nr_pages;
}

#endif
