#include "phy/core/backend.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "phy/core/error.hpp"
#include "support/environment_variable.hpp"

namespace {

using phy::Backend;
using phy_test::BackendVariable;

/// The first CPU backend that runs here; all() is sorted by speed.
Backend fastest() {
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() != Backend::Kind::cuda && backend.supported()) return backend;
    }
    return Backend::scalar();
}

TEST(Backend, AllHoldsTheScalarReferenceAndNoneTwice) {
    std::set<std::string> names;
    for (const Backend& backend : Backend::all()) {
        EXPECT_TRUE(names.insert(backend.name()).second) << backend.name();
        EXPECT_FALSE(backend.description().empty()) << backend.name();
    }
    EXPECT_TRUE(names.contains("scalar"));
    EXPECT_TRUE(Backend::scalar().supported());
}

TEST(Backend, NamesFollowTheirKind) {
    for (const Backend& backend : Backend::all()) {
        const std::string set(backend.instruction_set());
        switch (backend.kind()) {
            case Backend::Kind::scalar:
                EXPECT_EQ(backend.name(), "scalar");
                EXPECT_EQ(set, "");
                break;
            case Backend::Kind::cpu:
                EXPECT_EQ(backend.name(), "cpu[" + set + "]");
                EXPECT_NE(set, "");
                break;
            case Backend::Kind::cuda:
                EXPECT_EQ(backend.name(), "cuda[" + std::to_string(backend.device()) + "]");
                break;
        }
    }
}

TEST(Backend, ParsesWhatRunsHereAndRefusesTheRest) {
    for (const Backend& backend : Backend::all()) {
        if (backend.supported()) {
            EXPECT_EQ(Backend::parse(backend.name()), backend);
        } else {
            EXPECT_THROW(Backend::parse(backend.name()), phy::BackendError) << backend.name();
        }
    }
}

TEST(Backend, KnownNamesThatAreNotBuiltInAreBackendErrors) {
    for (const char* name : {"cpu[avx2]", "cpu[avx512]", "cpu[neon]", "cuda"}) {
        try {
            EXPECT_TRUE(Backend::parse(name).supported()) << name;
        } catch (const phy::BackendError& error) {
            EXPECT_NE(std::string(error.what()), "") << name;
        }
    }
}

TEST(Backend, UnknownNamesAreArgumentErrors) {
    for (const char* name :
         {"", "gpu", "avx2", "cpu[", "cpu[]", "cpu[mmx]", "cpu[avx2", "scalar ", "cuda["}) {
        EXPECT_THROW(Backend::parse(name), phy::ArgumentError) << name;
    }
}

TEST(Backend, DevicesThatAreNoNumbersAreArgumentErrors) {
    for (const char* name : {"cuda[]", "cuda[x]", "cuda[-1]", "cuda[0x]"}) {
        EXPECT_THROW(Backend::parse(name), phy::ArgumentError) << name;
    }
}

TEST(Backend, GenericNamesMeanTheFastest) {
    const BackendVariable unset(nullptr);
    EXPECT_EQ(Backend::parse("auto"), fastest());
    if (fastest().kind() == Backend::Kind::cpu) {
        EXPECT_EQ(Backend::parse("cpu"), fastest());
    }
}

TEST(Backend, BestIsTheFastestUnlessTheVariableSaysOtherwise) {
    {
        const BackendVariable unset(nullptr);
        EXPECT_EQ(Backend::best(), fastest());
        EXPECT_EQ(Backend::forced(), std::nullopt);
    }
    {
        const BackendVariable empty("");
        EXPECT_EQ(Backend::best(), fastest());
    }
    for (const Backend& backend : Backend::all()) {
        const BackendVariable forced(backend.name().c_str());
        if (backend.supported()) {
            EXPECT_EQ(Backend::best(), backend);
            EXPECT_EQ(Backend::forced(), backend);
            EXPECT_EQ(Backend::parse("auto"), backend);
        } else {
            EXPECT_THROW(Backend::best(), phy::BackendError) << backend.name();
        }
    }
}

TEST(Backend, TheVariableMayNotBeNonsense) {
    const BackendVariable nonsense("abacus");
    EXPECT_THROW(Backend::best(), phy::ArgumentError);
    EXPECT_THROW(Backend::forced(), phy::ArgumentError);
    EXPECT_THROW(Backend::check_variable(), phy::ArgumentError);
}

TEST(Backend, NamesInTheVariableAreKnownWhetherTheyRunHereOrNot) {
    for (const char* name : {"", "auto", "scalar", "cpu", "cpu[avx2]", "cpu[neon]", "cuda", "cuda[9999]"}) {
        const BackendVariable variable(name);
        EXPECT_NO_THROW(Backend::check_variable()) << name;
    }
    for (const char* name : {"cpu[]", "cpu[abacus]", "cuda[", "cuda[x]", "Scalar", " "}) {
        const BackendVariable variable(name);
        EXPECT_THROW(Backend::check_variable(), phy::ArgumentError) << name;
    }
}

TEST(Backend, TheVariableMaySayAuto) {
    const BackendVariable automatic("auto");
    EXPECT_EQ(Backend::best(), fastest());
}

TEST(Backend, AreComparable) {
    for (const Backend& a : Backend::all()) {
        for (const Backend& b : Backend::all())
            EXPECT_EQ(a == b, a.name() == b.name());
    }
}

}  // namespace
