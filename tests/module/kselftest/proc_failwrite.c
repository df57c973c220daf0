// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Every allocation and every copy from user space of controls and leases fails
 * in turn. The request is refused with an errno for that and nothing is
 * changed, or all of it is done. The end of a lease needs nothing that could
 * fail. Needs a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults.h"
#include "leases.h"
#include "ops.h"
#include "options.h"
#include "state.h"
#include "suite.h"

#define OFTEN_ROUNDS 12
#define OFTEN_PERCENT 12

/* A request, and the GPU's state before and after it. */
struct trial {
	const struct gpu *gpu;
	const struct request *request;
	struct state before, after;
};

/*
 * Blanks the addresses of a list of the module's own, since the list is
 * somewhere else each time.
 */
static void forget_address(const struct trial *trial, struct state *state)
{
	char *at = state->text;

	if (strcmp(trial->request->file, SWITCH))
		return;
	while ((at = strstr(at, "Address: ")))
		for (; *at && *at != '\n'; at++)
			*at = ' ';
}

static struct trial trial_begin(const struct gpu *gpu,
				const struct request *request)
{
	struct trial trial = { .gpu = gpu, .request = request };

	/* Otherwise there would be nothing to enable. */
	if (!strcmp(request->file, ENABLE))
		control(gpu, DISABLE, request->text);
	trial.before = state_read(gpu);
	ASSERT(!control(gpu, request->file, request->text), "%s: %s",
	       request->file, strerror(errno));
	trial.after = state_read(gpu);
	forget_address(&trial, &trial.after);
	state_restore(gpu, &trial.before);
	state_expect(gpu, &trial.before, "when it was put back");
	return trial;
}

static void trial_end(struct trial *trial)
{
	if (!strcmp(trial->request->file, ENABLE))
		control(trial->gpu, ENABLE, trial->request->text);
	state_free(&trial->before);
	state_free(&trial->after);
}

static void expect_before(const struct trial *trial, const struct faults *walk)
{
	char when[80];

	snprintf(when, sizeof(when), "%s with failure %u", trial->request->file,
		 walk->nth);
	state_expect(trial->gpu, &trial->before, when);
}

static void expect_after(const struct trial *trial, const struct faults *walk)
{
	struct state now = state_read(trial->gpu);

	forget_address(trial, &now);
	if (strcmp(trial->after.text, now.text)) {
		EXPECT(false, "%s is not done with failure %u",
		       trial->request->file, walk->nth);
		ktap_note_difference(trial->after.text, now.text);
	}
	state_free(&now);
}

/* Expects that all of the request was done, or nothing of it. */
static void expect_either(const struct trial *trial, const struct faults *walk,
			  int error)
{
	if (error)
		expect_before(trial, walk);
	else
		expect_after(trial, walk);
}

static void walk_control(const struct gpu *gpu, const struct request *request)
{
	struct trial trial = trial_begin(gpu, request);
	struct faults walk;

	for (walk = faults_walk(); faults_more(&walk);) {
		int error;

		faults_arm(&walk);
		error = control(gpu, request->file, request->text);
		faults_disarm(&walk);
		faults_count(&walk, error, request->file);
		expect_either(&trial, &walk, error);
		if (!error)
			state_restore(gpu, &trial.before);
	}
	trial_end(&trial);
}

static void test_control(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count;

	faults_need();
	count = need_requests(gpu, requests);
	for (size_t i = 0; i < count; i++)
		walk_control(gpu, &requests[i]);
	faults_note();
}

static void walk_lease(const struct gpu *gpu, const struct request *request)
{
	struct trial trial = trial_begin(gpu, request);
	struct faults walk;

	for (walk = faults_walk(); faults_more(&walk);) {
		int error = 0, fd;

		faults_arm(&walk);
		fd = gpu_open(gpu, request->file, O_WRONLY);
		error = fd < 0 ? errno : lease_through(fd, request->text);
		faults_disarm(&walk);
		faults_count(&walk, error, request->file);
		expect_either(&trial, &walk, error);
		if (fd < 0)
			continue;
		close(fd);
		expect_before(&trial, &walk);
	}
	trial_end(&trial);
}

static void walk_end(const struct gpu *gpu, const struct request *request)
{
	struct trial trial = trial_begin(gpu, request);
	struct faults walk;

	for (walk = faults_walk(); faults_more(&walk);) {
		int fd = lease(gpu, request->file, request->text), error;

		faults_arm(&walk);
		error = close(fd) ? errno : 0;
		faults_disarm(&walk);
		faults_count(&walk, error, request->file);
		expect_before(&trial, &walk);
	}
	trial_end(&trial);
}

static void test_lease(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count;

	faults_need();
	count = need_leases(gpu, requests);
	for (size_t i = 0; i < count; i++)
		walk_lease(gpu, &requests[i]);
	faults_note();
}

static void test_end(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count;

	faults_need();
	count = need_leases(gpu, requests);
	for (size_t i = 0; i < count; i++)
		walk_end(gpu, &requests[i]);
	faults_note();
}

/* Expects that the answer is the same as without failures. */
static void expect_answer(const struct op *op, const char *text)
{
	char *steady;

	if (!text)
		return;
	steady = op_steady(op, text);
	if (strcmp(op->expected, steady)) {
		EXPECT(false, "%s: another text among failures", op->file);
		ktap_note_difference(op->expected, steady);
	}
	free(steady);
}

/*
 * Failures are frequent here, so the code that puts things back after a failure
 * fails as well.
 */
static void test_often(const struct gpu *gpu)
{
	static struct op ops[OPS_MAX];
	struct state before = state_read(gpu);
	size_t count, rounds, refused = 0;

	faults_need();
	count = ops_find(gpu, ops);
	state_restore(gpu, &before);
	rounds = OFTEN_ROUNDS * count / faults_every;
	for (size_t i = 0; i < rounds; i++) {
		const struct op *op = &ops[i % count];
		char *text;
		int error;

		faults_often(1 + i % OFTEN_PERCENT);
		error = op_run(gpu, op, &text);
		faults_never();
		ktap_alive();
		refused += !!error;
		EXPECT(!error || faults_errno(error), "%s among failures: %s",
		       op->file, strerror(error));
		expect_answer(op, text);
		free(text);
		if (op->kind == OP_CONTROL && !error)
			state_restore(gpu, &before);
		if (op->kind >= OP_CONTROL)
			state_expect(gpu, &before, op->request);
	}
	ktap_note("%zu requests among failures, %zu refused", rounds, refused);
}

static const struct suite_test tests[] = {
	{ "control", "each control", test_control, SUITE_CONTROLS },
	{ "lease", "taking a lease", test_lease, SUITE_CONTROLS },
	{ "end", "the end of a lease", test_end, SUITE_CONTROLS },
	{ "often", "any request, with many failures", test_often,
	  SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	static const struct option options[] = { { "--every", &faults_every } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
