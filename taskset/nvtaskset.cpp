// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The command line of nvtaskset(1). */
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <getopt.h>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpus.hpp"
#include "map_file.hpp"
#include "mps.hpp"
#include "page.hpp"
#include "tasks.hpp"
#include "text.hpp"
#include "variables.hpp"

namespace nvtaskset {
namespace {

// As taskset(1), env(1) and timeout(1) end.
constexpr int failed = 1, cannot_run = 126, not_found = 127;

struct Wish {
    std::string tpcs, gpcs, size, gpu = "0";
    Placement placement = Placement::packed;
    bool exclusive = false, whole = false, prepare = false, mps = true, best_effort = false,
         whole_count = false, quiet = false;
    std::uint32_t turn = 0; ///< 0: any
    pid_t pid = 0;
    bool list = false, probe = false, quit_mps = false, json = false, help = false, version = false;
    std::vector<std::string> command;

    bool names_tpcs() const { return !tpcs.empty() || !gpcs.empty() || !size.empty(); }
};

int say(const std::string &sentence) {
    std::fprintf(stderr, "nvtaskset: %s\n", sentence.c_str());
    return failed;
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
        return fail("--sms takes a number of SMs, or of percent as 25%, not '" + size + "'");
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
    return task.processes.empty() ? "?" : task.processes.front().command;
}

Outcome<Tpcs> wished_tpcs(const Wish &wish, const GpuMap &map, const std::vector<Task> &others) {
    const Tpcs used = taken(map, others);
    if (!wish.size.empty()) {
        const auto count = tpc_count(map, wish.size);
        if (!count)
            return fail(count.error());
        // Others' TPCs are taken only where there are not enough, unless that is not wanted at all.
        if (const auto free = choose(map, *count, used, wish.placement); free || wish.exclusive)
            return free;
        return choose(map, *count, {}, wish.placement);
    }
    Outcome<Tpcs> tpcs;
    if (!wish.tpcs.empty()) {
        tpcs = parse_list(wish.tpcs, "TPC", static_cast<std::uint32_t>(map.tpcs.size()));
    } else {
        const auto wanted = parse_list(wish.gpcs, "GPC", gpcs(map).back() + 1);
        tpcs = wanted ? tpcs_of_gpcs(map, *wanted) : fail(wanted.error());
    }
    if (tpcs && wish.exclusive)
        for (const Task &task : others) {
            const Slot *const slot = task.page->find(map.uuid);
            const auto partition = slot ? read_partition(*slot) : std::nullopt;
            Tpcs both;
            if (partition)
                std::ranges::set_intersection(*tpcs, tpcs_of(map, *partition), std::back_inserter(both));
            if (!both.empty())
                return fail("TPCs " + list_text(both) + " are of task " +
                            std::to_string(task.processes.front().pid) + " (" + command_of(task) +
                            "); choose others ('nvtaskset --list'), or leave out --exclusive");
        }
    return tpcs;
}

/** Others wait with their choice until this is made: as long as it lives. */
class Turn {
  public:
    Turn() : lock_(open(injection_path().c_str(), O_RDONLY | O_CLOEXEC)) {
        if (lock_ >= 0)
            flock(lock_, LOCK_EX);
    }
    ~Turn() {
        if (lock_ >= 0)
            close(lock_);
    }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    int lock_;
};

/** One for each GPU. */
Outcome<std::vector<Partition>> wished_partitions(const Wish &wish, const std::vector<Task> &others) {
    const auto all = gpus();
    if (!all)
        return fail(all.error());
    const auto chosen = select(*all, wish.gpu);
    if (!chosen)
        return fail(chosen.error());
    std::vector<Partition> partitions;
    for (const Gpu &gpu : *chosen) {
        const auto map = map_of(gpu, false);
        if (!map)
            return fail(map.error());
        const auto tpcs = wished_tpcs(wish, *map, others);
        if (!tpcs)
            return fail(tpcs.error());
        partitions.push_back(partition_of(*map, *tpcs));
    }
    return partitions;
}

// --- starting a command ---

bool descends(pid_t pid, pid_t root) {
    for (int step = 0; step < 64 && pid > 1; step++) {
        if (pid == root)
            return true;
        std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
        std::string stat;
        std::getline(file, stat);
        const std::size_t end = stat.rfind(')');
        char state = 0;
        if (end == stat.npos || std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &pid) != 2)
            return false;
    }
    return false;
}

/**
 * A process beside the command, as long as that runs: CUDA says nothing where it does not load the
 * library. It is nobody's child.
 */
void watch(std::optional<Page> &page) {
    const pid_t command = getpid();
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, command, 0));
    if (pidfd < 0)
        return;
    const pid_t child = fork();
    if (child != 0) {
        close(pidfd);
        if (child > 0)
            waitpid(child, nullptr, 0);
        return;
    }
    // It is no part of the task, from before the command begins.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, page->descriptor()})
        close(descriptor);
    page.reset();
    setsid();
    if (fork() != 0)
        std::_Exit(0);
    constexpr int first_ms = 500, longest_ms = 8000;
    std::set<pid_t> suspects, named;
    for (int period_ms = first_ms;; period_ms = std::min(2 * period_ms, longest_ms)) {
        pollfd ended{pidfd, POLLIN, 0};
        if (poll(&ended, 1, period_ms) != 0)
            std::_Exit(0);
        std::error_code error;
        for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
             at.increment(error)) {
            const pid_t pid = std::atoi(at->path().filename().c_str());
            if (pid <= 0 || named.contains(pid) || !descends(pid, command))
                continue;
            const auto process = look_at(pid);
            // Twice: it may be in the middle of CUDA's beginning.
            if (process && process->uses_gpu && !process->injected && !suspects.insert(pid).second) {
                say("process " + std::to_string(pid) + " (" + process->command +
                    ") uses the GPU and is NOT kept to the partition: CUDA in it did not load " +
                    injection_path());
                named.insert(pid);
            }
        }
    }
}

std::size_t clients_of(std::uint32_t server, const std::vector<Task> &others) {
    return static_cast<std::size_t>(std::ranges::count_if(
        others, [server](const Task &task) { return task.page->state().mps_server == server; }));
}

/** That of the turn, else the first of nvtaskset's MPS servers that has room. */
Outcome<std::uint32_t> choose_server(const Wish &wish, const std::vector<Task> &others) {
    if (wish.turn && has_other_mps())
        return fail("--turn is for nvtaskset's own MPS servers, and another one is named "
                    "(CUDA_MPS_PIPE_DIRECTORY) or at NVIDIA's own place");
    if (wish.turn && clients_of(wish.turn, others) >= clients_max)
        return fail("turn " + std::to_string(wish.turn) + " has " + std::to_string(clients_max) +
                    " tasks, which is all that an MPS server takes");
    std::uint32_t server = wish.turn ? wish.turn : 1;
    while (clients_of(server, others) >= clients_max)
        server++;
    return server;
}

/** The command is no part of the task in which it is started. */
void leave_task() {
    const char *const named = variable(page_variable);
    const auto name = named ? parse_page_name(named) : std::nullopt;
    if (!name)
        return;
    if (const auto page = Page::open(name->descriptor, Access::look); page && page->inode() == name->inode)
        close(name->descriptor);
}

int run(const Wish &wish) {
    std::vector<Partition> partitions;
    std::optional<Page> page;
    {
        const Turn turn;
        const std::vector<Task> others = tasks();
        if (!wish.prepare) {
            auto wished = wished_partitions(wish, others);
            if (!wished)
                return say(wished.error());
            partitions = std::move(*wished);
        }
        leave_task();
        page = Page::make();
        if (!page)
            return say(std::string("no memory to share with the command: ") + std::strerror(errno));
        for (const Partition &partition : partitions)
            if (!page->set(partition))
                return say("there are too many GPUs");
        if (wish.mps && !wish.prepare) {
            const bool other = has_other_mps();
            const auto chosen = choose_server(wish, others);
            if (!chosen)
                return say(chosen.error());
            const std::uint32_t server = *chosen;
            if (const auto joined = join_mps(server); !joined)
                return say(joined.error());
            if (State *const state = page->writable())
                state->mps_server = other ? 0 : server;
            if (!other && server > 1 && !wish.turn)
                note(wish, "an MPS server takes " + std::to_string(clients_max) +
                               " tasks; this one is at server " + std::to_string(server) +
                               ", and tasks of different servers take turns");
        }
    }
    const std::string library = injection_path();
    if (access(library.c_str(), R_OK) < 0)
        return say("the library that keeps programs to a partition is missing: " + library);
    if (const char *const other = std::getenv(injection_variable); other && library != other)
        return say(std::string(injection_variable) + " is " + other +
                   ": CUDA loads one library alone, a profiler's or nvtaskset's");
    std::string texts;
    for (const Partition &partition : partitions)
        texts += (texts.empty() ? "" : ";") + partition_text(partition);
    setenv(injection_variable, library.c_str(), 1);
    setenv(page_variable, page_name_text({getpid(), page->descriptor(), page->inode()}).c_str(), 1);
    setenv(partitions_variable, texts.c_str(), 1);
    if (wish.best_effort)
        setenv(best_effort_variable, "1", 1);
    if (wish.whole_count)
        setenv(whole_count_variable, "1", 1);
    watch(page);
    // Now the command may have it.
    fcntl(page->descriptor(), F_SETFD, 0);
    std::vector<char *> words;
    for (const std::string &word : wish.command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    const int error = errno;
    say(wish.command[0] + ": " + std::strerror(error));
    return error == ENOENT ? not_found : cannot_run;
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

/** What there is to show of a task on a GPU: a partition, or launches that should have had one. */
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
int print(const Json &document) {
    std::printf("%s\n", document.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return std::fflush(stdout) ? say("cannot write") : 0;
}

/** The GPU and its TPCs; of @p tasks those that have a partition there, or should. */
Json json_of(const Gpu &gpu, std::size_t number, const GpuMap &map, const std::vector<const Task *> &tasks) {
    Json tpcs = Json::array(), rows = Json::array();
    for (std::size_t n = 0; n < map.tpcs.size(); n++)
        tpcs.push_back({{"tpc", n}, {"gpc", map.tpcs[n].gpc}, {"bit", map.tpcs[n].bit}, {"sms", map.tpcs[n].sms}});
    for (const Task *task : tasks)
        if (const auto there = shown(*task, map.uuid))
            rows.push_back({{"processes", json_of(task->processes)},
                            {"partition", json_of(map, *there)},
                            {"launches_not_kept", unkept_launches(task->page->state(), there->slot)}});
    return {{"gpu", number},
            {"name", gpu.name},
            {"pci_address", gpu.pci_address},
            {"uuid", uuid_text(gpu.uuid)},
            {"tpcs", std::move(tpcs)},
            {"tasks", std::move(rows)}};
}

int print_json(const Wish &wish, const std::vector<Gpu> &all, const std::vector<const Task *> &tasks) {
    Json gpus = Json::array();
    for (std::size_t n = 0; n < all.size(); n++) {
        const auto map = map_of(all[n], wish.probe);
        if (!map)
            return say(map.error());
        gpus.push_back(json_of(all[n], n, *map, tasks));
    }
    return print({{"schema_version", "2.0"}, {"command", "nvtaskset"}, {"gpus", std::move(gpus)}});
}

int show(const Wish &wish, const Task &task) {
    const auto all = gpus();
    if (!all)
        return say(all.error());
    if (wish.json)
        return print_json(wish, *all, {&task});
    bool any = false;
    for (std::size_t n = 0; n < all->size(); n++) {
        const auto there = shown(task, (*all)[n].uuid);
        if (!there)
            continue;
        const auto map = map_of((*all)[n], false);
        if (!map)
            return say(map.error());
        std::printf("GPU %zu: %s\n", n,
                    describe(*map, task.page->state(), *there->slot, there->setting).c_str());
        any = true;
    }
    if (!any)
        std::printf("no partition: it may use all of each GPU\n");
    for (const Process &process : task.processes)
        std::printf("process %d (%s): %s\n", process.pid, process.command.c_str(),
                    process.injected   ? "kept to the partition"
                    : process.uses_gpu ? "uses the GPU and is NOT kept to the partition"
                                       : "has not used CUDA yet");
    return 0;
}

int change(const Wish &wish) {
    const bool changes = wish.names_tpcs() || wish.whole;
    auto task = task_of(wish.pid, changes ? Access::change : Access::look);
    if (!task)
        return say(task.error());
    if (!changes)
        return show(wish, *task);
    const Turn turn;
    if (wish.whole) {
        const auto all = gpus();
        const auto chosen = all ? select(*all, wish.gpu) : fail(all.error());
        if (!chosen)
            return say(chosen.error());
        for (const Gpu &gpu : *chosen)
            if (!task->page->clear(gpu.uuid))
                return say("the task has partitions on too many GPUs");
        return 0;
    }
    std::vector<Task> others = tasks();
    std::erase_if(others, [&](const Task &other) { return other.page->inode() == task->page->inode(); });
    const auto partitions = wished_partitions(wish, others);
    if (!partitions)
        return say(partitions.error());
    for (const Partition &partition : *partitions)
        if (!task->page->set(partition))
            return say("the task has partitions on too many GPUs");
    // Whose page it is may have ended meanwhile.
    if (!look_at(wish.pid))
        return say("process " + std::to_string(wish.pid) + " has ended");
    if (std::ranges::none_of(task->processes, &Process::injected))
        note(wish, "process " + std::to_string(wish.pid) + " has not used CUDA yet; the partition holds when it does");
    return 0;
}

// --- who has what ---

int list(const Wish &wish) {
    const auto all = gpus();
    if (!all)
        return say(all.error());
    const std::vector<Task> running = tasks();
    if (wish.json) {
        std::vector<const Task *> each;
        for (const Task &task : running)
            each.push_back(&task);
        return print_json(wish, *all, each);
    }
    for (std::size_t n = 0; n < all->size(); n++) {
        const auto map = map_of((*all)[n], wish.probe);
        std::printf("GPU %zu: %s, %s, %s\n", n, (*all)[n].name.c_str(), (*all)[n].pci_address.c_str(),
                    uuid_text((*all)[n].uuid).c_str());
        if (!map)
            return say(map.error());
        std::vector<std::string> cells(map->tpcs.size(), ".");
        std::vector<std::string> legend;
        char letter = 'A';
        for (const Task &task : running) {
            const auto there = shown(task, map->uuid);
            if (!there)
                continue;
            const bool has_partition = there->setting.use == Use::partition;
            const std::string name(1, has_partition ? letter : '-');
            if (has_partition)
                letter = letter == 'Z' ? 'a' : letter == 'z' ? '?' : static_cast<char>(letter + (letter != '?'));
            if (has_partition)
                for (const std::uint32_t tpc : tpcs_of(*map, there->setting.partition))
                    cells[tpc] = cells[tpc] == "." ? name : "*";
            legend.push_back("  " + name + "  " + std::to_string(task.processes.front().pid) + " (" +
                             command_of(task) +
                             "): " + describe(*map, task.page->state(), *there->slot, there->setting));
        }
        for (const std::uint32_t gpc : gpcs(*map)) {
            const Tpcs tpcs = *tpcs_of_gpcs(*map, {gpc});
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
    return 0;
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
  -i, --gpu GPU      on this GPU, or several: 0,1; GPU-UUID; PCI address; all (default: 0)
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

Exit status: COMMAND's; 1: nothing was done, stderr says why; 125: a process could not be kept to
its TPCs and was ended; 126, 127: COMMAND cannot be run, or is not there. Manual: nvtaskset(1)
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

int main(int argc, char **argv) {
    Wish wish;
    std::string wrong = parse(argc, argv, wish);
    if (wish.help || wish.version) {
        std::fputs(wish.help ? help : "nvtaskset " NVTASKSET_VERSION "\n", stdout);
        return std::fflush(stdout) ? say("cannot write") : 0;
    }
    if (wrong.empty())
        wrong = contradiction(wish);
    if (!wrong.empty())
        return say(wrong + " (nvtaskset --help)");
    if (wish.quit_mps) {
        const auto quit = quit_mps();
        return !quit ? say(quit.error()) : *quit ? 0 : say("nvtaskset has started no MPS server");
    }
    return wish.list ? list(wish) : wish.pid ? change(wish) : run(wish);
}

} // namespace
} // namespace nvtaskset

int main(int argc, char **argv) {
    return nvtaskset::main(argc, argv);
}
