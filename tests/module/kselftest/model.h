/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Sends requests to the model behind a GPU of the VM (docs/model.md). */
#ifndef MODEL_H
#define MODEL_H

#include "gpus.h"

/* Opens the way to the model. Skips the test if there is no model. */
int model_open(const struct gpu *gpu);

/*
 * Sends a request. Returns the reply, a line of JSON that lasts until the next
 * request. Ends the test if the model refuses.
 */
__attribute__((format(printf, 2, 3)))
const char *model_ask(int fd, const char *format, ...);

#endif
