// SPDX-License-Identifier: MIT OR GPL-2.0
// A Participant for C programs. A call in a wrong place is an error. Programs mark GPU segments
// only; the time between them is a CPU segment.
#include "nvdebug/stgm_task.h"

#include <cstdlib>
#include <new>

#include "participant.hpp"

namespace {

enum class Place { joined, ready, job, segment, copy, kernel };

} // namespace

struct nvstgm_task {
    stgm::Participant self;
    Place place = Place::joined;
    std::size_t next = 0; ///< the segment that comes next in the job
    std::size_t segment = 0;
    bool on_cpu = false;
    const char *error = "";

    int fail(const char *sentence) {
        error = sentence;
        return -1;
    }

    /// Begins a CPU segment. Consecutive CPU segments of the file count as one, because the program
    /// does not mark where the next begins.
    void enter_cpu() {
        on_cpu = next < self.plan().steps && !self.step(next).gpu;
        if (on_cpu)
            self.begin_cpu(next);
        while (next < self.plan().steps && !self.step(next).gpu)
            next++;
    }
    void leave_cpu() {
        if (on_cpu)
            self.end_cpu();
        on_cpu = false;
    }
};

extern "C" {

nvstgm_task *nvstgm_join(const char **error) {
    const char *wrong = "there is no memory for the task";
    void *const room = std::malloc(sizeof(nvstgm_task));
    if (room) {
        auto *const task = new (room) nvstgm_task;
        wrong = task->self.join(std::getenv(NVSTGM_TASK_VARIABLE));
        if (!wrong)
            return task;
        std::free(room);
    }
    if (error)
        *error = wrong;
    return nullptr;
}

int nvstgm_ready(nvstgm_task *task) {
    if (task->place != Place::joined)
        return task->fail("nvstgm_ready: it was called before");
    if (!task->self.opened())
        return 0;
    if (task->self.pin())
        return task->fail("nvstgm_ready: the thread cannot be pinned to the task's CPU");
    if (!task->self.ready(false))
        return 0;
    task->place = Place::ready;
    return 1;
}

int nvstgm_next_job(nvstgm_task *task) {
    if (task->place != Place::ready && task->place != Place::job)
        return task->fail(task->place == Place::joined
                              ? "nvstgm_next_job: nvstgm_ready() was not called before"
                              : "nvstgm_next_job: a GPU segment has not ended");
    task->leave_cpu();
    task->place = Place::ready;
    if (!task->self.next_job())
        return 0;
    task->place = Place::job;
    task->next = 0;
    task->enter_cpu();
    return 1;
}

int nvstgm_point(nvstgm_task *task) {
    if (task->place != Place::job)
        return task->fail("nvstgm_point: no job is in a CPU segment");
    task->self.point();
    return 1;
}

int nvstgm_segment_begin(nvstgm_task *task) {
    if (task->place != Place::job)
        return task->fail(task->place < Place::job
                              ? "nvstgm_segment_begin: there is no job"
                              : "nvstgm_segment_begin: the GPU segment before has not ended");
    if (task->next >= task->self.plan().steps)
        return task->fail(
            "nvstgm_segment_begin: the file has no further GPU segment for this task");
    task->leave_cpu();
    task->segment = task->next++;
    task->self.begin_segment(task->segment);
    task->place = Place::segment;
    return 1;
}

int nvstgm_segment_end(nvstgm_task *task) {
    if (task->place != Place::segment)
        return task->fail(task->place < Place::segment
                              ? "nvstgm_segment_end: no GPU segment has begun"
                              : "nvstgm_segment_end: a copy or a kernel has not ended");
    task->self.end_segment();
    task->place = Place::job;
    task->enter_cpu();
    return 1;
}

int nvstgm_copy_begin(nvstgm_task *task, int to_device) {
    if (task->place != Place::segment)
        return task->fail(task->place < Place::segment
                              ? "nvstgm_copy_begin: no GPU segment has begun"
                              : "nvstgm_copy_begin: a copy or a kernel has not ended");
    const stgm::Lengths &may = task->self.step(task->segment).may;
    if (!(to_device ? may.to_device : may.from_device))
        return task->fail(
            to_device ? "nvstgm_copy_begin: the file has no copy to the device in this segment"
                      : "nvstgm_copy_begin: the file has no copy from the device in this segment");
    task->self.begin_copy(to_device != 0);
    task->place = Place::copy;
    return 1;
}

int nvstgm_copy_end(nvstgm_task *task) {
    if (task->place != Place::copy)
        return task->fail("nvstgm_copy_end: no copy has begun");
    task->self.end_copy();
    task->place = Place::segment;
    return 1;
}

int nvstgm_kernel_begin(nvstgm_task *task) {
    if (task->place != Place::segment)
        return task->fail(task->place < Place::segment
                              ? "nvstgm_kernel_begin: no GPU segment has begun"
                              : "nvstgm_kernel_begin: a copy or a kernel has not ended");
    if (!task->self.step(task->segment).may.kernel)
        return task->fail("nvstgm_kernel_begin: the file has no kernel in this segment");
    task->self.begin_kernel();
    task->place = Place::kernel;
    return 1;
}

int nvstgm_kernel_end(nvstgm_task *task) {
    if (task->place != Place::kernel)
        return task->fail("nvstgm_kernel_end: no kernel has begun");
    task->self.end_kernel();
    task->place = Place::segment;
    return 1;
}

const char *nvstgm_error(const nvstgm_task *task) {
    return task->error;
}

void nvstgm_leave(nvstgm_task *task) {
    if (task->place <= Place::ready)
        task->self.ended();
    std::free(task);
}

} // extern "C"
