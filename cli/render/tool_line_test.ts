import { assertEquals } from "@std/assert";
import { errorResult, textResult } from "../../mod.ts";
import { formatCall, formatResult, formatToolName, USER_DENIAL } from "./tool_line.ts";

Deno.test("formatCall(): shows the most significant arguments of a tool", () => {
  assertEquals(
    formatCall("bash", { command: "deno test\n  --quiet", timeout_ms: 5 }),
    "deno test --quiet",
  );
  assertEquals(formatCall("read_file", { path: "a.ts", offset: 3 }), "a.ts");
  assertEquals(formatCall("search_files", { pattern: "TODO", path: "src" }), "TODO src");
  assertEquals(formatCall("list_directory", {}), "");
  assertEquals(formatCall("weather", { city: "Bern", days: 2 }), '{"city":"Bern","days":2}');
  assertEquals(formatCall("bash", { command: "echo \x1b[31m" }), "echo <U+001B>[31m");
});

Deno.test("formatResult(): shows the only line, the exit code, the error or the number of lines", () => {
  assertEquals(formatResult(textResult("Edited a.ts (+1 -1)"), false), "Edited a.ts (+1 -1)");
  assertEquals(formatResult(textResult("Exit code: 1\na\n\nb"), false), "Exit code: 1 · 2 lines");
  assertEquals(formatResult(textResult("Exit code: 0"), false), "Exit code: 0");
  assertEquals(formatResult(textResult("one\ntwo"), false), "2 lines");
  assertEquals(formatResult(errorResult("There is no a.ts\nmore"), true), "There is no a.ts");
  assertEquals(formatResult({ content: [] }, false), "no output");
  assertEquals(
    formatResult(errorResult('Invalid arguments for "read_file":\npath: must be a string'), true),
    'Invalid arguments for "read_file": path: must be a string',
  );
  const denial = (reason: string) => errorResult(`Tool call rejected by approval: ${reason}`);
  assertEquals(formatResult(denial(USER_DENIAL), true), "Refused: you said no.");
  assertEquals(formatResult(denial("a rule"), true), "Refused: a rule");
});

Deno.test("formatResult(): joins the first lines of an error only", () => {
  const result = { content: [{ type: "text", text: "Found:\na.txt" }] } as const;
  assertEquals(formatResult(result, true), "Found: a.txt");
  assertEquals(formatResult(result, false), "2 lines");
});

Deno.test("formatToolName(): shows one line of at most 64 columns", () => {
  assertEquals(formatToolName("read_file"), "read_file");
  assertEquals(formatToolName("ba\x1b[2Jsh\n\u202ex"), "bash x");
  assertEquals(formatToolName("x".repeat(10_000)), `${"x".repeat(63)}…`);
});
