import { assertEquals } from "@std/assert";
import plugin from "./plugin.ts";

/** Returns the rules that a source violates. */
function faults(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map((fault) => fault.id);
}

function lines(count: number): string {
  return "f();\n".repeat(count);
}

Deno.test("function-length accepts a short function in shipped code", () => {
  assertEquals(faults("/p/src/core/a.ts", `function a(b, c, options) {\n${lines(70)}}\n`), []);
});

Deno.test("function-length reports functions, arrows and methods of more than 80 lines", () => {
  const body = `{\n${lines(80)}}`;
  const id = "swink/function-length";
  assertEquals(faults("/p/src/core/a.ts", `function a() ${body}`), [id]);
  assertEquals(faults("/p/cli/a.ts", `const a = () => ${body};`), [id]);
  assertEquals(faults("/p/adapters/a.ts", `class A { a() ${body} }`), [id]);
});

Deno.test("function-length skips tests, file-length does not", () => {
  assertEquals(faults("/p/src/core/a_test.ts", `function a() {\n${lines(90)}}\n`), []);
  assertEquals(faults("/p/src/core/a_test.ts", lines(500)), []);
  assertEquals(faults("/p/src/core/a_test.ts", lines(501)), ["swink/file-length"]);
});

Deno.test("parameter-count reports a fifth parameter", () => {
  assertEquals(faults("/p/src/core/a.ts", "function a(b, c, d, e) {}"), []);
  assertEquals(faults("/p/src/core/a.ts", "function a(b, c, d, e, f) {}"), [
    "swink/parameter-count",
  ]);
});

Deno.test("console-free reports console in shipped code", () => {
  assertEquals(faults("/p/src/tools/a.ts", "console.warn(1);"), ["swink/console-free"]);
  assertEquals(faults("/p/examples/a.ts", "console.warn(1);"), []);
});

Deno.test("portable reports Deno and node: in portable directories", () => {
  assertEquals(faults("/p/src/loop/a.ts", "Deno.exit();"), ["swink/portable"]);
  assertEquals(faults("/p/adapters/x/a.ts", `import fs from "node:fs";`), ["swink/portable"]);
  assertEquals(faults("/p/src/tools/a.ts", `import fs from "node:fs"; Deno.exit();`), []);
});

Deno.test("plain-language covers code and tests", () => {
  assertEquals(faults("/p/tests/a_test.ts", "// What it does.\n"), ["swink/plain-language"]);
  assertEquals(faults("/p/src/core/a.ts", "const whatWaits = 1;"), ["swink/plain-language"]);
});
