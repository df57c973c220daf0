/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Test results as KTAP (Documentation/dev-tools/ktap.rst of the kernel). Each
 * test runs in a process of its own, so it may drop privileges or die without
 * harm to the tests after it.
 */
#ifndef KTAP_H
#define KTAP_H

#include <errno.h>
#include <string.h>

#define __printf(text, first) __attribute__((format(printf, text, first)))
#define __noreturn __attribute__((noreturn))

enum ktap_status { KTAP_PASS = 0, KTAP_FAIL = 1, KTAP_SKIP = 4 };

/*
 * For main(): version and plan, the result of a test, totals. ktap_finish()
 * returns the exit status.
 */
void ktap_plan(unsigned int tests);
enum ktap_status ktap_run(const char *name, void (*test)(const void *subject),
			  const void *subject);
void ktap_result(enum ktap_status status, const char *name);
int ktap_finish(void);
/* Replaces all of these functions if the whole program has nothing to test. */
int ktap_skip_all(const char *reason);

/* For tests: prints a line of diagnosis. */
__printf(1, 2) void ktap_note(const char *format, ...);
/* Prints the first line that differs, which is clearer than two long texts. */
void ktap_note_difference(const char *expected, const char *text);
__printf(3, 4) void ktap_failure(const char *file, int line,
				 const char *format, ...);
/*
 * Ends a process that takes longer, because it hangs. A slow kernel is given
 * more time.
 */
void ktap_alarm(unsigned long seconds);
/*
 * For tests that may take long: starts the alarm again, as the test does not
 * hang.
 */
void ktap_alive(void);
/* Ends the process of the test with its result so far. */
__noreturn void ktap_end(void);
__noreturn __printf(1, 2) void ktap_skip(const char *format, ...);

/*
 * The test fails if the condition does not hold. EXPECT goes on, ASSERT ends
 * the test.
 */
#define EXPECT(condition, ...)                                      \
	do {                                                        \
		if (!(condition))                                   \
			ktap_failure(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)
#define ASSERT(condition, ...)                                      \
	do {                                                        \
		if (!(condition)) {                                 \
			ktap_failure(__FILE__, __LINE__, __VA_ARGS__); \
			ktap_end();                                 \
		}                                                   \
	} while (0)

/*
 * Start and await more processes of a test. The child runs the code that
 * follows and ends with ktap_end(). Once it was waited for, its failure is the
 * test's. Its skip is not, unless the caller ends with ktap_end_as().
 */
int ktap_fork(void); /* like fork(), but ends the test when it fails */
enum ktap_status ktap_wait(int pid);
__noreturn void ktap_end_as(enum ktap_status status);

#endif
