# SPDX-License-Identifier: Apache-2.0
# What `stepscope version` says about the build; only its file is compiled again when that changes.
file(STRINGS ${CIVETWEB_INCLUDE}/civetweb.h line REGEX "define CIVETWEB_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" CIVETWEB_VERSION "${line}")
find_path(XLSX_INCLUDE xlsxwriter.h REQUIRED) # its .pc file has the version of the interface
file(STRINGS ${XLSX_INCLUDE}/xlsxwriter.h line REGEX "define LXW_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" XLSX_VERSION "${line}")

set(built_with "")
foreach(library CIVETWEB=civetweb ISAL=isa-l JANSSON=jansson ARCHIVE=libarchive SECCOMP=libseccomp
        UV=libuv XLSX=libxlsxwriter YAML=libyaml CRYPTO=openssl SQLITE=sqlite ZLIB=zlib ZSTD=zstd)
  string(REGEX MATCH "(.*)=(.*)" parts ${library})
  string(APPEND built_with " ${CMAKE_MATCH_2} ${${CMAKE_MATCH_1}_VERSION},")
endforeach()
string(REGEX REPLACE "^ (.*),$" "\\1" built_with "${built_with}")
set_source_files_properties(server/cli/cmd_version.c PROPERTIES COMPILE_DEFINITIONS
  "BUILT_WITH=\"${built_with}\"")
