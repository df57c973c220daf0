// SPDX-License-Identifier: MIT OR GPL-2.0
#include "experiment.hpp"

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace stgm {
namespace {

std::uint64_t utilisation(const TaskSet &set) {
    const Model model(set);
    std::uint64_t sum = 0;
    for (const Numbers &one : model.tasks())
        sum += static_cast<std::uint64_t>(multiply(add(one.cpu, one.segments()), 1'000'000) /
                                          one.period);
    return sum / set.cores;
}

/// Returns the table of one point: figure 4 varies the number of tasks, figure 5 that of SMs.
Table table_of(unsigned figure, std::uint32_t point, Reading reading) {
    Table table;
    table.reading = reading;
    (figure == 4 ? table.tasks.emplace() : table.sms) = point;
    return table;
}

TaskSet with_fixed_kernels(TaskSet set) {
    for (Task &task : set.tasks)
        for (Segment &segment : task.segments)
            if (segment.gpu)
                segment.kernel.resize(1);
    return set;
}

/// Draws a set for each reading, and counts for each curve whether the set is schedulable.
void measure(unsigned figure, std::uint32_t point, std::uint64_t seed,
             const std::vector<Curve> &all, std::vector<Count> &counts) {
    for (const Reading reading : {Reading::full, Reading::one}) {
        Random random(seed);
        const auto set = generate(table_of(figure, point, reading), random);
        if (!set)
            continue; // never, as each number of tasks in the figures has cores
        const TaskSet fixed = with_fixed_kernels(*set);
        const std::uint64_t weight = utilisation(*set);
        for (std::size_t n = 0; n < all.size(); n++) {
            if (all[n].reading != reading)
                continue;
            const bool found =
                allocate(all[n].fixed ? fixed : *set, all[n].options, all[n].algorithm).found;
            counts[n].sets++;
            counts[n].schedulable += found;
            counts[n].weight += weight;
            counts[n].weight_squares += weight * weight;
            counts[n].weight_schedulable += found ? weight : 0;
        }
    }
}

} // namespace

std::vector<Curve> curves() {
    std::vector<Curve> all;
    const auto both = [&](const std::string &name, Reading reading, bool fixed, Method method,
                          Algorithm algorithm = Algorithm::mended) {
        for (const bool busy : {false, true})
            all.push_back({name + (busy ? "_busy" : "_suspend"),
                           reading,
                           fixed,
                           {.method = method, .busy = busy},
                           algorithm});
    };
    both("stgm", Reading::full, false, Method::stgm);
    both("stgm_printed", Reading::full, false, Method::printed, Algorithm::paper);
    all.push_back({"stgm_disjoint", Reading::full, false, {}, Algorithm::disjoint});
    both("mpcp", Reading::full, false, Method::mpcp);
    both("fmlp", Reading::full, false, Method::fmlp);
    all.push_back({"server", Reading::full, false, {.method = Method::server}, Algorithm::mended});
    all.push_back(
        {"federated", Reading::full, false, {.method = Method::federated}, Algorithm::mended});
    all.push_back(
        {"timeslice",
         Reading::full,
         false,
         {.method = Method::timeslice, .timeslice = 2000, .turn_extra = 103, .turn_switch = 84},
         Algorithm::mended});
    both("stgm_tight", Reading::full, false, Method::tight);
    both("stgm", Reading::one, false, Method::stgm);
    for (const bool fixed : {false, true}) {
        const std::string word = fixed ? "_fixed" : "";
        all.push_back({"mpcp_suspend" + word,
                       Reading::one,
                       fixed,
                       {.method = Method::mpcp},
                       Algorithm::mended});
        all.push_back({"fmlp_suspend" + word,
                       Reading::one,
                       fixed,
                       {.method = Method::fmlp},
                       Algorithm::mended});
        all.push_back(
            {"server" + word, Reading::one, fixed, {.method = Method::server}, Algorithm::mended});
    }
    return all;
}

Interval wilson(double part, double count) {
    if (count <= 0)
        return {0, 1};
    constexpr double z = 1.959963984540054, square = z * z;
    const double middle = (part + square / (2 * count)) / (1 + square / count);
    const double half = z / (1 + square / count) *
                        std::sqrt(part * (1 - part) / count + square / (4 * count * count));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<Figure> figures(std::uint64_t sets_a_point, std::uint64_t seed, unsigned threads,
                            const std::function<void(std::uint64_t, std::uint64_t)> &progress) {
    const std::vector<Curve> all = curves();
    std::vector<Figure> found{{4, "tasks of a set", {}, {}}, {5, "SMs", {}, {}}};
    for (std::uint32_t tasks = 4; tasks <= 16; tasks++)
        found[0].points.push_back(tasks);
    for (std::uint32_t sms = 1; sms <= 13; sms++)
        found[1].points.push_back(sms);
    std::vector<std::pair<std::size_t, std::size_t>> points;
    for (std::size_t figure = 0; figure < found.size(); figure++) {
        found[figure].counts.assign(found[figure].points.size(), std::vector<Count>(all.size()));
        for (std::size_t point = 0; point < found[figure].points.size(); point++)
            points.emplace_back(figure, point);
    }
    // Threads take small pieces, so that all of them have work to the end. The result does not
    // depend on which thread takes which piece.
    constexpr std::uint64_t piece = 50;
    const std::uint64_t pieces = (sets_a_point + piece - 1) / piece,
                        whole = sets_a_point * points.size();
    std::atomic<std::uint64_t> next = 0;
    std::mutex mutex;
    std::uint64_t done = 0;
    const auto work = [&] {
        for (std::uint64_t at; (at = next++) < pieces * points.size();) {
            const auto [figure, point] = points[at / pieces];
            const std::uint64_t first = at % pieces * piece,
                                last = std::min(sets_a_point, first + piece);
            std::vector<Count> counts(all.size());
            for (std::uint64_t n = first; n < last; n++) {
                Random mixed(seed ^ (at / pieces + 1) << 40 ^ n);
                measure(found[figure].number, found[figure].points[point], mixed.next(), all,
                        counts);
            }
            const std::lock_guard lock(mutex);
            for (std::size_t n = 0; n < all.size(); n++) {
                Count &sum = found[figure].counts[point][n];
                sum.sets += counts[n].sets;
                sum.schedulable += counts[n].schedulable;
                sum.weight += counts[n].weight;
                sum.weight_squares += counts[n].weight_squares;
                sum.weight_schedulable += counts[n].weight_schedulable;
            }
            done += last - first;
            if (progress)
                progress(done, whole);
        }
    };
    std::vector<std::jthread> running;
    for (unsigned n = 1; n < threads; n++)
        running.emplace_back(work);
    work();
    running.clear();
    return found;
}

} // namespace stgm
