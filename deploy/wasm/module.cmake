# SPDX-License-Identifier: Apache-2.0
# The module: commands and requests, without sockets, threads and processes.
set(sources
  server/base/pipeline.c
  server/cli/cmd_analyze.c server/cli/folder_files.c server/cli/options.c server/cli/print_report.c
  server/cli/print_run.c server/cli/rank_files.c server/cli/shown.c
  server/collect/found_files.c server/jobs/windows.c server/store/rank_name.c)
add_executable(standalone deploy/wasm/command.c deploy/wasm/libc.c ${sources})
target_link_libraries(standalone PRIVATE ingest analysis)
set_target_properties(standalone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  OUTPUT_NAME stepscope SUFFIX .wasm)
# Deep readers have a stack of theirs; one that overflows must not reach other data.
target_link_options(standalone PRIVATE -Wl,-z,stack-size=4194304 -Wl,--stack-first
  -Wl,--max-memory=4294967296 -Wl,--strip-all)
