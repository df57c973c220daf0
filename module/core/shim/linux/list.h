/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Lists of the kernel. An entry that was taken out of a list points nowhere,
 * where the kernel poisons it.
 */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <linux/kernel.h>

#define LIST_HEAD(name)	struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add(struct list_head *node, struct list_head *after)
{
	node->prev = after;
	node->next = after->next;
	node->next->prev = after->next = node;
}

static inline void list_add_tail(struct list_head *node, struct list_head *list)
{
	list_add(node, list->prev);
}

static inline void list_del_init(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	INIT_LIST_HEAD(node);
}

static inline void list_del(struct list_head *node)
{
	list_del_init(node);
	node->next = node->prev = NULL;
}

#define list_entry(node, type, member)	container_of(node, type, member)

#define list_first_entry_or_null(list, type, member) \
	(list_empty(list) ? NULL : list_entry((list)->next, type, member))

#define list_for_each_entry(at, list, member)				\
	for ((at) = list_entry((list)->next, __typeof__(*(at)), member);	\
	     &(at)->member != (list);					\
	     (at) = list_entry((at)->member.next, __typeof__(*(at)), member))

#define list_for_each_entry_safe(at, after, list, member)		\
	for ((at) = list_entry((list)->next, __typeof__(*(at)), member);	\
	     (after) = list_entry((at)->member.next,			\
				  __typeof__(*(at)), member),		\
	     &(at)->member != (list);					\
	     (at) = (after))

#endif
