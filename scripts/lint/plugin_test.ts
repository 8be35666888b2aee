import { assertEquals } from "@std/assert";
import plugin from "./plugin.ts";

/** The rules that a source breaks. */
function findViolations(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map((fault) => fault.id);
}

function createLines(count: number): string {
  return "f();\n".repeat(count);
}

Deno.test("a short function in shipped code is fine", () => {
  assertEquals(
    findViolations("/p/src/core/a.ts", `function a(b, c, options) {\n${createLines(70)}}\n`),
    [],
  );
});

Deno.test("a function of more than 80 lines is told, also as an arrow and as a method", () => {
  const body = `{\n${createLines(80)}}`;
  const id = "swink/function-length";
  assertEquals(findViolations("/p/src/core/a.ts", `function a() ${body}`), [id]);
  assertEquals(findViolations("/p/cli/a.ts", `const a = () => ${body};`), [id]);
  assertEquals(findViolations("/p/adapters/a.ts", `class A { a() ${body} }`), [id]);
});

Deno.test("functions of tests may be long, files may not", () => {
  assertEquals(
    findViolations("/p/src/core/a_test.ts", `function a() {\n${createLines(90)}}\n`),
    [],
  );
  assertEquals(findViolations("/p/src/core/a_test.ts", createLines(500)), []);
  assertEquals(findViolations("/p/src/core/a_test.ts", createLines(501)), ["swink/file-length"]);
});

Deno.test("a fifth parameter is told", () => {
  assertEquals(findViolations("/p/src/core/a.ts", "function a(b, c, d, e) {}"), []);
  assertEquals(findViolations("/p/src/core/a.ts", "function a(b, c, d, e, f) {}"), [
    "swink/parameter-count",
  ]);
});

Deno.test("shipped code does not write to the console", () => {
  assertEquals(findViolations("/p/src/tools/a.ts", "console.warn(1);"), ["swink/console-free"]);
  assertEquals(findViolations("/p/examples/a.ts", "console.warn(1);"), []);
});

Deno.test("the portable folders name neither Deno nor node:", () => {
  assertEquals(findViolations("/p/src/loop/a.ts", "Deno.exit();"), ["swink/portable"]);
  assertEquals(findViolations("/p/adapters/x/a.ts", `import fs from "node:fs";`), [
    "swink/portable",
  ]);
  assertEquals(findViolations("/p/src/tools/a.ts", `import fs from "node:fs"; Deno.exit();`), []);
});
