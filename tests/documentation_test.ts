import { assertEquals } from "@std/assert";
import { findBannedWords } from "../scripts/lint/banned_words.ts";
import { findBrokenSpans } from "./documentation/broken_spans.ts";
import { getComments } from "./documentation/comments.ts";
import { findDeadPaths } from "./documentation/dead_paths.ts";
import { findDeadLinks, getAnchors } from "./documentation/markdown_links.ts";
import { listPaths, readPages, readShippedCode } from "./documentation/project_paths.ts";
import { SymbolResolver } from "./documentation/symbol_links.ts";

const [paths, pages, code] = await Promise.all([listPaths(), readPages(), readShippedCode()]);

Deno.test("documentation: paths in pages and comments exist", () => {
  assertEquals([...pages, ...code].flatMap((file) => findDeadPaths(file, paths)), []);
});

Deno.test("documentation: relative links in pages lead to files and headings", () => {
  assertEquals(pages.flatMap((page) => findDeadLinks(page, pages, paths)), []);
});

Deno.test("documentation: inline code in pages is on one line", () => {
  assertEquals(pages.flatMap(findBrokenSpans), []);
});

Deno.test("documentation: pages use plain technical English", () => {
  const matches = pages.flatMap(({ path, text }) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
    return findBannedWords("text", prose).map(({ word, instead }) =>
      `${path}: "${word}"; write: ${instead}`
    );
  });
  assertEquals(matches, []);
});

Deno.test("documentation: link tags in comments resolve", () => {
  const resolver = new SymbolResolver(code);
  assertEquals(code.flatMap((file) => resolver.findDeadLinks(file)), []);
});

Deno.test("getComments() skips strings and templates", () => {
  const source = "/** a */\nconst b = '// c'; // d\nconst e = `/* f */ ${/* g */ 1}`;\n// h\n";
  assertEquals(getComments(source), ["/** a */", "// d", "/* g */", "// h"]);
});

Deno.test("findDeadPaths() reads inline code of pages, without code blocks", () => {
  const existing = ["src/core/a.ts", "src", "src/core", "docs/b.md", "adapters/x/request.ts"];
  const page = (text: string) => findDeadPaths({ path: "docs/p.md", text }, existing);
  assertEquals(page("`a.ts`, `core/a.ts`, `src/core/`, `adapters/<provider>/request.ts`"), []);
  assertEquals(page("`src/c*/a.ts` and src/none.ts and `openai/gpt` and `x.json`"), []);
  assertEquals(page("```sh\nrm `src/none.ts`\n```\n"), []);
  assertEquals(page("`loop/a.ts`, `c.ts`, `docs/c.md`, `tools/lint/`"), [
    "docs/p.md: loop/a.ts",
    "docs/p.md: c.ts",
    "docs/p.md: docs/c.md",
    "docs/p.md: tools/lint",
  ]);
});

Deno.test("findDeadPaths() reads comments of code, without their examples", () => {
  const text = "/**\n * See `docs/x.md`.\n * ```ts\n * a.ts\n * ```\n */\nf('src/y.ts'); // z.ts\n";
  assertEquals(findDeadPaths({ path: "src/a.ts", text }, []), [
    "src/a.ts: docs/x.md",
    "src/a.ts: z.ts",
  ]);
});

Deno.test("findBrokenSpans() reads prose, without code blocks", () => {
  const page = (text: string) => findBrokenSpans({ path: "a.md", text });
  assertEquals(page("`a b` and ``c ` d``\n```sh\necho `date\n```\n"), []);
  assertEquals(page("See `a\nb` there"), ["a.md:1: See `a", "a.md:2: b` there"]);
});

Deno.test("findDeadLinks() checks links to files and headings, not to web pages", () => {
  const page = { path: "docs/a.md", text: "[x](b.md#two-words) [y](https://a.b) [z](#none)" };
  const otherPage = { path: "docs/b.md", text: "# Two words\n" };
  assertEquals(findDeadLinks(page, [page, otherPage], ["docs/a.md", "docs/b.md"]), [
    "docs/a.md: #none",
  ]);
  assertEquals(findDeadLinks(page, [page], ["docs/a.md"]).length, 2);
});

Deno.test("getAnchors() returns the slugs that GitHub generates", () => {
  assertEquals(getAnchors("# A `b`, c!\n## A b c\n```\n# no\n```\n# Where is …\n"), [
    "a-b-c",
    "a-b-c-1",
    "where-is-",
  ]);
});

Deno.test("SymbolResolver resolves declarations, imports, members and globals", () => {
  const declaring = `
    export class Base { stop() {} }
    export class Agent extends Base { get state() { return 1; } }
    export type Options = { size: number };
    export { x } from "npm:x";
  `;
  const links = (...targets: string[]) =>
    `import { Agent, type Options as O, x } from "./a.ts";\nfunction own() {}\n` +
    targets.map((target) => `/** {@linkcode ${target}} */\n`).join("") + "own();";
  const find = (...targets: string[]) => {
    const file = { path: "b.ts", text: links(...targets) };
    return new SymbolResolver([{ path: "a.ts", text: declaring }, file]).findDeadLinks(file);
  };
  assertEquals(find("own", "Agent", "Agent.state", "Agent.stop", "O.size", "x.y"), []);
  assertEquals(find("AbortSignal", "https://a.b/c", "Agent | the agent"), []);
  assertEquals(find("none", "Agent.none", "Options", "O.none"), [
    "b.ts: none",
    "b.ts: Agent.none",
    "b.ts: Options",
    "b.ts: O.none",
  ]);
});
