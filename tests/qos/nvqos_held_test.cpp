// SPDX-License-Identifier: MIT OR GPL-2.0
// Tenants of requests: their number is bounded, and several holders may have one.
#include "tools/nvqos/serve/held_tenants.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/nvqos/serve/request.hpp"

namespace {

using namespace nvqos;

/// A process that waits to be killed.
class Waiting {
  public:
    Waiting() : pid(::fork()) {
        if (pid == 0)
            for (;;)
                ::pause();
    }
    ~Waiting() {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;
    const pid_t pid;
};

Outcome<HeldTenants::Added> add(HeldTenants &tenants, const std::string &verb,
                                const std::string &name, pid_t holder,
                                const std::string &more = "") {
    const auto request =
        parse_request(verb + " " + name + " best-effort pid=" + std::to_string(holder) +
                      " holder=" + std::to_string(holder) + more);
    EXPECT_TRUE(request) << request.error().sentence;
    return tenants.add(*request, {}, 0);
}

/// Each tenant and each holder is looked at in each epoch.
TEST(HeldTenantsAndHolders, AreAThousandAtMost) {
    const Waiting child;
    HeldTenants tenants;
    for (std::size_t n = 1; n < HeldTenants::most; n++)
        ASSERT_TRUE(add(tenants, n % 2 ? "join" : "hold", "t" + std::to_string(n), ::getpid()));
    ASSERT_TRUE(add(tenants, "join", "t1", child.pid));
    EXPECT_FALSE(add(tenants, "join", "t3", child.pid));
    EXPECT_FALSE(add(tenants, "hold", "more", ::getpid()));
    EXPECT_TRUE(add(tenants, "join", "t1", child.pid)) << "it has that holder";
    ASSERT_NE(tenants.find("t3"), nullptr);
    EXPECT_EQ(tenants.find("t3")->holders.size(), 1U);
    EXPECT_EQ(tenants.find("more"), nullptr);
}

TEST(HeldTenantsAndHolders, HaveAThousandCgroupsAtMost) {
    HeldTenants tenants;
    std::size_t taken = 0;
    for (int n = 0; n < 1200; n++)
        taken += add(tenants, "join", "a", ::getpid(), " cgroup=/../none-" + std::to_string(n))
                     .has_value();
    EXPECT_EQ(taken, HeldTenants::most_cgroups);
    EXPECT_EQ(tenants.find("a")->family->cgroups().size(), HeldTenants::most_cgroups);
}

TEST(HeldTenantsAndHolders, EndWithTheLastHolder) {
    HeldTenants tenants;
    const HeldTenant *held = nullptr;
    {
        const Waiting second;
        {
            const Waiting first;
            ASSERT_TRUE(add(tenants, "join", "a", first.pid, " cgroup=/../one cgroup=/../both"));
            ASSERT_TRUE(add(tenants, "join", "a", second.pid, " cgroup=/../two cgroup=/../both"));
            held = tenants.find("a");
            EXPECT_FALSE(tenants.drop_ended_holders());
            EXPECT_EQ(held->family->cgroups().size(), 3U);
        }
        EXPECT_FALSE(held->has_ended());
        EXPECT_TRUE(tenants.drop_ended_holders());
        EXPECT_EQ(held->holders.size(), 1U);
        EXPECT_EQ(held->family->cgroups(), (std::set<std::string>{"/../both", "/../two"}));
    }
    EXPECT_TRUE(held->has_ended());
    EXPECT_FALSE(tenants.drop_ended_holders()) << "the tenant ends as a whole";
}

} // namespace
