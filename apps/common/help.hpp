#pragma once

#include <string>

#include "common/app.hpp"

/// What --help and --help-as print, all from one table of options.
namespace phy::apps {

/// options: those of every app included.
std::string help_text(const App& app, const po::options_description& options);

/// A manual page of section 1, as roff.
std::string manual_page(const App& app, const po::options_description& options);

/// A command for bash that completes options, and file names elsewhere.
std::string bash_completion(const App& app, const po::options_description& options);

}  // namespace phy::apps
