// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * slurm_options SHARDS GPUS TASKS [ARGUMENT...] [--gpu-OPTION[=VALUE]...]
 *
 * Prints the goal that a step with so many shards on so many GPUs asks of
 * nvqos, or "-" for none. If the options are refused, it prints the sentence
 * and exits with status 1. Each ARGUMENT is an argument of plugstack.conf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/slurm/arguments.h"
#include "tools/slurm/options.h"

static int refused(const char *sentence)
{
	puts(sentence);
	return 1;
}

int main(int count, char *words[])
{
	char sentence[SENTENCE_SIZE], goal[160];
	struct arguments arguments;
	struct asked asked = {0};
	struct shards shards;
	int at = 4;

	if (count < at)
		return 2;
	while (at < count && strncmp(words[at], "--", 2) != 0)
		at++;
	if (!arguments_read(&arguments, at - 4, words + 4, sentence))
		return refused(sentence);
	for (; at < count; at++) {
		char *value = strchr(words[at], '=');
		int option = 0;

		if (value)
			*value++ = 0;
		while (option < OPTIONS &&
		       strcmp(option_name(option), words[at] + 2) != 0)
			option++;
		if (option == OPTIONS)
			return 2;
		if (!arguments_allow(&arguments, option, sentence) ||
		    !asked_add(&asked, option, value, sentence))
			return refused(sentence);
	}
	if (!asked_check(&asked, sentence))
		return refused(sentence);
	shards = (struct shards){
		.count = strtoul(words[1], NULL, 10),
		.per_gpu = arguments.shards,
		.gpus = strtoul(words[2], NULL, 10),
	};
	if (shards.count && arguments.shards &&
	    !asked_fit(&asked, &shards, strtoul(words[3], NULL, 10), sentence))
		return refused(sentence);
	asked_goal(&asked, goal, sizeof(goal));
	puts(*goal ? goal : "-");
	return 0;
}
