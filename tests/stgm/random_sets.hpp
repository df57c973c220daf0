// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Small task sets at random, with times of a few ticks so that schedules vary a lot. */
#ifndef STGM_TESTS_RANDOM_SETS_HPP
#define STGM_TESTS_RANDOM_SETS_HPP

#include "lib/stgm/random.hpp"
#include "sets.hpp"

namespace stgm {

inline TaskSet random_set(Random &random) {
    TaskSet set{"tick",
                static_cast<std::uint32_t>(random.between(1, 3)),
                static_cast<std::uint32_t>(random.between(1, 4)),
                {}};
    const Time tasks = random.between(2, 6);
    for (Time n = 0; n < tasks; n++) {
        std::vector<Segment> segments;
        const Time count = random.between(1, 4);
        for (Time at = 0; at < count; at++)
            if (random.chance(50))
                segments.push_back(cpu(random.between(0, 4)));
            else
                segments.push_back(gpu(random.between(0, 3),
                                       {random.between(3, 6), random.between(0, 3)},
                                       random.between(0, 3)));
        std::vector<std::uint32_t> sms;
        for (std::uint32_t sm = 0; sm < set.sms; sm++)
            if (random.chance(40))
                sms.push_back(sm);
        if (sms.empty())
            sms.push_back(static_cast<std::uint32_t>(random.below(set.sms)));
        set.tasks.push_back(task(std::string(1, static_cast<char>('a' + n)),
                                 random.between(20, 120), std::move(segments),
                                 static_cast<std::uint32_t>(random.below(set.cores)), sms));
        if (random.chance(30))
            set.tasks.back().deadline = random.between(15, set.tasks.back().period);
    }
    return set;
}

} // namespace stgm

#endif
