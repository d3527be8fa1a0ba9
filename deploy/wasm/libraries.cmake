# SPDX-License-Identifier: Apache-2.0
# The libraries of the WASM module, compiled from Debian's sources: the targets that pkg-config gives
# elsewhere.
set(SOURCES ${CMAKE_BINARY_DIR}/sources)
set(WASM_DIR ${CMAKE_CURRENT_LIST_DIR})
set(STEPSCOPE_WASM_LEVEL -O2 CACHE STRING "Optimization of the libraries in the WASM module")
if(NOT EXISTS ${SOURCES}/complete)
  execute_process(COMMAND ${WASM_DIR}/sources.sh ${SOURCES} COMMAND_ERROR_IS_FATAL ANY)
endif()

# What wasi-libc lacks, with one thread and nobody to signal.
target_include_directories(flags SYSTEM INTERFACE ${WASM_DIR}/include)
target_compile_definitions(flags INTERFACE _WASI_EMULATED_SIGNAL _WASI_EMULATED_GETPID
  _WASI_EMULATED_MMAN)
# 64-bit sizes fit 32 bits where memory for them was allocated; wasi-libc's macros use statement
# expressions.
target_compile_options(flags INTERFACE -Wno-shorten-64-to-32 -Wno-gnu-statement-expression)
target_link_libraries(flags INTERFACE wasi-emulated-signal wasi-emulated-getpid
  wasi-emulated-mman)

# add_source_library(NAME PACKAGE INCLUDE_FOLDER FILE...): PkgConfig::NAME of those files.
function(add_source_library name package include)
  list(TRANSFORM ARGN PREPEND ${SOURCES}/${package}/)
  file(GLOB files ${ARGN})
  add_library(wasm_${package} STATIC EXCLUDE_FROM_ALL ${files})
  add_library(PkgConfig::${name} ALIAS wasm_${package})
  target_include_directories(wasm_${package} SYSTEM PUBLIC ${include} PRIVATE ${WASM_DIR}/include)
  target_compile_definitions(wasm_${package} PRIVATE _GNU_SOURCE)
  target_compile_options(wasm_${package} PRIVATE ${STEPSCOPE_WASM_LEVEL} -w)
endfunction()

add_source_library(ZSTD libzstd ${SOURCES}/libzstd/lib
  lib/common/*.c lib/compress/*.c lib/decompress/*.c)
target_compile_definitions(wasm_libzstd PRIVATE ZSTD_DISABLE_ASM ZSTD_LEGACY_SUPPORT=0)

add_source_library(ZLIB zlib ${SOURCES}/zlib *.c)

file(COPY ${SOURCES}/libisal/include/ DESTINATION ${CMAKE_BINARY_DIR}/include/isa-l
  FILES_MATCHING PATTERN *.h)
add_source_library(ISAL libisal ${CMAKE_BINARY_DIR}/include igzip/igzip_inflate.c igzip/igzip.c
  igzip/hufftables_c.c igzip/adler32_base.c crc/crc_base.c crc/crc_base_aliases.c crc/crc64_base.c)
target_sources(wasm_libisal PRIVATE ${WASM_DIR}/isal_base.c)
target_include_directories(wasm_libisal PRIVATE ${SOURCES}/libisal/include ${SOURCES}/libisal/igzip)

set(json_inline inline)
set(json_have_long_long 1)
set(json_have_localeconv 1)
set(json_have_atomic_builtins 1)
set(json_have_sync_builtins 1)
configure_file(${SOURCES}/jansson/src/jansson_config.h.in
  ${CMAKE_BINARY_DIR}/include/jansson/jansson_config.h @ONLY)
file(COPY ${SOURCES}/jansson/src/jansson.h DESTINATION ${CMAKE_BINARY_DIR}/include/jansson)
add_source_library(JANSSON jansson ${CMAKE_BINARY_DIR}/include/jansson src/*.c)
target_compile_definitions(wasm_jansson PRIVATE HAVE_STDINT_H HAVE_UNISTD_H HAVE_FCNTL_H
  HAVE_GETTIMEOFDAY HAVE_SYS_TIME_H HAVE_STRTOLL HAVE_LOCALECONV USE_URANDOM=0)

add_source_library(YAML libyaml ${SOURCES}/libyaml/include src/*.c)
target_compile_definitions(wasm_libyaml PRIVATE YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2
  YAML_VERSION_PATCH=5 YAML_VERSION_STRING="0.2.5")

# Only the readers of tar and zip; what fills the rest of its table is not linked.
add_source_library(ARCHIVE libarchive ${SOURCES}/libarchive/libarchive
  libarchive/archive_acl.c libarchive/archive_check_magic.c libarchive/archive_cmdline.c
  libarchive/archive_cryptor.c libarchive/archive_digest.c libarchive/archive_entry*.c
  libarchive/archive_hmac.c libarchive/archive_options.c libarchive/archive_pack_dev.c
  libarchive/archive_ppmd*.c libarchive/archive_rb.c
  libarchive/archive_read.c libarchive/archive_read_add_passphrase.c
  libarchive/archive_read_set_format.c libarchive/archive_read_set_options.c
  libarchive/archive_read_support_format_tar.c libarchive/archive_read_support_format_zip.c
  libarchive/archive_string*.c libarchive/archive_util.c libarchive/archive_virtual.c)
target_compile_definitions(wasm_libarchive PRIVATE PLATFORM_CONFIG_H="archive_config.h")
target_link_libraries(wasm_libarchive PRIVATE PkgConfig::ZLIB)

# Without access to files: a database is read through our callbacks, or in memory.
add_source_library(SQLITE sqlite3 ${SOURCES}/sqlite3/one one/sqlite3.c)
target_sources(wasm_sqlite3 PRIVATE ${WASM_DIR}/sqlite_os.c)
target_compile_definitions(wasm_sqlite3 PRIVATE SQLITE_OS_OTHER=1 SQLITE_THREADSAFE=0 SQLITE_OMIT_LOAD_EXTENSION
  SQLITE_OMIT_WAL SQLITE_DQS=0 SQLITE_DEFAULT_MEMSTATUS=1 SQLITE_OMIT_SHARED_CACHE
  SQLITE_OMIT_DEPRECATED SQLITE_ENABLE_DBSTAT_VTAB=0)

# What is used of these is in include/, or is not part of the module.
foreach(absent UV XLSX CRYPTO SECCOMP)
  add_library(wasm_${absent} INTERFACE)
  add_library(PkgConfig::${absent} ALIAS wasm_${absent})
endforeach()
