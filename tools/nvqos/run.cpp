// SPDX-License-Identifier: MIT OR GPL-2.0
#include "run.hpp"

#include <csignal>
#include <utility>

#include "command_line.hpp"
#include "demo.hpp"
#include "lib/base/inherited.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"
#include "lib/cli/main.hpp"
#include "refusal.hpp"
#include "session.hpp"
#include "simulate.hpp"
#include "tools/nvqos/advise/advise.hpp"
#include "tools/nvqos/serve/ask.hpp"

namespace nvqos {
namespace {

Outcome<Exit> perform(const nvdebug::cli::Arguments &arguments, const Open &open,
                      const NodeClock &clock) {
    auto invocation = read(arguments);
    if (!invocation)
        return tl::unexpected(std::move(invocation).error());
    const ContainerGoal &container = invocation->container;
    if (invocation->what == Invocation::What::write_device) {
        const auto device = write_goal_device(container, invocation->cdi_folder);
        if (!device)
            return tl::unexpected(device.error());
        return write(*device + "\n").map([] { return done; });
    }
    if (invocation->what == Invocation::What::hold_container)
        return hold_container(container).map([] { return done; });
    // Goals that do not fit with one task for each tenant fit on no GPU, so the driver is not
    // needed to refuse them.
    if (const auto refusals = refusals_of(invocation->goals); !refusals.empty())
        return fail(refused, refusals.front());
    if (invocation->what == Invocation::What::demo)
        return demonstrate(*invocation);
    if (invocation->metrics && !invocation->metrics->ends_with(".prom"))
        warn("--metrics " + nvdebug::base::printable(*invocation->metrics) +
             ": node_exporter reads only files that end with .prom; use such a name for it");
    nvdebug::base::raise_file_limit();
    // The signals are blocked before any task is changed, so that none ends the program halfway.
    const sigset_t set = signals_of(*invocation), of_screen = nvdebug::live::Screen::signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const bool has_view =
        !invocation->json && !invocation->quiet && !invocation->dry_run && Display::is_possible();
    if (has_view)
        pthread_sigmask(SIG_BLOCK, &of_screen, nullptr);
    Session session(std::move(*invocation), has_view, clock);
    if (auto started = session.start(open); !started)
        return tl::unexpected(started.error());
    return session.keep();
}

} // namespace

Exit run(const std::vector<std::string> &words, const Open &open, const NodeClock &clock) {
    // A container without privileges has a cgroup namespace of its own, with other paths than those
    // in goals and requests.
    if (!nvdebug::base::has_first_cgroup_namespace())
        nvdebug::base::enter_cgroup_namespace_of_init();
    return static_cast<Exit>(
        nvdebug::cli::run(program(), words, [&](const nvdebug::cli::Parsed &parsed) -> int {
            const std::string verb = parsed.verb ? parsed.verb->name : "";
            const auto status = verb == "status"     ? print_status(parsed.arguments)
                                : verb == "list"     ? print_list(parsed.arguments)
                                : verb == "simulate" ? simulate(parsed.arguments)
                                : verb == "advise"   ? advise(parsed.arguments, open)
                                                     : perform(parsed.arguments, open, clock);
            return status ? *status
                          : nvdebug::cli::refuse(program(), parsed.json, status.error().exit,
                                                 status.error().sentence);
        }));
}

} // namespace nvqos
