# What every target of phy is compiled with.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

if(PHY_CUDA STREQUAL "ON")
  message(FATAL_ERROR "PHY_CUDA=ON: the CUDA backend is not in phy ${PROJECT_VERSION}; use AUTO or OFF")
elseif(NOT PHY_CUDA MATCHES "^(AUTO|OFF)$")
  message(FATAL_ERROR "PHY_CUDA is \"${PHY_CUDA}\"; it must be AUTO, ON or OFF")
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(PHY_SANITIZE)
  # For the whole directory tree: one object without them makes the others blind or does not link.
  set(phy_sanitize_flags -fsanitize=${PHY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${phy_sanitize_flags})
  add_link_options(${phy_sanitize_flags})
endif()

# Linked as $<BUILD_INTERFACE:phy_options> or privately: what consumers compile with is their own affair.
add_library(phy_options INTERFACE)
target_compile_options(phy_options INTERFACE -Wall -Wextra -Wconversion
  # Of g++ only for locals: it takes the scoped enumerator SampleFormat::cf32 for a shadow of the type cf32.
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  # g++ 12 sees overlapping copies in operator+ of std::string (its bug 105329).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # The numeric contract: a * b + c is two roundings everywhere, fma is written where it is meant.
  -ffp-contract=off)
if(PHY_WERROR)
  target_compile_options(phy_options INTERFACE -Werror)
endif()
