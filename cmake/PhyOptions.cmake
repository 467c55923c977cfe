# Options of every target of phy. A project that adds phy sets build type, launchers and architectures itself.
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  mark_as_advanced(CCACHE_PROGRAM)
  foreach(language CXX CUDA)
    if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      # Without this ccache caches nothing that uses a precompiled header.
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()

# CUDA: by default if a compiler for it exists. Building needs no device.
set(PHY_HAS_CUDA OFF)
if(NOT PHY_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "PHY_CUDA is \"${PHY_CUDA}\"; it must be AUTO, ON or OFF")
elseif(NOT PHY_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # From that version on the module of CMake 3.25.1 expects CUDA::nvToolsExt, which CUDA 13 has not.
    set(phy_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit 12.8)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${phy_minimum})
    set(PHY_HAS_CUDA ${CUDAToolkit_FOUND})
  endif()
  if(PHY_CUDA STREQUAL "ON" AND NOT PHY_HAS_CUDA)
    message(FATAL_ERROR
      "PHY_CUDA=ON: found no nvcc of CUDA 12.8 or later; put it on the PATH or give CMAKE_CUDA_COMPILER")
  endif()
endif()
if(PHY_HAS_CUDA)
  # Set for the targets of this folder and below; the cache entry stays. A project that enables CUDA before it adds phy
  # has architectures already: its own, or CMake's defaults, which CMake 3.25 does not distinguish.
  get_property(phy_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT CUDA IN_LIST phy_languages AND NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES ${PHY_CUDA_ARCHITECTURES})
  endif()
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^[0-9]+" AND CMAKE_MATCH_0 LESS 75)
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is \"${CMAKE_CUDA_ARCHITECTURES}\", and phy needs compute capability "
        "7.5 or later: name such architectures, before CUDA is enabled, or build phy with PHY_CUDA=OFF")
    endif()
  endforeach()
  enable_language(CUDA)
  set(CMAKE_CUDA_EXTENSIONS OFF)
endif()
message(STATUS "phy: CUDA ${PHY_HAS_CUDA} ${CMAKE_CUDA_ARCHITECTURES}")

set(CMAKE_CXX_EXTENSIONS OFF)

# Linked as $<BUILD_INTERFACE:phy_options> or privately: consumers choose their own flags.
add_library(phy_options INTERFACE)
set(phy_cxx_flags -Wall -Wextra -Wconversion
  # With g++ only for locals: it reports that the scoped enumerator SampleFormat::cf32 shadows the type cf32.
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  # g++ 12 wrongly reports overlapping and too long copies in operator+ of std::string (its bugs 105329 and 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>
  # The numeric contract: a * b + c rounds twice everywhere; every fma is explicit.
  -ffp-contract=off)
# ptxas warns about kernels that spill registers or have a stack frame.
set(phy_cuda_flags -std=c++20 --fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-ffp-contract=off
  -Xptxas=-warn-spills,-warn-lmem-usage)
if(PHY_WERROR)
  list(APPEND phy_cxx_flags -Werror)
  list(APPEND phy_cuda_flags -Werror=all-warnings -Xptxas=-Werror)
endif()
target_compile_options(phy_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${phy_cxx_flags}>" "$<$<COMPILE_LANGUAGE:CUDA>:${phy_cuda_flags}>")
if(PHY_SANITIZE)
  # For all targets of phy and for the linking of programs that use it: a single object without them blinds
  # AddressSanitizer and ThreadSanitizer.
  set(phy_sanitize_flags -fsanitize=${PHY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(phy_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${phy_sanitize_flags}>")
  target_link_options(phy_options INTERFACE ${phy_sanitize_flags})
endif()

# phy_precompile(TARGET HEADER...): precompiles headers for the target. phy_precompile(TARGET FROM OTHER): uses those of
# OTHER. Not for headers of phy: a change of one would compile everything again. Builds without precompiled headers find
# missing includes: tests/package builds the libraries so, and tools/lint.sh checks each file so.
function(phy_precompile target)
  if(NOT PHY_PRECOMPILE)
    return()
  elseif(ARGV1 STREQUAL "FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)  # for ccache
endfunction()
set(phy_precompiled <algorithm> <array> <bit> <charconv> <chrono> <cmath> <complex> <filesystem> <functional> <limits>
  <map> <memory> <mutex> <numeric> <optional> <span> <stop_token> <string> <string_view> <thread> <utility> <vector>)
