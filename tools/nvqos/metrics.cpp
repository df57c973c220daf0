// SPDX-License-Identifier: MIT OR GPL-2.0
#include "metrics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/printable.hpp"

namespace nvqos {
namespace {

double ratio(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::whole);
}

/// Returns a label's value, escaped. printable() leaves no newlines in it.
std::string escaped(const std::string &text) {
    std::string made;
    for (const char each : nvdebug::base::printable(text)) {
        if (each == '\\' || each == '"')
            made += '\\';
        made += each;
    }
    return made;
}

/// Writes a metric with its help, and a line for each value.
class Metric {
  public:
    Metric(const char *name, const char *type, const char *help)
        : name_(name),
          text_(fmt::format("# HELP nvqos_{} {}\n# TYPE nvqos_{} {}\n", name, help, name, type)) {}
    void add(const std::string &labels, double value) {
        text_ += labels.empty() ? fmt::format("nvqos_{} {}\n", name_, value)
                                : fmt::format("nvqos_{}{{{}}} {}\n", name_, labels, value);
        any_ = true;
    }
    /// Returns nothing if the tenant has no such value.
    std::string text() const { return any_ ? text_ : ""; }

  private:
    const char *const name_;
    std::string text_;
    bool any_ = false;
};

} // namespace

void Metrics::add(const Report &report) {
    OfGpu &gpu = gpus_[report.gpu];
    gpu.last = report;
    // Tenants come and go: each keeps its own sums.
    std::map<Key, Sums> before = std::exchange(gpu.sums, {});
    gpu.keys.clear();
    for (const TenantReport &tenant : report.tenants) {
        const auto alike = std::ranges::count(gpu.keys, tenant.name, &Key::first);
        const Key key{tenant.name, alike};
        Sums &sums = gpu.sums[key] = before[key];
        sums.used += tenant.record.seen.used;
        sums.backlogged += tenant.record.seen.backlogged;
        sums.turns += static_cast<std::uint64_t>(tenant.record.seen.turns);
        gpu.keys.push_back(key);
    }
    gpu.epochs++;
}

void Metrics::set_up(std::uint32_t gpu, bool is_up) {
    up_[gpu] = is_up;
    if (!is_up)
        gpus_.erase(gpu);
}

std::string Metrics::text() const {
    using Value = std::optional<double>;
    std::string all;
    const auto of_gpus = [&](const char *name, const char *type, const char *help,
                             const std::function<double(const OfGpu &)> &value) {
        Metric metric(name, type, help);
        for (const auto &[number, gpu] : gpus_)
            metric.add(fmt::format("gpu=\"{}\"", number), value(gpu));
        all += metric.text();
    };
    const auto of_tenants =
        [&](const char *name, const char *type, const char *help,
            const std::function<Value(const TenantReport &, const Sums &)> &value) {
            Metric metric(name, type, help);
            for (const auto &[number, gpu] : gpus_)
                for (std::size_t n = 0; n < gpu.last.tenants.size(); n++)
                    if (const Value found = value(gpu.last.tenants[n], gpu.sums.at(gpu.keys[n])))
                        metric.add(fmt::format("gpu=\"{}\",tenant=\"{}\",number=\"{}\"", number,
                                               escaped(gpu.keys[n].first), gpu.keys[n].second),
                                   *found);
            all += metric.text();
        };
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    Metric processor("processor_seconds_total", "counter",
                     "Of nvqos, without its keepers, which make the requests.");
    processor.add("", static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9);
    all += processor.text();
    Metric up("up", "gauge", "1: goals are kept on the GPU; 0: it is left out and tried again.");
    for (const auto &[number, is_up] : up_)
        up.add(fmt::format("gpu=\"{}\"", number), is_up ? 1 : 0);
    all += up.text();
    if (clock_) {
        Metric usable("clock_usable", "gauge",
                      "1: tenants with tasks on other nodes have windows by the clock.");
        usable.add("", clock_->is_usable ? 1 : 0);
        Metric difference("clock_difference_seconds", "gauge",
                          "The clocks of nodes may differ by this. None: not synchronised.");
        if (clock_->difference_ns)
            difference.add("", qos::seconds(*clock_->difference_ns));
        all += usable.text() + difference.text();
    }
    of_gpus("epochs_total", "counter", "Epochs that have ended.",
            [](const OfGpu &gpu) { return static_cast<double>(gpu.epochs); });
    of_gpus("lost_switches_total", "counter", "Context switches that the driver did not record.",
            [](const OfGpu &gpu) { return static_cast<double>(gpu.last.lost); });
    const auto of_calls = [&](const std::string &name, const std::string &what,
                              Calls Report::*calls) {
        of_gpus((name + "_total").c_str(), "counter", what.c_str(),
                [calls](const OfGpu &gpu) { return static_cast<double>((gpu.last.*calls).count); });
        of_gpus((name + "_seconds_total").c_str(), "counter",
                (what + " The time of these.").c_str(),
                [calls](const OfGpu &gpu) { return qos::seconds((gpu.last.*calls).time); });
    };
    of_calls("driver_reads", "Reads of the driver's record of switches.", &Report::reads);
    of_calls("driver_requests", "Requests to the driver for a timeslice or a pause of a task.",
             &Report::requests);
    of_gpus("overcommitted", "gauge", "1: promised parts do not fit any more, and each is cut.",
            [](const OfGpu &gpu) { return gpu.last.epoch.overcommitted ? 1.0 : 0.0; });
    of_tenants("goal_ratio", "gauge", "The part that a share or speed promises.",
               [](const TenantReport &tenant, const Sums &) {
                   return qos::is_promised(tenant.goal.aim) ? Value(ratio(tenant.goal.part))
                                                            : std::nullopt;
               });
    of_tenants("cap_ratio", "gauge", "The part that is not exceeded in any second.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.goal.cap ? Value(ratio(*tenant.goal.cap)) : std::nullopt;
               });
    of_tenants("got_ratio", "gauge",
               "The part of the last second in which it had the GPU. None: the goal is too "
               "young, or its tasks share an MPS server.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.got ? Value(ratio(*tenant.got)) : std::nullopt;
               });
    of_tenants(
        "used_seconds_total", "counter", "It had the GPU, with work or without.",
        [](const TenantReport &, const Sums &sums) { return Value(qos::seconds(sums.used)); });
    of_tenants("backlogged_seconds_total", "counter", "It had the GPU or waited for it.",
               [](const TenantReport &, const Sums &sums) {
                   return Value(qos::seconds(sums.backlogged));
               });
    of_tenants("turns_total", "counter", "Turns that have ended.",
               [](const TenantReport &, const Sums &sums) {
                   return Value(static_cast<double>(sums.turns));
               });
    of_tenants("credit_seconds", "gauge",
               "Of a promise: what it is owed; of a cap alone: what it may still use.",
               [](const TenantReport &tenant, const Sums &) {
                   return qos::is_promised(tenant.goal.aim) || tenant.goal.cap
                              ? Value(qos::seconds(tenant.credit))
                              : std::nullopt;
               });
    of_tenants("timeslice_seconds", "gauge", "Of each of its TSGs, where a goal takes timeslices.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(qos::seconds(tenant.lever.timeslice));
               });
    of_tenants("paused", "gauge", "1: its channels are off now.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(tenant.lever.paused ? 1 : 0);
               });
    of_tenants("tasks", "gauge", "Processes with a GPU context.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(static_cast<double>(tenant.tasks));
               });
    of_tenants("paced_tasks", "gauge", "Of them, those whose launches are held for a speed.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(static_cast<double>(tenant.paced));
               });
    of_tenants("speed_ratio", "gauge", "By launches, of its speed alone, where a speed is kept so.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.pace && tenant.pace->speed ? Value(ratio(*tenant.pace->speed))
                                                            : std::nullopt;
               });
    of_tenants("requests_total", "counter", "Requests of a service that have ended.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.requests
                              ? Value(static_cast<double>(tenant.requests->took.count()))
                              : std::nullopt;
               });
    of_tenants("request_p99_seconds", "gauge", "99 of 100 of them took no longer.",
               [](const TenantReport &tenant, const Sums &) {
                   const auto p99 = tenant.requests ? tenant.requests->took.p99() : std::nullopt;
                   return p99 ? Value(qos::seconds(*p99)) : std::nullopt;
               });
    of_tenants("limited_tasks", "gauge", "Of them, those whose launches in flight are limited.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(static_cast<double>(tenant.limited.tasks));
               });
    of_tenants(
        "kept", "gauge",
        "1: its goal was kept over the last second, within a point. None: no process fits, or "
        "its turns could not be seen.",
        [](const TenantReport &tenant, const Sums &) {
            const auto is_kept = kept(tenant);
            return is_kept ? Value(*is_kept ? 1 : 0) : std::nullopt;
        });
    of_tenants("violations_total", "counter", "Epochs at whose end its goal was not kept.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(static_cast<double>(tenant.violations));
               });
    of_tenants("waits_total", "counter", "Waits between two turns while it had work.",
               [](const TenantReport &tenant, const Sums &) {
                   return Value(static_cast<double>(tenant.waits));
               });
    const auto of_engines = [&](const char *name, const char *help,
                                std::optional<qos::Ns> EngineTimes::*time) {
        of_tenants(name, "gauge", help, [time](const TenantReport &tenant, const Sums &) {
            const auto took = tenant.engine ? *tenant.engine.*time : std::nullopt;
            return took ? Value(qos::seconds(*took)) : std::nullopt;
        });
    };
    of_engines("ttft_seconds", "Percentile of the goal: the time to a request's first token.",
               &EngineTimes::ttft);
    of_engines("tpot_seconds", "Percentile of the goal: the time of each later token.",
               &EngineTimes::tpot);
    of_tenants("wait_p99_seconds", "gauge", "99 % of them were at most so long; from 100 on.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.wait_p99 ? Value(qos::seconds(*tenant.wait_p99)) : std::nullopt;
               });
    of_tenants("windows", "gauge",
               "1: it has windows on all of its GPUs at once. None: nobody else is on its GPUs, or "
               "it has one GPU, and no windows by the clock are there.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.gang ? Value(tenant.gang->has_windows ? 1 : 0) : std::nullopt;
               });
    of_tenants("together_ratio", "gauge",
               "The part of its time on several GPUs in which all of its tasks ran.",
               [](const TenantReport &tenant, const Sums &) {
                   return tenant.gang && tenant.gang->together
                              ? Value(ratio(*tenant.gang->together))
                              : std::nullopt;
               });
    Metric pods("pod_tasks", "gauge", "Of its processes, those in a container or a pod.");
    for (const auto &[number, gpu] : gpus_)
        for (std::size_t n = 0; n < gpu.last.tenants.size(); n++)
            for (const TasksInContainer &one : gpu.last.tenants[n].containers) {
                const auto name = one.name.value_or(nvdebug::base::PodName{});
                pods.add(fmt::format("gpu=\"{}\",tenant=\"{}\",number=\"{}\",task_container=\"{}\","
                                     "task_pod=\"{}\",task_namespace=\"{}\",task_pod_name=\"{}\","
                                     "task_container_name=\"{}\"",
                                     number, escaped(gpu.keys[n].first), gpu.keys[n].second,
                                     one.id.container.value_or(""), one.id.pod.value_or(""),
                                     name.name_space, name.pod, name.container),
                         static_cast<double>(one.tasks));
            }
    all += pods.text();
    return all;
}

Outcome<void> Metrics::write(const std::string &path) const {
    const auto failed_to = [&](const char *what, int error) {
        return fail(of_file(error),
                    fmt::format("metrics cannot be {} {}: {}; name a file in a folder that "
                                "may be written, with --metrics",
                                what, nvdebug::base::printable(path), std::strerror(error)));
    };
    // The collector reads files that end with .prom, so it does not read this temporary file.
    std::string part = path + ".XXXXXX";
    const int file = ::mkostemp(part.data(), O_CLOEXEC);
    if (file < 0)
        return failed_to("written to", errno);
    const std::string all = text();
    int error = 0;
    for (std::size_t at = 0; at < all.size() && !error;) {
        const ssize_t more = ::write(file, all.data() + at, all.size() - at);
        if (more < 0 && errno != EINTR)
            error = errno;
        at += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
    if (!error && ::fchmod(file, 0644))
        error = errno;
    if (::close(file) && !error)
        error = errno;
    if (!error && ::rename(part.c_str(), path.c_str()))
        error = errno;
    if (error) {
        ::unlink(part.c_str());
        return failed_to("put into", error);
    }
    return {};
}

} // namespace nvqos
