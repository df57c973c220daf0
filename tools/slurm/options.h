/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a job asks for: the options of srun and sbatch, checked before anything
 * starts. Pure functions; nothing of Slurm is needed.
 */
#ifndef NVDEBUG_SLURM_OPTIONS_H
#define NVDEBUG_SLURM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option {
	OPTION_SHARE,
	OPTION_CAP,
	OPTION_TPCS,
	OPTION_TIMESLICE,
	OPTION_LATENCY,
	OPTION_BEST_EFFORT,
	OPTIONS,
};

/* The longest sentence, and the longest value of an option. */
#define SENTENCE_SIZE 512
#define VALUE_SIZE 32

struct asked {
	bool given[OPTIONS];
	/* as nvqos(1) and nvtaskset(1) take them; empty: the option has none */
	char value[OPTIONS][VALUE_SIZE];
	/* the share is that of the shards, as nothing was asked for */
	bool from_shards;
};

/* Slurm's shards of a step, of per_gpu that each of its GPUs has. */
struct shards {
	unsigned long count, per_gpu, gpus;
};

/* "gpu-share": the name of an option without its dashes. */
const char *option_name(enum option option);

/* As allow= of plugstack.conf names options: "share", without "gpu-". */
const char *option_short_name(enum option option);

/*
 * Takes an option's value, NULL if there is none.
 * Returns false, with a sentence, if it is not one of this option.
 */
bool asked_add(struct asked *asked, enum option option, const char *value,
	       char sentence[static SENTENCE_SIZE]);

/* Returns false, with a sentence, if the options make no sense together. */
bool asked_check(const struct asked *asked,
		 char sentence[static SENTENCE_SIZE]);

/* Is anything asked for that nvqos keeps? */
bool asked_has_goal(const struct asked *asked);

/* The goal as nvqos takes it, "share:30%,cap:50%". */
void asked_goal(const struct asked *asked, char *goal, size_t size);

/*
 * Keeps what is asked for within the step's shards, which are a fraction of its
 * GPUs' time, less a twentieth of it, which switching takes. If nothing is asked
 * for, this is the share; a goal with neither share nor cap gets it as its cap.
 * Each of the tasks may have TPCs of its own, all together the same fraction.
 * Returns false, with a sentence that has the number, if more is asked for, or
 * something that no cap goes with, or if the shards are more than there are.
 */
bool asked_fit(struct asked *asked, const struct shards *shards, size_t tasks,
	       char sentence[static SENTENCE_SIZE]);

#endif
