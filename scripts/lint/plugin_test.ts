import { assertEquals } from "@std/assert";
import plugin from "./plugin.ts";

/** Returns the ids of the rules that a source violates. */
function findViolations(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map((violation) => violation.id);
}

function repeatStatement(count: number): string {
  return "f();\n".repeat(count);
}

Deno.test("function-length accepts a short function in shipped code", () => {
  assertEquals(
    findViolations("/p/src/core/a.ts", `function a(b, c, options) {\n${repeatStatement(70)}}\n`),
    [],
  );
});

Deno.test("function-length reports functions, arrows and methods of more than 80 lines", () => {
  const body = `{\n${repeatStatement(80)}}`;
  const id = "swink/function-length";
  assertEquals(findViolations("/p/src/core/a.ts", `function a() ${body}`), [id]);
  assertEquals(findViolations("/p/cli/a.ts", `const a = () => ${body};`), [id]);
  assertEquals(findViolations("/p/adapters/a.ts", `class A { a() ${body} }`), [id]);
});

Deno.test("function-length skips tests, and file-length includes them", () => {
  assertEquals(
    findViolations("/p/src/core/a_test.ts", `function a() {\n${repeatStatement(90)}}\n`),
    [],
  );
  assertEquals(findViolations("/p/src/core/a_test.ts", repeatStatement(500)), []);
  assertEquals(findViolations("/p/src/core/a_test.ts", repeatStatement(501)), [
    "swink/file-length",
  ]);
});

Deno.test("parameter-count reports a fifth parameter", () => {
  assertEquals(findViolations("/p/src/core/a.ts", "function a(b, c, d, e) {}"), []);
  assertEquals(findViolations("/p/src/core/a.ts", "function a(b, c, d, e, f) {}"), [
    "swink/parameter-count",
  ]);
});

Deno.test("console-free reports console in shipped code", () => {
  assertEquals(findViolations("/p/src/tools/a.ts", "console.warn(1);"), ["swink/console-free"]);
  assertEquals(findViolations("/p/examples/a.ts", "console.warn(1);"), []);
});

Deno.test("portable reports Deno and imports of node: in the library", () => {
  const id = "swink/portable";
  assertEquals(findViolations("/p/src/loop/a.ts", "Deno.exit();"), [id]);
  assertEquals(findViolations("/p/src/tools/a.ts", "Deno.exit();"), [id]);
  assertEquals(findViolations("/p/adapters/x/a.ts", `import fs from "node:fs";`), [id]);
  assertEquals(findViolations("/p/src/tools/a.ts", `await import("node:fs");`), [id]);
});

Deno.test("portable reports functions that Node 20 does not have in the library", () => {
  const calls = ["Map.groupBy(a, b)", "Promise.withResolvers()", "Array.fromAsync(a)"];
  for (const call of calls) {
    assertEquals(findViolations("/p/src/tools/a.ts", `${call};`), ["swink/portable"], call);
    assertEquals(findViolations("/p/cli/a.ts", `${call};`), [], call);
  }
});

Deno.test("portable accepts types of node:, and all code of the program and of tests", () => {
  const types = `import type { Stats } from "node:fs"; type Fs = typeof import("node:fs");`;
  assertEquals(findViolations("/p/src/tools/a.ts", types), []);
  assertEquals(findViolations("/p/cli/a.ts", `import fs from "node:fs"; Deno.exit();`), []);
  assertEquals(findViolations("/p/src/tools/a_test.ts", "Deno.exit();"), []);
});

Deno.test("plain-language covers code and tests", () => {
  assertEquals(findViolations("/p/tests/a_test.ts", "// What it does.\n"), [
    "swink/plain-language",
  ]);
  assertEquals(findViolations("/p/src/core/a.ts", "const whatWaits = 1;"), [
    "swink/plain-language",
  ]);
});

Deno.test("untrusted-reads reports raw reads in src/tools and src/patch, not writes or other code", () => {
  const id = "swink/untrusted-reads";
  for (
    const call of ["system.readFile(p)", "fs.openSync(p, flags)", "fs.promises.open(p, flags)"]
  ) {
    assertEquals(findViolations("/p/src/tools/a.ts", `${call};\n`), [id], call);
    assertEquals(findViolations("/p/src/patch/a.ts", `${call};\n`), [id], call);
    assertEquals(findViolations("/p/src/platform/a.ts", `${call};\n`), []);
    assertEquals(findViolations("/p/src/tools/a_test.ts", `${call};\n`), []);
  }
  assertEquals(findViolations("/p/src/tools/a.ts", "system.open(p, { write: true });\n"), []);
  assertEquals(findViolations("/p/src/tools/a.ts", "files.readFile(p);\n"), []);
});
