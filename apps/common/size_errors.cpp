#include "common/size_errors.hpp"

#include <string>

#include <fmt/format.h>

namespace phy::apps {

void throw_naming_options(const PipelineSizeError& error, const SizeOptions& given) {
    using Culprit = PipelineSizeError::Culprit;
    const Culprit culprit = error.culprit();
    const bool both = culprit == Culprit::chunk_and_buffer_sets;
    std::string options;
    if (given.chunk && (both || culprit == Culprit::chunk))
        options = fmt::format("--chunk {}: ", *given.chunk);
    if (given.streams && (both || culprit == Culprit::buffer_sets))
        options += fmt::format("--streams {}: ", *given.streams);
    throw PipelineSizeError(options + error.what(), culprit);
}

}  // namespace phy::apps
