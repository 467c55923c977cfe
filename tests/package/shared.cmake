# Builds the shared libraries and checks what they show; a program that is linked with them runs and catches what they
# throw. Then their package, with the applications: a program that is linked with the unpacked library needs nothing else. Without CUDA, whose kernels take minutes; objects.cmake looks at those that the build has already. The
# libraries' folder stays, so that a second run compiles what has changed.
include(${CMAKE_CURRENT_LIST_DIR}/symbols.cmake)
set(build ${WORK_DIR}/build)
set(prefix ${WORK_DIR}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(check_exports library)
  execute_process(COMMAND nm -DC --defined-only --format=posix ${prefix}/lib/lib${library}.so
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," symbols "${symbols}")
  string(REGEX REPLACE "\n$" "" symbols "${symbols}")
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    check_symbol(lib${library}.so "${symbol}")
  endforeach()
  check_count(lib${library}.so "${symbols}")
endfunction()

# build(OPTION...)
function(build)
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${build} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
    -D BUILD_SHARED_LIBS=ON -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D CMAKE_INSTALL_LIBDIR=lib
    -D PHY_PRECOMPILE=OFF -D PHY_CUDA=OFF -D PHY_TESTS=OFF ${ARGN})
  run(${CMAKE_COMMAND} --build ${build})
endfunction()

build(-D PHY_APPS=OFF -D PHY_RELOCATABLE=OFF)
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
foreach(library phy phy_capture phy_files)
  check_exports(${library})
endforeach()

file(WRITE ${WORK_DIR}/catch.cpp [[
#include <phy/phy.hpp>
#include <phy/files/demodulate.hpp>

int main() {
    int caught = 0;
    try {
        phy::parse_modulation("none");
    } catch (const phy::ArgumentError&) {
        ++caught;
    }
    try {
        phy::demodulate_file("none.h5", "", {});
    } catch (const phy::Error&) {
        ++caught;
    }
    return caught == 2 ? 0 : 1;
}
]])
run(${CXX} -std=c++20 -I${prefix}/include ${WORK_DIR}/catch.cpp -o ${WORK_DIR}/catch -L${prefix}/lib
  -lphy_files -lphy_capture -lphy -Wl,-rpath,${prefix}/lib)
run(${WORK_DIR}/catch)

# Code without optimisation is larger than that of the package, which has at most 15 MB.
if(RELOCATABLE)
  build(-D PHY_APPS=ON -D PHY_RELOCATABLE=ON)
  run(${CMAKE_COMMAND} -D BUILD_DIR=${build} -D WORK_DIR=${WORK_DIR}/package -D CONFIG=Debug -D CPACK=${CPACK}
    -D INSTALL_TESTS=OFF -D HAS_CAPTURE=ON -D HAS_CUDA=OFF -D IS_SHARED=ON -D LARGEST=20000000 -D LIBDIR=lib
    -P ${CMAKE_CURRENT_LIST_DIR}/relocate.cmake)
  set(prefix "${WORK_DIR}/package/another name")
  file(WRITE ${WORK_DIR}/user.cpp [[
#include <phy/phy.hpp>

int main() {
    return phy::Backend::best().supported() ? 0 : 1;
}
]])
  run(${CXX} -std=c++20 -I${prefix}/include ${WORK_DIR}/user.cpp -o ${WORK_DIR}/user -L${prefix}/lib -lphy
    -Wl,-rpath,${prefix}/lib)
  run(env -i ${WORK_DIR}/user)
endif()
