/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The options of srun and sbatch with which a job asks for a goal or for TPCs.
 * They are checked before anything starts. All functions are pure and need
 * nothing of Slurm.
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
	OPTION_GANG,
	OPTIONS,
};

/* Bytes of the longest sentence, and of the longest value of an option. */
#define SENTENCE_SIZE 512
#define VALUE_SIZE 32

struct asked {
	bool given[OPTIONS];
	/* given by the user, and not by a bound */
	bool by_user[OPTIONS];
	/* the values as nvqos(1) or nvtaskset(1) takes them; empty: none */
	char value[OPTIONS][VALUE_SIZE];
	/* no goal was given, so the shards decide the share */
	bool from_shards;
};

/*
 * A step's number of shards, the number that each GPU has (per_gpu), and the
 * step's number of GPUs.
 */
struct shards {
	unsigned long count, per_gpu, gpus;
};

/* Returns the name of the option without its dashes: "gpu-share". */
const char *option_name(enum option option);

/*
 * Returns the name that allow= of plugstack.conf uses: "share", without "gpu-".
 */
const char *option_short_name(enum option option);

/*
 * Returns a part such as "12.5%", above 0 and at most 100 %, in millionths; 0:
 * the text is no such part.
 */
long option_part(const char *text);

/*
 * Copies a user's text, cut to the size, with '?' for each character that could
 * disturb a terminal.
 */
void option_printable(const char *text, char out[static VALUE_SIZE]);

/*
 * Reads a list such as "share,cap", which names options without "gpu-"; "": no
 * option. Returns false if it has another word.
 */
bool options_read(bool allowed[static OPTIONS], const char *list);

/*
 * Takes an option's value, NULL if it has none. Returns false, with a sentence,
 * if the option has no such value.
 */
bool asked_add(struct asked *asked, enum option option, const char *value,
	       char sentence[static SENTENCE_SIZE]);

/* Returns false, with a sentence, if the options make no sense together. */
bool asked_check(const struct asked *asked,
		 char sentence[static SENTENCE_SIZE]);

/* Returns whether the options ask for a goal, which nvqos keeps. */
bool asked_has_goal(const struct asked *asked);

/*
 * The end of a goal: GANG_OFF if the job's ranks do not wait for each other, and
 * GANG_NODES if there are others on other nodes.
 */
#define GANG ",gang="
#define GANG_OFF GANG "off"
#define GANG_NODES GANG "nodes"

/*
 * Writes the goal as nvqos(1) has it: "share:30%,cap:50%", or
 * "share:30%,gang=off". With tasks on other nodes the end is GANG_NODES, if
 * windows by the clock can keep the goal.
 */
void asked_goal(const struct asked *asked, bool is_on_other_nodes, char *goal,
		size_t size);

/*
 * Limits the job's goal to the step's shards. They are a fraction of its GPUs'
 * time, less a twentieth of that fraction, which switching takes. If no option
 * asks for a goal, this fraction becomes the share. A goal with neither share
 * nor cap gets it as its cap. With --gpu-tpcs, all tasks together may have the
 * same fraction of the TPCs.
 *
 * Returns false, with a sentence that has the number, if the options ask for
 * more, if they ask for something that cannot be combined with a cap, or if
 * there are more shards than the GPUs have.
 */
bool asked_fit(struct asked *asked, const struct shards *shards, size_t tasks,
	       char sentence[static SENTENCE_SIZE]);

#endif
