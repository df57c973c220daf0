// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"
#include "nvdebug/answers.hpp"

#include <map>

using namespace nvdebug;

struct nvd_runlist {
    explicit nvd_runlist(Runlist read) : list(std::move(read)), channels(channels_of(list)) {
        for (const TsgShare &share : expected_shares(list))
            shares.emplace(share.tsg, share.share);
        for (const RunlistItem &item : list.items)
            if (const auto *const tsg = std::get_if<Tsg>(&item))
                tsgs.push_back(tsg);
    }
    nvd_runlist(const nvd_runlist &) = delete;
    nvd_runlist &operator=(const nvd_runlist &) = delete;

    std::size_t entry_of(const Tsg *tsg) const {
        return static_cast<std::size_t>(std::find(tsgs.begin(), tsgs.end(), tsg) - tsgs.begin());
    }

    Runlist list;
    std::vector<const Tsg *> tsgs;
    std::vector<ListedChannel> channels;
    std::map<std::uint32_t, std::optional<double>> shares;
};

nvd_error *nvd_runlist_read(const nvd_gpu *gpu, uint32_t id, nvd_runlist **ret) {
    return c::guarded([&] { return c::hand_over(gpu->gpu.runlist(id, Detail::brief), ret); }, gpu,
                      ret);
}

void nvd_runlist_destroy(nvd_runlist *runlist) {
    delete runlist;
}

nvd_error *nvd_runlist_get(const nvd_runlist *runlist, nvd_runlist_state *ret) {
    return c::guarded(
        [&] {
            const Runlist &from = runlist->list;
            nvd_runlist_state state{};
            state.id = from.id;
            state.entries = from.entries;
            state.tsgs = c::number_of(from.tsgs);
            state.channels = c::number_of(from.channels);
            state.pending = from.pending;
            state.torn = from.torn;
            return c::copy_out(state, ret);
        },
        runlist, ret);
}

size_t nvd_runlist_tsg_count(const nvd_runlist *runlist) {
    return runlist->tsgs.size();
}

nvd_error *nvd_runlist_tsg(const nvd_runlist *runlist, size_t n, nvd_tsg *ret) {
    return c::guarded(
        [&] {
            if (n >= runlist->tsgs.size())
                return c::invalid(
                    "there are not as many TSGs; nvd_runlist_tsg_count() says how many");
            const Tsg &from = *runlist->tsgs[n];
            nvd_tsg tsg{};
            tsg.id = from.id;
            tsg.timeslice_ns = from.timeslice_ns;
            tsg.length = from.length;
            tsg.truncated = from.truncated;
            tsg.share = runlist->shares.at(from.id).value_or(-1);
            return c::copy_out(tsg, ret);
        },
        runlist, ret);
}

size_t nvd_runlist_channel_count(const nvd_runlist *runlist) {
    return runlist->channels.size();
}

nvd_error *nvd_runlist_channel(const nvd_runlist *runlist, size_t n, nvd_channel *ret) {
    return c::guarded(
        [&] {
            if (n >= runlist->channels.size())
                return c::invalid(
                    "there are not as many channels; nvd_runlist_channel_count() says how many");
            const auto [from, tsg] = runlist->channels[n];
            nvd_channel channel{};
            channel.id = from->id;
            channel.tsg = tsg ? std::int64_t{tsg->id} : -1;
            channel.tsg_entry = tsg ? static_cast<std::int64_t>(runlist->entry_of(tsg)) : -1;
            channel.enabled = c::flag_of(from->enabled);
            channel.busy = c::flag_of(from->busy);
            c::copy_string(from->status_name, channel.status);
            const Place &place = from->instance_place;
            channel.has_instance = place.address && place.aperture;
            channel.instance_address = place.address.value_or(0);
            if (place.aperture)
                c::copy_string(std::string(name_of(*place.aperture)), channel.instance_aperture);
            return c::copy_out(channel, ret);
        },
        runlist, ret);
}
