// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "tpcs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Finding out which TPCs a GPU has takes 0.6 s once, and nvtaskset may have to
 * start an MPS server.
 */
#define TIMEOUT_MS 60000
#define SMS_OF_TPC 2
#define PAGE_VARIABLE "NVTASKSET_PAGE"
/* The value of --gpu-tpcs by which a batch script's task has its page. */
#define OPTION_VARIABLE "NVDEBUG_SLURM_TPCS"

/*
 * A process of nvtaskset with cat as its command. It has printed a byte once
 * cat runs.
 */
struct holder {
	pid_t pid;
	int input, output;
};

static bool holder_start(struct holder *holder, char *const words[],
			 char **environment)
{
	int input[2], output[2];

	if (pipe2(input, O_CLOEXEC) < 0)
		return false;
	if (write(input[1], "\n", 1) != 1) {
		close(input[0]);
		close(input[1]);
		return false;
	}
	if (pipe2(output, O_CLOEXEC) < 0) {
		close(input[0]);
		close(input[1]);
		return false;
	}
	holder->pid = fork();
	if (holder->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execve(words[0], words, environment);
		dprintf(STDERR_FILENO, "nvdebug: %s: %s\n", words[0],
			strerror(errno));
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	holder->input = input[1];
	holder->output = output[0];
	if (holder->pid > 0)
		return true;
	close(holder->input);
	close(holder->output);
	return false;
}

/* Waits for the byte. Returns whether the command runs. */
static bool holder_wait(const struct holder *holder)
{
	struct pollfd ready = {.fd = holder->output, .events = POLLIN};
	char byte;
	int done;

	do
		done = poll(&ready, 1, TIMEOUT_MS);
	while (done < 0 && errno == EINTR);
	return done > 0 && read(holder->output, &byte, 1) == 1;
}

static void holder_end(const struct holder *holder)
{
	kill(holder->pid, SIGKILL);
	close(holder->input);
	close(holder->output);
	while (waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * Returns the process' environment as it is in memory; NULL: errno. The caller
 * frees it.
 */
static char *environment_of(pid_t pid, size_t *size)
{
	char name[32], *text = NULL;
	size_t room = 0, used = 0;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/environ", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t done;

		if (used + 1 >= room) {
			char *larger = realloc(text, room = room * 2 + 4096);

			if (!larger)
				break;
			text = larger;
		}
		done = read(fd, text + used, room - used - 1);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		used += (size_t)done;
	}
	close(fd);
	if (text)
		text[used] = 0;
	*size = used;
	return text;
}

/*
 * Opens the page of the process as a descriptor that the program inherits.
 * Writes the name that the page has then: PID:DESCRIPTOR:INODE.
 */
static bool take_page(pid_t pid, const char *page, char name[static 64])
{
	char path[64];
	struct stat seen;
	int number, fd, own;
	unsigned long long inode;

	if (sscanf(page, "%*d:%d:%llu", &number, &inode) != 2)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	own = fcntl(fd, F_DUPFD, number);
	close(fd);
	if (own < 0)
		return false;
	if (fstat(own, &seen) < 0 || seen.st_ino != inode) {
		close(own);
		return false;
	}
	snprintf(name, 64, "%d:%d:%llu", getpid(), own, inode);
	return true;
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Takes over the variables that nvtaskset has set for its command. */
static bool take_over(spank_t spank, pid_t pid, const char *option)
{
	size_t size = 0;
	char *text = environment_of(pid, &size), name[64];
	bool has_page = false;

	for (char *at = text, *next; at && at < text + size; at = next) {
		const char *value = strchr(at, '=');

		next = at + strlen(at) + 1;
		if (!value || !(begins_with(at, "NVTASKSET_") ||
				begins_with(at, "CUDA_")))
			continue;
		at[value++ - at] = 0;
		if (strcmp(at, PAGE_VARIABLE) == 0) {
			if (!take_page(pid, value, name))
				break;
			has_page = true;
			value = name;
		}
		if (spank_setenv(spank, at, value, 1) != ESPANK_SUCCESS) {
			has_page = false;
			break;
		}
	}
	free(text);
	return has_page &&
	       spank_setenv(spank, OPTION_VARIABLE, option, 1) ==
		       ESPANK_SUCCESS;
}

/*
 * Returns whether the script that started the step has the same option and
 * still has its TPCs. Then the step keeps these TPCs.
 */
static bool has_those_of_script(spank_t spank, const char *value)
{
	char text[64], path[64];
	int pid, number;
	unsigned long long inode;
	struct stat seen;

	if (spank_getenv(spank, OPTION_VARIABLE, text, sizeof(text)) !=
		    ESPANK_SUCCESS ||
	    strcmp(text, value) != 0 ||
	    spank_getenv(spank, PAGE_VARIABLE, text, sizeof(text)) !=
		    ESPANK_SUCCESS ||
	    sscanf(text, "%d:%d:%llu", &pid, &number, &inode) != 3)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	return stat(path, &seen) == 0 && seen.st_ino == inode;
}

bool tpcs_take(spank_t spank, const char *value, const char *nvtaskset,
	       char sentence[static SENTENCE_SIZE])
{
	char sms[VALUE_SIZE], **environment = NULL;
	char *words[] = {(char *)nvtaskset, "-x", "-s", sms, "/bin/cat",
			 NULL};
	struct holder holder;
	bool began, taken;

	if (has_those_of_script(spank, value))
		return true;
	if (strchr(value, '%'))
		snprintf(sms, sizeof(sms), "%s", value);
	else
		snprintf(sms, sizeof(sms), "%ld",
			 strtol(value, NULL, 10) * SMS_OF_TPC);
	errno = ENODATA;
	if (spank_get_item(spank, S_JOB_ENV, &environment) != ESPANK_SUCCESS ||
	    !holder_start(&holder, words, environment)) {
		snprintf(sentence, SENTENCE_SIZE,
			 "%s cannot be started for --gpu-tpcs: %s", nvtaskset,
			 strerror(errno));
		return false;
	}
	began = holder_wait(&holder);
	taken = began && take_over(spank, holder.pid, value);
	holder_end(&holder);
	if (!taken)
		snprintf(sentence, SENTENCE_SIZE,
			 "%s did not give the task --gpu-tpcs=%s%s", nvtaskset,
			 value,
			 began ? ": its page cannot be opened" :
				 "; its reason is above, if it has printed one within a minute");
	return taken;
}
