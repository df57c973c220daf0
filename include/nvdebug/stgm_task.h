/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/**
 * @file
 * With this a program of one's own is a task of `nvstgm run SET --program NAME=COMMAND`: it waits for its releases, and
 * its copies and kernels for those of the other tasks, by the protocol of docs/stgm.md. For C; C++ has stgm_task.hpp.
 * Link with -lnvstgm_task (static; it needs the C library alone).
 *
 *     const char *error;
 *     nvstgm_task *task = nvstgm_join(&error);     (NULL: error is a sentence)
 *     … open the GPU, allocate, warm up …
 *     if (nvstgm_ready(task) == 1)
 *         while (nvstgm_next_job(task) == 1) {
 *             … the CPU segment …
 *             nvstgm_segment_begin(task);
 *             nvstgm_copy_begin(task, 1);   … copy, and wait for its end …     nvstgm_copy_end(task);
 *             nvstgm_kernel_begin(task);    … launch, and wait for its end …   nvstgm_kernel_end(task);
 *             nvstgm_copy_begin(task, 0);   …                                  nvstgm_copy_end(task);
 *             nvstgm_segment_end(task);
 *         }
 *     nvstgm_leave(task);
 *
 * All calls come from one thread, which nvstgm_ready() pins to the task's CPU and gives the task's priority. A job has
 * the segments of the file, in their order, or fewer; between GPU segments it is on the CPU. What takes longer than in
 * the file is counted, and no bound holds with it. Between the begin and the end of a copy or kernel the program waits
 * until it is complete; it allocates nothing, and uses neither managed memory nor the default stream. A process that
 * ends lets go of all that it holds.
 *
 * Returns are 1, or -1 for an error, which nvstgm_error() has as a sentence; the task is as before then.
 */
#ifndef NVDEBUG_STGM_TASK_H
#define NVDEBUG_STGM_TASK_H

/** In the environment of a task's process. */
#define NVSTGM_TASK_VARIABLE "NVSTGM_TASK"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvstgm_task nvstgm_task;

/**
 * Becomes the task that this process was started as. Once in a process, before it uses the GPU.
 * @param error where NULL is returned, a sentence why: the process was not started by `nvstgm run`; or by another
 *              version of it than the library's; or there is no memory. May be NULL
 */
nvstgm_task *nvstgm_join(const char **error);

/**
 * The GPU is open, and all is allocated. Waits until that is so for all tasks, pins the calling thread, and gives it
 * its priority. Where SCHED_FIFO is refused, `nvstgm run` prints that.
 * @return 1: the set runs; 0: it was stopped before, and the program may end; -1: an error
 */
int nvstgm_ready(nvstgm_task *task);

/**
 * Ends the job before, if there is one, and waits for the release of the next.
 * @return 1: it was released; 0: there is none any more; -1: an error: a segment, copy or kernel has not ended, or
 *         nvstgm_ready() has not returned 1
 */
int nvstgm_next_job(nvstgm_task *task);

/** A place in a CPU segment at which a task of higher priority may have the core. Where Linux has the priorities it
 *  does nothing; where tasks hand cores to each other (`--priorities`) a CPU segment without such places blocks those
 *  tasks, which no bound counts. Takes some 50 ns. */
int nvstgm_point(nvstgm_task *task);

/** The job comes to its next GPU segment. An error if the file has no more. */
int nvstgm_segment_begin(nvstgm_task *task);
/** An error if a copy or a kernel has not ended. */
int nvstgm_segment_end(nvstgm_task *task);

/** Waits for the copy engine. @p to_device 1: to the GPU, 0: from it. An error outside of a GPU segment, in another
 *  copy or a kernel, and if the file has no such copy in this segment. */
int nvstgm_copy_begin(nvstgm_task *task, int to_device);
/** The copy is complete. */
int nvstgm_copy_end(nvstgm_task *task);

/** Waits for the kernels that were asked for before and share a TPC with the task. Errors as of copies. */
int nvstgm_kernel_begin(nvstgm_task *task);
/** The kernel is complete. */
int nvstgm_kernel_end(nvstgm_task *task);

/** The error of the last call that returned -1, valid until the next one. */
const char *nvstgm_error(const nvstgm_task *task);

/** The program ends as it should; @p task is freed. A task that ends without is reported to have ended before its
 *  time. */
void nvstgm_leave(nvstgm_task *task);

#ifdef __cplusplus
}
#endif

#endif
