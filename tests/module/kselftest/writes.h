/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Of what was written, how much each kind of file took. */
#ifndef WRITES_H
#define WRITES_H

#include <stdbool.h>

/* Shared by the processes that are forked after it was made. */
struct writes *writes_make(void);

/* Not counted if it is through anything else than a file of a GPU. */
void writes_count(struct writes *writes, int fd, bool taken);

/* A line of diagnosis for each kind and for all; of all, the share in percent. */
unsigned long writes_note(const struct writes *writes);

#endif
