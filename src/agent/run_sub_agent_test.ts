import { assertEquals } from "@std/assert";
import type { RunHandle } from "../core/events/run_handle.ts";
import type { SubAgentOutcome } from "../core/events/run_session.ts";
import { hang, type ScriptedStep } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { testToolContext } from "../testing/test_tool_context.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";
import { runSubAgent } from "./run_sub_agent.ts";

/** Runs an agent for a recorded tool call; returns the outcome that is recorded. */
async function recordOutcome(
  step: ScriptedStep,
  { signal, ...options }: Partial<AgentOptions> & { readonly signal: AbortSignal },
): Promise<SubAgentOutcome | undefined> {
  let recorded: SubAgentOutcome | undefined;
  const end = (outcome: SubAgentOutcome) => Promise.resolve(void (recorded = outcome));
  const session = { id: "s", startSubAgent: () => Promise.resolve({ sessionId: "s.1", end }) };
  const run: RunHandle = { runId: "run_1", depth: 0, background: () => {}, session };
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([step]), ...options });
  const { context, onEvent } = testToolContext();
  const call = { name: "explore", prompt: "Look", toolCallId: "call_1", signal, context, onEvent };
  await runSubAgent(agent, { ...call, run });
  return recorded;
}

Deno.test("runSubAgent(): a reply that a policy has cut off is a failure, one that was aborted is not", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const stopped = await recordOutcome(hang({ after: "Half" }), {
    signal,
    policies: [{
      name: "limit",
      onDelta: ({ isStarting }) => isStarting ? { type: "stop", reason: "too long" } : undefined,
    }],
  });
  assertEquals([stopped?.status, stopped?.result], ["failed", "too long"]);
  const abort = () => (controller.abort(), hang({ after: "Half" }));
  const aborted = await recordOutcome(abort, { signal });
  assertEquals([aborted?.status, aborted?.result], ["aborted", "it was aborted"]);
});
