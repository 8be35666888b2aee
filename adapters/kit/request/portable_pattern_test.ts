import { assertEquals } from "@std/assert";
import { isPortablePattern } from "./portable_pattern.ts";

const PORTABLE = [
  "",
  "^[a-z0-9_-]+$",
  String.raw`^\d{4}-\d{2}-\d{2}$`,
  String.raw`^https\:\/\/[\w.-]+\.(?:com|org)$`,
  String.raw`^[^\]\[\\-]+$`,
  String.raw`[-\w][\s\S][^-\d][+\-\w]`,
  String.raw`[a][b-c]\[d\]`,
  "[[:alpha:]]+",
  String.raw`\x41[\u00e9-\u00ff]\n`,
  "(?i)^a(?:b|c)+?$",
  "(?P<year>[0-9]{4})",
];

const NOT_PORTABLE = [
  String.raw`^[\p{L}\p{N}_. ()-]+$`,
  String.raw`\P{Cc}`,
  String.raw`^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$`,
  String.raw`[.-\w]`,
  String.raw`^[^\0]*$`,
  String.raw`(a)\1`,
  String.raw`(?<year>\d)`,
  String.raw`\k<year>`,
  "^(?!__)a",
  "(?<=a)b",
  String.raw`\u{1F600}`,
  String.raw`\cA`,
  "[^]*",
  "[]",
  String.raw`^[a-z+~[\]|@]+$`,
];

Deno.test("isPortablePattern(): accepts what the regular expressions of Python, RE2 and Rust have in common", () => {
  assertEquals(PORTABLE.filter((pattern) => !isPortablePattern(pattern)), []);
  assertEquals(NOT_PORTABLE.filter(isPortablePattern), []);
});
