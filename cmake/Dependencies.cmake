# SPDX-License-Identifier: Apache-2.0
# Dependencies.cmake - the Debian libraries, each as an imported pkg-config target.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
foreach(pair openblas:openblas lapacke:lapacke nlopt:nlopt sodium:libsodium sqlite:sqlite3 pq:libpq mhd:libmicrohttpd
             gnutls:gnutls curl:libcurl jansson:jansson)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
endforeach()
# Optional: without it the programs that spread over machines are not built, and all others are.
pkg_check_modules(mpi IMPORTED_TARGET GLOBAL ompi-c)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET GLOBAL cmocka)
endif()
