/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Becoming another user, for good: for tests, each a process of its own. */
#ifndef PEOPLE_H
#define PEOPLE_H

#include <stdint.h>

/* That user and group, in no other group, and without any capability. */
void become(unsigned int uid, unsigned int gid);
/* The same user, but with this capability. */
void become_with(unsigned int uid, unsigned int capability);

/* Loses every capability but those of the mask, for good. */
void keep_capabilities(uint64_t mask);
void drop_capability(unsigned int capability);

/* Root inside, with all capabilities there; what it was, outside. Skips without namespaces. */
void enter_user_namespace(unsigned int outside);

/* The first process of a namespace of processes, with a /proc of its own. */
void enter_container(void);

#endif
