import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../project.ts";

Deno.test("without eval: a tool runs if a library checks its arguments, and otherwise reports what it needs", async () => {
  const { success, text } = await runDeno("run", [
    "--quiet",
    "--v8-flags=--disallow-code-generation-from-strings",
    "tests/runtimes/without_eval.ts",
  ]);
  assert(success, text);
  const cause = "Cannot compile the JSON Schema because this runtime forbids eval: pass a " +
    "`validator` that does not use it";
  const problem = `The tool "plain" cannot be used: ${cause}`;
  assertEquals(JSON.parse(text), {
    checked: ["counted", 'Invalid arguments for "checked":\n- /count: no number'],
    plain: [problem, problem],
    unchecked: [problem, problem],
    alone: cause,
    answer: ["a"],
  });
});
