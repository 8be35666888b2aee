import { assertEquals } from "@std/assert";
import { runHook } from "./run_hook.ts";

Deno.test("runHook(): an answer of a hook is no output, other JSON is", async () => {
  const getOutput = async (output: object) => {
    const command = `echo '${JSON.stringify(output)}'`;
    const result = await runHook({ event: "UserPromptSubmit", command, timeoutMs: 60_000 }, {}, {
      cwd: Deno.cwd(),
      signal: new AbortController().signal,
    });
    return result.type === "passed" ? result.output : result.type;
  };
  for (
    const answer of [
      {},
      { continue: true, suppressOutput: true },
      { decision: "approve", reason: "fine" },
      { hookSpecificOutput: { hookEventName: "UserPromptSubmit" } },
    ]
  ) {
    assertEquals(await getOutput(answer), "", JSON.stringify(answer));
  }
  assertEquals(await getOutput({ additionalContext: " Be kind. " }), "Be kind.");
  assertEquals(await getOutput({ branch: "main" }), '{"branch":"main"}');
  assertEquals(await getOutput({ decision: "maybe" }), "unavailable");
});
