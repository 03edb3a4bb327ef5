# tessera_library(NAME SOURCES <files> [PUBLIC <targets>] [PRIVATE <targets>])
#
# Adds the static library tessera_NAME with the alias tessera::NAME. Its headers lie beside its sources in the current
# folder DIR and are included as <tessera/DIR/file.hpp>; only a target that links the library sees them, so a dependency
# against the design's directions does not compile.
function(tessera_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tessera_${name} STATIC ${ARG_SOURCES})
  add_library(tessera::${name} ALIAS tessera_${name})
  tessera_headers(tessera_${name} PUBLIC)
  target_link_libraries(tessera_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  tessera_warnings(tessera_${name})
endfunction()

# Shows the headers of the current folder DIR to TARGET (and with PUBLIC or INTERFACE to its users) as <tessera/DIR/...>.
function(tessera_headers target scope)
  get_filename_component(dirname "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(root "${CMAKE_BINARY_DIR}/include/${target}")
  file(MAKE_DIRECTORY "${root}/tessera")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/tessera/${dirname}" SYMBOLIC)
  target_include_directories(${target} ${scope} "${root}")
endfunction()

# tessera_program(NAME SOURCES <files> [LINK <targets>] [NO_INSTALL])
function(tessera_program name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  tessera_warnings(${name})
  if(NOT ARG_NO_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

function(tessera_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
  if(TESSERA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# tessera_test(NAME SOURCES <files> [LINK <targets>] [LABEL quick|long] [TIMEOUT seconds])
#
# One doctest program registered as one ctest test under a time limit (60 s unless told), so that a hang is a failure.
function(tessera_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LINK;ENVIRONMENT" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL quick)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} tessera_doctest_main)
  target_compile_definitions(${name} PRIVATE TESSERA_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             TESSERA_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  tessera_warnings(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
endfunction()
