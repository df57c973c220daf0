/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The model behind a GPU of the VM, which answers requests (docs/model.md). */
#ifndef MODEL_H
#define MODEL_H

#include "gpus.h"

/* The way to it; skips the test if there is no model. */
int model_open(const struct gpu *gpu);

/*
 * One request; its reply, a line of JSON that lasts until the next request. A
 * model that refuses ends the test.
 */
__attribute__((format(printf, 2, 3)))
const char *model_ask(int fd, const char *format, ...);

#endif
