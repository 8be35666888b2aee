/**
 * Compares the hits of the search without `rg` with those of `rg` on the project's own source and on a generated tree.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import { fromFileUrl } from "../../platform/paths.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { createSandbox } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { countLines, searchLines, type SearchQuery } from "./search_lines.ts";
import type { SearchPattern } from "./search_pattern.ts";
import { SearchReport } from "./search_report.ts";

const ignore = !hasRipgrep();

function hasRipgrep(): boolean {
  try {
    return new Deno.Command("rg", { args: ["--version"], stdout: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

const isLongTest = Deno.env.get("SWINK_PROVE") === "1";

/** All of the source in the long tests, this directory otherwise. */
const SOURCE = fromFileUrl(new URL(isLongTest ? "../../" : "./", import.meta.url)).replace(
  /\/$/,
  "",
);

/** Patterns as models write them. */
const PATTERNS: readonly string[] = [
  ...[
    "import\\s+.*\\s+from\\s+.*",
    "const\\s+\\{.*\\}\\s*=\\s*\\w+",
    "\\w+\\s*=\\s*await\\s+\\w+\\.",
  ],
  ...["function", "^export", "^export (async )?function \\w+", "class \\w+ (extends|implements)"],
  ...["TODO|FIXME|XXX", "throw new \\w+Error\\(", "\\bawait\\b", "\\breadonly\\b.*:", "=>\\s*\\{$"],
  ...["^\\s*//", "^\\s*\\*", "^$", "^ {4}\\S", "\\s+$", "[^\\x00-\\x7f]", "[A-Z]{3,}", "\\d+_\\d+"],
  ...["https?://\\S+", '"[^"]*"', "'[^']*'", "`[^`]*\\$\\{[^}]*\\}`", "\\([^)]*\\)", "\\[.*\\]"],
  ...["(?i)error", "(?i)Abort", "(?i:abort)Error", "Abort(?i)ERROR", "a(?i)b|c", "(?i)ﬁ|é"],
  ...["\\p{Lu}\\p{Ll}+", "\\p{Greek}", "\\pL{12}", "[\\p{L}--[a-z]]{2}", "[a-z&&[^aeiou]]{5}"],
  ...["[[:alpha:]]+_[[:digit:]]", "[[:^space:]]{60}", "[\\w.]+@[\\w.]+", "[^\\s\\w]{4}", "[-+]\\d"],
  ...[
    "foo|bar|baz",
    "(foo|bar)+",
    "(a|b)*c",
    "(\\w+)\\s+\\w+",
    "x*",
    "x+?",
    "a{2}",
    "a{2,}",
    "a{2,3}b",
  ],
  ...[
    "\\bfor\\b.*\\bof\\b",
    "\\Bion\\b",
    "\\B\\w",
    "\\b",
    "\\w\\b\\W",
    "^.{100,}$",
    ".{3}$",
    "^.$",
  ],
  ...[
    '\\.ts"',
    "\\{",
    "\\}",
    "{",
    "}",
    "function \\w+\\(.*\\) {",
    "if (",
    "\\$\\{",
    "\\\\",
    "/\\*\\*",
  ],
  ...[
    "async \\*",
    "\\?\\?=",
    "\\?\\.",
    "===",
    "!==",
    "&&",
    "\\|\\|",
    "<.*>",
    "\\t",
    "é",
    "…",
    "😀",
  ],
  ...[
    "[éè]",
    "[^a-z]é",
    ".é",
    "é.",
    "\\wé",
    "é\\w",
    "\\Wé",
    "é\\b",
    "\\bé",
    "[à-ü]+",
    "\\x41",
    "\\u00e9",
  ],
  ...["\\u{1F600}", "\\x{e9}", "(?s)a.b", "(?-i)Error", "(?:a|b)c", "(?P<name>a)b", "(?<name>a)b"],
  ...[
    "return\\s+\\w+;",
    "return;",
    "new Map<",
    "\\.map\\(\\(",
    "\\.then\\(",
    "catch \\{",
    "finally",
  ],
  ...[
    "signal\\??\\.",
    "options\\.\\w+\\s*\\?\\?",
    'typeof \\w+ === "\\w+"',
    "as const",
    "satisfies",
  ],
  ...[
    "@\\w+",
    "\\{@link\\w* [^}]+\\}",
    "@throws \\{\\w+\\}",
    "@param \\w+",
    "#\\w+\\(",
    "this\\.#\\w+ =",
  ],
  ...[
    "\\d{4}-\\d{2}-\\d{2}",
    "0x[\\da-f]+",
    "\\d+ms",
    "[0-9]+%",
    "1[_,]000",
    "\\b\\d\\b",
    "\\D{90}",
  ],
  ...[
    "\\S{50}",
    "\\s{10}",
    "\\W{5}",
    "[a-zA-Z]+[0-9]+[a-zA-Z]+",
    "[aeiou]{3}",
    "[^aeiou\\W\\d_]{6}",
  ],
  ...[
    "(.)(.)(.)$",
    "^(\\s*)\\S.*\\S(\\s*)$",
    "(?:(?:a|b)|(?:c|d)){4}",
    "a.*b.*c.*d",
    ".*",
    ".+",
    "",
  ],
  ...[
    "[\\]]",
    "[\\[]",
    "[]a]",
    "[^]a]{40}",
    "[a-]",
    "[\\-a]",
    "[.]ts",
    "[$]",
    "[\\^]",
    "[*+?]",
    "\\-",
  ],
  ...[
    "\\<for\\>",
    "\\b{start}on",
    "on\\b{end}",
    "\\Aimport",
    '"\\z',
    "^import.*;$",
    "\\w+(?:\\.\\w+)+",
  ],
];

const MULTILINE_PATTERNS: readonly string[] = [
  ...[
    "\\{\\n\\s*\\}",
    "function \\w+\\([^)]*\\)",
    "/\\*\\*[\\s\\S]*?\\*/",
    "import \\{\\n(?:.*\\n)*?\\}",
  ],
  ...[
    "^$\\n^$",
    "\\}\\n\\n",
    "foo\\s+bar",
    "(?s)a.b",
    "x$",
    "\\n",
    "[^a]\\n[^b]",
    "é\\s",
    "a\\r?\\n",
  ],
];

/** Matches flags in a pattern, which the regular expressions of Node 20 do not have. */
const INNER_FLAGS = /\(\?-?[a-z]+[:)]/;

const CASES: readonly SearchPattern[] = [
  ...PATTERNS.map((source) => ({ source, ignoreCase: false, multiline: false })),
  ...PATTERNS.slice(0, 40).map((source) => ({ source, ignoreCase: true, multiline: false })),
  ...MULTILINE_PATTERNS.map((source) => ({ source, ignoreCase: false, multiline: true })),
].filter(({ source }) => hasInnerFlags() || !INNER_FLAGS.test(source));

/** Outside of the long tests, one pattern in six is searched in the tree, and one of four of these in the source. */
const TREE_CASES = sampleCases(6);
const SOURCE_CASES = sampleCases(24);

function sampleCases(step: number): readonly SearchPattern[] {
  return isLongTest ? CASES : CASES.filter((_, index) => index % step === 0);
}

function hasInnerFlags(): boolean {
  try {
    return new RegExp("(?i:a)").test("A");
  } catch {
    return false;
  }
}

const WORDS = [
  "foo",
  "bar",
  "foo_bar",
  "x1",
  " ",
  "(",
  "é",
  "\t",
  ".",
  "Foo",
  "ERROR",
  "a",
  "b",
  "😀",
  "Ω",
  "ﬁ",
];
const LINE_ENDINGS = ["\n", "\r\n", "\n", "\n\n", " \n"];

/** Writes files of several encodings, line endings and kinds. */
async function writeTree(directory: string): Promise<void> {
  const random = seededRandom(9);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  for (let file = 0; file < 60; file++) {
    const ending = file % 3 === 0 ? "\r\n" : pick(LINE_ENDINGS);
    const lines = Array.from(
      { length: 12 },
      () => Array.from({ length: 1 + Math.floor(random() * 9) }, () => pick(WORDS)).join(""),
    );
    const path = `${directory}/d${file % 5}${file % 2 ? "/sub" : ""}`;
    await Deno.mkdir(path, { recursive: true });
    const text = lines.join(ending) + (file % 4 ? ending : "");
    await Deno.writeFile(`${path}/f${file}.txt`, encode(text, file));
  }
  await Deno.writeTextFile(`${directory}/d1/.gitignore`, "f1.txt\nf5*\n");
  await Deno.writeTextFile(`${directory}/.hidden`, "foo\n");
  await Deno.writeTextFile(`${directory}/empty`, "");
  await Deno.writeTextFile(`${directory}/long`, `${"ab ".repeat(100)}foo\n${"x".repeat(1_000)}`);
}

function encode(text: string, file: number): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  switch (file % 12) {
    case 3:
      // Latin-1
      return Uint8Array.from(text.replace(/[\u0100-\uffff]/g, "?"), (c) => c.charCodeAt(0));
    case 5:
      return toUtf16(text);
    case 7:
      return new Uint8Array([...bytes, 0, ...bytes]);
    case 9:
      return new Uint8Array([0xef, 0xbb, 0xbf, ...bytes]);
    default:
      return bytes;
  }
}

function toUtf16(text: string): Uint8Array {
  const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return new Uint8Array([0xff, 0xfe, ...new Uint8Array(units.buffer)]);
}

async function search(sandbox: Sandbox, pattern: SearchPattern): Promise<unknown> {
  const report = new SearchReport();
  const query: SearchQuery = {
    pattern,
    start: { path: sandbox.root, isDirectory: true },
    matches: () => true,
    limit: 1_000_000,
    // Patterns that match everywhere take long with `rg`, which reports each match of a line.
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    report,
  };
  try {
    const found = (await Array.fromAsync(searchLines(sandbox, query))).map(({ path, hits }) =>
      `${path}: ${hits.map(({ line }) => line).join(" ")}`
    );
    return [...found, ...report.describe((path) => path)];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

Deno.test({
  name:
    `search: has the hits of rg for ${TREE_CASES.length} patterns on a generated tree, and for ${SOURCE_CASES.length} on the project's source`,
  ignore,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "swink_parity_" });
    try {
      await writeTree(directory);
      const trees = [[directory, TREE_CASES], [SOURCE, SOURCE_CASES]] as const;
      for (const [cwd, patterns] of trees) {
        await using sandbox = createSandbox({ cwd });
        const own = withoutPrograms(sandbox);
        for (const pattern of patterns) {
          const expected = await search(sandbox, pattern);
          assertEquals(await search(own, pattern), expected, JSON.stringify({ pattern, cwd }));
        }
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});

const COUNTED: readonly (readonly [source: string, multiline: boolean])[] = [
  ...["foo", "\\w+", "é", "^$"].map((source) => [source, false] as const),
  // Here `rg --count` counts the matches.
  ...["foo", "a\\n", "b\\s+\\w", "(?s)a.+?b", "é\\n\\n?"].map((source) => [source, true] as const),
];

Deno.test({
  name: "search: counts matching lines as rg does",
  ignore,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "swink_parity_" });
    try {
      await writeTree(directory);
      await using sandbox = createSandbox({ cwd: directory });
      for (const [source, multiline] of COUNTED) {
        const counts = [sandbox, withoutPrograms(sandbox)].map(async (searched) => {
          const report = new SearchReport();
          const files = await Array.fromAsync(countLines(searched, {
            pattern: { source, ignoreCase: false, multiline },
            start: { path: sandbox.root, isDirectory: true },
            matches: (path) => path.endsWith(".txt"),
            limit: 1_000_000,
            signal: new AbortController().signal,
            report,
          }));
          return [files, report.describe((path) => path)];
        });
        const [expected, actual] = await Promise.all(counts);
        assertEquals(actual, expected, source);
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
