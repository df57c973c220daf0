// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-exporter: who has the GPUs of this node, for Prometheus.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <mutex>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "families.hpp"

namespace nvdebug::exporter {
namespace {

constexpr int failed = 1;
constexpr unsigned rate_max = 100;

struct Wish {
    std::string listen = "127.0.0.1:9745", from;
    unsigned rate = 5; ///< steps a second
    Meter::Limits limits;
    bool help = false, version = false;
};

int say(const std::string &sentence) {
    std::fprintf(stderr, "nvdebug-exporter: %s\n", sentence.c_str());
    return failed;
}

/** All GPUs, behind one URL. */
class Node final : public prometheus::Collectable {
  public:
    explicit Node(std::vector<std::unique_ptr<Meter>> meters) : meters_(std::move(meters)) {}

    /** Of many at once, most get what another has just got. */
    std::vector<prometheus::MetricFamily> Collect() const override {
        constexpr std::chrono::milliseconds fresh{200};
        const std::scoped_lock held(mutex_);
        if (families_.empty() || Meter::Clock::now() - collected_ > fresh) {
            std::vector<Facts> facts;
            for (const auto &meter : meters_)
                facts.push_back(meter->facts());
            families_ = families(facts);
            collected_ = Meter::Clock::now();
        }
        return families_;
    }

    void step() {
        for (const auto &meter : meters_)
            meter->step();
    }

  private:
    std::vector<std::unique_ptr<Meter>> meters_;
    mutable std::mutex mutex_;
    mutable std::vector<prometheus::MetricFamily> families_;
    mutable Meter::Clock::time_point collected_;
};

const char *const help = R"(Tells Prometheus who has this node's NVIDIA GPUs, and for how long.

  nvdebug-exporter [OPTION]...

      --listen ADDRESS:PORT  where it answers, at /metrics (default: 127.0.0.1:9745)
      --from SOURCE          module, driver, a capture or a folder (default: what there is)
      --rate N               looks at engines N times a second, 1 to 100 (default: 5)
      --tasks N              tasks that have numbers of their own, 1 to 10000 (default: 256)
  -h, --help, -V, --version

Exit status: 0 after SIGTERM or SIGINT; 1: it cannot start, stderr says why. Manual:
nvdebug-exporter(8)
)";

bool number(const char *text, std::size_t most, std::size_t &value) {
    const char *const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    return error == std::errc() && stop == end && text != end && value >= 1 && value <= most;
}

/** `9745` or `ADDRESS:9745`. */
bool is_address(const std::string &text) {
    std::size_t port = 0;
    return number(text.substr(text.rfind(':') + 1).c_str(), 65535, port);
}

/** What is wrong with the words; empty: nothing. */
std::string parse(int argc, char **argv, Wish &wish) {
    enum Long { listen = 256, from, rate, tasks };
    static const option options[] = {{"listen", required_argument, nullptr, listen},
                                     {"from", required_argument, nullptr, from},
                                     {"rate", required_argument, nullptr, rate},
                                     {"tasks", required_argument, nullptr, tasks},
                                     {"help", no_argument, nullptr, 'h'},
                                     {"version", no_argument, nullptr, 'V'},
                                     {nullptr, 0, nullptr, 0}};
    opterr = 0;
    std::size_t value = 0;
    for (int given; (given = getopt_long(argc, argv, ":hV", options, nullptr)) >= 0;)
        switch (given) {
        case listen:
            wish.listen = optarg;
            if (!is_address(wish.listen))
                return "--listen takes ADDRESS:PORT, not '" + wish.listen + "'";
            break;
        case from:
            wish.from = optarg;
            break;
        case rate:
            if (!number(optarg, rate_max, value))
                return "--rate takes a number from 1 to 100, not '" + std::string(optarg) + "'";
            wish.rate = static_cast<unsigned>(value);
            break;
        case tasks:
            if (!number(optarg, 10'000, value))
                return "--tasks takes a number from 1 to 10000, not '" + std::string(optarg) + "'";
            wish.limits.tasks = value;
            break;
        case 'h':
            wish.help = true;
            return "";
        case 'V':
            wish.version = true;
            return "";
        case ':':
            return std::string(argv[optind - 1]) + " takes a value";
        default:
            return std::string("there is no option ") + argv[optind - 1];
        }
    if (optind < argc)
        return "'" + std::string(argv[optind]) + "' is too much";
    return "";
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

/** Blocks the signals that end it, for sigtimedwait(). */
sigset_t block_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    return set;
}

int serve(const Wish &wish) {
    const auto tree = open_source(wish.from);
    if (!tree)
        return say(tree.error().sentence);
    const auto found = gpus(*tree);
    if (!found)
        return say(found.error().sentence);
    if (found->empty())
        return say("no GPU is found in " + tree->path() +
                   "; 'nvdebugctl doctor' says what is missing");
    const std::chrono::milliseconds period(1000 / wish.rate);
    std::vector<std::unique_ptr<Meter>> meters;
    for (const Gpu &gpu : *found)
        meters.push_back(std::make_unique<Meter>(gpu, period, wish.limits));
    const auto node = std::make_shared<Node>(std::move(meters));
    const sigset_t ending = block_signals(); // before there are other threads
    std::unique_ptr<prometheus::Exposer> exposer;
    try {
        exposer = std::make_unique<prometheus::Exposer>(wish.listen);
    } catch (const std::exception &) {
        return say("cannot listen on " + wish.listen +
                   ": the port is taken, is not allowed, or the address is not this machine's; "
                   "choose another with --listen");
    }
    node->step();
    exposer->RegisterCollectable(node);
    say("answers at http://" + wish.listen + "/metrics");
    for (auto due = Meter::Clock::now();;) {
        due = std::max(due + period, Meter::Clock::now());
        const auto left = std::chrono::nanoseconds(due - Meter::Clock::now());
        const timespec wait{static_cast<time_t>(left.count() / 1'000'000'000),
                            static_cast<long>(left.count() % 1'000'000'000)};
        if (sigtimedwait(&ending, nullptr, &wait) > 0)
            return 0;
        node->step();
    }
}

int run(int argc, char **argv) {
    Wish wish;
    if (const std::string wrong = parse(argc, argv, wish); !wrong.empty())
        return say(wrong + "; see 'nvdebug-exporter --help'");
    if (wish.help || wish.version) {
        if (wish.help)
            std::fputs(help, stdout);
        else
            std::printf("nvdebug-exporter %s\n", NVDEBUG_EXPORTER_VERSION);
        return std::fflush(stdout) ? failed : 0;
    }
    return serve(wish);
}

} // namespace
} // namespace nvdebug::exporter

int main(int argc, char **argv) {
    return nvdebug::exporter::run(argc, argv);
}
