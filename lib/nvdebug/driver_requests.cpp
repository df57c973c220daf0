// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_requests.hpp"

#include "driver_plan.hpp"
#include "driver_tasks.hpp"
#include "lib/driver/keeper.hpp"
#include "lib/driver/rights.hpp"
#include "task_request.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

namespace nvdebug::driver {
namespace {

/// The error of a call about this process that the RM refused.
Error refused(Kernel &kernel, const TaskRequest &request, const Process &process,
              const Answer &answer) {
    const std::string what =
        "cannot " + std::string(request.control.words) + " " + name_of(process) + ": ";
    if (start_of(kernel, process.pid) != process.started || answer.is_gone())
        return {ErrorCode::not_found, ESRCH, "",
                what + "the process has ended, or freed it, meanwhile; changes to other processes "
                       "were undone"};
    if (answer.error || answer.status == rm::gpu_is_lost)
        return {ErrorCode::gone, ENODEV, "",
                what + "the GPU has gone, according to NVIDIA's driver" +
                    (answer.error ? " (" + std::string(::strerrordesc_np(-answer.error)) + ")"
                                  : std::string())};
    if (answer.status == rm::insufficient_permissions)
        return {
            ErrorCode::denied, EPERM, "",
            what + "NVIDIA's driver does not permit it" +
                (request.control.verb == Verb::interleave
                     ? "; it takes CAP_SYS_NICE: " + driver::advice_on_right(kernel, "CAP_SYS_NICE")
                     : "; " + driver::advice_on_right(kernel, "CAP_SYS_ADMIN"))};
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            what + "NVIDIA's driver refuses with status " + hex(answer.status) +
                " (nvstatuscodes.h); nothing is changed"};
}

void make_all(Kernel &kernel, std::vector<Process> &processes, std::vector<Call> &calls) {
    for (Call &call : calls)
        make_call(kernel, processes[call.process].controls[call.control].here.number(), call);
}

/// Makes the calls; if one is refused, those before it are undone.
Result<void> make_calls(Kernel &kernel, const TaskRequest &request, std::vector<Process> &processes,
                        CallPlan &plan) {
    for (Call &call : plan.calls) {
        Process &process = processes[call.process];
        const Answer answer = make_call(kernel, process.controls[call.control].here.number(), call);
        if (answer.ok())
            continue;
        make_all(kernel, processes, plan.undo);
        return tl::unexpected(refused(kernel, request, process, answer));
    }
    return {};
}

} // namespace

const std::vector<std::string> &control_files() {
    static const std::vector<std::string> files = [] {
        std::vector<std::string> names;
        for (const Control &control : all_controls())
            names.emplace_back(control.file);
        return names;
    }();
    return files;
}

bool is_control(std::string_view file) {
    return find_control(file);
}

Result<Performed> perform_request(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                  const Card &card, std::string_view file, std::string_view text,
                                  const ReadLists &read_lists) {
    const auto request = parse_request(*find_control(file), text);
    if (!request)
        return tl::unexpected(request.error());
    auto tasks = find_tasks(ownership, card, *request, read_lists);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const auto channels = find_channels(*kernel, *tasks, *request);
    if (!channels)
        return tl::unexpected(channels.error());
    auto plan = make_plan(*kernel, *tasks, *request, *channels);
    if (!plan)
        return tl::unexpected(plan.error());
    const std::optional<TsgEntry> old = entry_of(*tasks, *channels->front());
    std::shared_ptr<Keeper> keeper;
    if (request->lease) {
        // Before the first call, so that there is no moment without it.
        auto started = Keeper::start(kernel, tasks->processes(), plan->undo);
        if (!started)
            return tl::unexpected(started.error());
        keeper = std::move(*started);
    }
    auto done = make_calls(*kernel, *request, tasks->processes(), *plan);
    if (done) {
        done = verify_effect(*tasks, *request, *channels, read_lists);
        if (!done)
            make_all(*kernel, tasks->processes(), plan->undo);
    }
    if (!done) {
        if (keeper)
            keeper->dismiss();
        return tl::unexpected(std::move(done).error());
    }
    Performed performed;
    const std::optional<TsgEntry> now = entry_of(*tasks, *channels->front());
    if (file == "set_timeslice" && request->targets.size() == 1 && old && now)
        performed.answer = timeslice_answer(*old, *now, request->values.front());
    if (keeper)
        keeper->settle(std::move(tasks->processes()));
    performed.lease = std::move(keeper);
    return performed;
}

} // namespace nvdebug::driver
