// SPDX-License-Identifier: MIT OR GPL-2.0
#include "generate.hpp"

#include <algorithm>
#include <cmath>

namespace stgm {
namespace {

double between(Random &random, double least, double most) {
    return least + random.part() * (most - least);
}

/// Draws utilisations by UUniFast (Bini and Buttazzo), and discards draws with a task out of range.
/// Returns none if it discarded too many.
std::vector<double> uunifast(const Table &table, std::size_t tasks, Random &random) {
    constexpr int tries = 100'000;
    const auto in_range = [&](double one) {
        return one >= table.least_utilisation && one <= table.most_utilisation;
    };
    for (int n = 0; n < tries; n++) {
        std::vector<double> found;
        double left = *table.utilisation;
        while (found.size() + 1 < tasks && (found.empty() || in_range(found.back()))) {
            const double next =
                left * std::pow(random.part(), 1.0 / static_cast<double>(tasks - found.size() - 1));
            found.push_back(left - next);
            left = next;
        }
        found.push_back(left);
        if (found.size() == tasks && std::ranges::all_of(found, in_range))
            return found;
    }
    return {};
}

/// Divides @p whole into @p count parts at random, none of them more than three times another.
std::vector<Time> split(Time whole, std::size_t count, Random &random) {
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t n = 0; n < count; n++)
        sum += weights.emplace_back(between(random, 1, 3));
    std::vector<Time> parts;
    Time left = whole;
    for (std::size_t n = 0; n + 1 < count; n++) {
        parts.push_back(
            std::min(left, static_cast<Time>(static_cast<double>(whole) * weights[n] / sum)));
        left -= parts.back();
    }
    parts.push_back(left);
    return parts;
}

/// Returns the time on @p sms SMs as a part of the time on one SM.
double on(const Profile &profile, std::size_t sms) {
    return profile.serial +
           (1 - profile.serial) / static_cast<double>(std::min(sms, profile.most_sms));
}

std::vector<Time> kernel(Time length, const Profile &profile, const Table &table) {
    std::vector<Time> times;
    const double whole =
        static_cast<double>(length) / (table.reading == Reading::full ? on(profile, table.sms) : 1);
    for (std::size_t sms = 1; sms <= table.sms; sms++) {
        const auto time = static_cast<Time>(std::ceil(whole * on(profile, sms) - 1e-6));
        times.push_back(times.empty() ? time : std::min(time, times.back()));
    }
    return times;
}

Task make_task(const Table &table, double utilisation, bool gpu, Random &random) {
    Task task;
    task.period = task.deadline = random.between(100'000, 500'000);
    const auto work = static_cast<Time>(utilisation * static_cast<double>(task.period));
    if (!gpu) {
        task.segments = {{.cpu = work}};
        return task;
    }
    const auto count = static_cast<std::size_t>(random.between(1, 3));
    const auto on_gpu =
        static_cast<Time>(static_cast<double>(work) / (1 + between(random, 0.3, 0.7)));
    const auto kernels = static_cast<Time>(static_cast<double>(on_gpu) * between(random, 0.7, 0.9));
    const Profile &profile = profiles[random.below(profiles.size())];
    const std::vector<Time> cpu = split(work - on_gpu, count + 1, random),
                            kernel_parts = split(kernels, count, random),
                            copy_parts = split(on_gpu - kernels, 2 * count, random);
    for (std::size_t n = 0; n < count; n++) {
        task.segments.push_back({.cpu = cpu[n]});
        task.segments.push_back({.gpu = true,
                                 .to_device = copy_parts[2 * n],
                                 .from_device = copy_parts[2 * n + 1],
                                 .kernel = kernel(kernel_parts[n], profile, table)});
    }
    task.segments.push_back({.cpu = cpu[count]});
    return task;
}

} // namespace

Outcome<TaskSet> generate(const Table &table, Random &random) {
    TaskSet set{.time_unit = "us", .cores = table.cores.value_or(0), .sms = table.sms, .tasks = {}};
    // The cores are drawn from the numbers that allow for the number of tasks, if that is given.
    const std::uint32_t count_given = table.tasks.value_or(0);
    if (!table.cores) {
        std::vector<std::uint32_t> fitting;
        for (std::uint32_t cores = 2; cores <= 4; cores++)
            if (!table.tasks || (count_given >= 2 * cores && count_given <= 4 * cores))
                fitting.push_back(cores);
        if (fitting.empty())
            return tl::unexpected("2 to 4 cores have 4 to 16 tasks; give --cores for " +
                                  std::to_string(count_given));
        set.cores = fitting[random.below(fitting.size())];
    }
    const auto count =
        table.tasks ? *table.tasks
                    : static_cast<std::uint32_t>(random.between(2 * set.cores, 4 * set.cores));
    const double ratio = between(random, 0.2, 2); // of GPU-using tasks to others
    const auto users = static_cast<std::uint32_t>(std::lround(count * ratio / (1 + ratio)));
    std::vector<double> utilisations;
    if (table.utilisation)
        utilisations = uunifast(table, count, random);
    else
        for (std::uint32_t n = 0; n < count; n++)
            utilisations.push_back(
                between(random, table.least_utilisation, table.most_utilisation));
    if (utilisations.empty())
        return tl::unexpected("no " + std::to_string(count) +
                              " tasks between the least and the most utilisation add "
                              "up to that utilisation");
    std::vector<bool> gpu(count);
    std::fill_n(gpu.begin(), std::min(users, count), true);
    for (std::size_t n = count; n > 1; n--) {
        const std::size_t other = random.below(n);
        const bool kept = gpu[n - 1];
        gpu[n - 1] = gpu[other];
        gpu[other] = kept;
    }
    for (std::uint32_t n = 0; n < count; n++) {
        set.tasks.push_back(make_task(table, utilisations[n], gpu[n], random));
        set.tasks.back().name = "task" + std::to_string(n);
    }
    return set;
}

} // namespace stgm
