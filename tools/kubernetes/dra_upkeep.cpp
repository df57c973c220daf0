// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_upkeep.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace nvdebug::kubernetes {
namespace {

using std::chrono::seconds;

/// The slice and the claims are compared so often although nothing has changed here, because others
/// may have changed them.
constexpr seconds next_look{5};
/// Changes that come one after the other are written together.
constexpr seconds least_pause{1};
constexpr seconds longest_pause{8};

std::vector<KeptGpu> gpus_in(const Json &devices) {
    std::vector<KeptGpu> gpus;
    for (const Json &device : devices) {
        const Json::json_pointer index("/attributes/index/int");
        if (!device.contains(index) || !device.at(index).is_number_unsigned())
            continue;
        KeptGpu gpu;
        gpu.number = device.at(index).get<std::uint32_t>();
        gpu.uuid = base::text_at(device, "/attributes/uuid/string");
        gpu.address = base::text_at(device, "/attributes/pciBusID/string");
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

} // namespace

DraUpkeep::DraUpkeep(const ApiServer &api, Claims &claims, SliceSettings slice,
                     ReportSettings report)
    : claims_(claims), settings_(slice), publisher_(api, std::move(slice.node), log),
      reporter_(api, std::move(report), log), view_{fail(base::exit_status::failed,
                                                         "nvqos was not asked yet")},
      thread_([this] { work(); }) {}

DraUpkeep::~DraUpkeep() {
    end();
}

void DraUpkeep::end() {
    {
        const std::scoped_lock held(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void DraUpkeep::remove_slice() {
    end();
    if (const auto removed = publisher_.remove(); !removed)
        log(removed.error().sentence);
}

void DraUpkeep::take(const NvqosView &view) {
    const std::scoped_lock held(mutex_);
    view_ = view;
    is_changed_ = true;
    changed_.notify_all();
}

void DraUpkeep::wake() {
    const std::scoped_lock held(mutex_);
    is_changed_ = true;
    changed_.notify_all();
}

ApiOutcome<void> DraUpkeep::find_gpus(const NvqosView &view) {
    if (view.state)
        known_ = view.state->gpus;
    if (!known_.empty() || has_looked_for_left_)
        return {};
    // While nvqos is away, the slice of an earlier driver gets its taints.
    const auto left = publisher_.left_devices();
    constexpr int not_there = 404;
    if (!left && left.error().status != not_there)
        return tl::unexpected(left.error());
    has_looked_for_left_ = true;
    if (left)
        known_ = gpus_in(*left);
    return {};
}

ApiOutcome<void> DraUpkeep::work_once(const NvqosView &view) {
    ApiOutcome<void> first;
    // A refusal of one object keeps the others from nothing. Without a server each would take long.
    const auto attempt = [&](auto &&work) {
        if (!first && first.error().status == ApiError::no_answer)
            return false;
        ApiOutcome<void> done;
        try {
            done = work();
        } catch (const Json::exception &error) {
            done = tl::unexpected(
                ApiError{.sentence = fmt::format(
                             "an object of the API server is not understood: {}", error.what())});
        }
        if (!done && first)
            first = done;
        return done.has_value();
    };
    attempt([&] { return find_gpus(view); });
    has_removed_stale_ = has_removed_stale_ || attempt([&] { return publisher_.remove_stale(); });
    if (view.state || !known_.empty())
        attempt([&] {
            return publisher_.publish(
                devices_of(view, known_, tainted_since_, Clock::now(), settings_));
        });
    has_forgotten_ = has_forgotten_ || attempt([&] { return claims_.forget_deleted(); });
    attempt([&] { return reporter_.report(claims_.all(), view, Clock::now()); });
    return first;
}

void DraUpkeep::work() {
    Logged logged;
    seconds pause = least_pause;
    for (std::unique_lock held(mutex_); !ending_;) {
        is_changed_ = false;
        const NvqosView view = view_;
        held.unlock();
        const auto done = work_once(view);
        if (done)
            logged.clear();
        else
            logged(done.error().sentence);
        held.lock();
        pause = done ? least_pause : std::min(2 * pause, longest_pause);
        changed_.wait_for(held, pause, [&] { return ending_; });
        if (done)
            changed_.wait_for(held, next_look - least_pause,
                              [&] { return ending_ || is_changed_; });
    }
}

} // namespace nvdebug::kubernetes
