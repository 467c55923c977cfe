# Makes the packages of the build, unpacks them under other names, and runs the programs with an empty environment.
# Beside what is in the package they may load glibc alone.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The one file that the pattern means.
function(find_one pattern variable)
  file(GLOB files ${pattern})
  list(LENGTH files count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "expected one file ${pattern}, found ${count}: ${files}")
  endif()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

function(check_libraries folder program)
  execute_process(COMMAND env -i ldd ${program} OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" libraries "${libraries}")
  foreach(library IN LISTS libraries)
    string(FIND "${library}" "=> ${folder}/" inside)
    if(inside EQUAL -1 AND NOT library MATCHES "^[ \t]*(/[^ ]*/)?(linux-vdso|ld-linux[-a-z0-9]*|lib(c|m|dl|rt|pthread))\\.so")
      message(FATAL_ERROR "${program} loads what is not in the package: ${library}")
    endif()
  endforeach()
endfunction()

# check_package(FOLDER): an unpacked package, its bin/ being in the folder.
function(check_package folder)
  file(GLOB programs ${folder}/bin/* ${folder}/libexec/phy/*/*_test ${folder}/libexec/phy/*/*_bench)
  foreach(program IN LISTS programs)
    check_libraries(${folder} ${program})
  endforeach()
  run(env -i ${folder}/bin/phy_info --json)
  run(env -i ${folder}/bin/demod_app ${folder}/share/phy/data/256qam.h5 -o ${folder}/soft_bits.h5 --quiet)
  find_one(${folder}/soft_bits.h5 soft_bits)
  if(INSTALL_TESTS)
    # Few, but those that need the applications and a file that is installed with them are among them.
    run(env -i GTEST_FILTER=*Interop*:CommandLine.Help*:Half.* ${folder}/libexec/phy/run_tests.sh)
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run(${CPACK} --config ${BUILD_DIR}/CPackConfig.cmake -C ${CONFIG} -B ${WORK_DIR})

find_one(${WORK_DIR}/*.tgz archive)
file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${WORK_DIR}/unpacked)
cmake_path(GET archive STEM LAST_ONLY top)
file(RENAME ${WORK_DIR}/unpacked/${top} "${WORK_DIR}/another name")
check_package("${WORK_DIR}/another name")

if(DPKG_DEB)
  find_one(${WORK_DIR}/*.deb package)
  run(${DPKG_DEB} --extract ${package} ${WORK_DIR}/deb)
  check_package(${WORK_DIR}/deb/usr)
endif()
