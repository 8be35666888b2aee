import { assert } from "@std/assert";
import { runDeno } from "../project.ts";

Deno.test("Agent: keeps a reference to its latest run only", async () => {
  const script = "tests/conformance/leaks.ts";
  const { success, text } = await runDeno("run", [
    "--v8-flags=--expose-gc",
    "--no-check",
    "-A",
    script,
  ]);
  assert(success, text);
  const count = Number(text.trim().split("\n").at(-1));
  assert(count <= 2, `${count} of 20 runs are still referenced`);
});
