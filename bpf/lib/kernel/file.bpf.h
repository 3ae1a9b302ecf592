/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of open files, and of files that epoll watches.
 */
#ifndef KERNEL_FILE_BPF_H
#define KERNEL_FILE_BPF_H

#include "kernel.bpf.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFIFO 0010000
#define ANON_INODE_FS_MAGIC 0x09041934
#define FMODE_CREATED 0x100000
#define AT_REMOVEDIR 0x200

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct rb_node {
	unsigned long __rb_parent_color; /* the lowest 2 bits: its color */
	struct rb_node *rb_left;
	struct rb_node *rb_right;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
	struct file_system_type *s_type;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	unsigned int i_generation;
	s64 i_size;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file_operations;

struct file {
	unsigned int f_mode;
	struct inode *f_inode;
	void *private_data;
	struct path f_path;
	const struct file_operations *f_op;
	struct hlist_head *f_ep; /* of struct epitem */
};

struct renamedata {
	struct dentry *old_dentry;
};

/* A read or a write in progress, with its position. */
struct kiocb {
	struct file *ki_filp;
	s64 ki_pos;
};

struct pipe_inode_info {
	struct wait_queue_head rd_wait; /* who waits for bytes */
};

struct eventpoll {
	struct rb_root_cached rbr; /* of struct epitem */
};

struct epoll_filefd {
	struct file *file;
};

struct epitem {
	struct rb_node rbn;
	struct epoll_filefd ffd;
	struct eventpoll *ep;
	struct hlist_node fllink;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

#pragma clang attribute pop

static __always_inline bool inode_is_regular(const struct inode *inode)
{
	return (inode->i_mode & S_IFMT) == S_IFREG;
}

#endif
