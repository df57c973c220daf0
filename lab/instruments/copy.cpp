// SPDX-License-Identifier: MIT OR GPL-2.0
#include "copy_watch.hpp"
#include "instruments.hpp"
#include "spans.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <utility>

namespace lab {

namespace {

constexpr std::size_t piece = 4096, places = 4;
constexpr std::uint64_t patience = 1'000'000'000;

} // namespace

CopyWatch::CopyWatch(std::size_t bytes)
    : bytes_(bytes), from_(memory(2 * bytes)), to_(static_cast<char *>(pinned(places * bytes))) {
    for (unsigned number = 0; number < 2; number++)
        call("cuMemsetD32_v2", from_ + number * bytes, number + 1, bytes / sizeof(std::uint32_t));
    call("cuCtxSynchronize");
}

void CopyWatch::run(std::uint64_t duration, std::uint64_t gap) {
    const std::uint64_t end = host_now() + duration;
    const auto place = [this](std::size_t copy) { return to_ + copy % places * bytes_; };
    const auto round = [](std::size_t copy) { return copy / places % 2; };
    std::size_t started = 0;
    for (std::size_t done = 0;; done++) {
        for (; started < done + places - 1 && host_now() < end; started++)
            stream_.copy("d2h", from_ + round(started) * bytes_, place(started), bytes_);
        if (done == started)
            break;
        const auto *const words = reinterpret_cast<const volatile std::uint32_t *>(place(done));
        for (std::size_t at = 0; at < bytes_; at += piece) {
            while (words[at / sizeof(std::uint32_t)] != round(done) + 1)
                ;
            const std::uint64_t now = host_now();
            if (intervals_.empty() || now - intervals_.back().end > gap)
                intervals_.push_back({now, now, 0});
            intervals_.back().end = now;
            intervals_.back().bytes += piece;
        }
    }
    stream_.wait();
}

void CopyWatch::print() const {
    std::uint64_t copied = 0;
    for (const Interval &interval : intervals_)
        copied += interval.bytes;
    std::printf("\"copied\": %lu, \"progress\": [", copied);
    for (std::size_t n = 0; n < intervals_.size(); n++)
        std::printf("%s[%lu, %lu, %lu]", n ? ", " : "", intervals_[n].begin, intervals_[n].end,
                    intervals_[n].bytes);
    std::printf("]");
}

void progress(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms),
                        gap_us = options.number("gap_us", 50, 100'000);
    const std::size_t bytes = options.number("bytes", 16 << 20, 1 << 30) / piece * piece;
    options.none_left();
    const Gpu gpu;
    CopyWatch watch(bytes);
    const std::string clock = gpu.clock();
    ready();
    watch.run(ms * 1'000'000, gap_us * 1000);
    std::printf("{\"instrument\": \"progress\", \"pid\": %d, \"clock\": %s, ", getpid(),
                clock.c_str());
    watch.print();
    std::printf("}\n");
}

void copies(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const std::string kind = options.text("kind", "h2d");
    const std::size_t bytes = options.number("bytes", 64 << 20, std::size_t{1} << 30);
    const std::size_t depth = options.number("depth", 1, 64);
    const bool pageable = options.number("pageable", 0, 1);
    const std::uint64_t kernels = options.number("kernels", 0, 100);
    const auto blocks = static_cast<unsigned>(options.number("blocks", 0, 100'000));
    options.none_left();
    if (!depth || !bytes)
        fail("bytes and depth must not be 0");
    if (blocks && (pageable || (kind != "h2d" && kind != "d2h")))
        fail("a kernel copies pinned memory, to the GPU or to the host");
    const Gpu gpu;
    Handle const kernel = gpu.kernel("spin"), copier = gpu.kernel("copy");
    Address there = memory(2 * bytes), mapped = 0;
    std::uint64_t nothing = 0, count = bytes / 16 * 16;
    std::array<void *, 2> arguments{&there, &nothing};
    std::vector<char> pages(pageable ? bytes : 0, 'p');
    void *const here = pageable ? pages.data() : pinned(bytes);
    if (blocks)
        call("cuMemHostGetDevicePointer_v2", &mapped, here, 0U);
    std::array<void *, 3> copied{&there, &mapped, &count};
    if (kind == "d2h")
        std::swap(copied[0], copied[1]);
    const Stream stream;
    std::vector<Event> events(depth);
    Spans spans;
    ready();
    // A copy's span begins when the previous copy ended, or when the copy was queued if that was
    // later.
    const std::uint64_t end = host_now() + ms * 1'000'000;
    std::size_t started = 0;
    std::uint64_t before = host_now();
    for (std::size_t done = 0;; done++) {
        for (; started < done + depth && host_now() < end; started++) {
            if (started == done)
                before = host_now();
            for (std::uint64_t n = 0; n < kernels; n++)
                stream.launch(kernel, 1, 32, 0, arguments.data());
            if (blocks)
                stream.launch(copier, blocks, 256, 0, copied.data());
            else
                stream.copy(kind, there, here, bytes);
            events[started % depth].record(stream);
        }
        if (done == started)
            break;
        events[done % depth].wait();
        const std::uint64_t now = host_now();
        spans.push_back({before, now});
        before = now;
    }
    std::printf(
        "{\"instrument\": \"copies\", \"pid\": %d, \"kind\": \"%s\", \"bytes\": %zu, \"spans\": ",
        getpid(), kind.c_str(), bytes);
    print(spans);
    std::printf("}\n");
}

void behind(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const std::string kind = options.text("kind", "h2d"),
                      queue_kind = options.text("queue_kind", "h2d");
    const std::size_t bytes = options.number("bytes", 51'200, 1 << 30) / 16 * 16;
    const std::size_t queue_bytes = options.number("queue_bytes", 64 << 20, 1 << 30);
    const std::size_t depth = options.number("depth", 0, 64);
    const auto urgency = static_cast<int>(options.number("priority", 0, 5));
    const auto pause = static_cast<useconds_t>(options.number("pause_us", 5'000, 1'000'000));
    options.none_left();
    const Gpu gpu;
    Handle const kernel = gpu.kernel("copy");
    Address small = memory(2 * bytes), mapped = 0;
    const Address large = memory(2 * queue_bytes);
    void *const small_host = pinned(bytes), *const large_host = pinned(queue_bytes);
    call("cuMemHostGetDevicePointer_v2", &mapped, small_host, 0U);
    const Stream urgent(-urgency), other;
    Handle context = nullptr;
    call("cuCtxGetCurrent", &context);
    std::uint64_t count = bytes;
    std::array<void *, 3> arguments{&small, &mapped, &count};
    Spans spans;
    ready();
    std::atomic<bool> enough = false;
    const std::uint64_t end = host_now() + ms * 1'000'000;
    std::size_t queued = 0;
    // A small copy may wait until no more large copies are queued, so the large copies end with
    // the run.
    std::thread queue([&] {
        call("cuCtxSetCurrent", context);
        std::vector<Event> events(depth);
        for (; depth && !enough && host_now() < end + patience; queued++) {
            if (queued >= depth)
                events[queued % depth].wait();
            other.copy(queue_kind, large, large_host, queue_bytes);
            events[queued % depth].record(other);
        }
    });
    usleep(20'000); // until the queue is full
    while (host_now() < end) {
        const std::uint64_t begin = host_now();
        if (kind == "kernel")
            urgent.launch(kernel, 8, 256, 0, arguments.data());
        else
            urgent.copy(kind, small, small_host, bytes);
        urgent.wait();
        spans.push_back({begin, host_now()});
        usleep(pause);
    }
    enough = true;
    queue.join();
    call("cuCtxSynchronize");
    std::printf("{\"instrument\": \"behind\", \"pid\": %d, \"queued\": %zu, \"spans\": ", getpid(),
                queued);
    print(spans);
    std::printf("}\n");
}

void operations(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const std::string kind = options.text("kind", "launch");
    const std::size_t bytes = options.number("bytes", 65'536, 1 << 30);
    const auto pause = static_cast<useconds_t>(options.number("pause_us", 200, 1'000'000));
    options.none_left();
    const Gpu gpu;
    Handle const kernel = gpu.kernel("spin");
    Address there = memory(2 * bytes);
    void *const here = pinned(bytes);
    const Stream stream;
    std::uint64_t nothing = 0;
    std::array<void *, 2> arguments{&there, &nothing};
    const auto once = [&] {
        if (kind == "launch")
            stream.launch(kernel, 1, 32, 0, arguments.data());
        else if (kind == "set")
            call("cuMemsetD8Async", there, static_cast<unsigned char>(1), bytes, stream.get());
        else if (kind == "alloc") {
            Address made = 0;
            call("cuMemAlloc_v2", &made, std::size_t{64} << 20);
            call("cuMemFree_v2", made);
        } else if (kind == "host") { // memory of the host that is mapped for the GPU
            void *made = nullptr;
            call("cuMemHostAlloc", &made, std::size_t{4} << 20, 2U);
            call("cuMemFreeHost", made);
        } else if (kind == "managed") {
            constexpr unsigned global = 1;
            Address made = 0;
            call("cuMemAllocManaged", &made, std::size_t{4} << 20, global);
            call("cuMemFree_v2", made);
        } else
            stream.copy(kind, there, here, bytes);
        stream.wait();
    };
    const Spans spans = repeat(ms, once, pause);
    std::printf("{\"instrument\": \"ops\", \"pid\": %d, \"kind\": \"%s\", \"spans\": ", getpid(),
                kind.c_str());
    print(spans);
    std::printf("}\n");
}

} // namespace lab
