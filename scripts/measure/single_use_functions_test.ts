import { assertEquals } from "@std/assert";
import { findSingleUseFunctions } from "./single_use_functions.ts";
import { parseSource } from "./source_files.ts";

function find(source: string): string[] {
  return findSingleUseFunctions([parseSource("a.ts", source)]).map(({ name }) => name);
}

Deno.test("findSingleUseFunctions() finds private functions and methods with one call", () => {
  assertEquals(find("function a() {}\na();"), ["a"]);
  assertEquals(find("const a = () => 1;\na();"), ["a"]);
  assertEquals(find("class A { #b() {} c() { this.#b(); } }"), ["#b"]);
  assertEquals(find("class A { private b() {} c() { this.b(); } }"), ["b"]);
});

Deno.test("findSingleUseFunctions() omits exports, callbacks and functions with several references", () => {
  assertEquals(find("export function a() {}\na();"), []);
  assertEquals(find("export const a = () => 1;\na();"), []);
  assertEquals(find("function a() {}\na();\na();"), []);
  assertEquals(find("function a() {}\nlist.map(a);"), []);
  assertEquals(find("class A { b() {} c() { this.b(); } }"), []);
});

Deno.test("findSingleUseFunctions() does not count members of other objects as references", () => {
  assertEquals(find("function parse() {}\nparse();\nJSON.parse(text);"), ["parse"]);
  assertEquals(find("function parse() {}\nJSON.parse(text);"), []);
});
