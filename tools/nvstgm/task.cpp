// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "device.hpp"
#include "forms.hpp"
#include "lib/stgm/participant.hpp"
#include "nvdebug/stgm_task.h"
#include "running.hpp"

namespace nvstgm {
namespace {

using stgm::Time;

/// Work of a given length on the CPU: turns of a loop, whose time measure() finds.
class Cpu {
  public:
    void measure() {
        constexpr std::int64_t turns = 200'000;
        std::array<double, 31> took{};
        for (double &one : took) {
            const Time begin = stgm::now_ns();
            turn(turns);
            one = static_cast<double>(stgm::now_ns() - begin) / static_cast<double>(turns);
        }
        // The lower quartile leaves out measurements in which another process took the CPU, and is
        // nearly the same in each run.
        std::ranges::sort(took);
        ns_per_turn_ = std::max(took[took.size() / 4], 1e-3);
    }

    /// Works for @p ns, in parts of @p part_ns, and calls @p between after each part.
    template <typename Between>
    void work(Time ns, Time part_ns, Between &&between) const {
        for (; ns > 0; ns -= part_ns) {
            turn(static_cast<std::int64_t>(static_cast<double>(std::min(ns, part_ns)) /
                                           ns_per_turn_));
            between();
        }
    }

  private:
    static void turn(std::int64_t turns) {
        for (; turns > 0; turns--)
            asm volatile("" : "+r"(turns));
    }

    double ns_per_turn_ = 1;
};

class Runner {
  public:
    explicit Runner(stgm::Participant &self)
        : self_(self),
          // A task with a CPU of its own polls, to notice stalls. Other tasks do not need its CPU,
          // even while its core is free in the protocol.
          device_((self.ways().gpu ? cuda_device : clock_device)(
              self.ways().busy || (self.ways().handed && self.plan().own_cpu),
              [this] { self_.look(); })) {}

    Outcome<void> run() {
        if (uses_gpu())
            if (const auto opened = device_->open(); !opened)
                return opened;
        if (!self_.opened())
            return {};
        if (const int error = self_.pin())
            return fail(std::string("it cannot be pinned to its core: ") + std::strerror(error));
        // Tasks prepare one after the other, so that no measurement includes another task's work.
        self_.begin_preparing();
        const auto prepared = prepare();
        self_.end_preparing();
        if (!prepared)
            return prepared;
        if (!self_.ready(true))
            return {};
        while (self_.next_job())
            for (std::size_t n = 0; n < self_.plan().steps; n++)
                if (const auto did = segment(n); !did)
                    return did;
        return {};
    }

  private:
    struct Works {
        std::optional<std::size_t> in, kernel, out;
    };

    bool uses_gpu() const { return self_.plan().tpcs > 0; }

    Outcome<void> prepare() {
        cpu_.measure();
        for (std::size_t n = 0; n < self_.plan().steps; n++) {
            const stgm::Lengths &work = self_.step(n).work;
            Works works;
            const auto put = [](Outcome<std::size_t> made, std::optional<std::size_t> &where) {
                return made.map([&](std::size_t number) { where = number; });
            };
            if (work.to_device)
                if (const auto made = put(device_->prepare_copy(true, work.to_device), works.in);
                    !made)
                    return made;
            if (work.kernel)
                if (const auto made =
                        put(device_->prepare_kernel(self_.plan().tpcs, work.kernel), works.kernel);
                    !made)
                    return made;
            if (work.from_device)
                if (const auto made =
                        put(device_->prepare_copy(false, work.from_device), works.out);
                    !made)
                    return made;
            works_.push_back(works);
        }
        return {};
    }

    Outcome<void> segment(std::size_t n) {
        if (!self_.step(n).gpu) {
            constexpr Time part_ns = 10'000;
            self_.begin_cpu(n);
            const Time all = self_.step(n).work.cpu;
            cpu_.work(all, self_.ways().handed ? part_ns : std::max<Time>(all, 1),
                      [this] { self_.point(); });
            self_.end_cpu();
            return {};
        }
        self_.begin_segment(n);
        auto did = works_[n].in ? copy(true, *works_[n].in) : Outcome<void>();
        if (did && works_[n].kernel)
            did = kernel(*works_[n].kernel);
        if (did && works_[n].out)
            did = copy(false, *works_[n].out);
        self_.end_segment();
        return did;
    }

    Outcome<void> copy(bool to_device, std::size_t work) {
        self_.begin_copy(to_device);
        const auto did = device_->copy(work);
        self_.end_copy();
        return did;
    }

    Outcome<void> kernel(std::size_t work) {
        self_.begin_kernel();
        auto did = device_->launch(work);
        if (did)
            did = device_->complete();
        self_.end_kernel();
        return did;
    }

    stgm::Participant &self_;
    std::unique_ptr<Device> device_;
    Cpu cpu_;
    std::vector<Works> works_;
};

} // namespace

int be_task(const std::vector<std::string> &words) {
    const char *const place = std::getenv(NVSTGM_TASK_VARIABLE);
    stgm::Participant self;
    if (const char *const wrong =
            words.size() == 1 ? self.join(place) : "__task is for 'nvstgm run'") {
        say(wrong);
        return failed;
    }
    const auto did = Runner(self).run();
    if (!did) {
        say("task '" + words[0] + "': " + did.error());
        return failed;
    }
    self.ended();
    return done;
}

} // namespace nvstgm
