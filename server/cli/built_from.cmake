# SPDX-License-Identifier: Apache-2.0
# What `stepscope version` says of the build; only its file is compiled again when that changes.
file(STRINGS ${CIVETWEB_INCLUDE}/civetweb.h line REGEX "define CIVETWEB_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" CIVETWEB_VERSION "${line}")

set(built_with "")
foreach(library ARCHIVE CIVETWEB CRYPTO ISAL JANSSON SECCOMP SQLITE UV XLSX YAML ZLIB ZSTD)
  string(TOLOWER ${library} name)
  string(APPEND built_with " ${name} ${${library}_VERSION},")
endforeach()
string(REGEX REPLACE "^ (.*),$" "\\1" built_with "${built_with}")
set_source_files_properties(server/cli/cmd_version.c PROPERTIES COMPILE_DEFINITIONS
  "BUILT_FROM=\"${STEPSCOPE_COMMIT}\";BUILT_WITH=\"${built_with}\"")
