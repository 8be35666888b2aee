import { assertEquals } from "@std/assert";
import plugin from "./plugin.ts";

/** The rules that a source breaks. */
function faults(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map((fault) => fault.id);
}

function lines(count: number): string {
  return "f();\n".repeat(count);
}

Deno.test("a short function in shipped code is fine", () => {
  assertEquals(faults("/p/src/core/a.ts", `function a(b, c, options) {\n${lines(70)}}\n`), []);
});

Deno.test("a function of more than 80 lines is told, also as an arrow and as a method", () => {
  const body = `{\n${lines(80)}}`;
  const id = "swink/function-length";
  assertEquals(faults("/p/src/core/a.ts", `function a() ${body}`), [id]);
  assertEquals(faults("/p/cli/a.ts", `const a = () => ${body};`), [id]);
  assertEquals(faults("/p/adapters/a.ts", `class A { a() ${body} }`), [id]);
});

Deno.test("functions of tests may be long, files may not", () => {
  assertEquals(faults("/p/src/core/a_test.ts", `function a() {\n${lines(90)}}\n`), []);
  assertEquals(faults("/p/src/core/a_test.ts", lines(500)), []);
  assertEquals(faults("/p/src/core/a_test.ts", lines(501)), ["swink/file-length"]);
});

Deno.test("a fifth parameter is told", () => {
  assertEquals(faults("/p/src/core/a.ts", "function a(b, c, d, e) {}"), []);
  assertEquals(faults("/p/src/core/a.ts", "function a(b, c, d, e, f) {}"), [
    "swink/parameter-count",
  ]);
});

Deno.test("shipped code does not write to the console", () => {
  assertEquals(faults("/p/src/tools/a.ts", "console.warn(1);"), ["swink/console-free"]);
  assertEquals(faults("/p/examples/a.ts", "console.warn(1);"), []);
});

Deno.test("the portable folders name neither Deno nor node:", () => {
  assertEquals(faults("/p/src/loop/a.ts", "Deno.exit();"), ["swink/portable"]);
  assertEquals(faults("/p/adapters/x/a.ts", `import fs from "node:fs";`), ["swink/portable"]);
  assertEquals(faults("/p/src/tools/a.ts", `import fs from "node:fs"; Deno.exit();`), []);
});

Deno.test("plain-language covers code and tests", () => {
  assertEquals(faults("/p/tests/a_test.ts", "// What it does.\n"), ["swink/plain-language"]);
  assertEquals(faults("/p/src/core/a.ts", "const whatWaits = 1;"), ["swink/plain-language"]);
});
