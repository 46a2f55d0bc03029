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
# Of the tests alone: whoever builds programs need not have it.
pkg_check_modules(cmocka QUIET IMPORTED_TARGET GLOBAL cmocka)
