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

Deno.test("runHook(): names the time limit that a hook has exceeded", async () => {
  const hook = { event: "PostToolUse", command: "sleep 60", timeoutMs: 100 } as const;
  const signal = new AbortController().signal;
  assertEquals(await runHook(hook, {}, { cwd: Deno.cwd(), signal }), {
    type: "unavailable",
    reason: "sleep 60 did not end within 0.1 s",
  });
});
