/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/**
 * @file
 * Makes your program a task of `nvstgm run SET --program NAME=COMMAND`. The program waits for its releases, and its
 * copies and kernels wait for the copies and kernels of other tasks, by the protocol of docs/stgm-design.md. This
 * header is for C, and stgm_task.hpp for C++. Link with -lnvstgm_task, a static library that needs only the C library.
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
 * the segments of the file, in their order, or fewer; between GPU segments it is on the CPU. A segment, copy or kernel
 * that takes longer than in the file is counted, and breaks the bounds. Between the begin and the end of a copy or
 * kernel, the program waits until it is complete. The program then allocates nothing, and uses neither managed memory
 * nor the default stream. When a process ends, it releases all that it holds.
 *
 * Each function returns 1, or -1 for an error. nvstgm_error() then returns a sentence, and the task is unchanged.
 */
#ifndef NVDEBUG_STGM_TASK_H
#define NVDEBUG_STGM_TASK_H

/** The environment variable by which a task's process finds the run. */
#define NVSTGM_TASK_VARIABLE "NVSTGM_TASK"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvstgm_task nvstgm_task;

/**
 * Becomes the task that this process was started as. Called once in a process, before it uses the GPU.
 * @param error gets a sentence if NULL is returned: the process was not started by `nvstgm run`, or by a version other
 *              than the library's, or there is no memory. May be NULL
 */
nvstgm_task *nvstgm_join(const char **error);

/**
 * Called when the GPU is open and everything is allocated. Waits until all tasks have called this, pins the calling
 * thread, and gives it its priority. If SCHED_FIFO is refused, `nvstgm run` prints a note.
 * @return 1: the set runs; 0: it was stopped before, and the program may end; -1: an error
 */
int nvstgm_ready(nvstgm_task *task);

/**
 * Ends the present job, if there is one, and waits for the release of the next job.
 * @return 1: the job was released; 0: there are no more jobs; -1: an error: a segment, copy or kernel has not ended, or
 *         nvstgm_ready() has not returned 1
 */
int nvstgm_next_job(nvstgm_task *task);

/** Lets a task of higher priority have the core within a CPU segment. Where Linux has the priorities, it does nothing.
 *  Where tasks hand cores to each other (`--priorities`), a CPU segment without such calls blocks tasks of higher
 *  priority, and no bound counts that. Takes some 50 ns. */
int nvstgm_point(nvstgm_task *task);

/** Begins the job's next GPU segment. Fails if the file has no more segments. */
int nvstgm_segment_begin(nvstgm_task *task);
/** Ends the GPU segment. Fails if a copy or a kernel has not ended. */
int nvstgm_segment_end(nvstgm_task *task);

/** Waits for the copy engine. @p to_device 1: a copy to the GPU, 0: a copy from it. Fails outside of a GPU segment, in
 *  another copy or a kernel, and if the file has no such copy in this segment. */
int nvstgm_copy_begin(nvstgm_task *task, int to_device);
/** Called when the copy is complete. Releases the copy engine. */
int nvstgm_copy_end(nvstgm_task *task);

/** Waits for kernels of other tasks that share a TPC with this task and asked earlier. Fails like a copy. */
int nvstgm_kernel_begin(nvstgm_task *task);
/** Called when the kernel is complete. Lets the next kernel begin. */
int nvstgm_kernel_end(nvstgm_task *task);

/** Returns the sentence of the last call that returned -1. It is valid until the next call that does. */
const char *nvstgm_error(const nvstgm_task *task);

/** Called before the program ends, and frees @p task. A task that ends without this call is reported to have ended too
 *  early. */
void nvstgm_leave(nvstgm_task *task);

#ifdef __cplusplus
}
#endif

#endif
