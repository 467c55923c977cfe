#include "capture/survey.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/interrupt.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy::apps {
namespace {

std::string read_survey(const std::string& file) {
    if (!std::filesystem::is_regular_file(file))
        throw FileError(fmt::format("{}: is not a regular file; expected a survey", file));
    std::ifstream in(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) throw FileError(fmt::format("{}: cannot be read; expected a survey", file));
    // An empty text would be none.
    return text.empty() ? " " : text;
}

}  // namespace

std::string survey_of(const std::string& file, const std::function<std::string()>& make, bool durable) {
    if (std::filesystem::exists(file)) return read_survey(file);
    // Another run may make the same survey meanwhile.
    AtomicFile out(file, {.overwrite = true, .durable = durable});
    std::string text = make();
    throw_if_interrupted();
    out.append(text);
    out.commit();
    return text;
}

}  // namespace phy::apps
