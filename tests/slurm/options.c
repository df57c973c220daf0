// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * slurm_options [nodes] SHARDS GPUS TASKS [ARGUMENT...]
 *               [--gpu-OPTION[=VALUE]...]
 *
 * Prints the goal that a step with so many shards on so many GPUs asks of
 * nvqos, or "-" for none. With "nodes", it has tasks on other nodes, too. If the options are refused, it prints the sentence
 * and exits with status 1. Each ARGUMENT is an argument of plugstack.conf. With
 * limits=FILE, the job's account, partition, QOS, user and uid are those of the
 * variables ACCOUNT, PARTITION, QOS, USER and UID.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/slurm/arguments.h"
#include "tools/slurm/job_limit.h"
#include "tools/slurm/options.h"

static int refused(const char *sentence)
{
	puts(sentence);
	return 1;
}

static void take(const char *variable, char out[static IDENTITY_SIZE])
{
	const char *value = getenv(variable);

	snprintf(out, IDENTITY_SIZE, "%s", value ? value : "");
}

static bool fit_limit(const char *path, struct asked *asked, size_t tasks,
		      char sentence[static SENTENCE_SIZE])
{
	struct identity identity;
	struct limit limit;
	char uid[IDENTITY_SIZE];
	FILE *file = fopen(path, "r");
	bool is_read;

	if (!file)
		exit(2);
	take("ACCOUNT", identity.account);
	take("PARTITION", identity.partition);
	take("QOS", identity.qos);
	take("USER", identity.user);
	take("UID", uid);
	identity.uid = (unsigned int)strtoul(uid, NULL, 10);
	is_read = limit_read(file, path, &identity, &limit, sentence);
	fclose(file);
	return is_read && limit_fit(&limit, path, asked, tasks, sentence);
}

int main(int count, char *words[])
{
	char sentence[SENTENCE_SIZE], goal[160];
	struct arguments arguments;
	struct asked asked = {0};
	struct shards shards;
	int at = 4;
	const bool nodes = count > 1 && strcmp(words[1], "nodes") == 0;

	words += nodes;
	count -= nodes;
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
	if (arguments.limits &&
	    !fit_limit(arguments.limits, &asked, strtoul(words[3], NULL, 10),
		       sentence))
		return refused(sentence);
	asked_goal(&asked, nodes, goal, sizeof(goal));
	puts(*goal ? goal : "-");
	return 0;
}
