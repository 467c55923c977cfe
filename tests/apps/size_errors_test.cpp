#include "common/size_errors.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using phy::PipelineSizeError;
using phy::apps::SizeOptions;
using Culprit = PipelineSizeError::Culprit;

std::string text_of(Culprit culprit, const SizeOptions& given) {
    try {
        phy::apps::with_size_errors(given, [&]() -> int { throw PipelineSizeError("too much", culprit); });
    } catch (const PipelineSizeError& error) {
        EXPECT_EQ(error.culprit(), culprit);
        return error.what();
    }
    return "no error";
}

TEST(SizeErrors, NameTheOptionsAtFaultThatWereGiven) {
    EXPECT_EQ(text_of(Culprit::chunk, {.chunk = 7, .streams = 3}), "--chunk 7: too much");
    EXPECT_EQ(text_of(Culprit::buffer_sets, {.chunk = 7, .streams = 3}), "--streams 3: too much");
    EXPECT_EQ(text_of(Culprit::chunk_and_buffer_sets, {.chunk = 7, .streams = 3}),
              "--chunk 7: --streams 3: too much");
    EXPECT_EQ(text_of(Culprit::chunk_and_buffer_sets, {.chunk = {}, .streams = 3}), "--streams 3: too much");
    EXPECT_EQ(text_of(Culprit::stage, {.chunk = 7, .streams = 3}), "too much");
    EXPECT_EQ(text_of(Culprit::chunk, {.chunk = {}, .streams = 3}), "too much");
    EXPECT_EQ(text_of(Culprit::buffer_sets, {.chunk = 7, .streams = {}}), "too much");
}

TEST(SizeErrors, OthersStayAsTheyAre) {
    const SizeOptions given = {.chunk = 7, .streams = 3};
    EXPECT_EQ(phy::apps::with_size_errors(given, [] { return 5; }), 5);
    try {
        phy::apps::with_size_errors(given, [] { throw phy::ArgumentError("gain 0"); });
        ADD_FAILURE() << "no error";
    } catch (const phy::ArgumentError& error) {
        EXPECT_STREQ(error.what(), "gain 0");
    }
}

}  // namespace
