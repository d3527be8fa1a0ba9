// SPDX-License-Identifier: Apache-2.0
// Strings that trouble programs, and strings that run as scripts if names are taken for markup.

/** All pairs of two lists. */
const pairs = (heads, tails) => heads.flatMap((head) => tails.map((tail) => head + tail));

const WORDS = ["undefined", "undef", "null", "NULL", "(null)", "nil", "NIL", "true", "false",
  "True",
  "None", "hasOwnProperty", "__proto__", "constructor", "toString", "then", "\\", "\\\\", "", " ",
  "0", "1", "1.00", "$1.00", "1/2", "1E2", "1e400", "-1", "-1/2", "1/0", "0/0", "-0", "+0.0",
  "0..0",
  ".", "..", "../..", "0.0.0", "0,00", ",", "--1", "-", "-.", "-,", "NaN", "Infinity", "-Infinity",
  "INF", "1#INF", "0x0", "0xffffffff", "0xabad1dea", "9223372036854775808", "-9223372036854775809",
  "123456789012345678901234567890123456789", "01000", "08", "2.2250738585072011e-308", "1,000.00",
  "1 000.00", "1'000.00", "１２３", "٠١٢", "%", "%s", "%d%n%x", "%*.*s", "{0}", "{{7*7}}", "${7*7}",
  "#{7*7}", "<%= 7*7 %>", "`id`", "$(id)", "${HOME}", ";id", "|id", "&id", "\"", "'", "''", "\"\"",
  "'\"'", "\"''''\"'\"", "<foo val=“bar” />", "[]", "{}", "[", "{", "]", "}", "]}", "/", "//", "/*",
  "*/", "<!--", "-->", "<![CDATA[", "]]>", "&amp;", "&#x41;", "&lt;script&gt;", "\u0085", "\u00a0",
  "\u2028", "\u2029", "\ufeff", "\u200b", "\u202etxt.exe", "\u2066x\u2069", "\u0000", "\u0007",
  "\u001b[2J",
  "\u001b]0;x\u0007", "\u007f", "\u0080", "\ud7ff", "\ufffe", "\uffff", "\ue000", "e\u0301",
  "z̸̢̛a̶l̷g̵o̴",
  "田中さんにあげて下さい", "사회과학원", "表ポあA鷗ŒéＢ逍Üßªąñ丂㐀𠀀", "ثم نفس سقطت", "בְּרֵאשִׁית", "Ω≈ç√∫",
  "😍", "👩🏽‍🚀", "🇺🇸🇷🇺", "👾 🙇 💁", "(｡◕ ∀ ◕｡)", "T̫o͇ ̭in͞vok̢e", "ﬃ", "ǆ", "İı", "ß", "ﷺ", "𒐫",
  "CON", "PRN", "AUX", "NUL", "COM1", "LPT1", "con.json", "file.", "~", "~root", ".htaccess",
  ".git",
  "a".repeat(255), "é".repeat(127), "𠀀".repeat(60), "-rf", "--help", "@file", "*", "?", "a\tb",
  "a\nb",
  "a\r\nb", "\r\nSet-Cookie: x=y", "x; filename=y", "x\"; filename=\"y", "../../etc/passwd",
  "..\\..\\x",
  "/etc/passwd", "C:\\Windows", "\\\\host\\share", "file:///etc/passwd", "javascript:alert(1)",
  "' OR 1=1 --", "1;DROP TABLE run", "'; DROP TABLE run; --", "\" OR \"\"=\"", "1 UNION SELECT 1",
  "x' AND 1=0 UNION SELECT sqlite_version()--", "%27%20OR%201=1", "LIKE '%'", "_%", "\\'; SELECT 1",
  "() { :; }; id", "System(\"ls\")", "eval(\"x\")", "Kernel.exit(1)", "$HOME", "%x('ls')",
  "<?php x ?>",
  "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY y SYSTEM \"file:///etc/passwd\">]>", "Scunthorpe",
  "Linda Callahan", "Craig Cockburn", "Effing", "If you're reading this", "http://a/%%30%30"];

/** Cells that a spreadsheet would execute. */
const CELLS = pairs(["=", "+", "-", "@", "\t=", "\r=", " =", "\n=", "\u00a0=", "＝"],
  ["1+1", "cmd|' /C calc'!A0", "HYPERLINK(\"http://x\",\"y\")", "SUM(A1:A9)",
    "IMPORTXML(\"http://x\",\"//a\")",
    "A1", "-1+cmd", "@SUM(1)", "DDE(\"x\";\"y\";\"z\")", "WEBSERVICE(\"http://x\")"]);

/** Odd characters before, after and within a word. */
const ODD = ["\u0001", "\u0008", "\u000b", "\u000c", "\u001f", "\u00ad", "\u0600", "\u061c",
  "\u070f",
  "\u180e", "\u200c", "\u200e", "\u202a", "\u2060", "\ufff9", "\u{e0001}", "\u{1d173}", "\u0300",
  "\u20dd"];
const AROUND = ODD.flatMap((odd) => [odd, `${odd}x`, `x${odd}`, `a${odd}b`, odd.repeat(20),
  `${odd}<b>${odd}`]);

/** Template, shell, path and query characters around a name. */
const WRAPPED = pairs(["{{", "${", "#{", "<%", "%{", "$(", "`", "'", "\"", "[", "(", "<", "/", "\\",
  "..", "%00",
  "%2e%2e/", "?", "#", "&", ";", "|", "\n", "\t"], ["x", "x}", "x)", "x%", "x`"]);

export const NAUGHTY = [...new Set([...WORDS, ...CELLS, ...AROUND, ...WRAPPED])];

/** Sets an attribute of the page that nothing else sets. */
const RUN = "document.documentElement.dataset.ran=1";
const EVENTS = ["onerror", "onload", "onclick", "onmouseover", "onfocus", "ontoggle"];
const TAGS = [["img", "src=x"], ["svg", ""], ["body", ""], ["details", "open"], ["input",
  "autofocus"]];

export const SCRIPTS = [
  ...TAGS.flatMap(([tag, more]) => EVENTS.map((event) => `<${tag} ${more} ${event}="${RUN}">`)),
  `<script>${RUN}</script>`, `<ScRiPt>${RUN}</sCrIpT>`, `"><script>${RUN}</script>`,
  `'><script>${RUN}</script>`, `</script><script>${RUN}</script>`,
    `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`, `</style><script>${RUN}</script>`,
    `--><script>${RUN}</script>`,
  `]]><script>${RUN}</script>`, `<script/x>${RUN}</script>`, `<<script>${RUN}//<</script>`,
  `<iframe src="javascript:parent.${RUN}">`, `<a href="javascript:${RUN}">x</a>`,
  `<object data="javascript:${RUN}">`, `<embed src="javascript:${RUN}">`,
  `<math><mtext><script>${RUN}</script>`, `<form action="javascript:${RUN}"><button>x`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`, `" onmouseover="${RUN}" x="`,
  `' onmouseover='${RUN}' x='`, `\`onmouseover=${RUN}\``, `<svg><animate onbegin="${RUN}">`,
  `<svg><a xlink:href="javascript:${RUN}"><text>x`,
    `<link rel=stylesheet href="javascript:${RUN}">`,
  `<base href="javascript:${RUN}//">`, `<template><script>${RUN}</script></template>`,
  `<img src="x\`\`\`onerror=${RUN}">`, `\\u003cscript\\u003e${RUN}`, `javascript:${RUN}//`,
];
