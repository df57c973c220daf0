/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The control files of a GPU: disable_channel and enable_channel. */
#ifndef CONTROLS_H
#define CONTROLS_H

#include "gpus.h"

#define DISABLE "disable_channel"
#define ENABLE "enable_channel"
#define TARGET_MAX 48

/* One write; 0, or why it failed. */
int control_bytes(const struct gpu *gpu, const char *file, const void *bytes,
		  size_t size);
int control(const struct gpu *gpu, const char *file, const char *text);

/* What names the channel on this GPU, whatever its generation. */
void target_of(const struct gpu *gpu, const struct channel *channel,
	       char target[TARGET_MAX]);
/* The same with another number for the channel. */
void target_with_id(const struct gpu *gpu, const struct channel *channel,
		    const char *id, char target[TARGET_MAX]);

/* Disables or enables one channel and ends the test if that fails. */
void set_enabled(const struct gpu *gpu, const struct channel *channel,
		 bool enabled);

/* Reads one channel's state. */
bool is_enabled(const struct gpu *gpu, const struct channel *channel);

/*
 * Channels that are enabled now, each once; skips the test if there are fewer
 * than `least` or if this GPU has no controls.
 */
struct channels enabled_channels(const struct gpu *gpu, size_t least);

/* Puts all channels back to the state they had; returns how many had changed. */
size_t restore_channels(const struct gpu *gpu, const struct channels *before);

#endif
