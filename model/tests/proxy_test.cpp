// SPDX-License-Identifier: MIT OR GPL-2.0
// QEMU's multi-process proxy protocol, with the test in QEMU's place.
#include "support.hpp"

#include "transport/proxy.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace nvmodel::test {
namespace {

using proxy::Command;

class ProxyLink : public testing::Test {
  protected:
    ProxyLink() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
        qemu_ = UniqueFd(ends[0]);
        gpu_ = std::make_unique<Gpu>(board("titan-v"), workload("sysmem"), sysmem_range);
        proxy_ = std::make_unique<Proxy>(*gpu_, UniqueFd(ends[1]));
    }

    void send_raw(const void *data, std::size_t size, const std::vector<int> &fds = {}) const {
        iovec vector{const_cast<void *>(data), size};
        std::vector<std::byte> control(CMSG_SPACE(sizeof(int) * fds.size()));
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        if (!fds.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr *const part = CMSG_FIRSTHDR(&message);
            part->cmsg_level = SOL_SOCKET;
            part->cmsg_type = SCM_RIGHTS;
            part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
            std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
        }
        ASSERT_EQ(::sendmsg(qemu_.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(size));
    }

    template <typename Body>
    void send(Command command, const Body &body, const std::vector<int> &fds = {}) const {
        struct {
            proxy::Header header;
            Body body;
        } message{{static_cast<std::int32_t>(command), 0, sizeof(Body)}, body};
        send_raw(&message, sizeof(proxy::Header) + sizeof(Body), fds);
    }

    void send_empty(Command command, const std::vector<int> &fds = {}) const {
        const proxy::Header header{static_cast<std::int32_t>(command), 0, 0};
        send_raw(&header, sizeof(header), fds);
    }

    /// Serves and returns the reply; fails the test if there is none.
    std::uint64_t reply() {
        EXPECT_TRUE(proxy_->serve());
        proxy::Reply message{};
        EXPECT_EQ(::recv(qemu_.get(), &message, sizeof(message), MSG_DONTWAIT),
                  static_cast<ssize_t>(sizeof(message)));
        EXPECT_EQ(message.header.command, static_cast<std::int32_t>(Command::ret));
        EXPECT_EQ(message.header.size, 8U);
        return message.value;
    }

    void expect_no_reply() {
        char byte = 0;
        EXPECT_EQ(::recv(qemu_.get(), &byte, 1, MSG_DONTWAIT), -1);
    }

    std::uint64_t config_read(std::uint32_t address, std::int32_t length) {
        send(Command::config_read, proxy::ConfigAccess{address, 0, length});
        return reply();
    }
    void config_write(std::uint32_t address, std::uint32_t value, std::int32_t length) {
        send(Command::config_write, proxy::ConfigAccess{address, value, length});
        reply();
    }
    std::uint64_t bar_read(std::uint64_t address, std::uint32_t size) {
        send(Command::bar_read, proxy::BarAccess{address, 0, size, 1, {}});
        return reply();
    }
    void bar_write(std::uint64_t address, std::uint64_t value, std::uint32_t size) {
        send(Command::bar_write, proxy::BarAccess{address, value, size, 1, {}});
        reply();
    }

    std::string protocol_error() {
        try {
            proxy_->serve();
        } catch (const ProtocolError &error) {
            return error.what();
        }
        ADD_FAILURE() << "no ProtocolError";
        return {};
    }

    /// Makes a file of guest RAM.
    static UniqueFd ram(std::size_t size) {
        UniqueFd fd(::memfd_create("ram", MFD_CLOEXEC));
        EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
        return fd;
    }

    UniqueFd qemu_;
    std::unique_ptr<Gpu> gpu_;
    std::unique_ptr<Proxy> proxy_;
};

TEST_F(ProxyLink, ProbesAsQemuDoes) {
    EXPECT_EQ(config_read(0x00, 2), 0x10deU);
    EXPECT_EQ(config_read(0x02, 2), 0x1d81U);
    EXPECT_EQ(config_read(0x0a, 2), 0x0300U);
    EXPECT_EQ(config_read(0x2e, 2), 0x1218U);
    const std::array<std::uint32_t, 7> sizes{16 << 20, 16 << 20, 0, 32 << 20, 0, 0, 0};
    for (unsigned i = 0; i < 7; ++i) {
        const std::uint32_t at = 0x10 + 4 * i;
        const auto original = static_cast<std::uint32_t>(config_read(at, 4));
        config_write(at, 0xffffffff, 4);
        const auto probed = static_cast<std::uint32_t>(config_read(at, 4));
        EXPECT_EQ(~(probed & 0xfffffff0) + 1, sizes[i]) << i;
        config_write(at, original, 4);
    }
}

TEST_F(ProxyLink, BarAccessesCarryAbsoluteAddresses) {
    config_write(0x10, 0xfd000000, 4);
    config_write(0x1c, 0xf0000000, 4);
    config_write(0x04, 0x2, 2);
    EXPECT_EQ(bar_read(0xfd000000, 4), 0x140000a1U);
    EXPECT_EQ(bar_read(0xfd000a00, 4), 0x140a1000U);
    bar_write(0xf0000010, 0x1122334455667788, 8);
    EXPECT_EQ(bar_read(0xf0000014, 4), 0x11223344U);
    EXPECT_EQ(bar_read(0xf0000017, 1), 0x11U);
    EXPECT_EQ(bar_read(0x12345678, 4), 0xffffffffU) << "nobody decodes that";
}

TEST_F(ProxyLink, IoPortsDoNotExist) {
    send(Command::bar_read, proxy::BarAccess{0xc000, 0, 4, 0, {}});
    EXPECT_EQ(reply(), ~0ULL);
}

TEST_F(ProxyLink, GuestMemoryIsMappedAndReplaced) {
    const UniqueFd first = ram(0x2000000);
    proxy::SyncSysmem map{};
    map.address[0] = 0x10000000;
    map.size[0] = 0x1000000;
    map.offset[0] = 0x800000;
    send(Command::sync_sysmem, map, {first.get()});
    EXPECT_TRUE(proxy_->serve());
    expect_no_reply();
    ASSERT_NO_THROW(gpu_->start());
    std::uint32_t word = 0;
    ASSERT_EQ(::pread(first.get(), &word, 4, 0x800000), 4); // the first list buffer
    EXPECT_EQ(word & 0xff0f0001, 0xf4030001U) << "a TSG header of 2 ms";

    send(Command::sync_sysmem, proxy::SyncSysmem{}, {});
    EXPECT_TRUE(proxy_->serve());
    EXPECT_THROW(gpu_->restart(nullptr), ConfigError) << "the memory is gone";
}

TEST_F(ProxyLink, MemoryMayComeInPieces) {
    const UniqueFd fd = ram(0x2000);
    proxy::SyncSysmem map{};
    map.address[0] = 0x10001000;
    map.size[0] = 0x1000;
    map.offset[0] = 0x0;
    map.address[1] = 0x10000000;
    map.size[1] = 0x1000;
    map.offset[1] = 0x1000;
    send(Command::sync_sysmem, map, {fd.get(), fd.get()});
    EXPECT_TRUE(proxy_->serve());
    gpu_->bar_write(Bar::registers, 0x1700, 0x02001000, 4);
    gpu_->bar_write(Bar::registers, 0x700ffc, 0x11111111, 4);
    gpu_->bar_write(Bar::registers, 0x701000, 0x22222222, 4);
    std::uint32_t word = 0;
    ASSERT_EQ(::pread(fd.get(), &word, 4, 0x1ffc), 4);
    EXPECT_EQ(word, 0x11111111U);
    ASSERT_EQ(::pread(fd.get(), &word, 4, 0x0), 4);
    EXPECT_EQ(word, 0x22222222U);
    // These are the bytes on either side of the seam.
    EXPECT_EQ(gpu_->bar_read(Bar::registers, 0x700ffe, 4), 0x22221111U);
}

TEST_F(ProxyLink, ResetAndInterruptsAreAnswered) {
    config_write(0x10, 0xfd000000, 4);
    send_empty(Command::device_reset);
    EXPECT_EQ(reply(), 0U);
    EXPECT_EQ(config_read(0x10, 4), 0U);
    const UniqueFd event = ram(1);
    send_empty(Command::set_irqfd, {event.get(), event.get()});
    EXPECT_TRUE(proxy_->serve());
    expect_no_reply();
    EXPECT_EQ(config_read(0x00, 2), 0x10deU) << "and the link is in step";
}

TEST_F(ProxyLink, MessagesMayArriveInBits) {
    struct {
        proxy::Header header;
        proxy::ConfigAccess body;
    } message{{static_cast<std::int32_t>(Command::config_read), 0, sizeof(proxy::ConfigAccess)},
              {0, 0, 4}};
    const auto *bytes = reinterpret_cast<const char *>(&message);
    const std::size_t size = sizeof(proxy::Header) + sizeof(proxy::ConfigAccess);
    for (std::size_t i = 0; i + 1 < size; ++i) {
        send_raw(bytes + i, 1);
        EXPECT_TRUE(proxy_->serve());
        expect_no_reply();
    }
    send_raw(bytes + size - 1, 1);
    EXPECT_EQ(reply(), 0x1d8110deU);
}

TEST_F(ProxyLink, SeveralAtOnce) {
    send(Command::config_read, proxy::ConfigAccess{0, 0, 2});
    send(Command::config_read, proxy::ConfigAccess{2, 0, 2});
    EXPECT_TRUE(proxy_->serve());
    std::array<proxy::Reply, 2> replies{};
    EXPECT_EQ(::recv(qemu_.get(), replies.data(), sizeof(replies), MSG_DONTWAIT),
              static_cast<ssize_t>(sizeof(replies)));
    EXPECT_EQ(replies[0].value, 0x10deU);
    EXPECT_EQ(replies[1].value, 0x1d81U);
}

TEST_F(ProxyLink, QemuMayGo) {
    qemu_ = UniqueFd();
    EXPECT_FALSE(proxy_->serve());
}

TEST_F(ProxyLink, QemuMayGoBeforeTheReply) {
    send(Command::config_read, proxy::ConfigAccess{0, 0, 2});
    qemu_ = UniqueFd();
    EXPECT_FALSE(proxy_->serve());
}

TEST_F(ProxyLink, GoingInsideAMessageIsAnError) {
    const proxy::Header header{static_cast<std::int32_t>(Command::config_read), 0, 12};
    send_raw(&header, 7);
    qemu_ = UniqueFd();
    EXPECT_EQ(protocol_error(), "QEMU closed the socket inside a message");
}

TEST_F(ProxyLink, UnknownCommand) {
    const proxy::Header header{99, 0, 0};
    send_raw(&header, sizeof(header));
    EXPECT_EQ(protocol_error(), "unknown command 99");
}

TEST_F(ProxyLink, AReplyIsNoRequest) {
    send(Command::ret, std::uint64_t{5});
    EXPECT_EQ(protocol_error(), "unknown command 1");
}

TEST_F(ProxyLink, WrongSizes) {
    proxy::Header header{static_cast<std::int32_t>(Command::bar_read), 0, ~0ULL};
    send_raw(&header, sizeof(header));
    EXPECT_EQ(protocol_error(), "command 5 with 18446744073709551615 bytes");
}

TEST_F(ProxyLink, WrongWidths) {
    send(Command::config_read, proxy::ConfigAccess{0, 0, 3});
    EXPECT_EQ(protocol_error(), "config access of 3 bytes");
}

TEST_F(ProxyLink, NegativeWidths) {
    send(Command::config_write, proxy::ConfigAccess{0, 0, -1});
    EXPECT_EQ(protocol_error(), "config access of -1 bytes");
}

TEST_F(ProxyLink, WrongBarWidths) {
    send(Command::bar_write, proxy::BarAccess{0, 0, 16, 1, {}});
    EXPECT_EQ(protocol_error(), "BAR access of 16 bytes");
}

TEST_F(ProxyLink, RegionsOutsideTheirFile) {
    const UniqueFd fd = ram(0x1000);
    proxy::SyncSysmem map{};
    map.size[0] = 0x1000;
    map.offset[0] = 0x1000;
    send(Command::sync_sysmem, map, {fd.get()});
    EXPECT_EQ(protocol_error(), "guest memory: region is not inside its file");
}

TEST_F(ProxyLink, RegionsBeyondTheAddressSpace) {
    const UniqueFd fd = ram(0x1000);
    proxy::SyncSysmem map{};
    map.address[0] = ~0ULL - 0xff;
    map.size[0] = 0x1000;
    send(Command::sync_sysmem, map, {fd.get()});
    EXPECT_EQ(protocol_error(), "guest memory: region beyond the end of the address space");
}

TEST_F(ProxyLink, DescriptorsThatCannotBeMapped) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const UniqueFd in(pipe[0]);
    const UniqueFd out(pipe[1]);
    proxy::SyncSysmem map{};
    map.size[0] = 0x1000;
    send(Command::sync_sysmem, map, {in.get()});
    EXPECT_EQ(protocol_error(), "guest memory: region is not inside its file");
}

TEST_F(ProxyLink, TooManyDescriptors) {
    const UniqueFd fd = ram(0x1000);
    send(Command::sync_sysmem, proxy::SyncSysmem{}, std::vector<int>(proxy::max_fds + 1, fd.get()));
    EXPECT_EQ(protocol_error(), "more descriptors than a message may have");
}

} // namespace
} // namespace nvmodel::test
