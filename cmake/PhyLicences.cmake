# Run by an installation of relocatable programs: copies the licences of the libraries that it redistributes.
#   FOLDER        of the licences
#   BUNDLE        folder of the shared libraries that were installed with the programs
#   LIBRARIES     files that were linked statically
#   ARCHITECTURE  name of the folder of this machine's libraries
#   CUDA          folder of the toolkit whose runtime was linked; empty: none
set(missing "")
file(MAKE_DIRECTORY ${FOLDER})
file(GLOB shared ${BUNDLE}/*.so*)
foreach(library IN LISTS shared LIBRARIES)
  cmake_path(GET library FILENAME name)
  set(package "")
  execute_process(COMMAND dpkg -S "*/${ARCHITECTURE}/${name}" "*/${ARCHITECTURE}/*/${name}" OUTPUT_VARIABLE owners ERROR_QUIET)
  if(owners MATCHES "(^|\n)([^: \n]+)(:[a-z0-9]+)?: ")
    set(package ${CMAKE_MATCH_2})
  endif()
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${FOLDER}/${package}.txt ONLY_IF_DIFFERENT)
  else()
    list(APPEND missing ${name})
  endif()
endforeach()
if(CUDA)
  file(GLOB texts ${CUDA}/EULA.txt ${CUDA}/LICENSE ${CUDA}/dist-info/nvidia_cuda_runtime-*/licenses/License.txt
    /usr/share/doc/cuda-cudart-dev-*/copyright)
  if(texts)
    list(GET texts 0 text)
    file(COPY_FILE ${text} ${FOLDER}/cuda-runtime.txt ONLY_IF_DIFFERENT)
  else()
    list(APPEND missing libcudart_static.a)
  endif()
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(WARNING "phy: found no licence of ${missing}. Put it into ${FOLDER} before you give the package to others.")
endif()
