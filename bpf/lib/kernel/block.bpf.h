/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of block requests and write-back.
 */
#ifndef KERNEL_BLOCK_BPF_H
#define KERNEL_BLOCK_BPF_H

#include "kernel/cgroup.bpf.h"

#define REQ_OP_MASK 0xff
#define REQ_OP_READ 0
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_DRV_IN 34 /* from here on: commands to the device */
/* The second before 430cc5d3ab4d ("block: cleanup the GENHD_FL_* definitions"). */
#define GENHD_FL_HIDDEN (1 << 1 | 1 << 10)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device {
	u32 bd_dev;
};

struct gendisk {
	struct block_device *part0; /* the whole device */
	int flags;
};

struct request_queue {
	struct gendisk *disk;
	void *queuedata; /* the driver's */
};

struct nvme_ns_head {
	struct gendisk *disk; /* not in every kernel */
};

struct nvme_ns {
	struct nvme_ns_head *head;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct blkcg_gq *bi_blkg; /* not in every kernel */
};

struct request {
	struct request_queue *q;
	u32 cmd_flags;
	u32 __data_len; /* bytes that are not completed yet */
	struct bio *bio;
	struct block_device *part; /* NULL: the kernel does not account for the device (iostats) */
	u64 start_time_ns;         /* without block_io_start or part, that of a previous request */
	u64 io_start_time_ns;      /* 0: nothing asks for it (wbt, bfq, kyber) */
};

struct bdi_writeback {
	struct cgroup_subsys_state *memcg_css; /* not in every kernel */
};

struct wb_writeback_work;

#pragma clang attribute pop

/* The device that a path of NVMe multipath leads to. 0: unknown, without BTF of nvme_core. */
static __always_inline u32 nvme_path_device(const struct request_queue *q)
{
	const struct nvme_ns *path = q->queuedata;

	if (!bpf_core_type_exists(struct nvme_ns) || !bpf_core_field_exists(path->head->disk))
		return 0;
	return BPF_CORE_READ(path, head, disk, part0, bd_dev);
}

/* The device as a dev_t, 0: unknown. Hidden are only paths of NVMe. */
static __always_inline u32 request_device(struct request *rq)
{
	struct gendisk *disk = rq->q->disk;

	return disk->flags & GENHD_FL_HIDDEN ? nvme_path_device(rq->q) : disk->part0->bd_dev;
}

static __always_inline u32 request_op(const struct request *rq)
{
	return rq->cmd_flags & REQ_OP_MASK;
}

/* When a completed request was begun, 0: unknown. A flush is initialized again each time. */
static __always_inline u64 request_began(const struct request *rq)
{
	return rq->part || request_op(rq) == REQ_OP_FLUSH ? rq->start_time_ns : 0;
}

/* The cgroup that is charged for its bytes; NULL: the kernel does not say. */
static __always_inline struct cgroup *request_group(struct request *rq)
{
	struct bio *bio = rq->bio;

	if (!bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	return bio->bi_blkg->blkcg->css.cgroup;
}

/* The cgroup whose pages it writes back; NULL: the kernel does not say. */
static __always_inline struct cgroup *writeback_group(struct bdi_writeback *wb)
{
	if (!bpf_core_field_exists(wb->memcg_css))
		return NULL;
	return wb->memcg_css->cgroup;
}

#endif
