// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief stgm_task.h for C++17. Where a function there returns an error, std::runtime_error with
/// the sentence is thrown here.
///
///     nvstgm::Task task;
///     … open the GPU, allocate, warm up …
///     if (task.ready())
///         while (task.next_job()) {
///             prepare();                           // a CPU segment
///             task.segment([&] {
///                 task.copy_to_device([&] { … });  // returns when the copy is complete
///                 task.kernel([&] { … });
///                 task.copy_from_device([&] { … });
///             });
///         }
#pragma once

#include <stdexcept>
#include <utility>

#include "nvdebug/stgm_task.h"

namespace nvstgm {

/// A task of a running set. If the given work throws, the segment, copy or kernel is ended first.
class Task {
  public:
    /// Joins the set (nvstgm_join()).
    Task() {
        const char *error = nullptr;
        task_ = nvstgm_join(&error);
        if (!task_)
            throw std::runtime_error(error);
    }
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;
    ~Task() { nvstgm_leave(task_); }

    /// Waits until all tasks are ready. @return false: the run was stopped before it began
    [[nodiscard]] bool ready() { return did(nvstgm_ready(task_)); }
    /// Waits for the next job. @return false: there are no more jobs
    [[nodiscard]] bool next_job() { return did(nvstgm_next_job(task_)); }
    /// Lets tasks of higher priority have the core (nvstgm_point()).
    void point() { did(nvstgm_point(task_)); }

    /// Runs the work of a GPU segment.
    template <typename Work>
    void segment(Work &&work) {
        did(nvstgm_segment_begin(task_));
        with(std::forward<Work>(work), nvstgm_segment_end);
    }
    /// Waits for the copy engine, and runs the work, which returns when the copy is complete.
    template <typename Work>
    void copy_to_device(Work &&work) {
        did(nvstgm_copy_begin(task_, 1));
        with(std::forward<Work>(work), nvstgm_copy_end);
    }
    /// Does the same for a copy from the GPU.
    template <typename Work>
    void copy_from_device(Work &&work) {
        did(nvstgm_copy_begin(task_, 0));
        with(std::forward<Work>(work), nvstgm_copy_end);
    }
    /// Waits for the task's turn, and runs the work, which returns when the kernel is complete.
    template <typename Work>
    void kernel(Work &&work) {
        did(nvstgm_kernel_begin(task_));
        with(std::forward<Work>(work), nvstgm_kernel_end);
    }

  private:
    bool did(int status) {
        if (status < 0)
            throw std::runtime_error(nvstgm_error(task_));
        return status > 0;
    }
    template <typename Work>
    void with(Work &&work, int (*end)(nvstgm_task *)) {
        try {
            std::forward<Work>(work)();
        } catch (...) {
            end(task_);
            throw;
        }
        did(end(task_));
    }

    nvstgm_task *task_ = nullptr;
};

} // namespace nvstgm
