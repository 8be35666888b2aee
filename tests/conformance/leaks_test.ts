import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../project.ts";

Deno.test("Agent: keeps a reference to its latest run only, and to no message that runs have taken from a queue", async () => {
  const script = "tests/conformance/leaks.ts";
  const { success, text } = await runDeno("run", [
    "--v8-flags=--expose-gc",
    "--no-check",
    "-A",
    script,
  ]);
  assert(success, text);
  const [runs = NaN, messages] = (text.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  assert(runs <= 2, `${runs} of 20 runs are still referenced`);
  assertEquals(messages, 0);
});
