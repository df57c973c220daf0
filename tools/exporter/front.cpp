// SPDX-License-Identifier: MIT OR GPL-2.0
#include "front.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <limits>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <list>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "accept_encoding.hpp"

namespace nvdebug::exporter {
namespace {

using Clock = std::chrono::steady_clock;

// --- giving up rights ---

/// Allows only the system calls that are needed to answer on open sockets. All others fail with
/// EPERM.
void allow_few_calls() {
#if defined(__x86_64__)
    constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
    constexpr std::uint32_t machine = 0;
#endif
    if (!machine)
        return;
    constexpr std::uint32_t allowed[] = {
        SYS_read,         SYS_write,          SYS_writev,          SYS_close,
        SYS_recvfrom,     SYS_sendto,         SYS_recvmsg,         SYS_sendmsg,
        SYS_accept4,      SYS_shutdown,       SYS_ppoll,           SYS_brk,
        SYS_mmap,         SYS_munmap,         SYS_mremap,          SYS_madvise,
        SYS_futex,        SYS_exit,           SYS_exit_group,      SYS_rt_sigreturn,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_getpid,          SYS_gettid,
        SYS_tgkill,       SYS_clock_gettime,  SYS_restart_syscall, SYS_getrandom,
        SYS_sched_yield,
#ifdef SYS_poll
        SYS_poll,
#endif
    };
    constexpr std::size_t count = std::size(allowed);
    std::vector<sock_filter> filter = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    };
    for (std::size_t n = 0; n < count; n++)
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[n],
                                  static_cast<std::uint8_t>(count - n), 0));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Gives up all rights. Returns false if some right could not be given up.
bool give_up_rights() {
    constexpr uid_t nobody = 65534;
    bool done = true;
    // A process without the rights to change its user keeps the user. The filter forbids it the
    // calls with which it could use that user's rights.
    if (::geteuid() == 0 && ::setgroups(0, nullptr) == 0 &&
        ::setresgid(nobody, nobody, nobody) == 0)
        done = ::setresuid(nobody, nobody, nobody) == 0;
    for (unsigned long right = 0; ::prctl(PR_CAPBSET_READ, right) >= 0; right++)
        ::prctl(PR_CAPBSET_DROP, right); // it fails without CAP_SETPCAP
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    done = ::syscall(SYS_capset, &header, none) == 0 && done;
    done = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && done;
    ::prctl(PR_SET_DUMPABLE, 0);
    allow_few_calls();
    return done;
}

// --- HTTP ---

constexpr std::size_t request_most = 8192, connections_most = 512;
constexpr std::chrono::seconds request_time{5}, answer_time{20}, reader_time{10};

/// A body that several connections share.
using Body = std::shared_ptr<const std::string>;

struct Connection {
    int descriptor;
    Clock::time_point until; ///< time at which it is closed
    std::string request = {}, header = {};
    Body body = {};     ///< null: the answer consists of the header
    bool waits = false; ///< it waits for the reader's answer
    bool gzip = false, head = false;
    std::size_t sent = 0; ///< bytes of header and body that were sent

    bool reads() const { return header.empty() && !waits; }
};

std::string packed(const std::string &text) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16, memory = 8;
    if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY))
        return {};
    std::string to(::deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef *>(to.data());
    stream.avail_out = static_cast<uInt>(to.size());
    const int result = ::deflate(&stream, Z_FINISH);
    to.resize(stream.total_out);
    ::deflateEnd(&stream);
    return result == Z_STREAM_END ? to : std::string();
}

/// A text for one or more connections. Each connection gets it plain or packed. Both forms are made
/// at most once, and live as long as a connection that sends them.
class Page {
  public:
    explicit Page(std::string text)
        : plain_(std::make_shared<const std::string>(std::move(text))) {}

    void answer(Connection &to, const char *status, const char *type) {
        if (to.gzip && !packed_)
            packed_ = std::make_shared<const std::string>(packed(*plain_));
        const bool is_packed = to.gzip && !packed_->empty();
        const Body &body = is_packed ? packed_ : plain_;
        to.header = std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
                    "\r\nContent-Length: " + std::to_string(body->size()) +
                    (is_packed ? "\r\nContent-Encoding: gzip" : "") +
                    "\r\nVary: Accept-Encoding"
                    "\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
        if (!to.head)
            to.body = body;
        to.waits = false;
        to.until = Clock::now() + answer_time;
        std::string().swap(to.request);
    }

  private:
    Body plain_, packed_;
};

void answer(Connection &to, const char *status, const char *type, std::string text) {
    Page(std::move(text)).answer(to, status, type);
}

constexpr const char *plain = "text/plain; charset=utf-8",
                     *metrics = "text/plain; version=0.0.4; charset=utf-8",
                     *html = "text/html; charset=utf-8";

class Front {
  public:
    Front(int listener, int reader, std::string version)
        : listener_(listener), reader_(reader), version_(std::move(version)) {}

    [[noreturn]] void run() {
        for (;;) {
            wait();
            const auto now = Clock::now();
            if (polled_[1].revents)
                receive(now);
            for (auto at = connections_.begin(); at != connections_.end();) {
                const auto next = std::next(at);
                serve(*at, now);
                if (at->descriptor < 0)
                    connections_.erase(at);
                at = next;
            }
            if (polled_[0].revents)
                accept(now);
            if (asked_ && now - *asked_ > reader_time)
                answer_all("503 Service Unavailable", plain,
                           "the GPUs' state was not read in time\n");
        }
    }

  private:
    void wait() {
        polled_ = {{listener_, POLLIN, 0}, {reader_, POLLIN, 0}};
        for (Connection &one : connections_)
            polled_.push_back({one.descriptor,
                               static_cast<short>(one.reads() ? POLLIN
                                                  : one.waits ? 0
                                                              : POLLOUT),
                               0});
        constexpr int at_most_ms = 500; // so much later than due a connection may be closed
        const bool idle = connections_.empty() && !asked_;
        if (::poll(polled_.data(), polled_.size(), idle ? -1 : at_most_ms) < 0)
            for (pollfd &one : polled_)
                one.revents = 0;
        std::size_t n = 2;
        for (Connection &one : connections_)
            events_of(one) = polled_[n++].revents;
    }

    short &events_of(Connection &one) { return events_[one.descriptor]; }

    void close(Connection &one) {
        events_.erase(one.descriptor);
        ::close(one.descriptor);
        one.descriptor = -1;
    }

    /// Closes the connection that has been sending its request for longest.
    void close_slowest() {
        auto slow = std::ranges::find_if(connections_, &Connection::reads);
        if (slow == connections_.end())
            slow = connections_.begin();
        close(*slow);
        connections_.erase(slow);
    }

    void accept(Clock::time_point now) {
        constexpr int at_once = 64;
        for (int n = 0; n < at_once; n++) {
            const int descriptor =
                ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            // The process may be allowed fewer descriptors than connections_most.
            const bool lacks_descriptors = descriptor < 0 && (errno == EMFILE || errno == ENFILE);
            if ((descriptor < 0 && !lacks_descriptors) ||
                (lacks_descriptors && connections_.empty()))
                return;
            if (lacks_descriptors || connections_.size() >= connections_most)
                close_slowest();
            if (lacks_descriptors)
                continue;
            connections_.push_back({.descriptor = descriptor, .until = now + request_time});
            events_of(connections_.back()) = POLLIN;
            serve(connections_.back(), now);
            if (connections_.back().descriptor < 0)
                connections_.pop_back();
        }
    }

    void serve(Connection &one, Clock::time_point now) {
        const short events = events_of(one);
        if (one.reads() && events & POLLIN)
            read(one);
        else if (events & (POLLERR | POLLHUP | POLLNVAL))
            return close(one);
        if (one.descriptor >= 0 && !one.header.empty())
            send(one);
        if (one.descriptor >= 0 && !one.waits && now > one.until)
            close(one);
    }

    void read(Connection &one) {
        std::array<char, 4096> bytes{};
        const ssize_t got = ::recv(one.descriptor, bytes.data(), bytes.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0)
            return close(one);
        one.request.append(bytes.data(), static_cast<std::size_t>(got));
        if (one.request.find("\r\n\r\n") != one.request.npos ||
            one.request.find("\n\n") != one.request.npos)
            take(one);
        else if (one.request.size() > request_most)
            answer(one, "431 Request Header Fields Too Large", plain, "too long\n");
    }

    void send(Connection &one) {
        const std::string none;
        const std::string &body = one.body ? *one.body : none;
        while (one.sent < one.header.size() + body.size()) {
            const std::size_t of_header = std::min(one.sent, one.header.size());
            const std::size_t of_body = one.sent - of_header;
            iovec parts[] = {
                {one.header.data() + of_header, one.header.size() - of_header},
                {const_cast<char *>(body.data()) + of_body, body.size() - of_body},
            };
            msghdr message{};
            message.msg_iov = parts;
            message.msg_iovlen = std::size(parts);
            const ssize_t sent = ::sendmsg(one.descriptor, &message, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR)
                continue;
            if (sent < 0 && errno == EAGAIN)
                return;
            if (sent < 0)
                return close(one);
            one.sent += static_cast<std::size_t>(sent);
        }
        ::shutdown(one.descriptor, SHUT_WR);
        close(one);
    }

    void take(Connection &one) {
        std::string_view line = one.request;
        line = line.substr(0, line.find_first_of("\r\n"));
        const std::string_view method = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(line.size(), method.size() + 1));
        const std::string_view target = line.substr(0, line.find(' '));
        const std::string_view path = target.substr(0, target.find_first_of("?#"));
        if (target.size() == line.size() || !line.substr(target.size()).starts_with(" HTTP/1."))
            return answer(one, "400 Bad Request", plain, "no request of HTTP/1\n");
        one.head = method == "HEAD";
        if (method != "GET" && method != "HEAD")
            return answer(one, "405 Method Not Allowed\r\nAllow: GET, HEAD", plain,
                          "GET and HEAD alone\n");
        one.gzip = takes_gzip(one.request);
        if (path == "/metrics")
            return wait_for_reader(one);
        if (path == "/healthz")
            return answer(one, "200 OK", plain, "ok\n");
        if (path == "/")
            return answer(one, "200 OK", html,
                          "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                          "<title>nvdebug-exporter</title></head><body>\n"
                          "<h1>nvdebug-exporter " +
                              version_ +
                              "</h1>\n<p>Who has the NVIDIA GPUs of this node.</p>\n"
                              "<ul><li><a href=\"/metrics\">/metrics</a>: for Prometheus</li>\n"
                              "<li><a href=\"/healthz\">/healthz</a>: does it answer?</li></ul>\n"
                              "</body></html>\n");
        answer(one, "404 Not Found", plain, "there are /, /metrics and /healthz\n");
    }

    void wait_for_reader(Connection &one) {
        one.waits = true;
        std::string().swap(one.request);
        if (asked_)
            return;
        const char question = 'm';
        if (::send(reader_, &question, 1, MSG_NOSIGNAL) == 1)
            asked_ = Clock::now();
        else
            answer(one, "503 Service Unavailable", plain, "nothing is read now\n");
    }

    /// Closes the connections with the oldest bodies, until @p bytes more may be kept.
    void make_room(std::size_t bytes) {
        struct Kept {
            const std::string *body;
            Clock::time_point until;
        };
        std::vector<Kept> kept;
        std::size_t total = bytes;
        for (const Connection &one : connections_)
            if (one.body && std::ranges::find(kept, one.body.get(), &Kept::body) == kept.end()) {
                kept.push_back({one.body.get(), one.until});
                total += one.body->size();
            }
        std::ranges::sort(kept, {}, &Kept::until);
        for (auto oldest = kept.begin(); total > bodies_most && oldest != kept.end(); ++oldest) {
            total -= oldest->body->size();
            std::erase_if(connections_, [&](Connection &one) {
                const bool has_it = one.body.get() == oldest->body;
                if (has_it)
                    close(one);
                return has_it;
            });
        }
    }

    /// Answers all connections that wait for the reader.
    void answer_all(const char *status, const char *type, std::string text) {
        make_room(text.size());
        Page page(std::move(text));
        for (Connection &one : connections_)
            if (one.waits)
                page.answer(one, status, type);
        // After a timeout the reader may still answer. Its answer then goes to the next requests.
        if (type == plain)
            asked_ = Clock::now();
        else
            asked_.reset();
    }

    void receive(Clock::time_point) {
        std::array<char, 65536> bytes{};
        const ssize_t got = ::recv(reader_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0)
            ::_exit(0);
        received_.append(bytes.data(), static_cast<std::size_t>(got));
        std::uint64_t length = 0;
        if (received_.size() < sizeof(length))
            return;
        std::memcpy(&length, received_.data(), sizeof(length));
        if (received_.size() - sizeof(length) < length)
            return;
        std::string text = received_.substr(sizeof(length), length);
        std::string().swap(received_);
        answer_all("200 OK", metrics, std::move(text));
    }

    const int listener_, reader_;
    const std::string version_;
    std::vector<pollfd> polled_;
    std::list<Connection> connections_;
    struct Events {
        std::vector<std::pair<int, short>> of;
        short &operator[](int descriptor) {
            for (auto &[number, events] : of)
                if (number == descriptor)
                    return events;
            return of.emplace_back(descriptor, short{0}).second;
        }
        void erase(int descriptor) {
            std::erase_if(of, [&](const auto &one) { return one.first == descriptor; });
        }
    } events_;
    std::optional<Clock::time_point> asked_; ///< the time since when the reader has not answered
    std::string received_;                   ///< the received part of the reader's answer
};

} // namespace

std::optional<Address> parse_address(const std::string &text) {
    const std::size_t colon = text.rfind(':');
    Address address{colon == text.npos ? "" : text.substr(0, colon), text.substr(colon + 1)};
    unsigned port = 0;
    const char *const end = address.port.data() + address.port.size();
    const auto [stop, error] = std::from_chars(address.port.data(), end, port);
    if (error != std::errc() || stop != end || port < 1 || port > 65535)
        return std::nullopt;
    if (address.host == "*")
        address.host.clear();
    const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
    if (bracketed)
        address.host = address.host.substr(1, address.host.size() - 2);
    // In an IPv6 address without brackets, nothing shows which colon begins the port.
    if ((bracketed && address.host.empty()) ||
        (!bracketed && address.host.find_first_of(":[]") != std::string::npos))
        return std::nullopt;
    return address;
}

int listen_at(const Address &address) {
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    if (::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), address.port.c_str(),
                      &hints, &found))
        return -EADDRNOTAVAIL;
    int error = EADDRNOTAVAIL;
    // IPv6 comes first, because without a host its socket also accepts IPv4.
    for (const int pass : {AF_INET6, AF_INET})
        for (const addrinfo *one = found; one; one = one->ai_next) {
            if (one->ai_family != pass)
                continue;
            const int listener =
                ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            // Connections inherit the sizes of the buffers. The kernel's default sizes grow to
            // megabytes for a client that does not read, and count as memory of the service.
            constexpr int on = 1, off = 0, waiting = 512, to_send = 128 << 10, to_read = 8 << 10;
            if (listener < 0) {
                error = errno;
                continue;
            }
            ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
            ::setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &to_send, sizeof(to_send));
            ::setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &to_read, sizeof(to_read));
            if (pass == AF_INET6)
                ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, address.host.empty() ? &off : &on,
                             sizeof(on));
            if (::bind(listener, one->ai_addr, one->ai_addrlen) == 0 &&
                ::listen(listener, waiting) == 0) {
                ::freeaddrinfo(found);
                return listener;
            }
            error = errno;
            ::close(listener);
        }
    ::freeaddrinfo(found);
    return -error;
}

void run_front(int listener, int reader, const std::string &version) {
    ::prctl(PR_SET_NAME, "nvdebug-http");
    // A terminal sends these signals to both processes. The front ignores them, because the reader
    // ends it.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    // Close descriptors that a supervisor or a shell has left open.
    const int low = std::min(listener, reader), high = std::max(listener, reader);
    const auto close_all = [](int first, int last) {
        if (first <= last)
            ::syscall(SYS_close_range, first, last, 0);
    };
    close_all(STDERR_FILENO + 1, low - 1);
    close_all(low + 1, high - 1);
    close_all(high + 1, std::numeric_limits<int>::max());
    if (!give_up_rights())
        ::_exit(1);
    try {
        Front(listener, reader, version).run();
    } catch (...) {
        ::_exit(1); // there is no memory
    }
}

bool await_question(int front) {
    char question = 0;
    ssize_t got;
    do
        got = ::recv(front, &question, 1, 0);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

bool answer_question(int front, const std::string &text) {
    const std::uint64_t length = text.size();
    std::string all(reinterpret_cast<const char *>(&length), sizeof(length));
    all += text;
    for (std::size_t sent = 0; sent < all.size();) {
        const ssize_t now = ::send(front, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        sent += static_cast<std::size_t>(now);
    }
    return true;
}

} // namespace nvdebug::exporter
