# Configures a project that adds phy, in the ways in which projects have their settings.
file(REMOVE_RECURSE ${WORK_DIR})

set(cmake ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/parent -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
  -D PHY_SOURCE_DIR=${SOURCE_DIR} -D PHY_CAPTURE=OFF)

function(configure name)
  execute_process(COMMAND ${cmake} -B ${WORK_DIR}/${name} ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# check_refused(NAME ...): phy says that its parent's devices are too old.
function(check_refused name)
  execute_process(COMMAND ${cmake} -B ${WORK_DIR}/${name} ${ARGN} COMMAND_ECHO STDOUT ERROR_VARIABLE errors)
  if(NOT errors MATCHES "phy[ \n]+needs[ \n]+compute[ \n]+capability")
    message(FATAL_ERROR "phy takes architectures below 7.5, or says nothing of them:\n${errors}")
  endif()
endfunction()

unset(ENV{CUDAARCHS})
configure(plain -D PHY_CUDA=OFF)
configure(debug -D PHY_CUDA=OFF -D CMAKE_BUILD_TYPE=Debug -D BUILD_TYPE=Debug)
if(HAS_CUDA)
  # phy's own choice stays with phy, and the parent's goes before it.
  set(with_cuda -D WITH_CUDA=ON -D PHY_CUDA=ON -D CMAKE_CUDA_COMPILER=${CUDA_COMPILER})
  configure(cuda ${with_cuda} -D PHY_CUDA_ARCHITECTURES=86-real -D EXPECTED_ARCHITECTURES=86-real)
  configure(cuda_of_parent ${with_cuda} -D PHY_CUDA_ARCHITECTURES=86-real -D EXPECTED_ARCHITECTURES=90-real
    -D CMAKE_CUDA_ARCHITECTURES=90-real -D ARCHITECTURES=90-real)
  configure(cuda_of_parent_too ${with_cuda} -D PHY_CUDA_ARCHITECTURES=86-real -D HAS_CUDA=ON
    -D CMAKE_CUDA_ARCHITECTURES=90-real)
  # Without a choice CMake has one, that of nvcc: before CUDA 13 it is 5.2, which phy refuses.
  if(CUDA_VERSION VERSION_LESS 13)
    check_refused(cuda_of_cmake ${with_cuda} -D HAS_CUDA=ON)
  else()
    configure(cuda_of_cmake ${with_cuda} -D PHY_CUDA_ARCHITECTURES=86-real -D HAS_CUDA=ON)
  endif()
  check_refused(old_cuda ${with_cuda} "-DCMAKE_CUDA_ARCHITECTURES=70-real\;90-real")
endif()
