# SPDX-License-Identifier: Apache-2.0
# The module: commands and requests, without sockets, threads and processes. Of a room of server/
# only those files are in it that these need.
file(GLOB sources CONFIGURE_DEPENDS server/standalone/*.c)
list(APPEND sources
  server/api/api.c server/api/api_calls.c server/api/api_dismissals.c server/api/api_event.c
  server/api/api_find.c
  server/api/api_inputs.c server/api/api_json.c server/api/api_runs.c server/api/api_summary.c
  server/api/api_tables.c server/api/api_timeline.c
  server/api/event_args.c server/api/event_links.c server/api/name_calls.c server/api/name_find.c
  server/api/table_parts.c server/api/table_reply.c server/api/table_request.c
  server/exports/exports.c server/exports/export_arrow.c server/exports/export_columns.c
  server/exports/export_csv.c server/exports/export_json.c server/exports/export_ndjson.c
  server/exports/export_parquet.c server/exports/export_pprof.c
  server/exports/export_speedscope.c server/exports/flat_build.c server/exports/proto_write.c
  server/exports/thrift_write.c server/exports/tree_rows.c
  server/base/pipeline.c server/base/program_version.c
  server/cli/cmd_analyze.c server/cli/folder_files.c server/cli/options.c server/cli/print_report.c
  server/cli/print_run.c server/cli/rank_ahead.c server/cli/rank_files.c server/cli/set_beside.c
  server/cli/shown.c
  server/collect/found_files.c server/jobs/windows.c
  server/http/problem.c server/http/query.c server/http/reply_room.c server/http/request.c
  server/http/response.c
  server/store/rank_name.c server/store/store_words.c server/store/table_query.c)
add_executable(standalone deploy/wasm/command.c deploy/wasm/libc.c ${sources})
target_link_libraries(standalone PRIVATE ingest analysis)
target_compile_options(standalone PRIVATE -fwrapv) # as in server_exports
set_target_properties(standalone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  OUTPUT_NAME stepscope SUFFIX .wasm)
add_tables(standalone server/store/tables server/store/server_tables.h 128)
# Deeply nested input needs a larger stack; one that overflows must not reach other data.
set(exports malloc free standalone_open standalone_close standalone_answer)
list(TRANSFORM exports PREPEND -Wl,--export=)
target_link_options(standalone PRIVATE -Wl,-z,stack-size=4194304 -Wl,--stack-first
  -Wl,--max-memory=4294967296 -Wl,--strip-all ${exports})

# The page around it: a folder that any web server can send.
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS web/*.mjs web/*.css web/*.html)
list(FILTER page_sources EXCLUDE REGEX "/node_modules/|/vendor/")
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/standalone/index.html
  COMMAND ${CMAKE_SOURCE_DIR}/web/standalone/bundle.sh ${CMAKE_BINARY_DIR}/standalone
          $<TARGET_FILE:standalone>
  DEPENDS standalone ${page_sources} web/standalone/bundle.sh web/vendor/MANIFEST GLOSSARY.md
          tests/recorded/data/items.json.zst
  COMMENT "Packing the page that needs no server"
  VERBATIM)
add_custom_target(standalone_page DEPENDS ${CMAKE_BINARY_DIR}/standalone/index.html)
