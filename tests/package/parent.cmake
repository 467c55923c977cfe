# Configures a project that adds phy, in the ways in which projects have their settings.
file(REMOVE_RECURSE ${WORK_DIR})

function(configure name)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/parent -B ${WORK_DIR}/${name} -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${CXX} -D PHY_SOURCE_DIR=${SOURCE_DIR} -D PHY_CAPTURE=OFF ${ARGN}
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
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
endif()
