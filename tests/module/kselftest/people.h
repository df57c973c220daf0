/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Turns a test's process into one of another user, for good. */
#ifndef PEOPLE_H
#define PEOPLE_H

#include <stdint.h>

/*
 * Becomes this user and group, in no other group, and without any capability.
 */
void become(unsigned int uid, unsigned int gid);
/* Becomes this user, but keeps the capability. */
void become_with(unsigned int uid, unsigned int capability);

/*
 * Lose every capability except for those of the mask, or one capability, for
 * good.
 */
void keep_capabilities(uint64_t mask);
void drop_capability(unsigned int capability);

/*
 * Enters a namespace where the process is root with all capabilities; outside
 * it stays the user `outside`. Skips the test without namespaces.
 */
void enter_user_namespace(unsigned int outside);

/*
 * Becomes the first process of a namespace of processes, with a /proc of its
 * own.
 */
void enter_container(void);

#endif
