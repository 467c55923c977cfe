#pragma once

#include <cstdint>
#include <optional>

#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {

/// The values of --chunk and --streams, if given.
struct SizeOptions {
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
};

/// Rethrows the error, preceded by the given options that cause it.
[[noreturn]] void throw_naming_options(const PipelineSizeError& error, const SizeOptions& given);

/// Returns work(). Size errors name the option that causes them.
template <typename Work>
auto with_size_errors(const SizeOptions& given, Work work) {
    try {
        return work();
    } catch (const PipelineSizeError& error) {
        throw_naming_options(error, given);
    }
}

}  // namespace phy::apps
