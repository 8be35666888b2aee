import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import type { Span } from "../line/line.ts";
import type { LineHighlighter } from "./highlighter.ts";
import { getLanguage } from "./language.ts";
import { loadHighlighter } from "./load_highlighter.ts";
import { createModeHighlighter } from "./mode_highlighter.ts";
import { findMode } from "./modes.ts";

const highlighter = createModeHighlighter({ now: () => 0 });

function start(language: string): LineHighlighter {
  const started = highlighter.start(language);
  assert(started, language);
  return started;
}

/** Highlights a text; shows each span that has a role as `[role text]`. */
function show(language: string, ...lines: string[]): string[] {
  const started = start(language);
  return lines.map((line) => started.next(line).map(showSpan).join(""));
}

function showSpan({ text, role }: Span): string {
  return role ? `[${role} ${text}]` : text;
}

Deno.test("highlighter: assigns roles to the tokens of a line", () => {
  assertEquals(show("ts", `const x: Foo = f(1, "a"); // done`), [
    `[keyword const] [name x]: [type Foo] = f([number 1], [string "a"]); [comment // done]`,
  ]);
  assertEquals(show("python", "def f(x): return None  # done"), [
    "[keyword def] [name f](x): [keyword return] [keyword None]  [comment # done]",
  ]);
  assertEquals(show("bash", `echo "$HOME" && exit 1`), [
    `[type echo] [string "][name $HOME][string "] && [keyword exit] [number 1]`,
  ]);
  assertEquals(show("diff", "+added", "-removed", " same"), [
    "[added +added]",
    "[removed -removed]",
    " same",
  ]);
  assertEquals(show("php", "function f($a) { return null; } # done"), [
    "[keyword function] f($a) { [keyword return] [number null]; } [comment # done]",
  ]);
});

Deno.test("highlighter: keeps the state of comments and strings from line to line", () => {
  assertEquals(show("ts", "a /* one", "two", "three */ b"), [
    "a [comment /* one]",
    "[comment two]",
    "[comment three */] b",
  ]);
  assertEquals(show("python", `x = """one`, "", `two"""`, "y"), [
    `x = [string """one]`,
    "",
    `[string two"""]`,
    "y",
  ]);
});

Deno.test("highlighter: peek() highlights a partial line and leaves the state unchanged", () => {
  const started = start("ts");
  assertEquals(started.peek("a /* one").map(showSpan).join(""), "a [comment /* one]");
  assertEquals(started.next("a + b").map(showSpan).join(""), "a + b");
  started.next("/*");
  assertEquals(started.peek("x */ y").map(showSpan).join(""), "[comment x */] y");
  assertEquals(started.next("x").map(showSpan).join(""), "[comment x]");
});

Deno.test("highlighter: is found by names and extensions, and missing for unknown languages", () => {
  for (const name of ["TypeScript", "tsx", "C++", "c#", "yml", "sh", "console"]) {
    assert(highlighter.start(name), name);
  }
  for (const name of ["", "text", "klingon", "constructor", "__proto__"]) {
    assertEquals(highlighter.start(name), undefined, name);
  }
});

Deno.test("highlighter: does not highlight a long line, and continues behind it", () => {
  const long = `"${"x".repeat(600)}"`;
  assertEquals(show("ts", long, "const a"), [long, "[keyword const] [name a]"]);
});

Deno.test("highlighter: gives up a text on which a mode takes too long", () => {
  let time = 0;
  const slow = createModeHighlighter({ now: () => time += 30 }).start("ts");
  const lines = ["const a", "const b", "const c"].map((line) => slow?.next(line).map(showSpan));
  assertEquals(lines.map((line) => line?.join("")), [
    "[keyword const] [name a]",
    "[keyword const] [name b]",
    "const c",
  ]);
  assertEquals(slow?.peek("const d").map(showSpan), ["const d"]);
});

Deno.test("highlighter: peek() does not copy the state of a very long text", () => {
  const started = start("ts");
  for (let line = 0; line < 400; line++) started.next("a".repeat(499));
  assertEquals(started.peek("if (a)").map(showSpan), ["[keyword if]", " (a)"]);
  started.next("a".repeat(499));
  assertEquals(started.peek("if (a)").map(showSpan), ["if (a)"]);
});

Deno.test("highlighter: reads lines of spaces in a bounded time", () => {
  const started = start("yaml");
  const getTime = startThreadTimer();
  for (let line = 0; line < 200; line++) {
    started.next(" ".repeat(499) + "x");
    started.next(`a${" ".repeat(490)}b`);
  }
  // Without limits, one of these lines takes more than a second.
  assert(getTime() < 4_000, `${getTime()} ms`);
});

const LANGUAGES =
  ("js ts json py sh c cpp objc java cs kt scala dart php go rs rb swift html xml css scss less yaml toml ini sql " +
    "dockerfile diff lua perl ps1 r hs clj lisp scm erl elm ml fs jl groovy proto nginx tex http")
    .split(" ");

const fragment = fc.constantFrom(
  ..."abc01.,;:(){}[]<>\"'`\\/*# $@=-_!&|%^~+?\té",
  "/*",
  '"""',
  "<<EOF",
  "${",
  "function ",
  "<a b=",
  "世",
  "=begin",
  "\\begin{",
);

Deno.test("highlighter: returns the text of every line unchanged, whatever it contains", () => {
  const lines = fc.array(fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join("")), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.constantFrom(...LANGUAGES), lines, (language, texts) => {
      const started = start(language);
      for (const text of texts) {
        const half = text.slice(0, text.length / 2);
        assertEquals(started.peek(half).map((span) => span.text).join(""), half);
        assertEquals(started.next(text).map((span) => span.text).join(""), text);
      }
    }),
    { numRuns: 1_500 },
  );
});

Deno.test("getLanguage(): returns a language by the name of the file or its extension", () => {
  const languages = {
    "src/a.TS": "ts",
    "C:\\x\\b.py": "py",
    "Dockerfile": "dockerfile",
    "Dockerfile.dev": "dockerfile",
    "deno.lock": "json",
    "Cargo.lock": "toml",
    ".env": "properties",
    ".zshrc": "zsh",
    "README": undefined,
    "a.b/Makefile": undefined,
  };
  for (const [path, language] of Object.entries(languages)) {
    assertEquals(getLanguage(path), language, path);
    if (language) assert(findMode(language), path);
  }
});

Deno.test("loadHighlighter(): loads the modes", async () => {
  const loaded = await loadHighlighter({ now: () => 0 });
  assertEquals(loaded.start("js")?.next("let a").length, 3);
});
