import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop } from "../../src/loop/loop.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { outlineEvents } from "./outline.ts";
import { scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const never = () => new Promise<never>(() => {});
const stuck = (name: string) => fakeTool({ name, delayMs: Infinity, ignoresSignal: true });
const hangingIn = (slot: keyof Policy, name: string): Policy => ({ name, [slot]: never });

/** Aborts a run that hangs; returns the time of the clock until it has ended, and its events. */
async function timeOfAbort(
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions>,
  listener?: (event: AgentEvent) => unknown,
): Promise<{ readonly elapsed: number; readonly events: readonly AgentEvent[] }> {
  const { agent, clock } = testAgent(steps, options);
  if (listener) agent.subscribe(listener);
  let ended = false;
  const running = checkEvents(agent.promptStream("Go")).finally(() => ended = true);
  for (let task = 0; task < 5; task++) await settle();
  assertEquals(ended, false);
  agent.abort("enough");
  const start = clock.now();
  for (let task = 0; task < 20; task++) {
    await settle();
    if (ended) break;
    clock.advanceToNext();
  }
  assertEquals(ended, true, "the run has not ended");
  const events = await running;
  const elapsed = clock.now() - start;
  assertEquals(agent.state.isRunning, false);
  assertEquals(clock.sleepers, 0);
  return { elapsed, events };
}

const calls = reply([toolCall("a"), toolCall("b")]);

const CASES:
  readonly (readonly [string, readonly ScriptedStep[], Partial<AgentOptions>, number])[] = [
    ["a reply", [hang({ after: "Half" })], {}, 0],
    ["a reply that ignores its signal", [hang({ after: "Half", ignoresSignal: true })], {}, 0],
    ["a tool", [calls], { tools: [stuck("a"), stuck("b")] }, 100],
    ["a tool and the policies after it", [calls], {
      tools: [stuck("a"), stuck("b")],
      policies: [
        hangingIn("postDispatch", "first"),
        hangingIn("postTurn", "second"),
        hangingIn("postTurn", "third"),
        hangingIn("postLoop", "fourth"),
      ],
    }, 200],
    ["five postTurn policies after a reply", [hang({ after: "Half" })], {
      policies: ["a", "b", "c", "d", "e"].map((name) => hangingIn("postTurn", name)),
    }, 100],
    ["postTurn and postLoop policies after a tool", [calls], {
      tools: [stuck("a"), stuck("b")],
      policies: [
        ...["a", "b"].map((name) => hangingIn("postTurn", name)),
        ...["c", "d"].map((name) => hangingIn("postLoop", name)),
      ],
    }, 200],
    [
      "a preTurn policy",
      [],
      { policies: [hangingIn("preTurn", "a"), hangingIn("preTurn", "b")] },
      200,
    ],
    ["a preRequest policy", [], { policies: [hangingIn("preRequest", "a")] }, 100],
    ["a preDispatch policy", [calls], {
      tools: [fakeTool({ name: "a" }), fakeTool({ name: "b" })],
      policies: [hangingIn("preDispatch", "a"), hangingIn("preDispatch", "b")],
    }, 200],
    ["an approval", [calls], {
      tools: [fakeTool({ name: "a" }), fakeTool({ name: "b" })],
      approve: never,
    }, 0],
    ["a preview", [calls], {
      tools: [fakeTool({ name: "a", preview: never }), fakeTool({ name: "b" })],
      approve: () => true,
    }, 0],
    ["transformContext", [], { transformContext: never }, 100],
    ["getApiKey", [], { getApiKey: never }, 100],
    ["a retry", [fail("network_error", "Reset")], { retry: () => 60_000 }, 0],
  ];

for (const [name, steps, options, limit] of CASES) {
  Deno.test(`abort() ends a run that waits for ${name} within ${limit} ms`, async () => {
    const { elapsed, events } = await timeOfAbort(steps, options);
    assertEquals(elapsed <= limit, true, `${elapsed} ms`);
    const end = events.at(-1);
    assertEquals(end?.type === "agent_end" && [end.stopReason, end.abortReason], [
      "aborted",
      "enough",
    ]);
  });
}

Deno.test("abort() ends a run with two policies, a listener and a tool that hang within 200 ms", async () => {
  const { elapsed, events } = await timeOfAbort([calls], {
    tools: [stuck("a"), stuck("b")],
    policies: [hangingIn("postTurn", "a"), hangingIn("postLoop", "b")],
  }, ({ type }) => type === "tool_execution_end" || type === "turn_end" ? never() : undefined);
  assertEquals(elapsed <= 200, true, `${elapsed} ms`);
  const lines = outlineEvents(events).filter((line) => !line.startsWith("warning"));
  assertEquals(lines.slice(-2), ["turn_end aborted", "agent_end"]);
});

for (const [queue, steps] of [["steering", [calls]], ["followUp", [reply("Hello")]]] as const) {
  Deno.test(`abort() ends a run whose ${queue} function hangs within 200 ms`, async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const tools = [fakeTool({ name: "a" }), fakeTool({ name: "b" })];
    const config = {
      model: modelSpec("test/model"),
      streamFn: scriptedStream(steps),
      ...scriptedPorts(clock),
      [queue]: never,
    };
    const context = { systemPrompt: "", messages: [], tools };
    const { signal } = controller;
    let ended = false;
    const running = checkEvents(agentLoop([userMessage("Go", 0)], context, config, { signal }))
      .finally(() => ended = true);
    for (let task = 0; task < 5; task++) await settle();
    controller.abort("enough");
    for (let task = 0; task < 20 && !ended; task++) {
      await settle();
      if (!ended) clock.advanceToNext();
    }
    assertEquals([ended, clock.now() <= 200], [true, true], `${clock.now()} ms`);
    await running;
    assertEquals(clock.sleepers, 0);
  });
}
