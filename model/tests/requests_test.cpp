// SPDX-License-Identifier: MIT OR GPL-2.0
// The control socket: every request, and the socket itself.
#include "support.hpp"

#include "control/catalog.hpp"
#include "control/requests.hpp"
#include "transport/control_server.hpp"

#include <nlohmann/json.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

namespace nvmodel::test {
namespace {

using Json = nlohmann::json;

class ControlRequests : public testing::Test {
  protected:
    Json ask(const std::string &line) { return Json::parse(requests_.answer(line)); }

    std::string error(const std::string &line) {
        const Json reply = ask(line);
        EXPECT_FALSE(reply["ok"]);
        return reply.value("error", "");
    }

    Bench bench_{"gtx1060-3gb", "three-tasks"};
    Requests requests_{bench_.gpu, Catalog(NVDEBUG_MODEL_DATA)};
};

TEST_F(ControlRequests, Life) {
    EXPECT_EQ(ask("info"), (Json{{"ok", true},
                                 {"board", "gtx1060-3gb"},
                                 {"workload", "three-tasks"},
                                 {"chip", "GP106"},
                                 {"started", false},
                                 {"asleep", false}}));
    EXPECT_EQ(ask("start"), (Json{{"ok", true}}));
    EXPECT_TRUE(ask("info")["started"]);
    EXPECT_EQ(error("start"), "the workload was started before");
}

TEST_F(ControlRequests, Progress) {
    EXPECT_EQ(ask("progress")["channels"].size(), 6U) << "cold: all there, nothing done";
    ask("start");
    const double begin = ask("advance 0")["now_us"];
    const Json passed = ask("advance 5996.5440000000005");
    EXPECT_NEAR(passed["now_us"].get<double>() - begin, 5996.544, 1e-6);
    const Json reply = ask("progress");
    EXPECT_EQ(reply["now_us"], passed["now_us"]);
    const Json &first = reply["channels"][0];
    EXPECT_EQ(first["runlist"], 0);
    EXPECT_EQ(first["tsg"], 0);
    EXPECT_EQ(first["channel"], 0);
    EXPECT_EQ(first["task"], "task1");
    EXPECT_EQ(first["engine"], "GR0");
    EXPECT_EQ(first["enabled"], true);
    EXPECT_GT(first["progress_us"], 900.0);
    EXPECT_EQ(first["state"], "PENDING");
}

TEST_F(ControlRequests, Advance) {
    for (const char *bad :
         {"advance", "advance x", "advance -1", "advance 1 2", "advance 1e12", "advance nan"})
        EXPECT_NE(error(bad), "") << bad;
    EXPECT_EQ(ask("advance 2.5")["now_us"], 2.5);
}

TEST_F(ControlRequests, Restart) {
    ask("start");
    ask("advance 1000");
    EXPECT_EQ(ask("restart many-500"), (Json{{"ok", true}}));
    EXPECT_EQ(ask("info")["workload"], "many-500");
    EXPECT_EQ(ask("progress")["channels"].size(), 500U);
    EXPECT_LT(ask("advance 0")["now_us"], 100.0) << "time begins again";
    EXPECT_EQ(ask("restart"), (Json{{"ok", true}}));
    EXPECT_EQ(ask("info")["workload"], "many-500");
    const std::string path = std::string(NVDEBUG_MODEL_DATA) + "/workloads/idle.json";
    EXPECT_EQ(ask("restart " + path), (Json{{"ok", true}}));
    EXPECT_NE(error("restart nonsense").find("three-tasks"), std::string::npos)
        << "it says which there are";
    EXPECT_NE(error("restart same-ids").find("ids are global"), std::string::npos);
    EXPECT_EQ(ask("info")["workload"], "idle");
}

TEST_F(ControlRequests, RestartWorksFromCold) {
    EXPECT_EQ(ask("restart"), (Json{{"ok", true}}));
    EXPECT_TRUE(ask("info")["started"]);
}

TEST_F(ControlRequests, AsleepEveryAccessIsRecorded) {
    ask("start");
    const std::uint32_t window = bench_.read(0x1700);
    EXPECT_EQ(ask("sleep"), (Json{{"ok", true}}));
    EXPECT_TRUE(ask("info")["asleep"]);
    EXPECT_EQ(bench_.read(0x0), 0xffffffffU);
    EXPECT_EQ(bench_.read(0x0), 0xffffffffU);
    bench_.write(0x1700, window + 1);
    EXPECT_EQ(bench_.gpu.bar_read(Bar::framebuffer, 0x8, 8), ~0ULL);
    const Json list = ask("violations")["violations"];
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0], (Json{{"bar", 0},
                             {"offset", "0x0"},
                             {"access", "read"},
                             {"size", 4},
                             {"why", "asleep"},
                             {"count", 2}}));
    EXPECT_EQ(list[1]["access"], "write");
    EXPECT_EQ(list[2]["bar"], 1);
    ask("violations reset");
    EXPECT_EQ(ask("wake"), (Json{{"ok", true}}));
    EXPECT_EQ(bench_.read(0x1700), window) << "what was written asleep is lost";
    EXPECT_TRUE(ask("violations")["violations"].empty());
    EXPECT_NE(error("sleep 1"), "");
}

TEST_F(ControlRequests, ADeviceResetWakes) {
    ask("sleep");
    bench_.gpu.reset();
    EXPECT_FALSE(ask("info")["asleep"]);
}

TEST_F(ControlRequests, Submit) {
    EXPECT_EQ(error("submit 0"), "the workload is not started");
    ask("start");
    EXPECT_EQ(ask("submit 0"), (Json{{"ok", true}}));
    EXPECT_EQ(error("submit 5"), "the workload has nothing on runlist 5");
    EXPECT_EQ(error("submit 15"), "board gtx1060-3gb has no runlist 15");
    EXPECT_EQ(error("submit x"), "\"x\" is not a runlist id");
}

TEST_F(ControlRequests, Rotate) {
    EXPECT_EQ(error("rotate 0"), "the workload is not started");
    ask("start");
    EXPECT_EQ(ask("rotate 0"), (Json{{"ok", true}, {"version", 1}}));
    EXPECT_EQ(ask("rotate 0"), (Json{{"ok", true}, {"version", 2}}));
    EXPECT_EQ(error("rotate 5"), "the workload has nothing on runlist 5");
    EXPECT_EQ(error("rotate x"), "\"x\" is not a runlist id");
    ask("restart");
    EXPECT_EQ(ask("rotate 0")["version"], 1);
}

TEST_F(ControlRequests, Stats) {
    bench_.read(0x0);
    bench_.write(0x1700, 0);
    const Json bars = ask("stats")["bars"];
    EXPECT_EQ(bars["0"]["reads"], 1);
    EXPECT_EQ(bars["0"]["read_bytes"], 4);
    EXPECT_EQ(bars["0"]["writes"], 1);
    EXPECT_EQ(bars["0"]["write_bytes"], 4);
    EXPECT_EQ(bars["0"]["blocks"]["PMC"], (Json{{"reads", 1},
                                                {"read_bytes", 4},
                                                {"writes", 0},
                                                {"write_bytes", 0},
                                                {"reread_bytes", 0},
                                                {"read_mib", 1}}));
    for (const char *block :
         {"PMC", "PTOP", "PFIFO", "PBDMA", "PCCSR", "RUNLIST", "CHRAM", "CE", "FUSE", "PBUS",
          "PBUS_WINDOW", "PRAMIN", "PTIMER", "USERMODE", "OTHER"})
        EXPECT_TRUE(bars["0"]["blocks"].contains(block)) << block;
    EXPECT_EQ(ask("stats reset"), (Json{{"ok", true}}));
    EXPECT_EQ(ask("stats")["bars"]["0"]["reads"], 0);
    EXPECT_NE(error("stats now"), "");
}

TEST_F(ControlRequests, ViolationsAndFaults) {
    bench_.read(0x300000);
    EXPECT_EQ(ask("violations")["violations"], (Json::array({{{"bar", 0},
                                                              {"offset", "0x300000"},
                                                              {"access", "read"},
                                                              {"size", 4},
                                                              {"why", "unmodelled"},
                                                              {"count", 1}}})));
    EXPECT_EQ(ask("violations reset"), (Json{{"ok", true}}));
    EXPECT_EQ(ask("violations")["violations"], Json::array());
    EXPECT_EQ(ask("fault read 0x0 0xbadf0200"), (Json{{"ok", true}, {"hits", 0}, {"accesses", 1}}));
    EXPECT_EQ(bench_.read(0x0), 0xbadf0200U);
    EXPECT_EQ(ask("fault none"), (Json{{"ok", true}, {"hits", 1}, {"accesses", 2}}));
    EXPECT_EQ(ask("fault none"), (Json{{"ok", true}, {"hits", 0}, {"accesses", 0}}));
    EXPECT_TRUE(error("fault").starts_with("fault: \"\" is not known; there are all-ones, "));
}

TEST_F(ControlRequests, Nonsense) {
    EXPECT_EQ(error(""), "\"\" is not a request (see docs/model.md)");
    EXPECT_EQ(error("make coffee"), "\"make\" is not a request (see docs/model.md)");
    EXPECT_FALSE(ask("\xff\xfe\x01 x")["ok"]) << "and the reply is still JSON";
    EXPECT_EQ(ask("  info \r")["ok"], true);
}

/// A client of a ControlServer in the same process.
class ControlSocket : public testing::Test {
  protected:
    ControlSocket()
        : path_(std::filesystem::temp_directory_path() /
                ("nvdebug-control-" + std::to_string(::getpid()))),
          server_(requests_, path_) {}

    UniqueFd connect() const {
        UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path_.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        EXPECT_EQ(
            ::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
        return fd;
    }

    /// Lets the server handle everything that has arrived.
    void pump() {
        for (int i = 0; i < 100; ++i) {
            std::vector<pollfd> waiting;
            server_.add_to(waiting);
            if (::poll(waiting.data(), waiting.size(), 0) == 0)
                return;
            server_.serve(waiting.data());
        }
    }

    static void say(const UniqueFd &fd, const std::string &text) {
        ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }

    std::string hear(const UniqueFd &fd) {
        std::string text;
        std::array<char, 65536> buffer{};
        for (;;) {
            pump();
            const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got <= 0)
                return text;
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }

    Bench bench_{"a100", "many"};
    Requests requests_{bench_.gpu, Catalog(NVDEBUG_MODEL_DATA)};
    std::filesystem::path path_;
    ControlServer server_;
};

TEST_F(ControlSocket, SeveralClientsAndPartialLines) {
    const UniqueFd one = connect();
    const UniqueFd two = connect();
    say(one, "in");
    say(two, "advance 1\nadvance 1\n");
    EXPECT_EQ(hear(one), "");
    EXPECT_EQ(hear(two), "{\"ok\":true,\"now_us\":1.0}\n{\"ok\":true,\"now_us\":2.0}\n");
    say(one, "fo\n");
    EXPECT_TRUE(hear(one).starts_with("{\"ok\":true,\"board\":\"a100\""));
}

TEST_F(ControlSocket, LongRepliesArriveWhole) {
    const UniqueFd client = connect();
    say(client, "progress\n");
    const Json reply = Json::parse(hear(client));
    EXPECT_EQ(reply["channels"].size(), 2000U);
}

TEST_F(ControlSocket, HalfClosedClientGetsItsReply) {
    const UniqueFd client = connect();
    say(client, "progress\n");
    ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
    const Json reply = Json::parse(hear(client));
    EXPECT_EQ(reply["channels"].size(), 2000U);
}

TEST_F(ControlSocket, APathInUseIsRefused) {
    EXPECT_NE(config_error([&] { ControlServer(requests_, path_); }).find("listens"),
              std::string::npos);
    const UniqueFd client = connect();
    say(client, "advance 0\n");
    EXPECT_NE(hear(client), "") << "and its owner goes on";
}

TEST_F(ControlSocket, ALeftOverSocketIsReplaced) {
    const auto other = path_.string() + "-stale";
    {
        const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        other.copy(address.sun_path, sizeof(address.sun_path) - 1);
        ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
                  0);
    }
    EXPECT_NO_THROW(ControlServer(requests_, other));
    EXPECT_FALSE(std::filesystem::exists(other)) << "removed when the server goes";
}

TEST_F(ControlSocket, ALineWithoutEndIsCutOff) {
    const UniqueFd client = connect();
    for (int i = 0; i < 80; ++i) {
        const std::string part(1024, 'x');
        if (::send(client.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0)
            break;
        pump();
    }
    char byte = 0;
    EXPECT_EQ(::recv(client.get(), &byte, 1, MSG_DONTWAIT), -1 + (errno == ECONNRESET ? 0 : 1));
    const UniqueFd other = connect();
    say(other, "advance 0\n");
    EXPECT_EQ(hear(other), "{\"ok\":true,\"now_us\":0.0}\n");
}

TEST_F(ControlSocket, ClientsMayLeave) {
    { const UniqueFd gone = connect(); }
    {
        const UniqueFd gone = connect();
        say(gone, "progress\n");
    }
    pump();
    const UniqueFd client = connect();
    say(client, "advance 0\n");
    EXPECT_NE(hear(client), "");
}

TEST(ControlSocketPath, MustBeUsable) {
    Bench bench("a100", "idle");
    Requests requests(bench.gpu, Catalog(NVDEBUG_MODEL_DATA));
    EXPECT_NE(config_error([&] { ControlServer(requests, "/nonexistent/socket"); }), "");
    EXPECT_NE(config_error([&] { ControlServer(requests, std::string(200, 'x')); }), "");
    EXPECT_NE(config_error([&] { ControlServer(requests, "/etc/hostname"); }), "")
        << "a file that is no socket is left alone";
}

TEST(Catalogs, FindByNameOrPath) {
    const Catalog catalog(NVDEBUG_MODEL_DATA);
    EXPECT_EQ(catalog.boards(), std::vector<std::string>(boards.begin(), boards.end()));
    EXPECT_EQ(catalog.board("a100").filename(), "a100.json");
    EXPECT_EQ(catalog.board("./x.json"), "./x.json");
    EXPECT_NE(config_error([&] { static_cast<void>(catalog.board("a101")); }).find("gtx1060-3gb"),
              std::string::npos);
    EXPECT_THROW(static_cast<void>(catalog.board("..")), ConfigError);
}

TEST_F(ControlRequests, PeekAndPoke) {
    EXPECT_EQ(ask("poke vid 0x1000 0x12345678 2"), (Json{{"ok", true}}));
    EXPECT_EQ(ask("peek vid 0x1000 2")["words"], (Json{"0x12345678", "0x2"}));
    EXPECT_EQ(bench_.peek({Aperture::video, 0x1000}), 0x12345678U);
    EXPECT_EQ(error("peek vid 0xfffffffffffffffc 1"), "there is no such memory");
    EXPECT_EQ(error("poke coh 0x0 1"), "there is no such memory");
    EXPECT_EQ(error("poke vid 0x2 1"), "0x2 is not a multiple of 4");
    EXPECT_EQ(error("poke vid 0x0"), "expected 3 arguments, got 2");
    EXPECT_EQ(error("poke vid 0x0 0x100000000"), "\"0x100000000\" is not a word of 32 bits");
    EXPECT_EQ(error("peek vid 0x0 1025"), "\"1025\" is not a count of words");
    EXPECT_EQ(error("peek peer 0x0 1"), "\"peer\" is not one of the choices (see docs/model.md)");
}

} // namespace
} // namespace nvmodel::test
