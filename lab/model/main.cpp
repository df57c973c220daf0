// SPDX-License-Identifier: MIT OR GPL-2.0
// Runs the lab on the GPU model, over the module's core, in one process. A request is a line of
// words on stdin, and its answer a line of JSON, as at the model's control socket.
#include "session.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <sstream>

namespace {

using lab::fail;
using lab::Json;
using lab::Session;
using nvmodel::Rules;
using Words = std::vector<std::string>;

/// A rule of the model that --break switches off, so that an experiment can show that it would
/// detect a GPU without the rule. docs/model.md says what each rule is.
struct Rule {
    const char *name;
    bool Rules::*kept;
};
constexpr Rule rules[] = {{"disabled_stop", &Rules::disabled_stop},
                          {"channels_limit", &Rules::channels_limit},
                          {"unlisted_stop", &Rules::unlisted_stop},
                          {"one_task", &Rules::one_task},
                          {"timeslices", &Rules::timeslices},
                          {"lists_independent", &Rules::lists_independent},
                          {"graphics_turns", &Rules::graphics_turns},
                          {"shared_pces", &Rules::shared_pces},
                          {"mps_one_task", &Rules::mps_one_task},
                          {"mps_channels", &Rules::mps_channels},
                          {"mps_sm_numbers", &Rules::mps_sm_numbers},
                          {"mps_partitions", &Rules::mps_partitions},
                          {"preemption_modes", &Rules::preemption_modes},
                          {"switch_costs", &Rules::switch_costs},
                          {"copy_queues", &Rules::copy_queues},
                          {"default_timeslices", &Rules::default_timeslices}};

std::string names_of_rules() {
    std::string all;
    for (const Rule &rule : rules)
        all += (all.empty() ? "" : ", ") + std::string(rule.name);
    return all;
}

void break_rule(const std::string &name, Rules &kept) {
    for (const Rule &rule : rules)
        if (name == rule.name) {
            kept.*rule.kept = false;
            return;
        }
    fail("there is no rule '" + name + "'; there are: " + names_of_rules());
}

template <typename Number>
Number number(const std::string &word) {
    const bool hex = word.starts_with("0x");
    const char *const end = word.data() + word.size();
    Number value = 0;
    const auto [at, error] =
        std::from_chars(word.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    if (error != std::errc() || at != end || at == word.data())
        fail("'" + word + "' is no number");
    return value;
}

lab::Pid pid(const std::string &word) {
    return number<lab::Pid>(word);
}

Json open(Session &session, const Words &words) {
    std::vector<char *> options;
    Words kept = words;
    std::map<std::string, std::string> environment;
    for (std::size_t n = 1; n < kept.size(); n++) {
        const auto at = kept[n].find('=');
        if (kept[n].starts_with("CUDA_") && at != std::string::npos)
            environment[kept[n].substr(0, at)] = kept[n].substr(at + 1);
        else
            options.push_back(kept[n].data());
    }
    lab::Options given(static_cast<int>(options.size()), options.data());
    return {{"pid", session.open(kept[0], given, environment)}};
}

/// Calls @p what with the number of each process that the words name.
template <typename Do>
Json each(const Words &words, Do what) {
    for (const std::string &word : words)
        what(pid(word));
    return Json::object();
}

Json preemption(Session &session, const Words &words) {
    using Mode = nvmodel::ComputePreemption;
    const std::map<std::string, Mode> modes{
        {"wfi", Mode::wfi}, {"cta", Mode::cta}, {"cilp", Mode::cilp}};
    const auto mode = modes.find(words[1]);
    if (mode == modes.end())
        fail("'" + words[1] + "' is no mode of preemption: wfi, cta or cilp");
    session.set_preemption(pid(words[0]), mode->second);
    return Json::object();
}

Json let_pass(Session &session, const Words &words) {
    constexpr std::uint64_t longest_us = 600'000'000;
    const auto us = number<std::uint64_t>(words[0]);
    if (us > longest_us)
        fail("600000000 microseconds at most");
    session.let_pass(static_cast<lab::Ns>(us) * nvmodel::ns_per_us);
    return {{"now_us", nvmodel::to_us(session.now())}};
}

Json registers(Session &session, const Words &words) {
    Json all = Json::array();
    for (const std::string &word : words)
        all.push_back(session.read_register(number<std::uint32_t>(word)));
    return {{"words", all}};
}

struct Request {
    const char *name;
    std::size_t least, most; // words
    const char *help;
    std::function<Json(Session &, const Words &)> perform;
};

constexpr std::size_t any = 1'000;

const Request requests[] = {
    {"open", 1, any, "INSTRUMENT [OPTION=VALUE]... [CUDA_NAME=VALUE]...: one more for the GPU",
     open},
    {"ready", 0, 0, "all that were opened are on the GPU, and wait",
     [](Session &session, const Words &) {
         session.ready();
         return Json::object();
     }},
    {"go", 1, any, "PID...: they start",
     [](Session &session, const Words &words) {
         return each(words, [&](lab::Pid one) { session.go(one); });
     }},
    {"finish", 1, 1, "PID: time passes until it ends; what it found",
     [](Session &session, const Words &words) {
         return Json{{"found", session.finish(pid(words[0]))}};
     }},
    {"end", 0, 0, "all are gone, and the GPU is another one",
     [](Session &session, const Words &) {
         session.end();
         return Json::object();
     }},
    {"advance", 1, 1, "MICROSECONDS: time passes", let_pass},
    {"pause", 1, any, "PID...: their channels are disabled",
     [](Session &session, const Words &words) {
         return each(words, [&](lab::Pid one) { session.set_enabled(one, false); });
     }},
    {"resume", 1, any, "PID...: and enabled",
     [](Session &session, const Words &words) {
         return each(words, [&](lab::Pid one) { session.set_enabled(one, true); });
     }},
    {"leave", 1, any, "PID...: their channels are taken off the lists",
     [](Session &session, const Words &words) {
         return each(words, [&](lab::Pid one) { session.set_listed(one, false); });
     }},
    {"enter", 1, any, "PID...: and put back",
     [](Session &session, const Words &words) {
         return each(words, [&](lab::Pid one) { session.set_listed(one, true); });
     }},
    {"count", 1, 1, "PID: how many TSGs and channels it has",
     [](Session &session, const Words &words) {
         return Json{{"tsgs", session.tsgs(pid(words[0]))},
                     {"channels", session.channels(pid(words[0]))}};
     }},
    {"preemption", 2, 2, "PID wfi|cta|cilp", preemption},
    {"files", 1, any, "FOLDER [PREFIX]...: writes the module's files, for nvdebugctl --from FOLDER",
     [](Session &session, const Words &words) {
         session.write_files(words[0], Words(words.begin() + 1, words.end()));
         return Json::object();
     }},
    {"registers", 1, any, "OFFSET...: words of BAR0", registers},
};

Json perform(Session &session, const std::string &line) {
    std::istringstream text(line);
    std::string name;
    text >> name;
    Words words;
    for (std::string word; text >> word;)
        words.push_back(word);
    for (const Request &request : requests) {
        if (name != request.name)
            continue;
        if (words.size() < request.least || words.size() > request.most)
            fail(name + " is to be asked as: " + name + " " + request.help);
        return request.perform(session, words);
    }
    fail("there is no request '" + name + "'; --help lists them");
}

[[noreturn]] void help() {
    std::printf("usage: lab-model [--break RULE]...\n"
                "Takes requests on stdin, a line each, and answers with a line of JSON:\n");
    for (const Request &request : requests)
        std::printf("  %s %s\n", request.name, request.help);
    std::printf("Rules: %s.\n", names_of_rules().c_str());
    std::exit(0);
}

Rules rules_of(int argc, char **argv) {
    Rules kept;
    for (int n = 1; n < argc; n++) {
        const std::string word = argv[n];
        if (word == "--help")
            help();
        if (word != "--break" || n + 1 == argc)
            fail("'" + word + "' is not understood; usage: lab-model [--break RULE]...");
        break_rule(argv[++n], kept);
    }
    return kept;
}

} // namespace

int main(int argc, char **argv) {
    try {
        Session session(
            nvmodel::load_board(std::filesystem::path(NVDEBUG_MODEL_DATA) / "boards/h200.json"),
            rules_of(argc, argv));
        for (std::string line; std::getline(std::cin, line);) {
            Json answer{{"ok", true}};
            try {
                answer.update(perform(session, line));
            } catch (const std::runtime_error
                         &refused) { // also errors of the model and of the file system
                answer = {{"ok", false}, {"error", refused.what()}};
            }
            std::cout << answer.dump() << std::endl;
        }
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "lab-model: %s\n", error.what());
        return 1;
    }
}
