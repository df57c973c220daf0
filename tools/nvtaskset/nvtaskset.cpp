// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The command line of nvtaskset(1). */
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <getopt.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include "choice_lock.hpp"
#include "lib/partition/gpus.hpp"
#include "lib/base/inherited.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/standard_output.hpp"
#include "map_file.hpp"
#include "mps.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/tasks.hpp"
#include "lib/partition/text.hpp"
#include "lib/partition/variables.hpp"
#include "visible.hpp"
#include "watcher.hpp"

namespace nvtaskset {
namespace {

using nvdebug::base::printable;

struct Wish {
    std::string tpcs, gpcs, size;
    std::optional<std::string> gpu; ///< nullopt: those that the command sees, or the task has
    Placement placement = Placement::packed;
    bool exclusive = false, whole = false, prepare = false, mps = true, best_effort = false,
         whole_count = false, quiet = false;
    std::uint32_t turn = 0; ///< 0: any
    pid_t pid = 0;
    bool list = false, probe = false, quit_mps = false, json = false, help = false, version = false;
    std::vector<std::string> command;

    bool names_tpcs() const { return !tpcs.empty() || !gpcs.empty() || !size.empty(); }
};

void say(const std::string &sentence) {
    std::fprintf(stderr, "nvtaskset: %s\n", printable(sentence).c_str());
}

Exit refuse(const Refusal &why) {
    say(why.sentence);
    return why.exit;
}

Exit refuse(const std::string &sentence, Exit exit = Exit::failed) {
    return refuse(Refusal{sentence, exit});
}

/** The output's end: what could not be written is no success. */
Exit written(Exit exit) {
    if (const int error = nvdebug::base::finish_standard_output())
        return refuse(std::string("cannot write: ") + std::strerror(error));
    return exit;
}

void note(const Wish &wish, const std::string &sentence) {
    if (!wish.quiet)
        say(sentence);
}

using Tpcs = std::vector<std::uint32_t>;

/** `16` SMs or `25%`, as TPCs: never fewer SMs than asked for. */
Outcome<std::size_t> tpc_count(const GpuMap &map, const std::string &size) {
    const bool percent = size.ends_with('%');
    const std::string digits = size.substr(0, size.size() - percent);
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos)
        return fail("--sms takes a number of SMs, or of percent as 25%, not '" + size + "'",
                    Exit::bad_usage);
    const std::size_t number = std::stoul(digits), per_tpc = map.tpcs.front().sms.size();
    std::size_t all = 0;
    for (const Tpc &tpc : map.tpcs)
        all += tpc.sms.size();
    const std::size_t sms = percent ? (all * number + 99) / 100 : number;
    if (!sms || sms > all)
        return fail("--sms " + size + ": this GPU has " + std::to_string(all) + " SMs, and a partition one TPC at least");
    return (sms + per_tpc - 1) / per_tpc;
}

/** TPCs that other tasks have on the GPU. */
Tpcs taken(const GpuMap &map, const std::vector<Task> &others) {
    std::set<std::uint32_t> found;
    for (const Task &task : others)
        if (const Slot *const slot = task.page->find(map.uuid))
            if (const auto partition = read_partition(*slot))
                for (const std::uint32_t tpc : tpcs_of(map, *partition))
                    found.insert(tpc);
    return {found.begin(), found.end()};
}

std::string command_of(const Task &task) {
    return task.processes.empty() ? "?" : printable(task.processes.front().command);
}

/** A GPU that a partition is for. */
struct Target {
    Gpu gpu;
    GpuMap map;
    Tpcs tpcs;             ///< with -t or -g
    std::size_t count = 0; ///< with -s
};

/** Which TPCs of the GPU, or how many, without a look at others. */
Outcome<Target> target_on(const Wish &wish, const Gpu &gpu) {
    auto map = map_of(gpu, false);
    if (!map)
        return fail(map.error());
    Target target{gpu, std::move(*map), {}, 0};
    if (!wish.size.empty()) {
        const auto count = tpc_count(target.map, wish.size);
        if (!count)
            return fail(count.error());
        target.count = *count;
        return target;
    }
    Outcome<Tpcs> tpcs;
    if (!wish.tpcs.empty()) {
        tpcs = parse_list(wish.tpcs, "TPC", static_cast<std::uint32_t>(target.map.tpcs.size()));
    } else {
        const auto wanted = parse_list(wish.gpcs, "GPC", gpcs(target.map).back() + 1);
        tpcs = wanted ? tpcs_of_gpcs(target.map, *wanted) : fail(wanted.error());
    }
    if (!tpcs)
        return fail(tpcs.error());
    target.tpcs = std::move(*tpcs);
    return target;
}

/** @p named: each of the GPUs was asked for by name. Otherwise some may be of another kind, and are left out. */
Outcome<std::vector<Target>> targets_on(const Wish &wish, const Selection &chosen, bool named) {
    std::vector<Target> targets;
    std::vector<Refusal> left_out;
    for (const Gpu &gpu : chosen.gpus) {
        auto target = target_on(wish, gpu);
        if (target)
            targets.push_back(std::move(*target));
        else if (named || target.error().exit == Exit::bad_usage)
            return fail(target.error());
        else
            left_out.push_back({"GPU " + std::to_string(gpu.number) + " is left out: " + target.error().sentence,
                                target.error().exit});
    }
    if (targets.empty())
        return !left_out.empty()         ? fail(left_out.front())
               : chosen.left_out.empty() ? fail("there is no GPU that could be partitioned")
                                         : fail(chosen.left_out.front());
    // That a GPU is not kept to a partition is no note that -q leaves out.
    for (const Refusal &each : left_out)
        say(each.sentence);
    for (const std::string &sentence : chosen.left_out)
        say(sentence);
    if (targets.size() > State::slots_max)
        return fail("a task has partitions on " + std::to_string(State::slots_max) + " GPUs at most, and " +
                    std::to_string(targets.size()) + " are chosen; -i chooses some");
    return targets;
}

bool is_named(const Wish &wish) {
    return wish.gpu && *wish.gpu != "all";
}

/** For a COMMAND. */
Outcome<std::vector<Target>> targets_of_command(const Wish &wish) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    const Visibility visibility = Visibility::own();
    const std::string limit = "CUDA_VISIBLE_DEVICES is '" + visibility.devices.value_or("") + "'";
    if (!wish.gpu) {
        const auto visible = visible_gpus(*gpus, visibility);
        if (!visible)
            return fail(visible.error());
        if (!visible->empty())
            return targets_on(wish, gpus->some(*visible), false);
        say(limit + ": CUDA shows the command no GPU that can be kept to a partition");
        return targets_on(wish, gpus->all(), false);
    }
    const auto chosen = select(*gpus, *wish.gpu);
    if (!chosen)
        return fail(chosen.error());
    if (visibility.devices)
        if (const auto visible = visible_gpus(*gpus, visibility);
            visible && std::ranges::none_of(chosen->gpus, [&](const Gpu &gpu) {
                return std::ranges::count(*visible, gpu.number);
            }))
            say(limit + ", and so CUDA shows the command no GPU of -i " + *wish.gpu +
                ": on those that it shows, the command is kept to no partition");
    return targets_on(wish, *chosen, is_named(wish));
}

/** For a task that runs: the GPUs on which it has a partition, else those that it sees. */
Outcome<std::vector<Target>> targets_of_task(const Wish &wish, const Task &task) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    if (wish.gpu) {
        const auto chosen = select(*gpus, *wish.gpu);
        return chosen ? targets_on(wish, *chosen, is_named(wish)) : fail(chosen.error());
    }
    Selection has;
    for (const Slot &slot : task.page->state().slots)
        if (const auto partition = read_partition(slot))
            for (const Gpu &gpu : gpus->with_uuid(uuid_text(partition->uuid)))
                has.gpus.push_back(gpu);
    if (!has.gpus.empty())
        return targets_on(wish, has, true);
    const auto visible = visible_gpus(*gpus, Visibility::of(wish.pid));
    if (!visible)
        return fail(visible.error());
    return targets_on(wish, visible->empty() ? gpus->all() : gpus->some(*visible), false);
}

/** Its TPCs, of those that others leave. */
Outcome<Tpcs> chosen_tpcs(const Wish &wish, const Target &target, const std::vector<Task> &others) {
    if (target.count) {
        // Others' TPCs are taken only where there are not enough, unless that is not wanted at all.
        if (const auto free = choose(target.map, target.count, taken(target.map, others), wish.placement);
            free || wish.exclusive)
            return free;
        return choose(target.map, target.count, {}, wish.placement);
    }
    if (wish.exclusive)
        for (const Task &task : others) {
            const Slot *const slot = task.page->find(target.map.uuid);
            const auto partition = slot ? read_partition(*slot) : std::nullopt;
            Tpcs both;
            if (partition)
                std::ranges::set_intersection(target.tpcs, tpcs_of(target.map, *partition), std::back_inserter(both));
            if (!both.empty())
                return fail("TPCs " + list_text(both) + " are of task " +
                            std::to_string(task.processes.front().pid) + " (" + command_of(task) +
                            "); choose others ('nvtaskset --list'), or leave out --exclusive");
        }
    return target.tpcs;
}

Outcome<std::vector<Partition>> chosen_partitions(const Wish &wish, const std::vector<Target> &targets,
                                                  const std::vector<Task> &others) {
    std::vector<Partition> partitions;
    for (const Target &target : targets) {
        const auto tpcs = chosen_tpcs(wish, target, others);
        if (!tpcs)
            return fail(tpcs.error());
        partitions.push_back(partition_of(target.map, *tpcs));
    }
    return partitions;
}

// --- starting a command ---

std::size_t clients_of(std::uint32_t server, const std::vector<Task> &others) {
    return static_cast<std::size_t>(std::ranges::count_if(
        others, [server](const Task &task) { return task.page->state().mps_server == server; }));
}

/** That of the turn, else the first of nvtaskset's MPS servers that has room. */
Outcome<std::uint32_t> choose_server(const Wish &wish, const std::vector<Task> &others) {
    if (wish.turn && clients_of(wish.turn, others) >= clients_max)
        return fail("turn " + std::to_string(wish.turn) + " has " + std::to_string(clients_max) +
                    " tasks, which is all that an MPS server takes");
    std::uint32_t server = wish.turn ? wish.turn : 1;
    while (clients_of(server, others) >= clients_max)
        server++;
    return server;
}

/** Prints, before the command starts, which other settings limit it. */
void name_limits(const Wish &wish, const OtherMps &mps) {
    constexpr const char *percentage = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
    if (const char *const part = variable(percentage))
        note(wish, std::string(percentage) + " is " + part +
                       ": as a client of an MPS server the command has this percentage of the GPU's SMs at most, "
                       "whatever its partition");
    if (mps.named && !mps.answers)
        note(wish, "CUDA_MPS_PIPE_DIRECTORY is " + mps.folder +
                       ", where no MPS server answers: tasks run one after the other");
}

/** The page, with the partitions that are chosen while no other task of this user chooses. */
Outcome<Page> page_with_choice(const Wish &wish, const std::vector<Target> &targets, bool own_server) {
    std::optional<ChoiceLock> lock;
    if (wish.exclusive || !wish.size.empty() || own_server) {
        auto taken = ChoiceLock::take();
        if (!taken)
            return fail(taken.error());
        lock.emplace(std::move(*taken));
    }
    const std::vector<Task> others = tasks();
    const auto partitions = chosen_partitions(wish, targets, others);
    if (!partitions)
        return fail(partitions.error());
    auto page = Page::make();
    if (!page)
        return fail(std::string("no memory to share with the command: ") + std::strerror(errno));
    for (const Partition &partition : *partitions)
        page->set(partition);
    if (own_server) {
        const auto server = choose_server(wish, others);
        if (!server)
            return fail(server.error());
        page->writable()->mps_server = *server;
    }
    return std::move(*page);
}

/** Where the command's processes find their partitions. */
void describe_to_command(const Wish &wish, const Page &page) {
    std::string texts;
    for (const Slot &slot : page.state().slots)
        if (const auto partition = read_partition(slot))
            texts += (texts.empty() ? "" : ";") + partition_text(*partition);
    setenv(injection_variable, injection_path().c_str(), 1);
    setenv(page_variable, page_name_text({getpid(), page.descriptor(), page.inode()}).c_str(), 1);
    setenv(partitions_variable, texts.c_str(), 1);
    if (wish.best_effort)
        setenv(best_effort_variable, "1", 1);
    if (wish.whole_count)
        setenv(whole_count_variable, "1", 1);
}

/** The command is no part of the task in which it is started, and has none of its options. */
void leave_task() {
    const char *const named = variable(page_variable);
    const auto name = named ? parse_page_name(named) : std::nullopt;
    if (!name)
        return;
    if (const auto page = Page::open(name->descriptor, Access::look); page && page->inode() == name->inode)
        close(name->descriptor);
    unsetenv(best_effort_variable);
    unsetenv(whole_count_variable);
}

/** CUDA goes on without a library that it cannot load, and prints nothing. */
Outcome<void> check_library(const std::string &library) {
    if (access(library.c_str(), R_OK) < 0)
        return fail("the library that keeps programs to a partition is missing: " + library);
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
        return fail(std::string("the library that keeps programs to a partition cannot be loaded: ") + dlerror());
    return {};
}

Exit run(const Wish &wish) {
    const std::string library = injection_path();
    if (const auto checked = check_library(library); !checked)
        return refuse(checked.error());
    if (const char *const other = variable(injection_variable); other && library != other)
        return refuse(std::string(injection_variable) + " is " + other +
                      ": CUDA loads one library alone, a profiler's or nvtaskset's");
    std::vector<Target> targets;
    OtherMps other;
    if (!wish.prepare) {
        auto found = targets_of_command(wish);
        if (!found)
            return refuse(found.error());
        targets = std::move(*found);
        if (wish.mps)
            other = other_mps();
        name_limits(wish, other);
    }
    const bool has_other = other.named || other.answers;
    if (wish.turn && has_other)
        return refuse("--turn is for nvtaskset's own MPS servers, and another one is named "
                      "(CUDA_MPS_PIPE_DIRECTORY) or at NVIDIA's own place");
    const bool mps = wish.mps && !wish.prepare;
    leave_task();
    auto made = page_with_choice(wish, targets, mps && !has_other);
    if (!made)
        return refuse(made.error());
    std::optional<Page> page(std::move(*made));
    if (mps)
        set_connections();
    if (const std::uint32_t server = page->state().mps_server) {
        if (const auto joined = join_mps(server); !joined)
            return refuse(joined.error());
        if (server > 1 && !wish.turn)
            note(wish, "an MPS server takes " + std::to_string(clients_max) + " tasks; this one is at server " +
                           std::to_string(server) + ", and tasks of different servers take turns");
    }
    describe_to_command(wish, *page);
    watch(page);
    // Now the command may have it.
    fcntl(page->descriptor(), F_SETFD, 0);
    std::vector<char *> words;
    for (const std::string &word : wish.command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    nvdebug::base::give_inheritance_back();
    execvp(words[0], words.data());
    const int error = errno;
    return refuse(wish.command[0] + ": " + std::strerror(error),
                  error == ENOENT ? Exit::not_found : Exit::cannot_run);
}

// --- a task that runs ---

/** What a task has on a GPU; @p setting of @p slot. */
std::string describe(const GpuMap &map, const State &state, const Slot &slot, const Setting &setting) {
    const Counts &counts = slot.counts;
    const bool has_partition = setting.use == Use::partition;
    std::string text =
        has_partition ? "TPCs " + list_text(tpcs_of(map, setting.partition)) + " of 0-" +
                            std::to_string(map.tpcs.size() - 1) + ", " + std::to_string(setting.partition.sms) +
                            " SMs; " + std::to_string(counts.kept) + " launches kept to them"
                      : "no partition on this GPU";
    const auto add = [&](std::uint64_t number, const char *what) {
        if (number)
            text += ", " + std::to_string(number) + " " + what;
    };
    add(counts.refused, "refused (too large to run at once)");
    add(counts.cluster, "NOT (clusters larger than the partition's GPCs)");
    add(counts.unknown, "NOT (of an unknown kind)");
    add(counts.outside, has_partition ? "NOT (before it had a partition here)" : "launches NOT kept");
    add(state.lost, "NOT (on a GPU that could not be identified)");
    if (counts.graphs)
        text += "; " + std::to_string(counts.graphs) + " CUDA graphs";
    add(counts.old_graphs, "of them with an older partition");
    return text;
}

/** A task's partition on a GPU, or its launches that should have had one. */
struct Shown {
    const Slot *slot;
    Setting setting;
};

std::optional<Shown> shown(const Task &task, const Uuid &uuid) {
    const Slot *const slot = task.page->find(uuid);
    const auto setting = slot ? read_setting(*slot) : std::nullopt;
    if (!setting || (setting->use != Use::partition && !slot->counts.outside))
        return std::nullopt;
    return Shown{slot, *setting};
}

using Json = nlohmann::ordered_json;

/** null: no partition there. */
Json json_of(const GpuMap &map, const Shown &shown) {
    if (shown.setting.use != Use::partition)
        return nullptr;
    const Counts &counts = shown.slot->counts;
    return {{"tpcs", tpcs_of(map, shown.setting.partition)},
            {"sms", shown.setting.partition.sms},
            {"launches_kept", counts.kept.load()},
            {"launches_refused", counts.refused.load()},
            {"launches_with_large_clusters", counts.cluster.load()},
            {"launches_of_unknown_kind", counts.unknown.load()},
            {"graphs", counts.graphs.load()},
            {"graphs_with_older_partition", counts.old_graphs.load()}};
}

Json json_of(const std::vector<Process> &processes) {
    Json rows = Json::array();
    for (const Process &process : processes)
        rows.push_back({{"pid", process.pid},
                        {"command", process.command},
                        {"uses_gpu", process.uses_gpu},
                        {"kept", process.injected}});
    return rows;
}

/** Names of commands may be any bytes. */
void print(const Json &document) {
    std::printf("%s\n", document.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

/** The GPU and its TPCs; of @p tasks those that have a partition there, or should. */
Json json_of(const Gpu &gpu, const GpuMap &map, const std::vector<const Task *> &tasks) {
    Json tpcs = Json::array(), rows = Json::array();
    for (std::size_t n = 0; n < map.tpcs.size(); n++)
        tpcs.push_back({{"tpc", n}, {"gpc", map.tpcs[n].gpc}, {"bit", map.tpcs[n].bit}, {"sms", map.tpcs[n].sms}});
    for (const Task *task : tasks)
        if (const auto there = shown(*task, map.uuid))
            rows.push_back({{"processes", json_of(task->processes)},
                            {"partition", json_of(map, *there)},
                            {"launches_not_kept", unkept_launches(task->page->state(), there->slot)}});
    return {{"gpu", gpu.number},
            {"name", gpu.name},
            {"pci_address", gpu.pci_address},
            {"uuid", uuid_text(gpu.uuid)},
            {"tpcs", std::move(tpcs)},
            {"tasks", std::move(rows)}};
}

using Maps = std::vector<std::pair<Gpu, GpuMap>>;

/** Of the GPUs that are awake and can be read; the others are named. @p exit: partial if a GPU could not be asked. */
Outcome<Maps> maps_of(const Wish &wish, Exit &exit) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    const Selection awake = gpus->awake();
    for (const std::string &sentence : awake.left_out)
        note(wish, sentence);
    Maps maps;
    std::vector<Refusal> failures;
    for (const Gpu &gpu : awake.gpus) {
        auto map = map_of(gpu, wish.probe);
        if (map)
            maps.emplace_back(gpu, std::move(*map));
        else
            failures.push_back(map.error());
        if (!map && awake.gpus.size() > 1)
            say("GPU " + std::to_string(gpu.number) + ": " + map.error().sentence);
    }
    if (maps.empty() && !failures.empty())
        return fail(failures.front());
    exit = failures.empty() ? Exit::done : Exit::partial;
    return maps;
}

Exit print_json(const Maps &maps, const std::vector<const Task *> &tasks, Exit exit) {
    Json gpus = Json::array();
    for (const auto &[gpu, map] : maps)
        gpus.push_back(json_of(gpu, map, tasks));
    print({{"schema_version", "2.0"}, {"command", "nvtaskset"}, {"gpus", std::move(gpus)}});
    return written(exit);
}

const char *state_of(const Process &process) {
    return process.injected   ? "kept to the partition"
           : process.uses_gpu ? "uses the GPU and is NOT kept to the partition"
                              : "has not used CUDA yet";
}

std::string line_of(const Process &process) {
    return "process " + std::to_string(process.pid) + " (" + printable(process.command) + "): " + state_of(process);
}

Exit show(const Wish &wish, const Task &task) {
    Exit exit = Exit::done;
    const auto maps = maps_of(wish, exit);
    if (!maps)
        return refuse(maps.error());
    if (wish.json)
        return print_json(*maps, {&task}, exit);
    bool any = false;
    for (const auto &[gpu, map] : *maps)
        if (const auto there = shown(task, gpu.uuid)) {
            std::printf("GPU %zu: %s\n", gpu.number,
                        describe(map, task.page->state(), *there->slot, there->setting).c_str());
            any = true;
        }
    // It may be on a GPU that is asleep.
    if (!any)
        std::printf(has_partition(task.page->state()) ? "no partition on these GPUs\n"
                                                      : "no partition: it may use all of each GPU\n");
    for (const Process &process : task.processes)
        std::printf("%s\n", line_of(process).c_str());
    return written(exit);
}

/** The whole GPU again, on those that are named, or on all. */
Exit free_task(const Wish &wish, const Task &task) {
    if (!wish.gpu) {
        for (const Slot &slot : task.page->state().slots)
            if (const auto partition = read_partition(slot))
                task.page->clear(partition->uuid);
        return Exit::done;
    }
    auto gpus = Gpus::find();
    const auto chosen = gpus ? select(*gpus, *wish.gpu) : fail(gpus.error());
    if (!chosen)
        return refuse(chosen.error());
    for (const Gpu &gpu : chosen->gpus)
        if (!task.page->clear(gpu.uuid))
            return refuse("the task has partitions on too many GPUs");
    return Exit::done;
}

Exit change(const Wish &wish) {
    const bool changes = wish.names_tpcs() || wish.whole;
    const auto task = task_of(wish.pid, changes ? Access::change : Access::look);
    if (!task)
        return refuse(task.error());
    if (wish.whole)
        return free_task(wish, *task);
    if (!changes)
        return show(wish, *task);
    const auto targets = targets_of_task(wish, *task);
    if (!targets)
        return refuse(targets.error());
    {
        std::optional<ChoiceLock> lock;
        if (wish.exclusive || !wish.size.empty()) {
            auto taken = ChoiceLock::take();
            if (!taken)
                return refuse(taken.error());
            lock.emplace(std::move(*taken));
        }
        std::vector<Task> others = tasks();
        std::erase_if(others, [&](const Task &other) { return other.page->inode() == task->page->inode(); });
        const auto partitions = chosen_partitions(wish, *targets, others);
        if (!partitions)
            return refuse(partitions.error());
        for (const Partition &partition : *partitions)
            if (!task->page->set(partition))
                return refuse("the task has partitions on too many GPUs");
    }
    // The process with the page may have ended meanwhile.
    if (!look_at(wish.pid))
        return refuse("process " + std::to_string(wish.pid) + " has ended");
    if (std::ranges::none_of(task->processes, &Process::injected))
        note(wish, "process " + std::to_string(wish.pid) + " has not used CUDA yet; the partition holds when it does");
    return Exit::done;
}

// --- tasks and their partitions ---

void list_gpu(const Gpu &gpu, const GpuMap &map, const std::vector<Task> &running) {
    std::printf("GPU %zu: %s, %s, %s\n", gpu.number, gpu.name.c_str(), gpu.pci_address.c_str(),
                uuid_text(gpu.uuid).c_str());
    std::vector<std::string> cells(map.tpcs.size(), ".");
    std::vector<std::string> legend;
    char letter = 'A';
    for (const Task &task : running) {
        const auto there = shown(task, map.uuid);
        if (!there)
            continue;
        const bool has_partition = there->setting.use == Use::partition;
        const std::string name(1, has_partition ? letter : '-');
        if (has_partition) {
            letter = letter == 'Z' ? 'a' : letter == 'z' ? '?' : static_cast<char>(letter + (letter != '?'));
            for (const std::uint32_t tpc : tpcs_of(map, there->setting.partition))
                cells[tpc] = cells[tpc] == "." ? name : "*";
        }
        legend.push_back("  " + name + "  " + std::to_string(task.processes.front().pid) + " (" +
                         command_of(task) +
                         "): " + describe(map, task.page->state(), *there->slot, there->setting));
        for (const Process &process : task.processes)
            if (process.uses_gpu && !process.injected)
                legend.push_back("     " + line_of(process));
    }
    for (const std::uint32_t gpc : gpcs(map)) {
        const Tpcs tpcs = *tpcs_of_gpcs(map, {gpc});
        std::string row;
        for (const std::uint32_t tpc : tpcs)
            row += " " + cells[tpc];
        std::printf("  GPC %-2u TPCs %-6s%s\n", gpc, list_text(tpcs).c_str(), row.c_str());
    }
    for (const std::string &line : legend)
        std::printf("%s\n", line.c_str());
    if (std::ranges::count(cells, "*"))
        std::printf("  *  more than one task\n");
}

Exit list(const Wish &wish) {
    Exit exit = Exit::done;
    const auto maps = maps_of(wish, exit);
    if (!maps)
        return refuse(maps.error());
    const std::vector<Task> running = tasks();
    if (wish.json) {
        std::vector<const Task *> each;
        for (const Task &task : running)
            each.push_back(&task);
        return print_json(*maps, each, exit);
    }
    for (const auto &[gpu, map] : *maps)
        list_gpu(gpu, map, running);
    return written(exit);
}

const char *const help = R"(Keep a CUDA program, unmodified, to some TPCs of a GPU.

  nvtaskset [OPTION]... COMMAND [ARGUMENT]...   run it
  nvtaskset [OPTION]... -p PID                  change, or show, a task that runs
  nvtaskset --list                              TPCs of the GPUs, and who has them

Which TPCs (two SMs each):
  -t, --tpcs LIST    these: 0-15,20
  -g, --gpcs LIST    all of these GPCs: 0,2
  -s, --sms N|N%     so many SMs: whole GPCs first, free ones before those of others
      --spread       with -s: some of each GPC instead, for bandwidth; beside others it keeps less
  -i, --gpu GPU      on this GPU, or several: 0,1; GPU-UUID; PCI address; all
                     (default: those that CUDA shows to COMMAND, or that the task has)
  -x, --exclusive    none that another task has

Tasks:
  -p, --pid          PID and its children, if they were started by nvtaskset
      --whole        with -p: the whole GPU again
      --prepare      run COMMAND with the whole GPU; -p can set TPCs later
      --no-mps       tasks take turns, instead of running at the same time (NVIDIA's MPS)
      --turn N       at the same time as other tasks of turn N (1 to 9); turns take turns
      --whole-count  the program sees the GPU's number of SMs, not the partition's
      --best-effort  let processes go on that cannot be kept to their TPCs
      --quit-mps     end nvtaskset's MPS server, and with it its clients' work

  -l, --list         with --probe: find out again which TPCs there are
  -j, --json         with --list or -p
  -q, --quiet        errors only
  -h, --help, -V, --version

Exit status: COMMAND's. If none was started: 0 done; 1 the words make no sense; 2 failed; 3 this GPU or
driver does not support it; 4 not all GPUs could be shown; 126, 127: COMMAND cannot be run, or is not
there. 125: a process could not be kept to its TPCs and was ended. Manual: nvtaskset(1)
)";

/** What is wrong with the words; empty: nothing. */
std::string parse(int argc, char **argv, Wish &wish) {
    enum Long { whole = 256, whole_count, prepare, no_mps, turn, best_effort, quit_mps, probe, spread };
    static const option options[] = {{"tpcs", required_argument, nullptr, 't'},
                                     {"gpcs", required_argument, nullptr, 'g'},
                                     {"sms", required_argument, nullptr, 's'},
                                     {"spread", no_argument, nullptr, spread},
                                     {"gpu", required_argument, nullptr, 'i'},
                                     {"exclusive", no_argument, nullptr, 'x'},
                                     {"pid", no_argument, nullptr, 'p'},
                                     {"whole", no_argument, nullptr, whole},
                                     {"prepare", no_argument, nullptr, prepare},
                                     {"no-mps", no_argument, nullptr, no_mps},
                                     {"turn", required_argument, nullptr, turn},
                                     {"whole-count", no_argument, nullptr, whole_count},
                                     {"best-effort", no_argument, nullptr, best_effort},
                                     {"quit-mps", no_argument, nullptr, quit_mps},
                                     {"list", no_argument, nullptr, 'l'},
                                     {"probe", no_argument, nullptr, probe},
                                     {"json", no_argument, nullptr, 'j'},
                                     {"quiet", no_argument, nullptr, 'q'},
                                     {"help", no_argument, nullptr, 'h'},
                                     {"version", no_argument, nullptr, 'V'},
                                     {nullptr, 0, nullptr, 0}};
    bool of_task = false;
    opterr = 0;
    for (;;) {
        const int given = getopt_long(argc, argv, "+:t:g:s:i:xpljqhV", options, nullptr);
        switch (given) {
        case 't':
            wish.tpcs = optarg;
            break;
        case 'g':
            wish.gpcs = optarg;
            break;
        case 's':
            wish.size = optarg;
            break;
        case spread:
            wish.placement = Placement::spread;
            break;
        case 'i':
            wish.gpu = optarg;
            break;
        case 'x':
            wish.exclusive = true;
            break;
        case 'p':
            of_task = true;
            break;
        case whole:
            wish.whole = true;
            break;
        case prepare:
            wish.prepare = true;
            break;
        case no_mps:
            wish.mps = false;
            break;
        case turn:
            if (std::strlen(optarg) != 1 || *optarg < '1' || *optarg > '9')
                return "--turn takes a number from 1 to 9, not '" + std::string(optarg) + "'";
            wish.turn = static_cast<std::uint32_t>(*optarg - '0');
            break;
        case whole_count:
            wish.whole_count = true;
            break;
        case best_effort:
            wish.best_effort = true;
            break;
        case quit_mps:
            wish.quit_mps = true;
            break;
        case 'l':
            wish.list = true;
            break;
        case probe:
            wish.probe = wish.list = true;
            break;
        case 'j':
            wish.json = true;
            break;
        case 'q':
            wish.quiet = true;
            break;
        case 'h':
            wish.help = true;
            return "";
        case 'V':
            wish.version = true;
            return "";
        case ':':
            return std::string(argv[optind - 1]) + " takes a value";
        case '?':
            return std::string("there is no option ") + argv[optind - 1];
        default:
            // The PID may stand before other options, as the COMMAND may not.
            if (!of_task || wish.pid || optind >= argc || !std::strcmp(argv[optind - 1], "--")) {
                wish.command.assign(argv + optind, argv + argc);
                return of_task && !wish.pid ? "-p takes the PID of a process" : "";
            }
            const std::string_view word = argv[optind++];
            const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), wish.pid);
            if (error != std::errc() || end != word.data() + word.size() || wish.pid <= 0)
                return "'" + std::string(word) + "' is no PID";
        }
    }
}

/** What makes no sense together; empty: it does. */
std::string contradiction(const Wish &wish) {
    const int ways = !wish.tpcs.empty() + !wish.gpcs.empty() + !wish.size.empty();
    const int jobs = !wish.command.empty() + (wish.pid > 0) + wish.list + wish.quit_mps;
    if (jobs > 1)
        return wish.pid && !wish.command.empty()
                   ? "-p is about a process that runs: '" + wish.command[0] + "' is too much"
                   : "one thing at a time: a COMMAND, -p, --list or --quit-mps";
    if (ways + wish.whole + wish.prepare > 1)
        return "one of -t, -g, -s, --whole and --prepare says which TPCs";
    if (wish.placement == Placement::spread && wish.size.empty())
        return "--spread is for so many SMs: -s";
    if (wish.whole && !wish.pid)
        return "--whole is for a task that runs: -p PID";
    if (wish.prepare && wish.pid)
        return "--prepare is for a COMMAND; a process that runs cannot be prepared any more";
    if (wish.whole_count && wish.command.empty())
        return "--whole-count is for a COMMAND";
    if (wish.turn && (!wish.mps || wish.command.empty() || wish.prepare))
        return "--turn is for a COMMAND with TPCs, and with MPS";
    if (wish.json && !wish.list && (!wish.pid || ways || wish.whole))
        return "--json is for --list, and for -p that shows a task";
    if (!jobs)
        return ways || wish.prepare ? "what to run is missing" : "what to do is missing";
    if (!wish.command.empty() && !ways && !wish.prepare)
        return "which TPCs is missing: -t, -g or -s; --prepare sets them later";
    return "";
}

Exit main(int argc, char **argv) {
    Wish wish;
    std::string wrong = parse(argc, argv, wish);
    if (wish.help || wish.version) {
        std::fputs(wish.help ? help : "nvtaskset " NVTASKSET_VERSION "\n", stdout);
        return written(Exit::done);
    }
    if (wrong.empty())
        wrong = contradiction(wish);
    if (!wrong.empty())
        return refuse(wrong + " (nvtaskset --help)", Exit::bad_usage);
    if (wish.quit_mps) {
        const auto quit = quit_mps();
        return !quit ? refuse(quit.error()) : *quit ? Exit::done : refuse("nvtaskset has started no MPS server");
    }
    return wish.list ? list(wish) : wish.pid ? change(wish) : run(wish);
}

} // namespace
} // namespace nvtaskset

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvtaskset::Exit exit = nvtaskset::Exit::failed;
    try {
        exit = nvtaskset::main(argc, argv);
    } catch (const std::exception &error) {
        nvtaskset::say(error.what());
    }
    return static_cast<int>(exit);
}
