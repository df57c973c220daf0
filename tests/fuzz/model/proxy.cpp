// SPDX-License-Identifier: MIT OR GPL-2.0
// QEMU's side of the proxy goes wrong: a stream of whole messages, broken messages and raw bytes,
// cut anywhere, with and without descriptors.
#include "device.hpp"
#include "send.hpp"

#include "transport/proxy.hpp"

#include <sys/socket.h>

using namespace nvmodel;

namespace {

constexpr std::uint64_t page = 4096;

class Stream {
  public:
    explicit Stream(int socket) : socket_(socket) {}

    template <typename Body>
    void message(proxy::Command command, const Body &body, std::uint64_t size, unsigned fds = 0) {
        const proxy::Header header{static_cast<std::int32_t>(command), 0, size};
        send(std::as_bytes(std::span(&header, 1)), fds);
        send(std::as_bytes(std::span(&body, 1)), 0);
    }

    void bytes(const std::vector<std::uint8_t> &raw, unsigned fds) {
        send(std::as_bytes(std::span(raw)), fds);
    }

  private:
    void send(std::span<const std::byte> bytes, unsigned fds) {
        fuzz::send(socket_, bytes, fds, 4 * page);
    }

    int socket_;
};

proxy::SyncSysmem memory_map(FuzzedDataProvider &input) {
    proxy::SyncSysmem map{};
    for (unsigned i = 0; i < proxy::max_fds; ++i) {
        map.address[i] =
            input.ConsumeBool() ? i * 4 * page : input.ConsumeIntegral<std::uint64_t>();
        map.size[i] = input.ConsumeBool() ? 4 * page : input.ConsumeIntegral<std::uint64_t>();
        map.offset[i] = input.ConsumeBool() ? 0 : input.ConsumeIntegral<std::uint16_t>();
    }
    return map;
}

/** Returns the right size of a message, or sometimes any number. */
std::uint64_t size_of(FuzzedDataProvider &input, std::size_t right) {
    return input.ConsumeIntegral<std::uint8_t>() % 16 ? right
                                                      : input.ConsumeIntegral<std::uint64_t>();
}

void send(FuzzedDataProvider &input, Stream &stream) {
    const unsigned fds = input.ConsumeBool() ? 0 : input.ConsumeIntegralInRange(0U, 10U);
    switch (input.ConsumeIntegralInRange(0, 6)) {
    case 0:
        stream.message(proxy::Command::sync_sysmem, memory_map(input),
                       size_of(input, sizeof(proxy::SyncSysmem)), fds);
        break;
    case 1:
    case 2: {
        const auto command = static_cast<proxy::Command>(input.ConsumeIntegralInRange(2, 3));
        const proxy::ConfigAccess access{input.ConsumeIntegralInRange(0U, 0x110U),
                                         input.ConsumeIntegral<std::uint32_t>(),
                                         input.ConsumeIntegralInRange(0, 5)};
        stream.message(command, access, size_of(input, sizeof(access)), fds);
        break;
    }
    case 3:
    case 4: {
        const auto command = static_cast<proxy::Command>(input.ConsumeIntegralInRange(4, 5));
        const proxy::BarAccess access{fuzz::bars_begin +
                                          input.ConsumeIntegralInRange(0U, fuzz::bars_size),
                                      input.ConsumeIntegral<std::uint64_t>(),
                                      1U << input.ConsumeIntegralInRange(0, 4),
                                      input.ConsumeBool(),
                                      {}};
        stream.message(command, access, size_of(input, sizeof(access)), fds);
        break;
    }
    case 5: {
        const auto command = static_cast<proxy::Command>(input.ConsumeIntegralInRange(-1, 9));
        const proxy::Header header{static_cast<std::int32_t>(command), 0, size_of(input, 0)};
        const auto *const raw = reinterpret_cast<const std::uint8_t *>(&header);
        stream.bytes({raw, raw + sizeof(header)}, fds);
        break;
    }
    default:
        stream.bytes(input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange(0, 40)), fds);
    }
}

/** Takes replies, which are whole messages of one kind. */
void take_replies(int socket) {
    std::array<proxy::Reply, 64> replies{};
    for (;;) {
        const ssize_t got = ::recv(socket, replies.data(), sizeof(replies), MSG_DONTWAIT);
        if (got <= 0)
            return;
        FUZZ_REQUIRE(static_cast<std::size_t>(got) % sizeof(proxy::Reply) == 0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(proxy::Reply); ++i)
            FUZZ_REQUIRE(replies[i].header.command == 1 && replies[i].header.size == 8);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Workload idle = fuzz::workload("idle");
    FuzzedDataProvider input(data, size);
    Gpu gpu(fuzz::board(input.ConsumeIntegral<std::uint8_t>()), idle, fuzz::Guest::range);
    fuzz::place_bars(gpu);
    std::array<int, 2> ends{};
    FUZZ_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const UniqueFd qemu(ends[0]);
    Proxy proxy(gpu, UniqueFd(ends[1]));
    Stream stream(qemu.get());
    try {
        while (input.remaining_bytes()) {
            send(input, stream);
            if (input.ConsumeIntegral<std::uint8_t>() % 4 == 0)
                FUZZ_REQUIRE(proxy.serve());
            take_replies(qemu.get());
        }
        ::shutdown(qemu.get(), SHUT_WR);
        while (proxy.serve())
            take_replies(qemu.get());
    } catch (const ProtocolError &) {
    }
    take_replies(qemu.get());
    return 0;
}
