/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_HASHTABLE_H
#define SHIM_LINUX_HASHTABLE_H

#include <linux/list.h>
#include <string.h>

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]

#define hash_init(table)	memset(table, 0, sizeof(table))

/* The bucket is the key's lowest bits; the kernel mixes the bits first. */
#define hash_bucket(table, key)	(&(table)[(key) % ARRAY_SIZE(table)])

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

#define hash_add(table, node, key) \
	hlist_add_head(node, hash_bucket(table, key))

#define hlist_entry_or_null(node, type, member) \
	((node) ? container_of(node, type, member) : NULL)

#define hash_for_each_possible(table, at, member, key)			\
	for ((at) = hlist_entry_or_null(hash_bucket(table, key)->first,	\
					__typeof__(*(at)), member);	\
	     (at);							\
	     (at) = hlist_entry_or_null((at)->member.next,		\
					__typeof__(*(at)), member))

#endif
