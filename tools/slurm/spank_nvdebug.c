// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * spank_nvdebug.so is Slurm's plugin. It asks the nvqos of a job's node for the
 * job's share of a GPU before the job's program starts, and gives the share
 * back after its end.
 *
 * srun and sbatch check the options. slurmstepd asks nvqos in task_post_fork,
 * as root and with the task's pid. It writes its verdict into memory that the
 * task waits for in task_init, just before the task becomes its program. So no
 * program starts without the verdict, in whatever order Slurm makes the two
 * calls, and also if plugstack.conf calls the plugin optional.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "account.h"
#include "arguments.h"
#include "hold.h"
#include "identity.h"
#include "job_limit.h"
#include "options.h"
#include "service.h"
#include "step.h"
#include "tpcs.h"
#include "verdict.h"

SPANK_PLUGIN(nvdebug, 1);

/*
 * These variables are static, because Slurm's callbacks get no pointer to
 * memory of the plugin.
 */
static struct arguments arguments;
static struct asked asked;
/* Why no option can be carried out; empty: there is no reason. */
static char broken[SENTENCE_SIZE];
static struct verdicts *verdicts;
static struct hold hold;
/*
 * nvqos once gave no answer, so the other tasks of the step do not wait for it.
 */
static bool gone;
/* The step has shards, which bound its goal and its TPCs. */
static bool has_shards;
/* The step has lines in the node's account, and has not ended. */
static bool is_accounted;
static time_t began;
/* The number of the step's tasks that have ended. */
static size_t ended;

static bool is_any_asked(void)
{
	for (int option = 0; option < OPTIONS; option++)
		if (asked.given[option])
			return true;
	return false;
}

/*
 * Takes an option. A bad value ends srun and sbatch at once. slurmstepd only
 * notes it, and refuses the tasks later.
 */
static int take(int option, const char *value, int remote)
{
	char sentence[SENTENCE_SIZE];

	/*
	 * This is the last callback in which sbatch can be ended, so the
	 * options are also checked together.
	 */
	if (arguments_allow(&arguments, (enum option)option, sentence) &&
	    asked_add(&asked, (enum option)option, value, sentence) &&
	    (remote || asked_check(&asked, sentence)))
		return ESPANK_SUCCESS;
	if (remote) {
		asked.given[option] = true;
		memcpy(broken, sentence, sizeof(broken));
		return ESPANK_SUCCESS;
	}
	slurm_spank_log("nvdebug: %s", sentence);
	return ESPANK_BAD_ARG;
}

static struct spank_option options[] = {
	{"gpu-share", "PART",
	 "at least this part of the GPU's time, as 30%, while the job has work for it",
	 1, OPTION_SHARE, take},
	{"gpu-cap", "PART",
	 "at most this part of the GPU's time, as 50%, also on an idle GPU", 1,
	 OPTION_CAP, take},
	{"gpu-tpcs", "NUMBER",
	 "for each task TPCs of its own, 8, or a part of the GPU, 25%", 1,
	 OPTION_TPCS, take},
	{"gpu-timeslice", "TIME",
	 "how long the job has the GPU at a time, as 500us", 1,
	 OPTION_TIMESLICE, take},
	{"gpu-latency", NULL, "the job has the GPU first", 0, OPTION_LATENCY,
	 take},
	{"gpu-best-effort", "WEIGHT",
	 "what others leave of the GPU, by weight (1)", 2, OPTION_BEST_EFFORT,
	 take},
	{"gpu-gang", "off",
	 "off: the job's tasks on several GPUs do not wait for each other", 1,
	 OPTION_GANG, take},
};

int slurm_spank_init(spank_t spank, int count, char *words[])
{
	const spank_context_t context = spank_context();

	if (!arguments_read(&arguments, count, words, broken))
		slurm_error("nvdebug: %s", broken);
	if (context != S_CTX_LOCAL && context != S_CTX_REMOTE &&
	    context != S_CTX_ALLOCATOR)
		return ESPANK_SUCCESS;
	for (size_t at = 0; at < sizeof(options) / sizeof(*options); at++) {
		if (spank_option_register(spank, &options[at]) ==
		    ESPANK_SUCCESS)
			continue;
		slurm_error("nvdebug: Slurm refuses the option --%s",
			    options[at].name);
		return ESPANK_ERROR;
	}
	return ESPANK_SUCCESS;
}

static int prepare(spank_t spank)
{
	uint32_t tasks = 0;

	if ((!is_any_asked() && !arguments.shards) || step_is_extern(spank))
		return ESPANK_SUCCESS;
	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) ==
		    ESPANK_SUCCESS &&
	    tasks)
		verdicts = verdicts_make(tasks);
	if (!verdicts)
		slurm_error("nvdebug: no memory for the verdicts of %u tasks: they are not started",
			    tasks);
	return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char *words[])
{
	(void)count;
	(void)words;
	return spank_context() == S_CTX_REMOTE ? prepare(spank) :
						 ESPANK_SUCCESS;
}

/* Turns shards into a share or a bound, if plugstack.conf has their number. */
static bool fit_shards(spank_t spank, const struct step *step,
		       char sentence[static SENTENCE_SIZE])
{
	const struct shards shards = {
		.count = arguments.shards ? step_shards(spank) : 0,
		.per_gpu = arguments.shards,
		.gpus = step->gpus.count ? step->gpus.count : 1,
	};

	has_shards = shards.count != 0;
	return !has_shards ||
	       asked_fit(&asked, &shards, verdicts->tasks, sentence);
}

/* Limits the goal by the file of plugstack.conf, if it names one. */
static bool fit_limits(const struct step *step,
		       char sentence[static SENTENCE_SIZE])
{
	struct identity identity;
	struct limit limit;
	FILE *file;
	bool is_read;
	static bool is_fit;

	if (!arguments.limits || !is_any_asked() || is_fit)
		return true;
	file = fopen(arguments.limits, "re");
	if (!file) {
		snprintf(sentence, SENTENCE_SIZE,
			 "plugstack.conf has limits=%.200s, which cannot be read on this node: %s",
			 arguments.limits, strerror(errno));
		return false;
	}
	is_read = identity_ask(step->job, &identity);
	if (!is_read)
		snprintf(sentence, SENTENCE_SIZE,
			 "slurmctld does not give the job's account, on which its limit depends: try again");
	is_read = is_read && limit_read(file, arguments.limits, &identity,
					&limit, sentence);
	fclose(file);
	is_fit = is_read && limit_fit(&limit, arguments.limits, &asked,
				      verdicts->tasks, sentence);
	/* slurmctld is asked once for a step, also if it is refused. */
	if (!is_fit)
		memcpy(broken, sentence, sizeof(broken));
	return is_fit;
}

static bool without_nvqos(char sentence[static SENTENCE_SIZE])
{
	char why[SENTENCE_SIZE];

	memcpy(why, sentence, sizeof(why));
	gone = true;
	snprintf(sentence, SENTENCE_SIZE,
		 "nvqos does not answer at %.108s on this node: %.200s. %s",
		 arguments.service.path, why,
		 arguments.best_effort ?
			 "The job runs without its goal" :
			 "Its administrator starts it with 'systemctl start nvqos'");
	return arguments.best_effort;
}

/*
 * Sends the request for a task. If nvqos does not take the name for the tasks on
 * several nodes, the step has a hold of its own: another step may have that
 * name for other GPUs, and an earlier nvqos does not know gang=nodes.
 */
static enum answer send_hold(pid_t task, char sentence[static SENTENCE_SIZE])
{
	char line[LINE_SIZE];
	enum answer answer;

	if (!hold_line(&hold, task, line)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "the step has too many GPUs for one request to nvqos");
		return ANSWER_ERROR;
	}
	answer = service_ask(&arguments.service, line, sentence, SENTENCE_SIZE);
	if (answer != ANSWER_ERROR || !hold.is_joined || hold.held ||
	    hold.inherited)
		return answer;
	hold_leave_nodes(&hold);
	return send_hold(task, sentence);
}

/* Asks nvqos for the goal. Returns whether the task may start. */
static bool ask(pid_t task, const struct step *step,
		char sentence[static SENTENCE_SIZE])
{
	char goal[GOAL_SIZE];

	if (gone) {
		sentence[0] = 0;
		return arguments.best_effort;
	}
	/*
	 * Only jobs with a GPU can have shards, so a step without a GPU has no
	 * part of their time.
	 */
	if (!step->gpus.count && (!arguments.all_gpus || arguments.shards)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "Slurm gives the step no GPU to have a part of: add --gres=gpu:1, or leave the --gpu-… options out");
		return false;
	}
	if (step->has_mig) {
		snprintf(sentence, SENTENCE_SIZE,
			 "Slurm gives the step a part of a GPU (MIG), and goals are for whole GPUs: leave the --gpu-… options out, or ask for a GPU without MIG");
		return false;
	}
	if (!hold.held) {
		asked_goal(&asked, step->nodes > 1, goal, sizeof(goal));
		hold_prepare(&hold, step, goal, asked.from_shards,
			     &arguments.service);
	}
	if (has_shards && *hold.beside) {
		snprintf(sentence, SENTENCE_SIZE,
			 "the job's script has %s of its shards already, and its steps have a part in that: leave the --gpu-… options out of the step, or have the same as the script",
			 hold.beside);
		return false;
	}
	switch (send_hold(task, sentence)) {
	case ANSWER_OK:
		/*
		 * The first task's sentence, on what the share depends on, is
		 * for the user. More tasks, and steps in the share of a batch
		 * script, would only repeat it.
		 */
		if (hold.held || hold.inherited)
			sentence[0] = 0;
		if (!hold.held)
			hold_publish(&hold, step);
		hold.held = true;
		return true;
	case ANSWER_NONE:
		return without_nvqos(sentence);
	default:
		return false;
	}
}

static bool decide(spank_t spank, pid_t task,
		   char sentence[static SENTENCE_SIZE])
{
	struct step step;

	sentence[0] = 0;
	if (!step_read(spank, &step)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "Slurm does not give the numbers of the job and its step");
		return false;
	}
	if (!*broken && (!asked_check(&asked, sentence) ||
			 !fit_shards(spank, &step, sentence) ||
			 !fit_limits(&step, sentence)))
		return false;
	if (!is_any_asked())
		return true;
	if (*broken) {
		memcpy(sentence, broken, sizeof(broken));
		return false;
	}
	if (asked.given[OPTION_GANG] && !asked_has_goal(&asked)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "--gpu-gang says how a goal is kept, and the step has none: add one, as --gpu-share=30%%");
		return false;
	}
	return !asked_has_goal(&asked) || ask(task, &step, sentence);
}

int slurm_spank_task_post_fork(spank_t spank, int count, char *words[])
{
	char sentence[SENTENCE_SIZE];
	int number = 0;
	pid_t task = 0;
	bool granted;

	(void)count;
	(void)words;
	if (!verdicts)
		return ESPANK_SUCCESS;
	if (spank_get_item(spank, S_TASK_ID, &number) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_TASK_PID, &task) != ESPANK_SUCCESS ||
	    number < 0 || (size_t)number >= verdicts->tasks) {
		slurm_error("nvdebug: Slurm does not give a task's number: it is not started");
		return ESPANK_SUCCESS;
	}
	granted = decide(spank, task, sentence);
	verdict_give(&verdicts->task[number], granted, sentence);
	if (granted && arguments.account && *hold.name && !hold.inherited &&
	    !is_accounted) {
		is_accounted = true;
		began = time(NULL);
		account_write(&hold, &arguments.service, began, NULL, false);
	}
	return ESPANK_SUCCESS;
}

/*
 * Prints why the task's program is not started. Only the first sentence of a
 * step is printed.
 */
static void print_once(const char *sentence)
{
	if (*sentence &&
	    (!verdicts || !atomic_flag_test_and_set(&verdicts->printed)))
		dprintf(STDERR_FILENO, "nvdebug: %s\n", sentence);
}

static void refuse(const char *sentence)
{
	print_once(sentence);
	_exit(1);
}

int slurm_spank_task_init(spank_t spank, int count, char *words[])
{
	char sentence[SENTENCE_SIZE];
	struct verdict *verdict;
	int number = 0;

	(void)count;
	(void)words;
	if (!verdicts && !is_any_asked())
		return ESPANK_SUCCESS;
	if (!verdicts ||
	    spank_get_item(spank, S_TASK_ID, &number) != ESPANK_SUCCESS ||
	    number < 0 || (size_t)number >= verdicts->tasks)
		refuse("slurmstepd could not ask for the task's goal (its log has the reason): the program was not started");
	verdict = &verdicts->task[number];
	if (!verdict_wait(verdict, arguments.service.timeout_ms *
					   (int)(verdicts->tasks + 1)))
		refuse("slurmstepd has not asked nvqos in time: the program was not started");
	if (!verdict->granted)
		refuse(verdict->sentence);
	print_once(verdict->sentence);
	if (asked.given[OPTION_TPCS] &&
	    !tpcs_take(spank, asked.value[OPTION_TPCS], arguments.nvtaskset,
		       sentence))
		refuse(sentence);
	return ESPANK_SUCCESS;
}

/* Asks nvqos what the step got, and writes its last lines. */
static void account(void)
{
	char line[LINE_SIZE], entries[ENTRIES_SIZE];
	bool is_known;

	if (!is_accounted)
		return;
	is_accounted = false;
	snprintf(line, sizeof(line), "report %s words", hold.name);
	is_known = hold.held && service_ask(&arguments.service, line, entries,
					    sizeof(entries)) == ANSWER_OK;
	account_write(&hold, &arguments.service, began,
		      is_known ? entries : NULL, true);
}

static void release(void)
{
	char line[LINE_SIZE], sentence[ENTRIES_SIZE];

	account();
	if (!hold.held || hold.inherited)
		return;
	hold.held = false;
	hold_withdraw(&hold);
	/* A hold that others may have joined ends with its last slurmstepd. */
	snprintf(line, sizeof(line), "%s %s",
		 hold.is_joined ? "report" : "release", hold.name);
	switch (service_ask(&arguments.service, line, sentence,
			    sizeof(sentence))) {
	case ANSWER_OK:
		if (*sentence)
			slurm_spank_log("nvdebug: %s", sentence);
		break;
	case ANSWER_NONE:
		slurm_spank_log("nvdebug: nvqos ended while the step ran, and with it the goal %s: %s",
				hold.goal, sentence);
		break;
	default:
		slurm_spank_log("nvdebug: the goal %s was not kept until the end: %s",
				hold.goal, sentence);
	}
}

/*
 * Waits a moment after a failed task. srun ends a step of which a task has
 * failed, and reads no more output of it. So the line about the goal must
 * arrive before srun learns of the task's end.
 */
static void let_line_pass(spank_t spank)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	int status = 0;

	if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) !=
		    ESPANK_SUCCESS ||
	    status)
		nanosleep(&pause, NULL);
}

/*
 * The hold is released here, because in slurm_spank_exit() no line reaches the
 * user's terminal.
 */
int slurm_spank_task_exit(spank_t spank, int count, char *words[])
{
	(void)count;
	(void)words;
	if (!verdicts || ++ended < verdicts->tasks ||
	    (!hold.held && !is_accounted))
		return ESPANK_SUCCESS;
	release();
	let_line_pass(spank);
	return ESPANK_SUCCESS;
}

/* Releases the hold also if the step ends before its tasks have begun. */
int slurm_spank_exit(spank_t spank, int count, char *words[])
{
	(void)spank;
	(void)count;
	(void)words;
	if (spank_context() == S_CTX_REMOTE)
		release();
	return ESPANK_SUCCESS;
}
