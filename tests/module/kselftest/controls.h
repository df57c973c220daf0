/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The control files of a GPU. */
#ifndef CONTROLS_H
#define CONTROLS_H

#include "gpus.h"

#define DISABLE "disable_channel"
#define ENABLE "enable_channel"
#define PREEMPT_TSG "preempt_tsg"
#define PREEMPT_RUNLIST "preempt_runlist"
#define RESUBMIT "resubmit_runlist"
#define SWITCH "switch_to_tsg"
#define TIMESLICE "set_timeslice"
#define SCHEDULING "scheduling"
#define MODE "preemption_mode"
#define TARGET_MAX 48
#define REQUESTS_MAX 16

/* Makes one write. Returns 0 or its errno. */
int control_bytes(const struct gpu *gpu, const char *file, const void *bytes,
		  size_t size);
int control(const struct gpu *gpu, const char *file, const char *text);
__attribute__((format(printf, 3, 4)))
int control_format(const struct gpu *gpu, const char *file, const char *format,
		   ...);

struct request {
	const char *file;
	char text[TARGET_MAX + 32];
};

/*
 * Finds for each control of this GPU a request that would be taken now. The
 * request changes something if the control changes anything that can be read.
 * Returns 0 if the GPU has no controls or nothing to try them with.
 */
size_t working_requests(const struct gpu *gpu,
			struct request requests[REQUESTS_MAX]);
/* Finds the working requests, but skips the test if there are none. */
size_t need_requests(const struct gpu *gpu,
		     struct request requests[REQUESTS_MAX]);

/*
 * Makes the target that names the channel on this GPU, whatever its generation.
 */
void target_of(const struct gpu *gpu, const struct channel *channel,
	       char target[TARGET_MAX]);

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

/* Puts all channels back to the state they had. */
void restore_channels(const struct gpu *gpu, const struct channels *before);

#endif
