// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-exporter: the use of this node's GPUs by process, container, pod and job, for Prometheus.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "families.hpp"
#include "front.hpp"
#include "goals_text.hpp"
#include "job_times.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/exit_status.hpp"
#include "lib/base/inherited.hpp"
#include "lib/base/pod_name_thread.hpp"
#include "lib/base/words.hpp"
#include "lib/cli/main.hpp"
#include "lib/cli/message.hpp"
#include "nvdebug/surroundings.hpp"

namespace nvdebug::exporter {
namespace {

using base::exit_status::bad_usage;
using base::exit_status::failed;
using base::exit_status::refused;

constexpr unsigned rate_max = 100;

struct Options {
    std::string listen = "127.0.0.1:9745", from;
    unsigned rate = 5; ///< steps a second
    Meter::Limits limits;
    GpuLabels labels;
    std::vector<std::string> pod_folders; ///< as PodNames takes them
    std::string goals;                    ///< the file of `nvqos --metrics`; empty: none
};

/// Prints a line on stderr and returns the exit status.
int log(const std::string &sentence, int exit_status = failed) {
    cli::say("nvdebug-exporter", sentence);
    return exit_status;
}

Result<Tree> open_source(const std::string &from) {
    if (from.empty())
        return Tree::running();
    if (from == "module")
        return Tree::folder();
    if (from == "driver")
        return Tree::driver();
    return Tree::open(from);
}

/// Returns why a source shows no GPU. Without --from, the module and the driver have both been
/// tried.
std::string no_gpu(const std::string &from, const Tree &tree) {
    const std::string doctor = "; 'nvdebugctl doctor' shows what is missing";
    if (tree.source() == Source::file)
        return "no GPU is found in " + tree.path() +
               "; give a capture, or the folder that gpu0 is in";
    if (const std::string obstacle = first_obstacle(); !obstacle.empty())
        return obstacle;
    if (tree.source() == Source::driver)
        return "no GPU is found: NVIDIA's driver shows none" + doctor;
    const std::string module = "no GPU is found: the nvdebug module is not loaded or shows none "
                               "(there is no /proc/gpu0)";
    if (!from.empty())
        return module + ", and --from " + from + " does not ask NVIDIA's driver" + doctor;
    const auto driver = Tree::driver();
    return module + ", and NVIDIA's driver shows none: " +
           (driver ? "it has no GPU" : driver.error().sentence) + doctor;
}

/// All GPUs of the source with their meters, and the thread that reads their lists.
class Node {
  public:
    Node(const Options &options, std::chrono::milliseconds period)
        : options_(options), period_(period), pod_names_(options.pod_folders),
          looker_([this] { look_on(); }) {}
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;
    ~Node() {
        {
            const std::scoped_lock held(mutex_);
            ending_ = true;
        }
        changed_.notify_all();
        looker_.join();
    }

    /// Opens the source, or looks again for GPUs to which this process has access now. Fails if the
    /// request is wrong, for example if the file does not exist.
    Result<void> open() {
        const auto tree = tree_ ? Result<Tree>(*tree_) : open_source(options_.from);
        const bool is_file =
            !options_.from.empty() && options_.from != "module" && options_.from != "driver";
        if (!tree && is_file)
            return tl::unexpected(tree.error());
        const auto found = tree ? usable_gpus(*tree) : tl::unexpected(tree.error());
        if (!found) {
            log_once(found.error().sentence);
            return {};
        }
        if (found->gpus.empty()) {
            log_once(no_gpu(options_.from, *tree));
            return {};
        }
        tree_ = *tree;
        leaves_out_ = !found->left_out.empty();
        for (const std::string &sentence : found->left_out)
            log_once(sentence);
        Meters meters = all();
        add_meters(*found, period_, options_.limits, meters);
        const std::scoped_lock held(mutex_);
        meters_ = std::move(meters);
        return {};
    }

    void step() {
        Meters meters = all();
        if ((meters.empty() || leaves_out_) &&
            Meter::Clock::now() - tried_ >= between_tries(period_)) {
            tried_ = Meter::Clock::now();
            if (const auto opened = open(); !opened)
                log_once(opened.error().sentence);
            meters = all();
        }
        bool wanted = false;
        for (const auto &meter : meters) {
            meter->step();
            wanted = wanted || meter->needs_look();
        }
        jobs_.step(meters);
        if (wanted)
            ask_for_look();
    }

    /// Returns the metrics. It first has the lists read, but waits no longer than `patience` for
    /// them. Scrapes within `fresh` get the same text.
    std::string text() {
        constexpr std::chrono::milliseconds fresh{200}, patience{2000};
        if (!text_.empty() && Meter::Clock::now() - made_ <= fresh)
            return text_;
        {
            std::unique_lock held(mutex_);
            const std::uint64_t wanted = ++asked_;
            changed_.notify_all();
            changed_.wait_for(held, patience, [&] { return looked_ >= wanted || ending_; });
        }
        std::vector<Facts> facts;
        for (const auto &meter : all()) {
            facts.push_back(meter->snapshot());
            jobs_.add_to(facts.back());
            log_missing_processes(facts.back());
        }
        name_pods(facts);
        text_ = metrics_text(facts, NVDEBUG_EXPORTER_VERSION, options_.labels) + goals();
        made_ = Meter::Clock::now();
        return text_;
    }

    /// Returns metrics without data of any GPU. They replace text() if it fails.
    std::string nothing() const {
        std::vector<Facts> facts;
        for (const auto &meter : all()) {
            Facts &broken = facts.emplace_back();
            broken.gpu = meter->gpu();
            broken.trouble = "an error of the exporter";
            broken.errors = 1;
        }
        return metrics_text(facts, NVDEBUG_EXPORTER_VERSION, options_.labels);
    }

  private:
    Meters all() const {
        const std::scoped_lock held(mutex_);
        return meters_;
    }

    void ask_for_look() {
        const std::scoped_lock held(mutex_);
        asked_++;
        changed_.notify_all();
    }

    /// Reads lists. It runs in a thread of its own, because other processes decide how long reading
    /// takes.
    void look_on() {
        for (std::unique_lock held(mutex_);;) {
            changed_.wait(held, [&] { return ending_ || asked_ > looked_; });
            if (ending_)
                return;
            const std::uint64_t asked = asked_;
            const Meters meters = meters_;
            held.unlock();
            for (const auto &meter : meters)
                try {
                    meter->look();
                } catch (const std::exception &error) {
                    log_once(error.what());
                }
            held.lock();
            looked_ = asked;
            changed_.notify_all();
        }
    }

    /// Adds the names of pods. It waits a little for names of new pods, because a series that gets
    /// a name later is another series.
    void name_pods(std::vector<Facts> &gpus) {
        constexpr std::chrono::milliseconds patience{500};
        for (const bool is_last : {false, true}) {
            for (Facts &facts : gpus)
                for (TaskFacts &task : facts.tasks)
                    task.pod_name = pod_names_.find(task.id);
            if (!is_last)
                pod_names_.wait(patience);
        }
    }

    /// Returns the metrics that nvqos has written for --goals.
    std::string goals() {
        if (options_.goals.empty())
            return "";
        auto text = goals_text(options_.goals);
        if (!text)
            log_once(text.error());
        return text.value_or("");
    }

    void log_once(const std::string &sentence) {
        constexpr std::size_t most =
            256; // bounded, because sentences contain numbers of other processes
        const std::scoped_lock held(logged_mutex_);
        if (logged_.size() < most && logged_.insert(sentence).second)
            log(sentence);
    }

    void log_missing_processes(const Facts &facts) {
        const std::string gpu = "gpu" + std::to_string(facts.gpu) + ": ";
        if (facts.foreign_pids)
            log_once(gpu +
                     "pids of tasks are those of another PID namespace, and shown as numbers; "
                     "names need that of the host (hostPID)");
        if (!facts.missing)
            return;
        for (const std::uint32_t pid : facts.missing->cut_pids)
            log_once(gpu + "process " + std::to_string(pid) +
                     " has more descriptors, clients or objects of NVIDIA's driver than are looked "
                     "at; not all of its channels are known");
        if (facts.missing->lacked)
            log_once(gpu + "processes could not be looked at: " + *facts.missing->lacked);
    }

    const Options &options_;
    const std::chrono::milliseconds period_;
    Meter::Clock::time_point tried_ = Meter::Clock::now();
    // Only the thread that steps uses these two.
    std::optional<Tree> tree_; ///< the source, once it had a GPU
    bool leaves_out_ = false;  ///< this process has no access to some GPUs of the source
    JobTimesOfNode jobs_;
    base::PodNameThread pod_names_;

    std::mutex logged_mutex_;
    std::set<std::string> logged_;

    // Only the thread that answers uses these two.
    std::string text_;
    Meter::Clock::time_point made_ = {};

    mutable std::mutex mutex_; ///< protects the members below
    std::condition_variable changed_;
    Meters meters_;
    std::uint64_t asked_ = 0, looked_ = 0; ///< numbers of looks: requested, and made
    bool ending_ = false;

    std::thread looker_; // the last member, because it uses the others
};

const cli::Program &program() {
    static const cli::Program all{
        .name = "nvdebug-exporter",
        .version = NVDEBUG_EXPORTER_VERSION,
        .help = "Serves the use of this node's NVIDIA GPUs by process, container, pod and job to "
                "Prometheus.",
        .verbs =
            {{.name = "",
              .help = "",
              .options =
                  {{"--listen",
                    "where it answers, at /metrics (default: 127.0.0.1:9745); :PORT is any "
                    "address of this machine, [::1]:PORT is IPv6",
                    "ADDRESS:PORT"},
                   {"--from", "module, driver, a capture or a folder (default: what there is)",
                    "SOURCE"},
                   {"--rate", "looks at engines N times a second, 1 to 100 (default: 5)", "N"},
                   {"--gpu-labels",
                    "uuid, product or both (uuid,product): labels of all series of a GPU", "LIST"},
                   {"--tasks", "tasks that have numbers of their own, 1 to 10000 (default: 256)",
                    "N"},
                   {"--pod-names",
                    "folders whose entries have names of pods, as kubelet writes them "
                    "(default: /var/log/containers:/var/log/pods)",
                    "FOLDER[:FOLDER]"},
                   {"--goals", "serves the metrics of 'nvqos --metrics FILE' as well", "FILE"}},
              .usage = {{"nvdebug-exporter [OPTION]...", ""}}}},
        .exit_status = "Exit status: 0 after SIGTERM, SIGINT or SIGHUP; 1: wrong usage, or no "
                       "such file or address; 2: another program has the port; 5: failed, may "
                       "work later.",
        .manual = "nvdebug-exporter(8)"};
    return all;
}

/// Parses the value of --gpu-labels. Returns false if a word of the list is no label.
bool parse_labels(std::string_view list, GpuLabels &labels) {
    labels = {};
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = list.find(',');
        const std::string_view word = list.substr(0, comma);
        is_last = comma == list.npos;
        list.remove_prefix(is_last ? list.size() : comma + 1);
        if (word == "uuid")
            labels.uuid = true;
        else if (word == "product")
            labels.product = true;
        else
            return false;
    }
    return true;
}

/// Returns an error of the command line; empty: there is none.
std::string read(const cli::Arguments &arguments, Options &options) {
    options.listen = arguments.text("--listen", options.listen);
    if (!parse_address(options.listen))
        return "--listen takes ADDRESS:PORT, not " + base::quote(options.listen);
    options.from = arguments.text("--from");
    const auto rate = arguments.number("--rate", options.rate, 1, rate_max);
    if (!rate)
        return rate.error();
    options.rate = static_cast<unsigned>(*rate);
    const auto tasks =
        arguments.number("--tasks", static_cast<std::int64_t>(options.limits.tasks), 1, 10'000);
    if (!tasks)
        return tasks.error();
    options.limits.tasks = static_cast<std::size_t>(*tasks);
    if (arguments.has("--gpu-labels") &&
        !parse_labels(arguments.text("--gpu-labels"), options.labels))
        return "--gpu-labels takes uuid, product or uuid,product, not " +
               base::quote(arguments.text("--gpu-labels"));
    auto folders = base::read_pod_folders(arguments.text("--pod-names", base::usual_pod_folders));
    if (!folders)
        return "--pod-names: " + folders.error();
    options.pod_folders = std::move(*folders);
    options.goals = arguments.text("--goals");
    return "";
}

/// Blocks SIGCHLD and the signals that end the program, so that sigtimedwait() can take them.
sigset_t block_signals() {
    sigset_t set = nvdebug::base::ending_signals();
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    return set;
}

/// The addresses at which a socket listens, as far as they decide who can connect.
struct Place {
    const char *every = ""; ///< the words for several addresses, for a message
    bool is_loopback = false;
};

Place place_of(int listener) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size))
        return {};
    if (address.ss_family == AF_INET) {
        const in_addr_t host =
            ntohl(reinterpret_cast<const sockaddr_in &>(address).sin_addr.s_addr);
        return {host == INADDR_ANY ? "every IPv4 address of this machine, " : "",
                host >> 24 == IN_LOOPBACKNET};
    }
    const in6_addr &host = reinterpret_cast<const sockaddr_in6 &>(address).sin6_addr;
    int is_of_six = 0;
    size = sizeof(is_of_six);
    ::getsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &is_of_six, &size);
    return {!IN6_IS_ADDR_UNSPECIFIED(&host) ? ""
            : is_of_six                     ? "every IPv6 address of this machine, "
                                            : "every address of this machine, ",
            static_cast<bool>(IN6_IS_ADDR_LOOPBACK(&host))};
}

/// Returns host and port in the form that browsers take, also if the exporter listens at all
/// addresses.
std::string url_host(const std::string &listen, const Place &place) {
    return *place.every ? "localhost:" + parse_address(listen)->port : listen;
}

/// Returns whether systemd started this process as a service. A shell may inherit INVOCATION_ID
/// from its user's service. systemd 248 and newer set SYSTEMD_EXEC_PID to the pid of the service.
bool is_service() {
    const char *const pid = std::getenv("SYSTEMD_EXEC_PID");
    return std::getenv("INVOCATION_ID") &&
           (pid ? pid == std::to_string(::getpid()) : ::getppid() == 1);
}

/// The front's process, and the socket to it.
struct Child {
    pid_t pid = -1;
    int socket = -1;
};

Child start_front(int listener) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return {};
    const pid_t parent = ::getpid(), child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        run_front(listener, ends[1], NVDEBUG_EXPORTER_VERSION);
    }
    ::close(ends[1]);
    if (child < 0) {
        ::close(ends[0]);
        return {};
    }
    // A front that does not read for so long is ended.
    const timeval patience{10, 0};
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return {child, ends[0]};
}

/// Answers the front's questions until the front ends. It does not throw.
void answer_on(Node &node, int socket) {
    while (await_question(socket)) {
        std::string text;
        try {
            text = node.text();
        } catch (const std::exception &) {
            try {
                text = node.nothing();
            } catch (const std::exception &) {
                text.clear();
            }
        }
        if (!answer_question(socket, text))
            break;
    }
    ::shutdown(socket, SHUT_RDWR); // a front that does not read ends by this
}

/// Makes steps until a signal ends the program (returns true), or the front has ended (returns
/// false).
bool step_on(Node &node, std::chrono::milliseconds period, const sigset_t &ending, pid_t front) {
    for (auto due = Meter::Clock::now();;) {
        try {
            node.step();
        } catch (const std::exception &error) {
            log(error.what());
        }
        due = std::max(due + period, Meter::Clock::now());
        for (;;) {
            const auto left = std::max(std::chrono::nanoseconds(due - Meter::Clock::now()),
                                       std::chrono::nanoseconds(0));
            const timespec wait{static_cast<time_t>(left.count() / 1'000'000'000),
                                static_cast<long>(left.count() % 1'000'000'000)};
            const int signal = sigtimedwait(&ending, nullptr, &wait);
            if (signal > 0 && signal != SIGCHLD)
                return true;
            // If this is the first process of a container, it is also the parent of other programs'
            // orphans.
            if (signal == SIGCHLD) {
                for (pid_t ended; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;)
                    if (ended == front)
                        return false;
                continue;
            }
            break;
        }
    }
}

int serve(const Options &options) {
    const std::chrono::milliseconds period(1000 / options.rate);
    const int listener = listen_at(*parse_address(options.listen));
    if (listener < 0)
        return log("cannot listen on " + options.listen + ": " + ::strerrordesc_np(-listener) +
                       "; choose another with --listen",
                   listener == -EADDRINUSE || listener == -EACCES ? refused
                   : listener == -EADDRNOTAVAIL                   ? bad_usage
                                                                  : failed);
    const Place place = place_of(listener);
    const sigset_t ending = block_signals(); // before there are other threads
    std::signal(SIGCHLD, SIG_DFL);
    // The front is forked before the first descriptor is opened that it must not have.
    const Child front = start_front(listener);
    ::close(listener);
    if (front.pid < 0)
        return log(std::string("cannot start the process that answers: ") +
                   ::strerrordesc_np(errno));
    nvdebug::base::raise_file_limit();
    int status = 0;
    {
        Node node(options, period);
        if (const auto opened = node.open(); !opened) {
            status =
                log(opened.error().sentence, base::exit_status::of_file(opened.error().number));
        } else {
            std::thread answering([&] { answer_on(node, front.socket); });
            std::error_code no_matter;
            log(std::string("listening on ") + place.every + "http://" +
                url_host(options.listen, place) + "/metrics");
            if (std::filesystem::is_regular_file(options.from, no_matter))
                log("a capture is read: its state stands still, and the times of its tasks grow");
            if (!place.is_loopback && is_service())
                log("the systemd unit lets in this machine alone, and drops packets of others, "
                    "until "
                    "'systemctl edit nvdebug-exporter' adds IPAddressAllow= with Prometheus' "
                    "address; "
                    "see nvdebug-exporter(8), LETTING PROMETHEUS IN");
            if (!step_on(node, period, ending, front.pid))
                status = log("the process that answers has ended");
            ::shutdown(front.socket, SHUT_RDWR);
            answering.join();
        }
    }
    ::close(front.socket);
    ::kill(front.pid, SIGKILL);
    while (::waitpid(front.pid, nullptr, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

int run(const std::vector<std::string> &words) {
    return cli::run(program(), words, [](const cli::Parsed &parsed) {
        Options options;
        if (const std::string wrong = read(parsed.arguments, options); !wrong.empty())
            return log(wrong + "; see 'nvdebug-exporter --help'", bad_usage);
        return serve(options);
    });
}

} // namespace
} // namespace nvdebug::exporter

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes();
    try {
        return nvdebug::exporter::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        return nvdebug::exporter::log(error.what());
    }
}
