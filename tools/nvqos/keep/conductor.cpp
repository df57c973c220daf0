// SPDX-License-Identifier: MIT OR GPL-2.0
#include "conductor.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/thread_name.hpp"

namespace nvqos {

using qos::Ns;
using Clock = GangBoard::Clock;

namespace {

/// A step is not made again before this time, unless tenants have changed.
constexpr std::chrono::milliseconds between_steps_of_windows{1};
/// A GPU that takes longer for a request does not hold up the others. While processes start or end,
/// one took up to 40 ms on an H200.
constexpr std::chrono::milliseconds longest_request{50};

} // namespace

Conductor::Conductor(const std::vector<std::unique_ptr<GpuThread>> &gpus,
                     std::shared_ptr<GangBoard> board, NodeClock clock,
                     std::chrono::milliseconds patience)
    : board_(std::move(board)), patience_(patience), clock_windows_(std::move(clock)) {
    for (const auto &gpu : gpus)
        gpus_[gpu->index()] = {gpu.get()};
    thread_ = std::thread([this] { run(); });
}

Conductor::~Conductor() {
    board_->end();
    thread_.join();
}

void Conductor::run() {
    nvdebug::base::name_thread("nvqos-windows");
    for (;;) {
        const auto [tenants, version] = board_->tenants();
        take_tenants(tenants);
        step_by_clock();
        step();
        publish();
        if (!board_->wait_for_others(version, Clock::now() + std::max<std::chrono::nanoseconds>(
                                                                 between_steps_of_windows, wait())))
            return;
    }
}

/// Returns how long until a step is due. Windows by the clock are looked at each second, because the
/// clock may be set.
std::chrono::nanoseconds Conductor::wait() const {
    const Ns longest = (clock_windows_.gpus().empty() ? 60 : 1) * qos::second,
             of_keeper = keeper_.due() - monotonic_raw();
    return std::chrono::nanoseconds(std::min({longest, of_keeper, clock_windows_.wait()}));
}

/// Takes the present tenants of the GPUs. A GPU that was left out takes part again when it has
/// answered.
void Conductor::take_tenants(const GangBoard::Tenants &tenants) {
    for (auto &[number, own] : gpus_) {
        OfGpu &gpu = own; // Clang takes no binding into a lambda
        const bool is_back = !gpu.is_back || board_->locked([&] { return *gpu.is_back; });
        if (is_back)
            gpu.is_back.reset();
        const auto at = tenants.find(number);
        const bool has_any = is_back && at != tenants.end();
        gpu.tenants = has_any ? at->second : std::vector<qos::TenantOnGpu>();
    }
}

void Conductor::step() {
    for (const auto &[number, gpu] : gpus_)
        keeper_.set_tenants(number, gpu.is_by_clock ? std::vector<qos::TenantOnGpu>() : gpu.tenants,
                            monotonic_raw());
    if (keeper_.due() > monotonic_raw())
        return;
    const auto turns = take_turns();
    auto orders = keeper_.step(monotonic_raw(), turns);
    // The end of its windows on a GPU is the begin of those by the clock.
    std::erase_if(orders, [&](const auto &order) { return gpus_.at(order.gpu).is_by_clock; });
    carry_out(orders);
}

void Conductor::step_by_clock() {
    GangBoard::Tenants tenants;
    for (const auto &[number, gpu] : gpus_)
        tenants[number] = gpu.tenants;
    clock_windows_.set_tenants(tenants, board_->is_clock_usable());
    if (clock_windows_.wait() > 0)
        return;
    const auto orders = clock_windows_.step();
    const auto decided = clock_windows_.gpus();
    for (auto &[number, gpu] : gpus_)
        gpu.is_by_clock = std::ranges::binary_search(decided, number);
    carry_out(orders);
}

/// Asks GPUs, each in its thread, and returns the answers in the order of questions. An answer that
/// failed or does not come in time is empty.
/// @param between how long to wait for each answer before the next GPU is asked
template <typename T>
std::vector<std::optional<T>> Conductor::ask(const std::vector<Question<T>> &questions,
                                             std::chrono::milliseconds between) {
    /// The threads share it, because they may answer later than this function waits.
    struct Round {
        std::vector<std::optional<T>> answers;
        std::vector<bool> has_answered;
        std::size_t open;
        bool is_over = false;
    };
    const std::size_t count = questions.size();
    const auto round = std::make_shared<Round>(
        Round{std::vector<std::optional<T>>(count), std::vector<bool>(count), count});
    for (std::size_t n = 0; n < count; n++) {
        gpus_.at(questions[n].gpu)
            .thread->post([round, board = board_, n, ask = questions[n].ask,
                           wakes = between.count() > 0](GpuGoals *gpu_goals) {
                const bool is_over = board->locked([&] { return round->is_over; });
                auto answer = gpu_goals && !is_over ? ask(*gpu_goals) : std::nullopt;
                const bool is_last = board->locked([&] {
                    if (!round->is_over)
                        round->answers[n] = std::move(answer);
                    round->has_answered[n] = true;
                    return --round->open == 0;
                });
                if (is_last || wakes)
                    board->wake();
            });
        if (between.count() > 0)
            static_cast<void>(
                board_->wait(Clock::now() + between, [&] { return round->has_answered[n]; }));
    }
    static_cast<void>(board_->wait(Clock::now() + patience_, [&] { return round->open == 0; }));
    return board_->locked([&] {
        round->is_over = true;
        return std::move(round->answers);
    });
}

std::vector<qos::WindowTurns> Conductor::take_turns() {
    using TurnsOfGpu = std::vector<qos::WindowTurn>;
    std::vector<Question<TurnsOfGpu>> questions;
    for (const std::uint32_t number : keeper_.gpus())
        questions.push_back({number, [](GpuGoals &gpu_goals) -> std::optional<TurnsOfGpu> {
                                 auto turns = gpu_goals.take_window_turns();
                                 return turns ? std::optional(std::move(*turns)) : std::nullopt;
                             }});
    auto answers = ask(questions);
    std::vector<qos::WindowTurns> all;
    for (std::size_t n = 0; n < questions.size(); n++) {
        if (answers[n])
            all.push_back({questions[n].gpu, std::move(*answers[n])});
        else
            leave_out(questions[n].gpu);
    }
    hand_over_.take(all);
    return all;
}

/// Carries out orders, one request after the other. The driver takes one at a time, and whoever waits
/// for it keeps a processor busy.
void Conductor::carry_out(const std::vector<qos::WindowOrder> &orders) {
    using Span = std::pair<Ns, Ns>; // of a request
    std::vector<qos::OrderPart> asked;
    std::vector<Question<Span>> questions;
    for (const qos::OrderPart &part : hand_over_.parts(orders)) {
        const qos::WindowOrder &order = orders[part.order];
        OfGpu &gpu = gpus_.at(order.gpu);
        const auto &levers = part.is_first ? order.first : order.then;
        if (gpu.is_back || (levers.empty() && gpu.has_windows == order.has_windows))
            continue;
        gpu.has_windows = order.has_windows;
        asked.push_back(part);
        questions.push_back(
            {order.gpu,
             [levers, has_windows = order.has_windows](GpuGoals &gpu_goals) -> std::optional<Span> {
                 const Ns begin = monotonic_raw();
                 const auto done =
                     has_windows ? gpu_goals.set_windows(levers) : gpu_goals.end_windows();
                 return done ? std::optional(Span(begin, monotonic_raw())) : std::nullopt;
             }});
    }
    const auto spans = ask(questions, longest_request);
    for (std::size_t n = 0; n < asked.size(); n++) {
        const qos::WindowOrder &order = orders[asked[n].order];
        if (spans[n])
            hand_over_.note(order, asked[n].is_first, spans[n]->first, spans[n]->second);
        else if (!gpus_.at(order.gpu).is_back)
            leave_out(order.gpu);
    }
}

/// Has no windows on a GPU that does not answer, until it does.
void Conductor::leave_out(std::uint32_t number) {
    OfGpu &gpu = gpus_.at(number);
    const auto is_back = std::make_shared<bool>(false);
    gpu.is_back = is_back;
    gpu.has_windows = false;
    gpu.tenants.clear();
    keeper_.set_tenants(number, {}, monotonic_raw());
    gpu.thread->post([is_back, board = board_](GpuGoals *gpu_goals) {
        // If this fails, the next step does, too, and the thread begins anew.
        if (gpu_goals)
            static_cast<void>(gpu_goals->end_windows());
        board->change([&] { *is_back = true; });
        board->ring();
    });
}

std::optional<qos::GangReport> Conductor::report_on(const qos::TenantOnGpu &tenant) const {
    if (auto report = clock_windows_.report(tenant.name))
        return report;
    auto report = keeper_.report(tenant.name);
    if (!tenant.is_on_other_nodes || board_->is_clock_usable())
        return report;
    if (!report)
        report.emplace();
    report->why = "a gang of several nodes, without windows by the clock" +
                  (report->why.empty() ? "" : "; on this node " + report->why);
    return report;
}

/// Puts up what is known of all gangs, for reports.
void Conductor::publish() {
    GangBoard::Reports reports;
    for (const auto &[number, gpu] : gpus_)
        for (const qos::TenantOnGpu &tenant : gpu.tenants)
            if (!reports.contains(tenant.name))
                if (auto report = report_on(tenant))
                    reports.emplace(tenant.name, std::move(*report));
    board_->put(std::move(reports));
}

} // namespace nvqos
