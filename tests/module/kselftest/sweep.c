// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE /* strerrorname_np() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klog.h"
#include "ktap.h"
#include "model.h"
#include "module.h"
#include "ops.h"
#include "pci.h"
#include "state.h"
#include "sweep.h"

/*
 * The most lines in the log: those of a lease that is taken, and that can
 * restore nothing at its end.
 */
#define LINES_MAX 7
/*
 * Accesses until a deadline: it is a second, and each look takes a few dozen
 * microseconds.
 */
#define ACCESSES_AWAITED 400000
#define ACCESSES_MORE 2000
/*
 * The first of the chosen accesses moves by so many from one operation to the
 * next.
 */
#define TURN 7

unsigned long sweep_points = 8;

static unsigned long number_in(const char *reply, const char *key)
{
	const char *at = strstr(reply, key);

	ASSERT(at, "the model does not say %s", key);
	return strtoul(at + strlen(key) + 2, NULL, 10);
}

unsigned long sweep_fault_end(int model, unsigned long *hits)
{
	const char *reply = model_ask(model, "fault none");

	if (hits)
		*hits = number_in(reply, "hits");
	return number_in(reply, "accesses");
}

void sweep_fault_begin(int model, const struct sweep_fault *fault,
		       unsigned long n)
{
	char spec[100];

	if (fault->whole)
		snprintf(spec, sizeof(spec), "%s", fault->spec);
	else
		snprintf(spec, sizeof(spec), fault->spec, n);
	sweep_fault_end(model, NULL);
	model_ask(model, "fault %s", spec);
}

static bool is_among(int error, const int *errnos)
{
	for (; *errnos; errnos++)
		if (*errnos == error)
			return true;
	return false;
}

static bool is_allowed(const struct sweep_fault *fault, const struct op *op,
		       int error)
{
	bool reads = op->kind == OP_READ || op->kind == OP_ASK;

	return !error || is_among(error, reads ? fault->read : fault->write);
}

size_t sweep_log_lines(const char *what, int log, char **said)
{
	size_t lines = klog_lines(log, said);

	for (const char *at = *said; (at = strstr(at, what)); at++)
		lines--;
	return lines;
}

/* Returns whether the log says that something could not be restored. */
static bool is_said(const char *log)
{
	static const char *const phrases[] = {
		"failed to restore", "may still", "nothing is put back", "are left to",
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
		if (strstr(log, phrases[i]))
			return true;
	return false;
}

struct attempt {
	const struct gpu *gpu;
	const struct sweep_fault *fault;
	const struct op *op;
	unsigned long n, whole; /* access n of whole */
	int model, log, error;
	char *text, *said;
	unsigned long hits, accesses;
	size_t lines;
};

static void attempt_make(struct attempt *a)
{
	ktap_alarm(SWEEP_DEADLINE_S);
	sweep_fault_begin(a->model, a->fault, a->n);
	a->error = op_run(a->gpu, a->op, &a->text);
	a->accesses = sweep_fault_end(a->model, &a->hits);
	a->lines = sweep_log_lines("callbacks suppressed", a->log, &a->said);
}

static const char *name_of(const struct attempt *a)
{
	static char name[300];

	snprintf(name, sizeof(name), "%s: %s %s \"%s\", access %lu of %lu",
		 a->fault->spec, op_kind_names[a->op->kind], a->op->file,
		 a->op->request, a->n, a->whole);
	return name;
}

/* Returns whether a box or a line has a note that its values are missing. */
static bool owns_up(const char *text)
{
	return strstr(text, "unreadable") || strstr(text, "mig: unknown") ||
	       strstr(text, "confidential_computing: unknown");
}

static void attempt_judge(const struct attempt *a)
{
	unsigned long most = a->fault->slow || a->fault->awaits ?
			     ACCESSES_AWAITED :
			     a->fault->times * a->whole + ACCESSES_MORE;
	char *steady;

	EXPECT(is_allowed(a->fault, a->op, a->error), "%s: %s", name_of(a),
	       strerror(a->error));
	EXPECT(a->lines <= LINES_MAX, "%s: %zu lines in the log: %s",
	       name_of(a), a->lines, a->said);
	EXPECT(a->accesses <= most, "%s: %lu accesses, more than %lu",
	       name_of(a), a->accesses, most);
	if (!a->text || a->fault->lies)
		return;
	steady = op_steady(a->op, a->text);
	if (strcmp(steady, a->op->expected) && !owns_up(steady)) {
		EXPECT(false, "%s: not what it is", name_of(a));
		ktap_note_difference(a->op->expected, steady);
	}
	free(steady);
}

/*
 * Expects that a failed request has changed nothing, or that the log says so.
 */
static void judge_state(const struct attempt *a, const struct state *before,
			const struct state *now)
{
	if (a->fault->lies || is_said(a->said) ||
	    (!a->error && a->op->kind != OP_LEASE))
		return;
	EXPECT(false, "%s: %s, but not as it was", name_of(a),
	       strerror(a->error));
	ktap_note_difference(before->text, now->text);
	ktap_note("the log: %s", a->said);
}

/*
 * Expects the driver's state, or a line in the log that says otherwise. Then
 * restores the driver's state.
 */
static void expect_state(const struct attempt *a, const struct state *before)
{
	bool readable = state_is_readable(a->gpu);
	struct state now = { 0 };

	EXPECT(readable || is_said(a->said), "%s: %s, and lists are unreadable",
	       name_of(a), strerror(a->error));
	if (readable) {
		now = state_read(a->gpu);
		if (!strcmp(now.text, before->text)) {
			state_free(&now);
			return;
		}
		judge_state(a, before, &now);
		state_free(&now);
	}
	model_ask(a->model, "restart");
	state_restore(a->gpu, before);
	state_expect(a->gpu, before, "after the fault");
}

/* The module has given up the GPU's controls: only a reload ends that. */
static bool is_given_up(const struct attempt *a)
{
	return strstr(a->said, "all controls of this GPU fail");
}

static void reload(const struct attempt *a, const struct state *before)
{
	model_ask(a->model, "restart");
	module_must_unload();
	module_must_load("");
	expect_files(a->gpu, "after the module was loaded again");
	state_restore(a->gpu, before);
	state_expect(a->gpu, before, "after the module was loaded again");
}

static void expect_works(const struct attempt *a)
{
	struct attempt again = *a;
	char *steady;

	again.error = op_run(a->gpu, a->op, &again.text);
	EXPECT(!again.error, "%s: afterwards: %s", name_of(a),
	       strerror(again.error));
	if (again.text) {
		steady = op_steady(a->op, again.text);
		EXPECT(!strcmp(steady, a->op->expected),
		       "%s: not as before afterwards", name_of(a));
		free(steady);
	}
	free(again.text);
}

static void count(struct sweep_tally *tally, const struct attempt *a)
{
	tally->injected++;
	tally->survived[a->op->kind][a->error & 255]++;
	if (a->accesses > tally->accesses)
		tally->accesses = a->accesses;
	if (a->lines > tally->lines)
		tally->lines = a->lines;
}

static bool changes(const struct op *op)
{
	return op->kind == OP_CONTROL || op->kind == OP_LEASE;
}

/*
 * Makes all accesses of one operation go wrong in turn, or some of them, and
 * other ones in each turn.
 */
static void sweep(struct attempt *a, const struct state *before, size_t turn,
		  struct sweep_tally *tally)
{
	unsigned long limit = sweep_points ? sweep_points : ~0UL, step;

	if (a->fault->whole)
		limit = 1;
	else if (a->fault->slow)
		limit = limit / 100 + 1;
	step = a->whole > limit ? (a->whole + limit - 1) / limit : 1;
	/* A fault that is repeated after n accesses needs an n above 0. */
	a->n = a->fault->moves + turn * TURN % step;
	for (; a->n < a->whole; a->n += step) {
		klog_lines(a->log, &a->said);
		free(a->said);
		attempt_make(a);
		attempt_judge(a);
		if (is_given_up(a))
			reload(a, before);
		else if (changes(a->op) || a->fault->moves)
			expect_state(a, before);
		if (!changes(a->op))
			expect_works(a);
		if (a->hits)
			count(tally, a);
		free(a->text);
		free(a->said);
	}
}

void sweep_note(const struct gpu *gpu, const struct sweep_fault *fault,
		 const struct sweep_tally *tally)
{
	char text[400];
	int used = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		for (int error = 0; error < 256; error++)
			if (tally->survived[kind][error] && used < 350)
				used += snprintf(text + used,
						 sizeof(text) - (size_t)used,
						 ", %s %s %lu",
						 op_kind_names[kind],
						 error ? strerrorname_np(error) :
							 "none",
						 tally->survived[kind][error]);
	ktap_note("%s: %s: %lu faults%s; at most %lu accesses, %lu lines",
		  gpu->name, fault->spec, tally->injected, used ? text : "",
		  tally->accesses, tally->lines);
}

/* Returns how many accesses the operation takes without a fault. */
static unsigned long accesses_of(const struct gpu *gpu, int model,
				 const struct op *op,
				 const struct state *before)
{
	unsigned long accesses;
	char *text;

	sweep_fault_end(model, NULL);
	op_run(gpu, op, &text);
	accesses = sweep_fault_end(model, NULL);
	free(text);
	if (changes(op))
		state_restore(gpu, before);
	return accesses;
}

void sweep_faults(const struct gpu *gpu, const struct sweep_fault *faults,
		      size_t fault_count)
{
	static struct op ops[OPS_MAX];
	static unsigned long whole[OPS_MAX];
	int model = model_open(gpu), log = klog_open();
	struct state before;
	size_t op_count;

	model_ask(model, "fault none");
	model_ask(model, "restart");
	before = state_read(gpu);
	op_count = ops_find(gpu, ops);
	for (size_t i = 0; i < op_count; i++)
		whole[i] = accesses_of(gpu, model, &ops[i], &before);
	for (size_t f = 0; f < fault_count; f++) {
		struct sweep_tally tally = { 0 };

		for (size_t i = 0; i < op_count; i++) {
			struct attempt a = {
				.gpu = gpu, .fault = &faults[f], .op = &ops[i],
				.model = model, .log = log, .whole = whole[i],
			};

			sweep(&a, &before, f * op_count + i, &tally);
		}
		sweep_note(gpu, &faults[f], &tally);
		EXPECT(tally.injected || faults[f].some, "%s: nothing was hit",
		       faults[f].spec);
	}
	model_ask(model, "violations reset");
}

void sweep_words(const struct gpu *gpu, const struct sweep_fault *like,
			const char *const *words, size_t count)
{
	struct sweep_fault faults[64];

	ASSERT(count <= sizeof(faults) / sizeof(*faults), "too many words");
	for (size_t i = 0; i < count; i++) {
		faults[i] = *like;
		snprintf(faults[i].spec, sizeof(faults[i].spec), like->spec,
			 words[i]);
	}
	sweep_faults(gpu, faults, count);
}
