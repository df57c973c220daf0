// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"

#include <limits>
#include <span>

using namespace nvdebug;

namespace {

Result<std::vector<Target>> targets_of(std::span<const nvd_target> channels) {
    std::vector<Target> targets;
    for (const nvd_target &channel : channels) {
        std::optional<std::uint32_t> runlist;
        if (channel.runlist > std::numeric_limits<std::uint32_t>::max() || channel.runlist < -1)
            return tl::unexpected(Error{ErrorCode::invalid, 0, "",
                                        "a target's runlist is no number of one; give -1 to have "
                                        "it found"});
        if (channel.runlist >= 0)
            runlist = static_cast<std::uint32_t>(channel.runlist);
        targets.push_back({runlist, channel.id});
    }
    return targets;
}

using MakeRequest = Request (*)(std::span<const Target>);

Result<Request> request_of(MakeRequest make, const nvd_target *channels, size_t count) {
    if (count > 0 && !channels)
        return tl::unexpected(Error{ErrorCode::invalid, 0, "", c::null_pointer});
    return targets_of(std::span(channels, count)).map(make);
}

nvd_error *perform(const nvd_gpu *gpu, MakeRequest make, const nvd_target *channels, size_t count) {
    return c::guarded(
        [&] {
            auto done = request_of(make, channels, count).and_then([&](const Request &request) {
                return gpu->gpu.perform(request);
            });
            return done ? nullptr : c::error_of(std::move(done).error());
        },
        gpu);
}

} // namespace

nvd_error *nvd_channels_disable(const nvd_gpu *gpu, const nvd_target *channels, size_t count) {
    return perform(gpu, disable_channels, channels, count);
}

nvd_error *nvd_channels_enable(const nvd_gpu *gpu, const nvd_target *channels, size_t count) {
    return perform(gpu, enable_channels, channels, count);
}

nvd_error *nvd_lease_disable(const nvd_gpu *gpu, const nvd_target *channels, size_t count,
                             nvd_lease **ret) {
    return c::guarded(
        [&] {
            return c::hand_over(
                request_of(disable_channels, channels, count).and_then([&](const Request &request) {
                    return gpu->gpu.lease(request);
                }),
                ret);
        },
        gpu, ret);
}

void nvd_lease_end(nvd_lease *lease) {
    delete lease;
}
