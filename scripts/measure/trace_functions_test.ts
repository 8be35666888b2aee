import { assertEquals } from "@std/assert";
import { parseSource } from "./source_files.ts";
import { traceFunctions } from "./trace_functions.ts";

function wrap(source: string): string {
  return traceFunctions(parseSource("a.ts", source)).replaceAll(/\s+/g, " ");
}

Deno.test("traceFunctions() wraps blocks and expressions", () => {
  assertEquals(
    wrap("function a() { b(); }"),
    `function a() {return __trace("a.ts:1 a", () => { b(); });}`,
  );
  assertEquals(wrap("const a = (b) => c;"), `const a = (b) => __trace("a.ts:1 a", () => (c));`);
  assertEquals(
    wrap("class A { async #b() {} }"),
    `class A { async #b() {return __trace("a.ts:1 A.#b", async () => { });} }`,
  );
});

Deno.test("traceFunctions() closes the inner of two functions that end together first", () => {
  assertEquals(
    wrap("const a = () => () => 1;"),
    `const a = () => __trace("a.ts:1 a", () => (() => __trace("a.ts:1 (anonymous)", () => (1))));`,
  );
});

Deno.test("traceFunctions() wraps generators in generators", () => {
  assertEquals(
    wrap("async function* a() { yield 1; }"),
    `async function* a() {return yield* __traceAsyncGenerator("a.ts:1 a", (async function* () { yield 1; }).call(this));}`,
  );
});
