// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <csignal>
#include <unistd.h>

#include "device.hpp"
#include "forms.hpp"
#include "running.hpp"
#include "lib/stgm/levels.hpp"

namespace nvstgm {
namespace {

using stgm::Time;
using stgm::What;

constexpr Time ns_per_us = 1000, poll_ns = 1'000'000, look_ns = 50'000'000;

/** Work on the CPU, of a length: turns of a loop, whose time is measured. */
class Cpu {
  public:
    void measure() {
        constexpr std::int64_t turns = 200'000;
        std::array<double, 31> took{};
        for (double &one : took) {
            const Time begin = now_ns();
            turn(turns);
            one = static_cast<double>(now_ns() - begin) / static_cast<double>(turns);
        }
        // Slower than most: what another process took away is not counted.
        std::ranges::sort(took);
        ns_per_turn_ = std::max(took[3 * took.size() / 4], 1e-3);
    }

    void work(Time ns) const { turn(static_cast<std::int64_t>(static_cast<double>(ns) / ns_per_turn_)); }

  private:
    static void turn(std::int64_t turns) {
        for (; turns > 0; turns--)
            asm volatile("" : "+r"(turns));
    }

    double ns_per_turn_ = 1;
};

class Runner {
  public:
    Runner(Shared &shared, const stgm::TaskSet &set, std::size_t number)
        : shared_(shared), set_(set), task_(set.tasks[number]), number_(number), progress_(shared.tasks[number]),
          ways_(shared.ways), events_(shared.events(number)), levels_(stgm::levels_of(set)[number]),
          device_(ways_.gpu ? cuda_device(ways_.busy) : clock_device(ways_.busy)) {}

    Outcome<void> run() {
        if (task_.uses_gpu())
            if (const auto opened = device_->open(); !opened)
                return opened;
        progress_.phase = Phase::opened;
        while (!shared_.opened && !shared_.stop)
            sleep_until(now_ns() + poll_ns);
        if (const auto pinned = pin(); !pinned)
            return pinned;
        // One after the other, so that none measures the others.
        shared_.preparing.take(number_, false);
        const auto prepared = prepare();
        shared_.preparing.leave(number_);
        if (!prepared)
            return prepared;
        at_level(levels_.base);
        progress_.phase = Phase::ready;
        while (!shared_.begin && !shared_.stop)
            sleep_until(now_ns() + poll_ns);
        return shared_.begin ? jobs() : Outcome<void>();
    }

  private:
    Outcome<void> pin() {
        // This thread alone: those of CUDA stay where the process was started.
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(progress_.cpu), &one);
        if (sched_setaffinity(0, sizeof one, &one) < 0)
            return fail(std::string("it cannot be pinned to its core: ") + std::strerror(errno));
        return {};
    }

    /** Percent of the file's length that the work takes. */
    Time shortened(Time us) const {
        return us * ns_per_us * ways_.stretch / 100 * (100 - ways_.margin) / 100;
    }

    Outcome<void> prepare() {
        cpu_.measure();
        for (const stgm::Segment &segment : task_.segments) {
            Works works;
            if (segment.gpu) {
                const std::size_t tpcs = task_.sms->size();
                works.length = segment.kernel_on(tpcs) * ns_per_us;
                const auto put = [](Outcome<std::size_t> made, std::optional<std::size_t> &where) {
                    return made.map([&](std::size_t work) { where = work; });
                };
                if (segment.to_device)
                    if (const auto made = put(device_->prepare_copy(true, shortened(segment.to_device)), works.in); !made)
                        return made;
                if (works.length)
                    if (const auto made = put(device_->prepare_kernel(tpcs, shortened(segment.kernel_on(tpcs))), works.kernel);
                        !made)
                        return made;
                if (segment.from_device)
                    if (const auto made = put(device_->prepare_copy(false, shortened(segment.from_device)), works.out); !made)
                        return made;
            }
            works_.push_back(works);
        }
        return {};
    }

    void at_level(int level) {
        const sched_param wanted{.sched_priority = level};
        if (!progress_.refused && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) < 0)
            progress_.refused = errno;
    }

    Time now() const { return now_ns() - shared_.begin; }

    void note(What what, Time at, std::size_t segment = 0) {
        if (!ways_.trace)
            return;
        if (progress_.events == shared_.events_each)
            progress_.lost++;
        else
            events_[progress_.events++] = {at, job_, static_cast<std::uint32_t>(segment), what};
    }

    Outcome<void> jobs() {
        const Time period = task_.period * ns_per_us, deadline = task_.deadline * ns_per_us;
        for (Time release = progress_.offset; release < shared_.duration; release += period, job_++) {
            // A signal could be waited for; a look now and then cannot be missed.
            while (!shared_.stop && now() < release - look_ns)
                sleep_until(now_ns() + look_ns / 2);
            if (shared_.stop)
                break;
            // What is left over of a system that is overloaded does not keep it for long.
            if (now() > shared_.duration + period) {
                progress_.misses += static_cast<std::uint64_t>((shared_.duration - release + period - 1) / period);
                break;
            }
            while (now() < release)
                sleep_until(shared_.begin + release);
            note(What::release, release);
            for (std::size_t n = 0; n < task_.segments.size(); n++)
                if (const auto did = segment(n); !did)
                    return did;
            const Time end = now(), response = end - release;
            note(What::finish, end);
            progress_.jobs++;
            progress_.misses += response > deadline;
            progress_.response = std::max(progress_.response, response);
        }
        return {};
    }

    Outcome<void> segment(std::size_t n) {
        const stgm::Segment &segment = task_.segments[n];
        if (!segment.gpu) {
            note(What::run, now(), n);
            cpu_.work(shortened(segment.cpu));
            note(What::stop, now(), n);
            return {};
        }
        note(What::segment_begin, now(), n);
        at_level(levels_.boosted);
        auto did = works_[n].in ? copy(n, *works_[n].in, segment.to_device) : Outcome<void>();
        if (did && works_[n].kernel)
            did = kernel(n);
        if (did && works_[n].out)
            did = copy(n, *works_[n].out, segment.from_device);
        at_level(levels_.base);
        note(What::segment_end, now(), n);
        return did;
    }

    Outcome<void> copy(std::size_t n, std::size_t work, Time us) {
        note(What::copy_ask, now(), n);
        shared_.copies.take(number_, ways_.busy || ways_.spin_copies);
        const Time begin = now();
        note(What::copy_begin, begin, n);
        const auto did = device_->copy(work);
        took(begin, us * ns_per_us, What::copy_end, n);
        shared_.copies.leave(number_);
        return did;
    }

    Outcome<void> kernel(std::size_t n) {
        if (!ways_.busy)
            at_level(levels_.launching);
        note(What::launch, now(), n);
        shared_.kernels.take(number_, ways_.busy);
        const Time begin = now();
        note(What::kernel_begin, begin, n);
        auto did = device_->launch(*works_[n].kernel);
        if (did)
            did = device_->complete();
        took(begin, works_[n].length, What::kernel_end, n);
        shared_.kernels.leave(number_);
        if (!ways_.busy) {
            // Behind those that are boosted already.
            at_level(levels_.boosted);
            sched_yield();
        }
        return did;
    }

    void took(Time begin, Time length, What what, std::size_t n) {
        const Time end = now();
        note(what, end, n);
        progress_.overruns += end - begin > length;
    }

    struct Works {
        std::optional<std::size_t> in, kernel, out;
        Time length = 0; ///< of the kernel, ns
    };

    Shared &shared_;
    const stgm::TaskSet &set_;
    const stgm::Task &task_;
    std::size_t number_;
    Progress &progress_;
    const Ways &ways_;
    Event *events_;
    stgm::Levels levels_;
    std::unique_ptr<Device> device_;
    Cpu cpu_;
    std::vector<Works> works_;
    std::size_t job_ = 0;
};

} // namespace

int be_task(const std::vector<std::string> &words) {
    const int descriptor = words.size() == 3 ? std::atoi(words[0].c_str()) : -1;
    struct stat file{};
    if (descriptor < 0 || fstat(descriptor, &file) < 0 || file.st_size < static_cast<off_t>(sizeof(Shared))) {
        say("__task is for 'nvstgm run'");
        return failed;
    }
    void *const at = mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) {
        say(std::string("no memory to share with 'nvstgm run': ") + std::strerror(errno));
        return failed;
    }
    // What CUDA starts does not inherit it.
    close(descriptor);
    Shared &shared = *static_cast<Shared *>(at);
    const auto number = static_cast<std::size_t>(std::atoi(words[1].c_str()));
    const auto set = stgm::parse({shared.text(static_cast<std::size_t>(std::atoi(words[2].c_str()))), shared.text_bytes});
    if (!set || number >= set->tasks.size()) {
        say("__task: no such task");
        return failed;
    }
    const auto did = Runner(shared, *set, number).run();
    if (!did) {
        say("task '" + set->tasks[number].name + "': " + did.error());
        return failed;
    }
    shared.tasks[number].phase = Phase::ended;
    return done;
}

} // namespace nvstgm
