# SPDX-License-Identifier: Apache-2.0
# Flags.cmake - one interface target that every ring and program uses.
add_library(tacet_flags INTERFACE)
target_compile_definitions(tacet_flags INTERFACE _GNU_SOURCE TACET_VERSION="${PROJECT_VERSION}")
target_compile_options(tacet_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -fno-math-errno -fno-trapping-math -ffp-contract=off)
# -fno-trapping-math: nobody reads the exception flags, and loops with comparisons become vector code; values are IEEE.
# -ffp-contract=off: the same source gives the same doubles from gcc and clang, whatever the processor.
# Hardening: canaries where a function has arrays, checked library calls (they need an optimiser), and nothing that the
# loader writes to stays writable. tests/boundary/hardening.sh reads the result from the ELF headers.
target_compile_options(tacet_flags INTERFACE -fstack-protector-strong)
target_link_options(tacet_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TACET_SANITIZE)
  target_compile_options(tacet_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(TACET_WERROR)
  target_compile_options(tacet_flags INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(tacet_flags INTERFACE -O3)
endif()
if(TACET_SANITIZE STREQUAL "address")
  target_compile_options(tacet_flags INTERFACE -O1 -fsanitize=address -fno-omit-frame-pointer)
  target_link_options(tacet_flags INTERFACE -fsanitize=address)
elseif(TACET_SANITIZE STREQUAL "undefined")
  target_compile_options(tacet_flags INTERFACE -O1 -fsanitize=undefined -fno-sanitize-recover=all)
  target_link_options(tacet_flags INTERFACE -fsanitize=undefined)
elseif(TACET_SANITIZE STREQUAL "thread")
  target_compile_options(tacet_flags INTERFACE -O1 -fsanitize=thread)
  target_link_options(tacet_flags INTERFACE -fsanitize=thread)
endif()
if(TACET_SANITIZE)
  target_compile_definitions(tacet_flags INTERFACE TACET_SANITIZED=1)
endif()
if(TACET_COVERAGE)
  # Counters are shared by threads: without atomic updates gcov reports negative counts.
  target_compile_options(tacet_flags INTERFACE --coverage -O0 -fprofile-update=atomic)
  target_link_options(tacet_flags INTERFACE --coverage)
endif()
if(TACET_FUZZ)
  target_compile_options(tacet_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -g)
  target_link_options(tacet_flags INTERFACE -fsanitize=address,undefined)
endif()
