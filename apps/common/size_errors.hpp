#pragma once

#include <cstdint>
#include <optional>

#include "phy/pipeline/size_error.hpp"

namespace phy::apps {

/// What --chunk and --streams say, where they are given.
struct SizeOptions {
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
};

/// Throws the error again; it begins with the options that are at fault and were given.
[[noreturn]] void throw_naming_options(const PipelineSizeError& error, const SizeOptions& given);

/// Calls work() and returns what it returns; errors of sizes name the option at fault.
template <typename Work>
auto with_size_errors(const SizeOptions& given, Work work) {
    try {
        return work();
    } catch (const PipelineSizeError& error) {
        throw_naming_options(error, given);
    }
}

}  // namespace phy::apps
