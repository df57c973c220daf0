// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/stgm/generate.hpp"

#include <charconv>
#include <sys/random.h>

#include "command.hpp"
#include "forms.hpp"

namespace nvstgm {
namespace {

Answer<Exit> run_generate(const Arguments &arguments) {
    stgm::Table table;
    const auto sms = number_of(arguments, "--sms", 13, 1, stgm::limit::sms);
    const auto cores = number_of(arguments, "--cores", 0, 1, stgm::limit::cores);
    const auto tasks = number_of(arguments, "--tasks", 0, 1, stgm::limit::tasks);
    // std::random_device would need a C library as new as the compiler's.
    std::uint32_t any = 0;
    if (getrandom(&any, sizeof(any), 0) != sizeof(any))
        return fail(failed, "the kernel has no random numbers (getrandom); give one with --seed");
    const auto seed =
        number_of(arguments, "--seed", static_cast<std::int64_t>(any & 0x7fffffff), 0);
    for (const auto *const one : {&sms, &cores, &tasks, &seed})
        if (!*one)
            return fail(one->error());
    table.sms = static_cast<std::uint32_t>(*sms);
    if (arguments.has("--cores"))
        table.cores = static_cast<std::uint32_t>(*cores);
    if (arguments.has("--tasks"))
        table.tasks = static_cast<std::uint32_t>(*tasks);
    if (arguments.has("--utilisation")) {
        const std::string typed = arguments.text("--utilisation");
        double value = 0;
        const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
        if (error != std::errc() || end != typed.data() + typed.size() ||
            !(value > 0 && value < 4096))
            return fail("--utilisation takes a number above 0, not '" + printable(typed) + "'");
        table.utilisation = value;
    }
    if (arguments.text("--kernels", "full") == "one")
        table.reading = stgm::Reading::one;
    stgm::Random random(static_cast<std::uint64_t>(*seed));
    const auto set = stgm::generate(table, random);
    if (!set)
        return fail(set.error());
    say("seed " + std::to_string(*seed));
    return write(stgm::to_json(*set).dump(1) + "\n").map([] { return done; });
}

} // namespace

Command generate_command() {
    return {
        {"generate",
         "makes a task set at random, by the paper's Table I",
         {},
         {{"--seed", "the same set for the same seed (default: any; it is printed)", "N"},
          {"--cores", "processor cores (default: 2 to 4)", "N"},
          {"--sms", "of the GPU (default: 13)", "N"},
          {"--tasks", "so many (default: 2 to 4 for each core)", "N"},
          {"--utilisation",
           "of all tasks, by UUniFast-discard (default: each task's is 0.05 to 0.3)", "U"},
          {"--kernels",
           "a drawn kernel's length is that on all SMs, or on one",
           "HOW",
           "",
           {"full", "one"}}},
         "Nothing is allocated: 'nvstgm allocate -' does that. Kernels speed up with SMs by one of "
         "eight profiles,\n"
         "which are made up (docs/stgm.md).",
         {{"nvstgm generate --seed 7 | nvstgm allocate - -j", "is a set of Table I schedulable?"}}},
        run_generate};
}

} // namespace nvstgm
