// SPDX-License-Identifier: Apache-2.0
// What libarchive's readers of tar and zip may use.
#ifndef WASM_ARCHIVE_CONFIG_H
#define WASM_ARCHIVE_CONFIG_H

#define __LIBARCHIVE_CONFIG_H_INCLUDED 1
#define HAVE_CTYPE_H                   1
#define HAVE_ERRNO_H                   1
#define HAVE_FCNTL_H                   1
#define HAVE_INTTYPES_H                1
#define HAVE_LANGINFO_H                1
#define HAVE_LIMITS_H                  1
#define HAVE_LOCALE_H                  1
#define HAVE_STDARG_H                  1
#define HAVE_STDINT_H                  1
#define HAVE_STDLIB_H                  1
#define HAVE_STRING_H                  1
#define HAVE_SYS_STAT_H                1
#define HAVE_SYS_TIME_H                1
#define HAVE_SYS_TYPES_H               1
#define HAVE_TIME_H                    1
#define HAVE_UNISTD_H                  1
#define HAVE_WCHAR_H                   1
#define HAVE_WCTYPE_H                  1
#define HAVE_ZLIB_H                    1
#define HAVE_LIBZ                      1
#define HAVE_INT64_T                   1
#define HAVE_UINT64_T                  1
#define HAVE_INTMAX_T                  1
#define HAVE_UINTMAX_T                 1
#define HAVE_EILSEQ                    1
#define HAVE_GMTIME_R                  1
#define HAVE_LOCALTIME_R               1
#define HAVE_MBRTOWC                   1
#define HAVE_MEMMOVE                   1
#define HAVE_MEMSET                    1
#define HAVE_NL_LANGINFO               1
#define HAVE_SETLOCALE                 1
#define HAVE_STRCHR                    1
#define HAVE_STRDUP                    1
#define HAVE_STRERROR                  1
#define HAVE_STRNLEN                   1
#define HAVE_STRRCHR                   1
#define HAVE_TIMEGM                    1
#define HAVE_WCRTOMB                   1
#define HAVE_WCSCMP                    1
#define HAVE_WCSCPY                    1
#define HAVE_WCSLEN                    1
#define HAVE_WCTOMB                    1
#define HAVE_WMEMCMP                   1
#define HAVE_WMEMCPY                   1
#define HAVE_WMEMMOVE                  1
#define SIZEOF_WCHAR_T                 4
#define HAVE_WCHAR_T                   1
#define ICONV_CONST

#endif
