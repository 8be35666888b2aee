import { assert } from "@std/assert";
import { runDeno } from "../project.ts";

Deno.test("an agent references its latest run and no earlier one", async () => {
  const script = "tests/conformance/leaks.ts";
  const { success, text } = await runDeno("run", [
    "--v8-flags=--expose-gc",
    "--no-check",
    "-A",
    script,
  ]);
  assert(success, text);
  const held = Number(text.trim().split("\n").at(-1));
  assert(held <= 2, `${held} of 20 runs are held`);
});
