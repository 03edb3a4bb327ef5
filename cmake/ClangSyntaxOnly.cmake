# Initial cache for a pass of Clang over all files: no objects, no linking, warnings as errors. LibTorch's own headers are
# not Clang's business.
set(CMAKE_CXX_COMPILER clang++ CACHE STRING "")
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(TESSERA_LLM OFF CACHE BOOL "")
set(TESSERA_SYNTAX_ONLY ON CACHE BOOL "")
