#include "phy/machine/host.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "phy/core/error.hpp"
#include "phy/machine/limits.hpp"
#include "phy/machine/thread_pool.hpp"
#include "support/environment_variable.hpp"
#include "support/one_processor.hpp"

namespace {

using phy::Backend;
using phy::Host;
using phy_test::BackendVariable;

TEST(Host, HasOneThreadAndTheBestBackendUnlessToldOtherwise) {
    const Host host;
    EXPECT_EQ(host.threads(), 1);
    EXPECT_EQ(host.backend(), Backend::best());
    EXPECT_EQ(host.pool().size(), 1);
}

TEST(Host, HasNoMoreThreadsThanUsableProcessors) {
    const int processors = phy::detail::usable_processors();
    EXPECT_EQ(Host({.threads = 0}).threads(), std::min(processors, 1024));
    for (const int threads : {1, 2, 3, 1024}) {
        const Host host({.threads = threads});
        EXPECT_EQ(host.threads(), std::min(threads, processors));
        EXPECT_EQ(host.pool().size(), host.threads());
    }
}

TEST(Host, HasNoWorkersOnOneProcessor) {
    const auto work = [] {
        EXPECT_EQ(Host({.threads = 4}).threads(), 1);
        EXPECT_EQ(Host({.threads = 0}).threads(), 1);
    };
    if (!phy_test::on_one_processor(work)) GTEST_SKIP() << "a thread cannot be pinned to one processor here";
}

TEST(Host, CopiesShareThePool) {
    const Host host({.threads = 2, .backend = Backend::scalar()});
    Host copy;
    EXPECT_NE(&copy.pool(), &host.pool());
    copy = host;
    EXPECT_EQ(&copy.pool(), &host.pool());
    EXPECT_EQ(copy.backend(), host.backend());
    EXPECT_EQ(copy.threads(), host.threads());
}

TEST(Host, PoolLivesAsLongAsTheLastCopy) {
    Host last;
    {
        const Host first({.threads = 2});
        last = first;
    }
    std::atomic<int> calls = 0;
    last.pool().for_each(100, [&](int, std::size_t) noexcept { ++calls; });
    EXPECT_EQ(calls, 100);
}

TEST(Host, RefusesThreadsOutOfRange) {
    for (const int threads : {-1, 1025, 1 << 30}) {
        try {
            const Host host({.threads = threads});
            ADD_FAILURE() << threads;
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find(std::to_string(threads)), std::string::npos);
        }
    }
}

TEST(Host, OfExactlySoManyThreadsHasThem) {
    for (const int threads : {1, 3, 16}) {
        const Host host = phy::detail::host_of_exactly(threads, Backend::scalar());
        EXPECT_EQ(host.threads(), threads);
        EXPECT_EQ(host.pool().size(), threads);
        EXPECT_EQ(host.backend(), Backend::scalar());
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(HostDeathTest, ThreadsThatCannotBeStartedAreAnError) {
    const auto start_more_than_fit = [] {
        const rlimit two_gibibytes{std::size_t{2} << 30, std::size_t{2} << 30};
        setrlimit(RLIMIT_AS, &two_gibibytes);
        try {
            const Host host = phy::detail::host_of_exactly(1024);
        } catch (const phy::Error&) {
            std::_Exit(42);
        }
        std::_Exit(0);
    };
    EXPECT_EXIT(start_more_than_fit(), testing::ExitedWithCode(42), "");
}
#endif

TEST(Host, TakesBackendsOfTheCpuThatRunHere) {
    for (const Backend& backend : Backend::all()) {
        SCOPED_TRACE(backend.name());
        if (backend.kind() != Backend::Kind::cuda && backend.supported()) {
            EXPECT_EQ(Host({.backend = backend}).backend(), backend);
            continue;
        }
        try {
            const Host host({.backend = backend});
            ADD_FAILURE();
        } catch (const phy::BackendError& error) {
            const std::string what = error.what();
            EXPECT_NE(what.find(backend.name()), std::string::npos) << what;
            EXPECT_EQ(what.find("device memory") != std::string::npos, backend.kind() == Backend::Kind::cuda)
                << what;
        }
    }
}

TEST(Host, FollowsTheEnvironmentWhereNoBackendIsGiven) {
    const BackendVariable scalar("scalar");
    EXPECT_EQ(Host().backend(), Backend::scalar());
    EXPECT_EQ(Host({.threads = 2}).backend(), Backend::scalar());
}

TEST(Host, ReadsTheEnvironmentWhenItIsMadeAndNotBefore) {
    Host::Config config;
    {
        const BackendVariable rubbish("rubbish");
        EXPECT_NO_THROW(config = Host::Config{});
        EXPECT_THROW(Host{}, phy::ArgumentError);
        EXPECT_THROW(Host{config}, phy::ArgumentError);
        config.backend = Backend::scalar();
        EXPECT_EQ(Host(config).backend(), Backend::scalar());
        config.backend.reset();
    }
    const BackendVariable unset(nullptr);
    EXPECT_EQ(Host(config).backend(), Backend::best());
}

}  // namespace
