// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Task sets of tests, from files and by short functions. */
#ifndef STGM_TESTS_SETS_HPP
#define STGM_TESTS_SETS_HPP

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "lib/stgm/analysis.hpp"

namespace stgm {

inline TaskSet set_of(const std::string &name) {
    std::ifstream file(SETS "/" + name + ".json");
    const auto set = parse(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!set)
        throw std::runtime_error(name + ": " + set.error());
    return *set;
}

inline std::size_t index_of(const TaskSet &set, const std::string &name) {
    for (std::size_t n = 0; n < set.tasks.size(); n++)
        if (set.tasks[n].name == name)
            return n;
    throw std::runtime_error("no task " + name);
}

inline Segment cpu(Time time) {
    return {.cpu = time};
}
inline Segment gpu(Time to_device, std::vector<Time> kernel, Time from_device) {
    return {.gpu = true,
            .to_device = to_device,
            .from_device = from_device,
            .kernel = std::move(kernel)};
}

inline std::optional<Time> bound_of(const TaskSet &set, const Options &options,
                                    const std::string &name) {
    return analyse(set, options)[index_of(set, name)].response;
}

/** Returns a task with the period as its deadline, without a priority of its own. */
inline Task task(const std::string &name, Time period, std::vector<Segment> segments,
                 std::uint32_t core, std::vector<std::uint32_t> sms = {}) {
    Task made{.name = name,
              .period = period,
              .deadline = period,
              .segments = std::move(segments),
              .core = core};
    if (made.uses_gpu())
        made.sms = std::move(sms);
    return made;
}

} // namespace stgm

#endif
