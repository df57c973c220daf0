// SPDX-License-Identifier: MIT OR GPL-2.0
#include "copy_watch.hpp"
#include "instruments.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace lab {

namespace {

struct Ran {
    std::uint64_t begin, end;
    std::uint32_t sm, pad;
};

/** Memory for one Log of kernels.cu for each block, read as words of 64 bits. */
class Logs {
  public:
    Logs(std::size_t count, std::uint32_t capacity)
        : count_(count), capacity_(capacity), address_(memory(count * bytes())) {}

    std::size_t bytes() const { return 16 + 16 * std::size_t{capacity_}; }
    Address of(std::size_t number) const { return address_ + number * bytes(); }

    /** Prints a list of the blocks that wrote into their logs: `{"sm":, "moved": bool, "cut":
     * intervals that did not fit, "ran": [[begin, end], …]}`. */
    void print() const {
        const auto words = fetch<std::uint64_t>(address_, count_ * bytes() / 8);
        std::printf("[");
        const char *separator = "";
        for (std::size_t n = 0; n < count_; n++) {
            const std::uint64_t *log = &words[n * bytes() / 8];
            const auto sm = static_cast<std::uint32_t>(log[0]),
                       intervals = static_cast<std::uint32_t>(log[0] >> 32);
            const std::uint32_t kept = std::min(intervals, capacity_);
            if (!intervals)
                continue;
            std::printf("%s\n{\"sm\": %u, \"moved\": %s, \"cut\": %u, \"ran\": [", separator, sm,
                        sm == static_cast<std::uint32_t>(log[1]) ? "false" : "true",
                        intervals - kept);
            for (std::uint32_t i = 0; i < kept; i++)
                std::printf("%s[%lu, %lu]", i ? ", " : "", log[2 + 2 * i], log[3 + 2 * i]);
            std::printf("]}");
            separator = ",";
        }
        std::printf("]");
    }

  private:
    std::size_t count_;
    std::uint32_t capacity_;
    Address address_;
};

constexpr int max_dynamic_shared = 8, registers_of = 4; // CUfunction_attribute

} // namespace

void exec(Options &options) {
    const Gpu gpu;
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const unsigned blocks = options.blocks(gpu.sms(), "4");
    const auto threads = static_cast<unsigned>(options.number("threads", 32, 1024));
    const auto shared = static_cast<unsigned>(options.number("shared", 0, 256 << 10));
    const std::string name = options.text("kernel", "log");
    const std::uint64_t kernel_us = options.number("kernel_us", ms * 1000, longest_ms * 1000);
    const std::size_t kernels = options.number("kernels", 1, 1000);
    const auto looking = static_cast<unsigned>(options.number("looking", blocks, 65'535));
    const bool with_copy = options.number("copy", 0, 1);
    options.none_left();
    if (!kernel_us || !threads || !kernels || !looking)
        fail("kernel_us, threads, kernels and looking must not be 0");

    const bool writes = name == "log_writes";
    Handle const kernel =
        name == "log_tensor" ? Gpu::tensor_kernel(name.c_str()) : gpu.kernel(name.c_str());
    int registers = 0;
    call("cuFuncSetAttribute", kernel, max_dynamic_shared, static_cast<int>(shared));
    call("cuFuncGetAttribute", &registers, registers_of, kernel);
    unsigned every = std::max(1U, blocks / looking);
    std::uint64_t duration = kernel_us * 1000, gap = 10'000;
    auto capacity = static_cast<std::uint32_t>(kernel_us / 300 + 8);
    const Logs logs(kernels * blocks, capacity);
    std::uint64_t written = (64 << 20) / 16; // in units of the kernel; more than any L2 cache holds
    Address written_to = writes ? memory(written * 16) : 0;
    const std::unique_ptr<CopyWatch> watch =
        with_copy ? std::make_unique<CopyWatch>(16 << 20) : nullptr;
    const Stream stream;
    const std::string clock = gpu.clock();
    ready();
    const std::uint64_t launched = host_now();
    for (std::size_t n = 0; n < kernels; n++) {
        Address at = logs.of(n * blocks);
        // log_writes alone takes the last two.
        std::array<void *, 7> arguments{&at,    &duration,   &gap,    &capacity,
                                        &every, &written_to, &written};
        stream.launch(kernel, blocks, threads, shared, arguments.data());
    }
    if (watch)
        watch->run(ms * 1'000'000, 50'000);
    stream.wait();
    const std::uint64_t done = host_now();
    std::printf("{\"instrument\": \"exec\", \"pid\": %d, \"clock\": %s, \"sms\": %u, "
                "\"registers\": %d, \"all_blocks\": %u, \"launched\": "
                "%lu, \"done\": %lu, ",
                getpid(), clock.c_str(), gpu.sms(), registers, blocks, launched, done);
    if (watch) {
        watch->print();
        std::printf(", ");
    }
    std::printf("\"blocks\": ");
    logs.print();
    std::printf("}\n");
}

void streams(Options &options) {
    const std::size_t count = options.number("streams", 9, 128),
                      kernels = options.number("kernels", 4, 64);
    const auto blocks = static_cast<unsigned>(options.number("blocks", 1, 1024));
    std::uint64_t duration = options.number("kernel_us", 20'000, 1'000'000) * 1000;
    std::uint64_t first = options.number("first_us", duration / 1000, 1'000'000) * 1000;
    options.none_left();

    const Gpu gpu;
    Handle const kernel = gpu.kernel("spin");
    const Address ran = memory(count * kernels * blocks * sizeof(Ran));
    std::vector<Stream> all(count);
    std::vector<std::uint64_t> launched;
    const std::string clock = gpu.clock();
    ready();
    for (std::size_t stream = 0; stream < count; stream++) {
        for (std::size_t number = 0; number < kernels; number++) {
            Address at = ran + (stream * kernels + number) * blocks * sizeof(Ran);
            std::array<void *, 2> arguments{&at, stream ? &duration : &first};
            launched.push_back(host_now());
            all[stream].launch(kernel, blocks, 32, 0, arguments.data());
        }
    }
    for (const Stream &stream : all)
        stream.wait();
    const auto all_ran = fetch<Ran>(ran, count * kernels * blocks);
    std::printf(
        "{\"instrument\": \"streams\", \"pid\": %d, \"clock\": %s, \"sms\": %u, \"kernels\": [",
        getpid(), clock.c_str(), gpu.sms());
    for (std::size_t n = 0; n < count * kernels; n++) {
        std::printf("%s\n{\"stream\": %zu, \"kernel\": %zu, \"launched\": %lu, \"blocks\": [",
                    n ? "," : "", n / kernels, n % kernels, launched[n]);
        for (unsigned block = 0; block < blocks; block++) {
            const Ran &one = all_ran[n * blocks + block];
            std::printf("%s[%lu, %lu, %u]", block ? ", " : "", one.begin, one.end, one.sm);
        }
        std::printf("]}");
    }
    std::printf("]}\n");
}

void work(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const Gpu gpu;
    const unsigned blocks = options.blocks(gpu.sms(), "8x");
    const auto threads = static_cast<unsigned>(options.number("threads", 256, 1024));
    auto turns = static_cast<std::uint32_t>(options.number("turns", 20'000, 1'000'000));
    options.none_left();

    Handle const kernel = gpu.kernel("work");
    Address ran = memory(blocks * sizeof(Ran));
    std::array<void *, 2> arguments{&ran, &turns};
    const Stream stream;
    const std::string clock = gpu.clock();
    std::vector<std::array<std::uint64_t, 3>> kernels;
    ready();
    const std::uint64_t end = host_now() + ms * 1'000'000;
    do {
        const std::uint64_t begin = host_now();
        stream.launch(kernel, blocks, threads, 0, arguments.data());
        stream.wait();
        const std::uint64_t over = host_now();
        std::vector<std::uint32_t> sms;
        for (const Ran &one : fetch<Ran>(ran, blocks))
            sms.push_back(one.sm);
        std::sort(sms.begin(), sms.end());
        sms.erase(std::unique(sms.begin(), sms.end()), sms.end());
        kernels.push_back({begin, over, sms.size()});
    } while (host_now() < end);
    std::printf(
        "{\"instrument\": \"work\", \"pid\": %d, \"clock\": %s, \"sms\": %u, \"kernels\": [",
        getpid(), clock.c_str(), gpu.sms());
    for (std::size_t n = 0; n < kernels.size(); n++)
        std::printf("%s[%lu, %lu, %lu]", n ? ", " : "", kernels[n][0], kernels[n][1],
                    kernels[n][2]);
    std::printf("]}\n");
}

void flood(Options &options) {
    constexpr std::uint64_t bin = 1'000'000;
    const Gpu gpu;
    const unsigned blocks = static_cast<unsigned>(options.number("blocks", 100'000, 1'000'000));
    const auto threads = static_cast<unsigned>(options.number("threads", 256, 1024));
    auto turns = static_cast<std::uint32_t>(options.number("turns", 20'000, 1'000'000));
    const auto delay = static_cast<useconds_t>(options.number("delay_ms", 0, longest_ms));
    options.none_left();

    Address ran = memory(blocks * sizeof(Ran));
    std::array<void *, 2> arguments{&ran, &turns};
    const Stream stream;
    const std::string clock = gpu.clock();
    ready();
    usleep(delay * 1000);
    stream.launch(gpu.kernel("work"), blocks, threads, 0, arguments.data());
    stream.wait();
    std::uint64_t begin = ~0ULL, end = 0;
    const auto all = fetch<Ran>(ran, blocks);
    for (const Ran &one : all) {
        begin = std::min(begin, one.begin);
        end = std::max(end, one.end);
    }
    std::vector<unsigned> ended((end - begin) / bin + 1);
    for (const Ran &one : all)
        ended[(one.end - begin) / bin]++;
    std::printf("{\"instrument\": \"flood\", \"pid\": %d, \"clock\": %s, \"sms\": %u, \"begin\": "
                "%lu, \"end\": %lu, "
                "\"bin\": %lu, \"ended\": [",
                getpid(), clock.c_str(), gpu.sms(), begin, end, bin);
    for (std::size_t n = 0; n < ended.size(); n++)
        std::printf("%s%u", n ? ", " : "", ended[n]);
    std::printf("]}\n");
}

void launches(Options &options) {
    const std::size_t count = options.number("count", 2000, 1'000'000);
    options.none_left();
    constexpr std::size_t at_once = 100; // few enough that no launch waits for room in the queue
    const Gpu gpu;
    Handle const kernel = gpu.kernel("spin");
    Address ran = memory(sizeof(Ran));
    std::uint64_t nothing = 0;
    std::array<void *, 2> arguments{&ran, &nothing};
    const Stream stream;
    std::vector<std::uint64_t> took;
    ready();
    for (std::size_t n = 0; n < count; n++) {
        const std::uint64_t begin = host_now();
        stream.launch(kernel, 1, 32, 0, arguments.data());
        took.push_back(host_now() - begin);
        if (n % at_once == at_once - 1)
            stream.wait();
    }
    stream.wait();
    std::printf("{\"instrument\": \"launch\", \"pid\": %d, \"took\": [", getpid());
    for (std::size_t n = 0; n < count; n++)
        std::printf("%s%lu", n ? ", " : "", took[n]);
    std::printf("]}\n");
}

} // namespace lab
