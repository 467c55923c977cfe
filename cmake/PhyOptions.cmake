# What every target of phy is compiled with.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(phy_options INTERFACE)
target_compile_options(phy_options INTERFACE -Wall -Wextra -Wconversion -Wshadow
  # The numeric contract: a * b + c is two roundings everywhere, fma is written where it is meant.
  -ffp-contract=off)
if(PHY_WERROR)
  target_compile_options(phy_options INTERFACE -Werror)
endif()
