// SPDX-License-Identifier: MIT OR GPL-2.0
// vfio-user, with the test in the client's place: the commands, and the socket that carries them.
#include "support.hpp"

#include "transport/vfio_user.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace nvmodel::test {
namespace {

using namespace vfio_user;

std::unique_ptr<Gpu> real_gpu(const std::string &name, const std::string &workload_name) {
    Board wanted = board(name);
    wanted.show_real_bars();
    return std::make_unique<Gpu>(std::move(wanted), workload(workload_name), sysmem_range);
}

template <typename Message>
std::vector<std::byte> bytes(const Message &message) {
    const auto view = std::as_bytes(std::span(&message, 1));
    return {view.begin(), view.end()};
}

std::vector<std::byte> operator+(std::vector<std::byte> front, const std::vector<std::byte> &back) {
    front.insert(front.end(), back.begin(), back.end());
    return front;
}

template <typename Message>
Message read_as(std::span<const std::byte> from) {
    Message message{};
    EXPECT_GE(from.size(), sizeof(message));
    if (from.size() >= sizeof(message))
        std::memcpy(&message, from.data(), sizeof(message));
    return message;
}

/// Makes a file of guest RAM.
UniqueFd ram(std::size_t size) {
    UniqueFd fd(::memfd_create("ram", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    return fd;
}

class VfioUserCommands : public testing::Test {
  protected:
    VfioUserCommands() : gpu_(real_gpu("h200", "sysmem")), device_(*gpu_) {
        const auto reply = ask(Command::version, bytes(Version{0, 0}) + text("{}"));
        EXPECT_EQ(reply.error, 0U);
        // Turns memory decoding on.
        write(config_region, 4, 0x2, 2);
    }

    struct Reply {
        std::uint32_t error = 0;
        std::vector<std::byte> body;
    };

    static std::vector<std::byte> text(std::string_view json) {
        const auto view = std::as_bytes(std::span(json));
        return std::vector<std::byte>(view.begin(), view.end()) + bytes('\0');
    }

    Reply ask(Command command, const std::vector<std::byte> &body, std::vector<UniqueFd> fds = {}) {
        const auto size = static_cast<std::uint32_t>(sizeof(Header) + body.size());
        const Header header{77, static_cast<std::uint16_t>(command), size, 0, 0};
        EXPECT_EQ(VfioUserDevice::body_size(header), body.size());
        const auto answer = device_.answer(header, body, std::move(fds));
        const auto head = read_as<Header>(answer);
        EXPECT_EQ(head.id, 77);
        EXPECT_EQ(head.command, header.command);
        EXPECT_EQ(head.size, answer.size());
        EXPECT_EQ(head.flags & flag_type, flag_reply);
        EXPECT_EQ((head.flags & flag_error) != 0, head.error != 0);
        if (head.error != 0) {
            EXPECT_EQ(answer.size(), sizeof(head)) << "an error comes alone";
        }
        return {head.error, {answer.begin() + sizeof(head), answer.end()}};
    }

    template <typename Message>
    Message ask_for(Command command, const Message &message) {
        const Reply reply = ask(command, bytes(message));
        EXPECT_EQ(reply.error, 0U);
        EXPECT_EQ(reply.body.size(), sizeof(message));
        return read_as<Message>(reply.body);
    }

    RegionInfo region(std::uint32_t index) {
        return ask_for(Command::get_region_info, RegionInfo{sizeof(RegionInfo), 0, index, 0, 0, 0});
    }

    std::uint64_t read(std::uint32_t region, std::uint64_t offset, std::uint32_t count) {
        const Reply reply = ask(Command::region_read, bytes(RegionAccess{offset, region, count}));
        EXPECT_EQ(reply.error, 0U);
        EXPECT_EQ(reply.body.size(), sizeof(RegionAccess) + count);
        std::uint64_t value = 0;
        if (reply.body.size() == sizeof(RegionAccess) + count)
            std::memcpy(&value, reply.body.data() + sizeof(RegionAccess), count);
        return value;
    }

    std::uint32_t write(std::uint32_t region, std::uint64_t offset, std::uint64_t value,
                        std::uint32_t count) {
        auto data = bytes(value);
        data.resize(count);
        const RegionAccess access{offset, region, count};
        const Reply reply = ask(Command::region_write, bytes(access) + data);
        if (reply.error == 0) {
            EXPECT_EQ(reply.body, bytes(access));
        }
        return reply.error;
    }

    std::uint32_t map(std::uint64_t address, std::uint64_t size, std::vector<UniqueFd> fds,
                      std::uint64_t offset = 0, std::uint32_t flags = dma_readable | dma_writable) {
        return ask(Command::dma_map, bytes(DmaMap{sizeof(DmaMap), flags, offset, address, size}),
                   std::move(fds))
            .error;
    }

    std::uint32_t map_ram(std::uint64_t address, std::uint64_t size) {
        std::vector<UniqueFd> fds;
        fds.push_back(ram(size));
        return map(address, size, std::move(fds));
    }

    std::uint32_t unmap(std::uint64_t address, std::uint64_t size) {
        return ask(Command::dma_unmap, bytes(DmaUnmap{sizeof(DmaUnmap), 0, address, size})).error;
    }

    std::unique_ptr<Gpu> gpu_;
    VfioUserDevice device_;
};

TEST_F(VfioUserCommands, TheDeviceIsPciAndCanBeReset) {
    const auto info = ask_for(Command::get_info, DeviceInfo{sizeof(DeviceInfo), 0, 0, 0});
    EXPECT_EQ(info.argsz, 16U);
    EXPECT_EQ(info.flags, 3U);
    EXPECT_EQ(info.regions, 9U);
    EXPECT_EQ(info.irqs, 3U);
}

TEST_F(VfioUserCommands, RegionsAreTheProductsBars) {
    const std::array<std::uint64_t, 9> sizes{16ULL << 20, 0, 256ULL << 30, 0, 32ULL << 20,
                                             0,           0, 256,          0};
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        const RegionInfo info = region(i);
        EXPECT_EQ(info.size, sizes.at(i)) << i;
        EXPECT_EQ(info.index, i);
        EXPECT_EQ(info.flags, sizes.at(i) != 0 ? 3U : 0U) << "read and write, but no mmap";
    }
    EXPECT_EQ(ask(Command::get_region_info, bytes(RegionInfo{32, 0, 9, 0, 0, 0})).error,
              static_cast<std::uint32_t>(EINVAL));
}

TEST_F(VfioUserCommands, InterruptIsConfiguredButNeverRaised) {
    EXPECT_EQ(ask_for(Command::get_irq_info, IrqInfo{16, 0, 0, 0}).count, 1U);
    for (std::uint32_t index = 1; index < irq_count; ++index)
        EXPECT_EQ(ask_for(Command::get_irq_info, IrqInfo{16, 0, index, 0}).count, 0U);
    EXPECT_NE(ask(Command::get_irq_info, bytes(IrqInfo{16, 0, 3, 0})).error, 0U);

    const auto set = [&](std::uint32_t flags, std::uint32_t index, std::uint32_t start,
                         std::uint32_t count, unsigned fds, std::size_t more = 0) {
        std::vector<UniqueFd> sent;
        for (unsigned i = 0; i < fds; ++i)
            sent.push_back(ram(1));
        return ask(Command::set_irqs,
                   bytes(IrqSet{20, flags, index, start, count}) + std::vector<std::byte>(more),
                   std::move(sent))
            .error;
    };
    constexpr std::uint32_t trigger = 1U << 5;
    constexpr std::uint32_t unmask = 1U << 4;
    EXPECT_EQ(set(irq_set_eventfd | trigger, 0, 0, 1, 1), 0U);
    EXPECT_EQ(set(irq_set_eventfd | unmask, 0, 0, 1, 1), 0U);
    EXPECT_EQ(set(irq_set_none | unmask, 0, 0, 1, 0), 0U);
    EXPECT_EQ(set(irq_set_bool | trigger, 0, 0, 1, 0, 1), 0U);
    EXPECT_EQ(set(irq_set_none | trigger, 2, 0, 0, 0), 0U) << "disables what is not there";
    EXPECT_NE(set(irq_set_eventfd | trigger, 0, 0, 1, 2), 0U) << "more descriptors than interrupts";
    EXPECT_NE(set(irq_set_eventfd | trigger, 0, 0, 2, 2), 0U);
    EXPECT_NE(set(irq_set_eventfd | trigger, 0, 0xffffffff, 2, 0), 0U);
    EXPECT_NE(set(irq_set_eventfd | trigger, 1, 0, 1, 1), 0U);
    EXPECT_NE(set(irq_set_bool | trigger, 0, 0, 1, 0, 0), 0U) << "no data";
    EXPECT_NE(set(irq_set_none | irq_set_bool | trigger, 0, 0, 1, 0, 1), 0U);
    EXPECT_NE(set(irq_set_none | trigger | unmask, 0, 0, 1, 0), 0U);
    EXPECT_NE(set(irq_set_none, 0, 0, 1, 0), 0U);
}

TEST_F(VfioUserCommands, ConfigurationSpaceShowsWideBars) {
    EXPECT_EQ(read(config_region, 0, 4), 0x233510deU);
    const Reply whole = ask(Command::region_read, bytes(RegionAccess{0, config_region, 256}));
    EXPECT_EQ(whole.body.size(), sizeof(RegionAccess) + 256);
    for (const std::uint64_t bar : {0x10, 0x18, 0x20})
        EXPECT_EQ(read(config_region, bar, 4), 0xcU) << "64 bits, prefetchable";
    EXPECT_EQ(write(config_region, 0x18, ~0ULL, 8), 0U);
    EXPECT_EQ(read(config_region, 0x18, 8), 0xffffffc00000000cU) << "256 GiB";
    EXPECT_EQ(write(config_region, 0x10, ~0ULL, 8), 0U);
    EXPECT_EQ(read(config_region, 0x10, 8), 0xffffffffff00000cU) << "16 MiB";
}

TEST_F(VfioUserCommands, BarsTakeTheAccessesOfAGuest) {
    EXPECT_EQ(read(0, 0, 4), 0x180000a1U);
    EXPECT_EQ(read(0, 0, 1), 0xa1U);
    EXPECT_EQ(write(2, 0x100000000, 0x1122334455667788, 8), 0U);
    EXPECT_EQ(read(2, 0x100000004, 4), 0x11223344U);
    EXPECT_EQ(read(2, 0x100000007, 1), 0x11U);
    EXPECT_EQ(gpu_->bar_read(Bar::framebuffer, 0x100000000, 4), 0x55667788U);

    write(config_region, 4, 0, 2);
    const Ns before = gpu_->now();
    EXPECT_EQ(read(0, 0, 4), 0xffffffffU) << "nothing is decoded";
    EXPECT_EQ(write(2, 0x100000000, 0, 8), 0U);
    EXPECT_EQ(gpu_->now(), before);
    write(config_region, 4, 2, 2);
    EXPECT_EQ(read(2, 0x100000000, 4), 0x55667788U);
}

TEST_F(VfioUserCommands, AccessesOutsideOrOfOddSizesAreRefused) {
    const auto error = [&](std::uint32_t region, std::uint64_t offset, std::uint32_t count) {
        return ask(Command::region_read, bytes(RegionAccess{offset, region, count})).error;
    };
    EXPECT_EQ(error(0, 0xfffffc, 4), 0U);
    for (const auto &[region, offset, count] :
         std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>>{{0, 0xfffffc, 8},
                                                                              {0, 0x1000000, 4},
                                                                              {0, ~0ULL, 4},
                                                                              {0, 0, 0},
                                                                              {0, 0, 3},
                                                                              {0, 0, 16},
                                                                              {1, 0, 4},
                                                                              {6, 0, 4},
                                                                              {8, 0, 4},
                                                                              {9, 0, 4},
                                                                              {~0U, 0, 4},
                                                                              {7, 0, 257},
                                                                              {7, 256, 1},
                                                                              {7, 0, ~0U}})
        EXPECT_EQ(error(region, offset, count), static_cast<std::uint32_t>(EINVAL))
            << region << " " << offset << " " << count;
    EXPECT_EQ(write(0, 0x1000000, 0, 4), static_cast<std::uint32_t>(EINVAL));
    const auto lacking = bytes(RegionAccess{0, 2, 8}) + std::vector<std::byte>(4);
    EXPECT_EQ(ask(Command::region_write, lacking).error, static_cast<std::uint32_t>(EINVAL));
    const auto excess = bytes(RegionAccess{0, 2, 4}) + std::vector<std::byte>(8);
    EXPECT_EQ(ask(Command::region_write, excess).error, static_cast<std::uint32_t>(EINVAL));
}

TEST_F(VfioUserCommands, TheModelUsesMappedMemory) {
    const UniqueFd file = ram(0x2000000);
    std::vector<UniqueFd> fds;
    fds.emplace_back(::dup(file.get()));
    EXPECT_EQ(map(0x10000000, 0x1000000, std::move(fds), 0x800000), 0U);
    ASSERT_NO_THROW(gpu_->start());
    std::array<std::byte, 0x1000> page{};
    ASSERT_EQ(::pread(file.get(), page.data(), page.size(), 0x800000), 0x1000);
    EXPECT_TRUE(std::ranges::any_of(page, [](std::byte byte) { return byte != std::byte{0}; }));
    EXPECT_EQ(unmap(0x10000000, 0x1000000), 0U);
    EXPECT_THROW(gpu_->restart(nullptr), ConfigError) << "the memory is gone";
}

TEST_F(VfioUserCommands, MapsDoNotOverlap) {
    EXPECT_EQ(map_ram(0x2000, 0x2000), 0U);
    constexpr auto exists = static_cast<std::uint32_t>(EEXIST);
    EXPECT_EQ(map_ram(0x2000, 0x2000), exists);
    EXPECT_EQ(map_ram(0x1000, 0x1001), exists);
    EXPECT_EQ(map_ram(0x3fff, 0x1000), exists);
    EXPECT_EQ(map_ram(0x0, 0x10000), exists);
    EXPECT_EQ(map_ram(0x1000, 0x1000), 0U);
    EXPECT_EQ(map_ram(0x4000, 0x1000), 0U);
    EXPECT_EQ(unmap(0x2000, 0x1000), static_cast<std::uint32_t>(ENOENT)) << "half of one";
    EXPECT_EQ(unmap(0x2000, 0x2000), 0U);
    EXPECT_EQ(unmap(0x2000, 0x2000), static_cast<std::uint32_t>(ENOENT));
    EXPECT_EQ(map_ram(0x2000, 0x2000), 0U);
}

TEST_F(VfioUserCommands, MemoryMayBeOutOfReachOrReadOnly) {
    EXPECT_EQ(map(0x10000000, 0x1000000, {}), 0U);
    EXPECT_THROW(gpu_->start(), ConfigError) << "no descriptor came with it";
    EXPECT_EQ(unmap(0x10000000, 0x1000000), 0U);
    std::vector<UniqueFd> fds;
    fds.push_back(ram(0x1000000));
    EXPECT_EQ(map(0x10000000, 0x1000000, std::move(fds), 0, dma_readable), 0U);
    EXPECT_THROW(gpu_->start(), ConfigError) << "not to be written to";
}

TEST_F(VfioUserCommands, MapsThatMakeNoSenseAreRefused) {
    constexpr auto invalid = static_cast<std::uint32_t>(EINVAL);
    std::vector<UniqueFd> fds;
    fds.push_back(ram(0x1000));
    EXPECT_EQ(map(0, 0x1000, std::move(fds), 0x1000), invalid) << "beyond the file";
    EXPECT_EQ(map(0, 0, {}), invalid);
    EXPECT_EQ(map(~0ULL - 0xfff, 0x2000, {}), invalid);
    EXPECT_EQ(map(0, 0x1000, {}, 0, 0), invalid) << "neither readable nor writable";
    EXPECT_EQ(map(0, 0x1000, {}, 0, 0xff), invalid);
    fds.clear();
    fds.push_back(ram(0x1000));
    fds.push_back(ram(0x1000));
    EXPECT_EQ(map(0, 0x1000, std::move(fds)), invalid) << "two descriptors";
    for (std::size_t i = 0; i < max_dma_maps; ++i)
        ASSERT_EQ(map(0x1000 * i, 0x1000, {}), 0U);
    EXPECT_EQ(map(0x1000 * max_dma_maps, 0x1000, {}), static_cast<std::uint32_t>(ENOSPC));
}

TEST_F(VfioUserCommands, ResetMakesTheBoardCold) {
    EXPECT_EQ(map_ram(0x10000000, 0x1000000), 0U);
    gpu_->start();
    EXPECT_EQ(ask(Command::reset, {}).error, 0U);
    EXPECT_FALSE(gpu_->started());
    EXPECT_EQ(read(config_region, 4, 2), 0U);
    EXPECT_NO_THROW(gpu_->start()) << "memory stays mapped";
}

TEST_F(VfioUserCommands, BodiesOfWrongSizesAreRefused) {
    for (const Command command :
         {Command::dma_map, Command::dma_unmap, Command::get_info, Command::get_region_info,
          Command::get_irq_info, Command::set_irqs, Command::region_read, Command::region_write})
        for (const std::size_t size : {0U, 1U, 4U, 15U})
            EXPECT_EQ(ask(command, std::vector<std::byte>(size, std::byte{0xff})).error,
                      static_cast<std::uint32_t>(EINVAL))
                << static_cast<unsigned>(command) << " " << size;
    EXPECT_NE(ask(Command::reset, std::vector<std::byte>(1)).error, 0U);
    EXPECT_NE(ask(Command::get_info, bytes(DeviceInfo{15, 0, 0, 0})).error, 0U) << "no room";
}

TEST_F(VfioUserCommands, UnknownCommandsAreNotSupported) {
    for (const unsigned command : {0U, 6U, 11U, 12U, 14U, 15U, 16U, 17U, 18U, 19U, 0xffffU})
        EXPECT_EQ(ask(static_cast<Command>(command), {}).error,
                  static_cast<std::uint32_t>(EOPNOTSUPP))
            << command;
    EXPECT_NE(ask(Command::version, bytes(Version{0, 0})).error, 0U) << "said before";
}

TEST_F(VfioUserCommands, NoReplyIsSentIfNoneIsWanted) {
    const RegionAccess access{0x10, 2, 4};
    const auto body = bytes(access) + bytes(std::uint32_t{7});
    const Header header{1, static_cast<std::uint16_t>(Command::region_write),
                        static_cast<std::uint32_t>(sizeof(Header) + body.size()), flag_no_reply, 0};
    EXPECT_TRUE(device_.answer(header, body, {}).empty());
    EXPECT_EQ(read(2, 0x10, 4), 7U);
}

TEST(VfioUserVersion, IsAgreedOnFirst) {
    const auto gpu = real_gpu("titan-v", "idle");
    VfioUserDevice device(*gpu);
    const Header header{1, static_cast<std::uint16_t>(Command::reset), sizeof(Header), 0, 0};
    EXPECT_THROW(device.answer(header, {}, {}), ProtocolError);
    const auto version = [&](std::uint16_t major, std::uint16_t minor) {
        const auto body = bytes(Version{major, minor});
        return device.answer({1, static_cast<std::uint16_t>(Command::version),
                              static_cast<std::uint32_t>(sizeof(Header) + body.size()), 0, 0},
                             body, {});
    };
    EXPECT_THROW(version(1, 0), ProtocolError);
    const auto reply = version(0, 9);
    EXPECT_EQ(read_as<Header>(reply).error, 0U);
    const auto body = std::span(reply).subspan(sizeof(Header));
    EXPECT_EQ(read_as<Version>(body).minor, 0);
    EXPECT_EQ(body.back(), std::byte{0});
    EXPECT_STREQ(
        reinterpret_cast<const char *>(body.data() + sizeof(Version)),
        R"({"capabilities":{"max_data_xfer_size":4096,"max_dma_maps":1024,"max_msg_fds":8}})");
}

TEST(VfioUserHeaders, BadSizesAndFlagsThrow) {
    constexpr auto command = static_cast<std::uint16_t>(Command::region_write);
    const auto size_of = [&](std::uint32_t size, std::uint32_t flags = 0) {
        return VfioUserDevice::body_size({1, command, size, flags, 0});
    };
    EXPECT_EQ(size_of(16), 0U);
    EXPECT_EQ(size_of(16 + max_body), max_body);
    EXPECT_EQ(size_of(16, flag_no_reply), 0U);
    EXPECT_THROW(size_of(15), ProtocolError);
    EXPECT_THROW(size_of(0), ProtocolError);
    EXPECT_THROW(size_of(17 + max_body), ProtocolError);
    EXPECT_THROW(size_of(~0U), ProtocolError);
    EXPECT_THROW(size_of(16, flag_reply), ProtocolError);
    EXPECT_THROW(size_of(16, 0xf), ProtocolError);
}

/// The PCI resources of the boards, as lspci shows them on products.
TEST(RealBars, LieWhereProductsHaveThem) {
    struct Expected {
        std::string board;
        std::array<std::uint64_t, 6> sizes; // sizes of PCI resources
        std::array<std::uint32_t, 6> flags;
    };
    constexpr std::uint64_t mib = 1 << 20;
    constexpr std::uint64_t gib = 1 << 30;
    const std::vector<Expected> all{
        {"gtx1060-3gb", {16 * mib, 256 * mib, 0, 32 * mib, 0, 0}, {0, 0xc, 0, 0xc, 0, 0}},
        {"a100", {16 * mib, 64 * gib, 0, 32 * mib, 0, 0}, {0, 0xc, 0, 0xc, 0, 0}},
        {"h200", {16 * mib, 0, 256 * gib, 0, 32 * mib, 0}, {0xc, 0, 0xc, 0, 0xc, 0}}};
    for (const Expected &expected : all) {
        const auto gpu = real_gpu(expected.board, "idle");
        const PciConfig &config = gpu->config();
        for (unsigned i = 0; i < 6; ++i) {
            const auto bar = config.bar_at(i);
            EXPECT_EQ(bar ? config.bar_size(*bar) : 0, expected.sizes.at(i)) << expected.board << i;
            if (bar) {
                EXPECT_EQ(config.read(0x10 + 4 * i, 4), expected.flags.at(i)) << expected.board;
            }
        }
    }
}

TEST(RealBars, AreDecodedAboveFourGib) {
    const auto gpu = real_gpu("h200", "idle");
    gpu->config_write(0x10, 0x05000000, 4);
    gpu->config_write(0x14, 0x00000380, 4);
    gpu->config_write(0x18, 0x00000000, 4);
    gpu->config_write(0x1c, 0x00000340, 4);
    gpu->config_write(0x04, 2, 2);
    EXPECT_EQ(gpu->memory_read(0x38005000000, 4), 0x180000a1U);
    EXPECT_EQ(gpu->memory_read(0x05000000, 4), 0xffffffffU);
    gpu->memory_write(0x34123456780, 0xabcd, 4);
    EXPECT_EQ(gpu->bar_read(Bar::framebuffer, 0x123456780, 4), 0xabcdU);
}

class VfioUserSocket : public testing::Test {
  protected:
    VfioUserSocket()
        : path_(std::filesystem::temp_directory_path() /
                ("nvdebug-vfio-" + std::to_string(::getpid()))),
          gpu_(real_gpu("h200", "idle")), server_(std::in_place, *gpu_, path_) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path_.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        client_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(
            ::connect(client_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
            0);
        EXPECT_TRUE(server_->serve()) << "takes the call";
    }

    static std::vector<std::byte> message(Command command, const std::vector<std::byte> &body) {
        return bytes(Header{5, static_cast<std::uint16_t>(command),
                            static_cast<std::uint32_t>(sizeof(Header) + body.size()), 0, 0}) +
               body;
    }

    void send(std::span<const std::byte> data) const {
        ASSERT_EQ(::send(client_.get(), data.data(), data.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(data.size()));
    }

    std::vector<std::byte> received() const {
        std::vector<std::byte> buffer(1 << 16);
        const ssize_t got = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return buffer;
    }

    std::filesystem::path path_;
    std::unique_ptr<Gpu> gpu_;
    std::optional<VfioUser> server_;
    UniqueFd client_;
};

TEST_F(VfioUserSocket, CarriesMessagesInAnyPieces) {
    auto all = message(Command::version, bytes(Version{0, 0}));
    const auto read = message(Command::region_read, bytes(RegionAccess{0, config_region, 4}));
    for (int i = 0; i < 3; ++i)
        all.insert(all.end(), read.begin(), read.end());
    std::vector<std::byte> replies;
    for (const std::byte byte : all) {
        send({&byte, 1});
        EXPECT_TRUE(server_->serve());
        const auto more = received();
        replies.insert(replies.end(), more.begin(), more.end());
    }
    const std::size_t each = sizeof(Header) + sizeof(RegionAccess) + 4;
    ASSERT_GT(replies.size(), 3 * each);
    const auto last = std::span(replies).last(4);
    EXPECT_EQ(read_as<std::uint32_t>(last), 0x233510deU);

    send(std::span(all).subspan(all.size() - 3 * read.size()));
    EXPECT_TRUE(server_->serve());
    EXPECT_EQ(received().size(), 3 * each) << "all three at one go";
}

TEST_F(VfioUserSocket, EndsWithItsClient) {
    client_ = UniqueFd();
    EXPECT_FALSE(server_->serve());
}

TEST_F(VfioUserSocket, AnEndInsideAMessageIsAnError) {
    send(message(Command::version, bytes(Version{0, 0})));
    EXPECT_TRUE(server_->serve());
    const auto read = message(Command::region_read, bytes(RegionAccess{}));
    send(std::span(read).first(20));
    EXPECT_TRUE(server_->serve());
    client_ = UniqueFd();
    EXPECT_THROW(server_->serve(), ProtocolError);
}

TEST_F(VfioUserSocket, PathIsRemovedWithTheSocket) {
    EXPECT_TRUE(std::filesystem::exists(path_));
    server_.reset();
    EXPECT_FALSE(std::filesystem::exists(path_));
}

} // namespace
} // namespace nvmodel::test
