// SPDX-License-Identifier: MIT OR GPL-2.0
// The client's side of vfio-user goes wrong: commands with bodies that make sense or nearly so,
// wrong sizes, raw bytes, a stream that is cut anywhere, with and without descriptors.
#include "device.hpp"
#include "send.hpp"

#include "transport/vfio_user.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <deque>

using namespace nvmodel;
using namespace nvmodel::vfio_user;

namespace {

constexpr std::uint64_t page = 4096;

using Bytes = std::vector<std::byte>;

template <typename Message>
Bytes bytes_of(const Message &message) {
    const auto view = std::as_bytes(std::span(&message, 1));
    return {view.begin(), view.end()};
}

Bytes any_bytes(FuzzedDataProvider &input, std::size_t most) {
    const auto raw =
        input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange<std::size_t>(0, most));
    const auto view = std::as_bytes(std::span(raw));
    return {view.begin(), view.end()};
}

Bytes operator+(Bytes front, const Bytes &back) {
    front.insert(front.end(), back.begin(), back.end());
    return front;
}

/** Returns the right number, or sometimes any number. */
template <typename Number>
Number nearly(FuzzedDataProvider &input, Number right) {
    return input.ConsumeIntegral<std::uint8_t>() % 16 ? right : input.ConsumeIntegral<Number>();
}

Bytes version(FuzzedDataProvider &input) {
    return bytes_of(Version{nearly(input, major_version), nearly(input, minor_version)}) +
           any_bytes(input, 40);
}

/** Returns an address in the model's range at a page, or sometimes any address. */
std::uint64_t address(FuzzedDataProvider &input) {
    return nearly(input, fuzz::Guest::range.base +
                             input.ConsumeIntegralInRange<std::uint64_t>(0, 8) * page);
}

std::uint64_t size(FuzzedDataProvider &input) {
    return nearly(input, input.ConsumeBool()
                             ? fuzz::Guest::range.size
                             : input.ConsumeIntegralInRange<std::uint64_t>(0, 4) * page);
}

Bytes dma_map(FuzzedDataProvider &input) {
    const std::uint64_t in_file = input.ConsumeBool() ? 0 : input.ConsumeIntegral<std::uint16_t>();
    const std::uint32_t flags = nearly(input, dma_readable | dma_writable);
    return bytes_of(DmaMap{sizeof(DmaMap), flags, in_file, address(input), size(input)});
}

Bytes dma_unmap(FuzzedDataProvider &input) {
    return bytes_of(
        DmaUnmap{sizeof(DmaUnmap), nearly(input, std::uint32_t{0}), address(input), size(input)});
}

Bytes set_irqs(FuzzedDataProvider &input) {
    return bytes_of(IrqSet{
               sizeof(IrqSet),
               1U << input.ConsumeIntegralInRange(0, 2) | 1U << input.ConsumeIntegralInRange(3, 5),
               input.ConsumeIntegralInRange(0U, 4U), input.ConsumeIntegralInRange(0U, 2U),
               input.ConsumeIntegralInRange(0U, 3U)}) +
           any_bytes(input, 3);
}

/** Returns an offset of the window, of a register or of PCI configuration, or any offset. */
std::uint64_t offset(FuzzedDataProvider &input, std::uint32_t region) {
    if (region == config_region)
        return input.ConsumeIntegralInRange(0U, 0x1100U);
    switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
        return 0x700000 + input.ConsumeIntegralInRange<std::uint64_t>(0, 0x100000);
    case 1:
        return input.ConsumeIntegral<std::uint16_t>() & ~3U;
    case 2:
        return input.ConsumeIntegral<std::uint32_t>() & ~3U;
    default:
        return input.ConsumeIntegral<std::uint64_t>();
    }
}

RegionAccess access(FuzzedDataProvider &input) {
    const std::uint32_t region = input.ConsumeBool()
                                     ? config_region * input.ConsumeBool()
                                     : input.ConsumeIntegralInRange(0U, region_count);
    const std::uint64_t at = offset(input, region);
    return {at, region,
            input.ConsumeBool() ? 4 : nearly(input, 1U << input.ConsumeIntegralInRange(0, 13))};
}

Bytes region_write(FuzzedDataProvider &input) {
    const RegionAccess where = access(input);
    Bytes data = any_bytes(input, 8);
    data.resize(nearly<std::uint8_t>(input, where.count <= 64 ? where.count : 64));
    return bytes_of(where) + data;
}

template <typename Info>
Bytes info(FuzzedDataProvider &input) {
    Info asked{};
    asked.argsz = nearly<std::uint32_t>(input, sizeof(asked));
    if constexpr (requires { asked.index; })
        asked.index = input.ConsumeIntegralInRange(0U, 10U);
    return bytes_of(asked);
}

Bytes body(FuzzedDataProvider &input, Command command) {
    switch (command) {
    case Command::version:
        return version(input);
    case Command::dma_map:
        return dma_map(input);
    case Command::dma_unmap:
        return dma_unmap(input);
    case Command::get_info:
        return info<DeviceInfo>(input);
    case Command::get_region_info:
        return info<RegionInfo>(input);
    case Command::get_irq_info:
        return info<IrqInfo>(input);
    case Command::set_irqs:
        return set_irqs(input);
    case Command::region_read:
        return bytes_of(access(input));
    case Command::region_write:
        return region_write(input);
    default:
        return any_bytes(input, 4);
    }
}

/** The client: it sends commands and remembers which replies are due. */
class Client {
  public:
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}

    void send(FuzzedDataProvider &input, Command command) {
        const Bytes text = body(input, command);
        const auto whole = static_cast<std::uint32_t>(sizeof(Header) + text.size());
        const bool no_reply = input.ConsumeIntegral<std::uint8_t>() % 16 == 0;
        const Header header{++id_, static_cast<std::uint16_t>(command), nearly(input, whole),
                            nearly(input, no_reply ? flag_no_reply : 0U), 0};
        const unsigned fds = command == Command::dma_map ? 1 : 0;
        framed_ &= header.size == whole;
        if (framed_ && !(header.flags & flag_no_reply))
            due_.push_back(header);
        fuzz::send(socket_.get(), bytes_of(header) + text, nearly<std::uint8_t>(input, fds) % 11,
                   fuzz::Guest::range.size);
    }

    void send_bytes(FuzzedDataProvider &input) {
        framed_ = false;
        fuzz::send(socket_.get(), any_bytes(input, 40), input.ConsumeIntegralInRange(0U, 10U),
                   fuzz::Guest::range.size);
    }

    void hang_up() { ::shutdown(socket_.get(), SHUT_WR); }

    /** Takes replies. They are whole, in order, and of the length in their heads. An error has no
     * body. */
    void take_replies() {
        std::array<std::byte, 1 << 16> buffer;
        for (ssize_t got;
             (got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;)
            arrived_.insert(arrived_.end(), buffer.begin(), buffer.begin() + got);
        std::span<const std::byte> rest(arrived_);
        while (!rest.empty()) {
            Header reply{};
            FUZZ_REQUIRE(rest.size() >= sizeof(reply));
            std::memcpy(&reply, rest.data(), sizeof(reply));
            FUZZ_REQUIRE(reply.size >= sizeof(reply) && reply.size <= rest.size());
            FUZZ_REQUIRE((reply.flags & flag_type) == flag_reply);
            FUZZ_REQUIRE(((reply.flags & flag_error) != 0) == (reply.error != 0));
            FUZZ_REQUIRE(reply.error == 0 || reply.size == sizeof(reply));
            if (!due_.empty()) {
                FUZZ_REQUIRE(reply.id == due_.front().id && reply.command == due_.front().command);
                due_.pop_front();
            }
            rest = rest.subspan(reply.size);
        }
        arrived_.clear();
    }

  private:
    UniqueFd socket_;
    std::uint16_t id_ = 0;
    bool framed_ = true; // true while the server and we agree where messages begin
    std::deque<Header> due_;
    Bytes arrived_;
};

UniqueFd connected(const std::filesystem::path &path) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path.c_str(), sizeof(at.sun_path) - 1);
    FUZZ_REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr *>(&at), sizeof(at)) == 0);
    return socket;
}

void send(FuzzedDataProvider &input, Client &client) {
    if (input.ConsumeIntegral<std::uint8_t>() % 32 == 0)
        return client.send_bytes(input);
    if (input.ConsumeBool())
        return client.send(input,
                           input.ConsumeBool() ? Command::region_read : Command::region_write);
    client.send(input, static_cast<Command>(input.ConsumeIntegralInRange(1, 19)));
}

/** Starts or restarts the workload, as the control socket may do at any time. */
void start(Gpu &gpu) {
    try {
        if (gpu.started())
            gpu.restart(nullptr);
        else
            gpu.start();
    } catch (const ConfigError &) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Workload workload = fuzz::workload("sysmem");
    static const auto path = std::filesystem::temp_directory_path() /
                             ("nvdebug-fuzz-" + std::to_string(::getpid()) + ".sock");
    FuzzedDataProvider input(data, size);
    Board board = fuzz::board(input.ConsumeIntegral<std::uint8_t>());
    board.show_real_bars();
    Gpu gpu(std::move(board), workload, fuzz::Guest::range);
    fuzz::place_bars(gpu);
    VfioUser server(gpu, path);
    Client client(connected(path));
    FUZZ_REQUIRE(server.serve());
    try {
        if (input.ConsumeIntegral<std::uint8_t>() % 16)
            client.send(input, Command::version);
        while (input.remaining_bytes()) {
            send(input, client);
            if (input.ConsumeBool())
                FUZZ_REQUIRE(server.serve());
            client.take_replies();
            if (input.ConsumeIntegral<std::uint8_t>() % 16 == 0)
                start(gpu);
        }
        client.hang_up();
        while (server.serve())
            client.take_replies();
    } catch (const ProtocolError &) {
    }
    client.take_replies();
    fuzz::check(gpu);
    return 0;
}
