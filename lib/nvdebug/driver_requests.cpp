// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_requests.hpp"

#include "driver_plan.hpp"
#include "driver_restore.hpp"
#include "driver_tasks.hpp"
#include "lib/driver/keeper.hpp"
#include "lib/driver/rights.hpp"
#include "task_request.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace nvdebug::driver {
namespace {

/// Returns the error for a call about this process that the RM refused.
Error refused(Kernel &kernel, const TaskRequest &request, const Process &process,
              const Answer &answer) {
    const std::string what =
        "cannot " + std::string(request.control.words) + " " + name_of(process) + ": ";
    if (start_of(kernel, process.pid) != process.started || answer.is_gone())
        return {ErrorCode::not_found, ESRCH, "",
                what + "the process has ended, or freed it, meanwhile"};
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
                " (nvstatuscodes.h)"};
}

/// Makes the calls until one is refused. Then plan.undo keeps only the undos of calls that may have
/// been made.
Result<void> make_calls(Kernel &kernel, const TaskRequest &request, std::vector<Process> &processes,
                        CallPlan &plan) {
    for (std::size_t n = 0; n < plan.calls.size(); n++) {
        Call &call = plan.calls[n];
        Process &process = processes[call.process];
        const Answer answer = make_call(kernel, process.controls[call.control].here.number(), call);
        if (answer.ok())
            continue;
        // A call that timed out may have been made. Rights are checked before anything is done.
        const bool is_made = answer.status != rm::insufficient_permissions;
        plan.undo.resize(std::min(plan.undo.size(), n + is_made));
        return tl::unexpected(refused(kernel, request, process, answer));
    }
    return {};
}

/// Undoes the calls, after one of them was refused or had no effect.
Error undone_after(Error error, const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                   const std::vector<Process> &processes, std::vector<Call> undo) {
    // A refused timeslice may have been set anyway, now or before, so it is restored
    // in any case.
    for (Call &call : undo)
        call.only_while_us.reset();
    if (const Undone undone = undo_calls(kernel, gpu, processes, std::move(undo)); !undone.all)
        error.sentence += "; but " + undone.left;
    else
        error.sentence += "; nothing is changed";
    return error;
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
    auto tasks = find_restored(kernel, ownership, card, *request, read_lists);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const auto channels = find_channels(*kernel, *tasks, *request);
    if (!channels)
        return tl::unexpected(channels.error());
    const WrittenDown written = written_down(card);
    if (auto undone = check_undone(written, *tasks, *channels); request->lease && !undone)
        return tl::unexpected(undone.error());
    auto plan = make_plan(*kernel, *tasks, *request, *channels, written.originals);
    if (!plan)
        return tl::unexpected(plan.error());
    const std::optional<TsgEntry> old = entry_of(*tasks, *channels->front());
    std::shared_ptr<Keeper> keeper;
    if (request->lease) {
        // The keeper starts before the first call, so that a change is never without a keeper.
        auto started = Keeper::start(kernel, card.pci_address, tasks->processes(), plan->undo);
        if (!started)
            return tl::unexpected(started.error());
        keeper = std::move(*started);
    }
    auto done = make_calls(*kernel, *request, tasks->processes(), *plan);
    if (done)
        done = verify_effect(*tasks, *request, *channels, read_lists);
    if (!done) {
        Error error = undone_after(std::move(done).error(), kernel, card.pci_address,
                                   tasks->processes(), plan->undo);
        if (keeper)
            keeper->dismiss();
        return tl::unexpected(std::move(error));
    }
    Performed performed;
    const std::optional<TsgEntry> now = entry_of(*tasks, *channels->front());
    if (file == "set_timeslice" && request->targets.size() == 1 && old && now)
        performed.answer = timeslice_answer(*old, *now, request->values.front());
    if (keeper)
        keeper->settle(std::move(tasks->processes()));
    if (keeper)
        performed.left = keeper->left();
    performed.lease = std::move(keeper);
    return performed;
}

} // namespace nvdebug::driver
