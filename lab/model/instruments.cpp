// SPDX-License-Identifier: MIT OR GPL-2.0
// Each instrument does the work of its namesake in lab/instruments. The model does not compute
// the processor's times; they are medians measured on an H100's machine (lab/README.md lists them).
#include "instruments.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace lab {

namespace {

using nvmodel::Api;
using nvmodel::Direction;
using nvmodel::GraphicsCopies;
using nvmodel::Kernel;
using nvmodel::Process;
/// Operations and streams have the numbers that class Programs gives them.
using Op = std::size_t;
using Stream = std::size_t;

constexpr Ns us = 1'000, ms = 1'000'000;
constexpr std::uint64_t mib = 1 << 20;

Direction direction(const std::string &kind) {
    const std::map<std::string, Direction> all{
        {"h2d", Direction::to_gpu}, {"d2h", Direction::to_host}, {"d2d", Direction::on_gpu}};
    const auto found = all.find(kind);
    if (found == all.end())
        fail("'" + kind + "' is no kind of copy: h2d, d2h or d2d");
    return found->second;
}

Ns time_of(Options &options, const std::string &name, std::uint64_t otherwise, std::uint64_t most,
           Ns unit) {
    return static_cast<Ns>(options.number(name, otherwise, most)) * unit;
}

/** Returns the clock's answer. On the model, the host and the GPU have the same clock. */
Json clock_of(const Program &program) {
    return {{"host", program.now()}, {"gpu", program.now()}, {"error", 0}};
}

/** Adds each `every`th block of a kernel to @p all. */
void add_blocks(const nvmodel::Operation &kernel, std::size_t every, Json &all) {
    for (const nvmodel::BlockRun &block : kernel.blocks) {
        if (block.number % every)
            continue;
        Json ran = Json::array();
        for (const auto &[begin, end] : block.ran)
            ran.push_back({begin, end});
        all.push_back({{"sm", block.told}, {"moved", false}, {"cut", 0}, {"ran", ran}});
    }
}

/** Copies to the host, and the intervals in which they made progress. */
struct Watched {
    std::vector<nvmodel::CopyProgress> intervals;
    bool over = false;

    void add(const nvmodel::CopyProgress &one, Ns gap) {
        if (intervals.empty() || one.when.begin - intervals.back().when.end > gap)
            return intervals.push_back(one);
        intervals.back().when.end = one.when.end;
        intervals.back().bytes += one.bytes;
    }
    void put(Json &answer) const {
        double copied = 0;
        Json progress = Json::array();
        for (const auto &[when, bytes] : intervals) {
            copied += bytes;
            progress.push_back({when.begin, when.end, std::llround(bytes)});
        }
        answer["copied"] = std::llround(copied);
        answer["progress"] = progress;
    }
};

Procedure watch_copies(Program &program, std::uint64_t bytes, Ns duration, Ns gap,
                       Watched &watched) {
    constexpr std::size_t queued = 3;
    const Stream stream = program.stream();
    const Ns end = program.now() + duration;
    for (std::deque<Op> copies;; copies.pop_front()) {
        while (copies.size() < queued && program.now() < end) {
            co_await program.call();
            copies.push_back(program.gpu().copy(stream, Direction::to_host, bytes));
        }
        if (copies.empty())
            break;
        co_await program.end_of(copies.front());
        for (const auto &one : program.gpu().operation(copies.front()).progress)
            watched.add(one, gap);
    }
    watched.over = true;
}

/** Returns a function from the number of SMs to the number of blocks that the options ask for. */
std::function<unsigned(unsigned)> blocks_of(Options &options, const std::string &otherwise) {
    const auto count = [word = "blocks=" + options.text("blocks", otherwise)](unsigned sms) {
        std::string copy = word;
        char *at = copy.data();
        return Options(1, &at).blocks(sms, "");
    };
    count(1); // so that a mistake in the options fails before the program runs
    return count;
}

Instrument exec(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const auto blocks = blocks_of(options, "4");
    const auto threads = static_cast<unsigned>(options.number("threads", 32, 1024));
    const std::uint64_t shared = options.number("shared", 0, 256 << 10);
    const std::string name = options.text("kernel", "log");
    const Ns block = time_of(options, "kernel_us", static_cast<std::uint64_t>(duration / us),
                             longest_ms * 1000, us);
    const std::size_t kernels = options.number("kernels", 1, 1000);
    const std::uint64_t looking = options.number("looking", 65'535, 65'535);
    const bool with_copy = options.number("copy", 0, 1);
    options.none_left();
    if (name != "log" && name != "log_wide")
        fail("there is no kernel '" + name + "': log or log_wide");
    if (!block || !threads || !kernels || !looking)
        fail("kernel_us, threads, kernels and looking must not be 0");
    const unsigned registers = name == "log" ? 20 : 218; // measured: what CUDA's compiler takes
    return {.run = [=](Program &program) -> Procedure {
        const unsigned count = blocks(program.sms());
        const std::size_t every = std::max<std::size_t>(1, count / looking);
        const Kernel kernel{.blocks = count,
                            .threads = threads,
                            .registers = registers,
                            .shared = shared,
                            .block = block,
                            .by_clock = true};
        program.answer = {{"clock", clock_of(program)},
                          {"sms", program.sms()},
                          {"registers", registers},
                          {"all_blocks", count},
                          {"launched", program.now()}};
        const Stream stream = program.stream();
        std::vector<Op> launched;
        Watched watched;
        for (std::size_t n = 0; n < kernels; n++) {
            co_await program.call();
            launched.push_back(program.gpu().launch(stream, kernel));
        }
        if (with_copy) {
            program.start(watch_copies(program, 16 * mib, duration, 50 * us, watched));
            co_await program.until([&watched] { return watched.over; });
            watched.put(program.answer);
        }
        co_await program.end_of(launched.back());
        program.answer["done"] = program.now();
        Json all = Json::array();
        for (const Op one : launched)
            add_blocks(program.gpu().operation(one), every, all);
        program.answer["blocks"] = std::move(all);
    }};
}

Instrument streams(Options &options) {
    const std::size_t count = options.number("streams", 9, 128),
                      kernels = options.number("kernels", 4, 64);
    const auto blocks = static_cast<unsigned>(options.number("blocks", 1, 1024));
    const Ns duration = time_of(options, "kernel_us", 20'000, 1'000'000, us);
    const Ns first =
        time_of(options, "first_us", static_cast<std::uint64_t>(duration / us), 1'000'000, us);
    options.none_left();
    return {.run = [=](Program &program) -> Procedure {
        program.answer = {{"clock", clock_of(program)}, {"sms", program.sms()}};
        std::vector<Stream> all;
        for (std::size_t n = 0; n < count; n++)
            all.push_back(program.stream());
        std::vector<std::pair<Op, Ns>> launched;
        for (std::size_t stream = 0; stream < count; stream++)
            for (std::size_t number = 0; number < kernels; number++) {
                const Ns when = program.now();
                co_await program.call();
                launched.emplace_back(
                    program.gpu().launch(all[stream], {.blocks = blocks,
                                                       .threads = 32,
                                                       .registers = 20,
                                                       .block = stream ? duration : first,
                                                       .by_clock = true}),
                    when);
            }
        Json found = Json::array();
        for (std::size_t n = 0; n < launched.size(); n++) {
            const auto &[op, when] = launched[n];
            co_await program.end_of(op);
            Json ran = Json::array();
            for (const nvmodel::BlockRun &block : program.gpu().operation(op).blocks)
                ran.push_back({block.ran.front().begin, block.ran.back().end, block.told});
            found.push_back({{"stream", n / kernels},
                             {"kernel", n % kernels},
                             {"launched", when},
                             {"blocks", ran}});
        }
        program.answer["kernels"] = std::move(found);
    }};
}

/** Returns how long a block of the kernel `work` takes: 256 threads, on an SM full of such blocks.
 */
Ns duration_of(std::uint64_t turns) {
    constexpr std::uint64_t ns_of_1000_turns = 45'900; // measured by lab/mps-partitions
    return static_cast<Ns>(turns * ns_of_1000_turns / 1000);
}

Instrument work(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const auto blocks = blocks_of(options, "8x");
    const auto threads = static_cast<unsigned>(options.number("threads", 256, 1024));
    const Ns block = duration_of(options.number("turns", 20'000, 1'000'000));
    options.none_left();
    return {.run = [=](Program &program) -> Procedure {
        const Kernel kernel{.blocks = blocks(program.sms()), .threads = threads, .block = block};
        const Stream stream = program.stream();
        Json kernels = Json::array();
        for (const Ns end = program.now() + duration; program.now() < end;) {
            const Ns begin = program.now();
            co_await program.call();
            const Op op = program.gpu().launch(stream, kernel);
            co_await program.end_of(op);
            std::set<unsigned> sms;
            for (const nvmodel::BlockRun &one : program.gpu().operation(op).blocks)
                sms.insert(one.told);
            kernels.push_back({begin, program.now(), sms.size()});
        }
        program.answer = {
            {"clock", clock_of(program)}, {"sms", program.sms()}, {"kernels", kernels}};
    }};
}

Instrument flood(Options &options) {
    const auto blocks = static_cast<unsigned>(options.number("blocks", 100'000, 1'000'000));
    const auto threads = static_cast<unsigned>(options.number("threads", 256, 1024));
    const Ns block = duration_of(options.number("turns", 20'000, 1'000'000));
    const Ns delay = time_of(options, "delay_ms", 0, longest_ms, ms);
    options.none_left();
    return {.run = [=](Program &program) -> Procedure {
        const Stream stream = program.stream();
        co_await program.sleep(delay);
        co_await program.call();
        const Op op =
            program.gpu().launch(stream, {.blocks = blocks, .threads = threads, .block = block});
        co_await program.end_of(op);
        const nvmodel::Operation &kernel = program.gpu().operation(op);
        const Ns begin = kernel.blocks.front().ran.front().begin;
        std::vector<unsigned> ended(static_cast<std::size_t>((kernel.ended - begin) / ms) + 1);
        for (const nvmodel::BlockRun &one : kernel.blocks)
            ended[static_cast<std::size_t>((one.ran.back().end - begin) / ms)]++;
        program.answer = {{"clock", clock_of(program)},
                          {"sms", program.sms()},
                          {"begin", begin},
                          {"end", kernel.ended},
                          {"bin", ms},
                          {"ended", ended}};
    }};
}

Instrument operations(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const std::string kind = options.text("kind", "launch");
    const std::uint64_t bytes = options.number("bytes", 65'536, 1 << 30);
    const Ns pause = time_of(options, "pause_us", 200, 1'000'000, us);
    options.none_left();
    // Allocations take the processor's time alone. They were measured with eight processes at
    // once, and went on while channels were disabled.
    const std::map<std::string, Ns> allocations{
        {"alloc", 250 * us}, {"managed", 84 * us}, {"host", 2'067 * us}};
    const auto allocation = allocations.find(kind);
    const Ns allocated = allocation == allocations.end() ? 0 : allocation->second;
    const bool kernel = kind == "launch" || kind == "set";
    const Direction way = kernel || allocated ? Direction::on_gpu : direction(kind);
    return {.run = [=](Program &program) -> Procedure {
        const Stream stream = program.stream();
        Json spans = Json::array();
        for (const Ns end = program.now() + duration; program.now() < end;) {
            const Ns begin = program.now();
            if (allocated) {
                co_await program.compute(allocated);
            } else {
                co_await program.call();
                co_await program.end_of(
                    kernel ? program.gpu().launch(stream, {.blocks = 1, .threads = 32})
                           : program.gpu().copy(stream, way, bytes));
                co_await program.notice();
            }
            spans.push_back({begin, program.now()});
            co_await program.sleep(pause);
        }
        program.answer = {{"kind", kind}, {"spans", spans}};
    }};
}

Instrument progress(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms),
             gap = time_of(options, "gap_us", 50, 100'000, us);
    const std::uint64_t bytes = options.number("bytes", 16 * mib, 1 << 30);
    options.none_left();
    return {.run = [=](Program &program) -> Procedure {
        Watched watched;
        program.answer = {{"clock", clock_of(program)}};
        program.start(watch_copies(program, bytes, duration, gap, watched));
        co_await program.until([&watched] { return watched.over; });
        watched.put(program.answer);
    }};
}

Instrument copies(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const std::string kind = options.text("kind", "h2d");
    const std::uint64_t bytes = options.number("bytes", 64 * mib, 1 << 30);
    const std::size_t depth = options.number("depth", 1, 64);
    const bool pageable = options.number("pageable", 0, 1);
    const std::uint64_t kernels = options.number("kernels", 0, 100);
    options.none_left();
    if (!depth || !bytes)
        fail("bytes and depth must not be 0");
    const Direction way = direction(kind);
    return {.run = [=](Program &program) -> Procedure {
        const Stream stream = program.stream();
        Json spans = Json::array();
        const Ns end = program.now() + duration;
        Ns before = program.now();
        for (std::deque<Op> queued;; queued.pop_front()) {
            while (queued.size() < depth && program.now() < end) {
                if (queued.empty())
                    before = program.now();
                for (std::uint64_t n = 0; n < kernels; n++) {
                    co_await program.call();
                    program.gpu().launch(stream, {.blocks = 1, .threads = 32});
                }
                if (pageable) // the processor copies to pinned memory: 64 MiB in 6.8 ms, measured
                    co_await program.compute(static_cast<Ns>(bytes) / 10);
                co_await program.call();
                queued.push_back(program.gpu().copy(stream, way, bytes));
            }
            if (queued.empty())
                break;
            co_await program.end_of(queued.front());
            spans.push_back({before, program.now()});
            before = program.now();
        }
        program.answer = {{"kind", kind}, {"bytes", bytes}, {"spans", spans}};
    }};
}

/** The state that both procedures of `behind` share. */
struct Queue {
    std::uint64_t queued = 0;
    bool enough = false, over = false;
};

Procedure queue_copies(Program &program, Direction way, std::uint64_t bytes, std::size_t depth,
                       Ns end, Queue &queue) {
    const Stream stream = program.stream();
    for (std::deque<Op> copies; depth && !queue.enough && program.now() < end; queue.queued++) {
        if (copies.size() == depth) {
            co_await program.end_of(copies.front());
            copies.pop_front();
        }
        co_await program.call();
        copies.push_back(program.gpu().copy(stream, way, bytes));
    }
    queue.over = true;
}

Instrument behind(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const std::string kind = options.text("kind", "h2d");
    const Direction queue_way = direction(options.text("queue_kind", "h2d"));
    const std::uint64_t bytes = options.number("bytes", 51'200, 1 << 30),
                        queue_bytes = options.number("queue_bytes", 64 * mib, 1 << 30);
    const std::size_t depth = options.number("depth", 0, 64);
    options.number("priority", 0,
                   5); // no effect: a stream's priority made no difference when measured
    const Ns pause = time_of(options, "pause_us", 5'000, 1'000'000, us);
    options.none_left();
    const bool by_kernel = kind == "kernel";
    const Direction way = by_kernel ? Direction::on_gpu : direction(kind);
    return {.run = [=](Program &program) -> Procedure {
        constexpr Ns patience = 1'000 * ms, fill = 20 * ms;
        // 51,200 bytes by 8 blocks: 30 us in all, measured.
        const Kernel copier{
            .blocks = 8, .threads = 256, .registers = 32, .block = static_cast<Ns>(bytes) * 2 / 5};
        const Stream urgent = program.stream();
        Queue queue;
        const Ns end = program.now() + duration;
        program.start(queue_copies(program, queue_way, queue_bytes, depth, end + patience, queue));
        co_await program.sleep(fill);
        Json spans = Json::array();
        while (program.now() < end) {
            const Ns begin = program.now();
            co_await program.call();
            co_await program.end_of(by_kernel ? program.gpu().launch(urgent, copier)
                                              : program.gpu().copy(urgent, way, bytes));
            co_await program.notice();
            spans.push_back({begin, program.now()});
            co_await program.sleep(pause);
        }
        queue.enough = true;
        co_await program.until([&queue] { return queue.over; });
        program.answer = {{"queued", queue.queued}, {"spans", spans}};
    }};
}

/** Makes an instrument that repeats a copy, with some time of the processor before each copy. */
Instrument copies_of(const Process &process, Ns duration, Direction way, std::uint64_t bytes,
                     Ns processor = 0) {
    return {.process = process, .run = [=](Program &program) -> Procedure {
                const Stream stream = program.stream();
                Json spans = Json::array();
                for (const Ns end = program.now() + duration; program.now() < end;) {
                    const Ns begin = program.now();
                    co_await program.compute(processor);
                    co_await program.call();
                    co_await program.end_of(program.gpu().copy(stream, way, bytes));
                    co_await program.notice();
                    spans.push_back({begin, program.now()});
                }
                program.answer = {{"bytes", bytes}, {"spans", spans}};
            }};
}

Instrument textures(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const std::uint64_t side = options.number("side", 2048, 16'384);
    const std::string how = options.text("how", "pbo");
    options.none_left();
    const std::uint64_t bytes = 4 * side * side;
    // For the ways in which no engine was seen busy, nearly all of the time is the processor's
    // (64 MiB, measured by lab/shared-copy-engines).
    const std::map<std::string, Ns> processor{{"pbo", 0},
                                              {"copy", 0},
                                              {"client", 10'900 * us},
                                              {"down", 8'500 * us},
                                              {"buffer", 17'500 * us}};
    const auto found = processor.find(how);
    if (found == processor.end())
        fail("how=" + how + ": pbo, client, buffer, copy or down is expected");
    const Ns busy = found->second * static_cast<Ns>(bytes / mib) / 64;
    return copies_of(Process{.name = {}, .api = Api::opengl}, duration,
                     how == "down" ? Direction::to_host : Direction::to_gpu, busy ? 4096 : bytes,
                     busy);
}

Instrument buffers(Options &options) {
    const Ns duration = time_of(options, "ms", 500, longest_ms, ms);
    const std::uint64_t bytes = options.number("bytes", 64 * mib, 1 << 30);
    const Direction way = direction(options.text("kind", "h2d"));
    // Only the model can copy by a GRCE: no program was seen to do so on hardware.
    const bool by_grce = options.number("grce", 0, 1);
    options.none_left();
    return copies_of(Process{.name = {},
                             .api = Api::vulkan,
                             .copies = by_grce ? GraphicsCopies::by_grce : GraphicsCopies::by_gr},
                     duration, way, bytes);
}

struct Named {
    const char *name;
    Instrument (*make)(Options &);
};
constexpr Named instruments[] = {{"exec", exec},      {"streams", streams}, {"work", work},
                                 {"flood", flood},    {"ops", operations},  {"progress", progress},
                                 {"copies", copies},  {"behind", behind},   {"textures", textures},
                                 {"buffers", buffers}};

} // namespace

Instrument make_instrument(const std::string &name, Options &options) {
    std::string there_are;
    for (const Named &one : instruments) {
        if (name == one.name)
            return one.make(options);
        there_are += (there_are.empty() ? "" : ", ") + std::string(one.name);
    }
    fail("the model has no instrument '" + name + "'; there are: " + there_are);
}

} // namespace lab

void lab::fail(const std::string &sentence) {
    throw Refused(sentence);
}
