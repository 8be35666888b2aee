import { assertEquals } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop, type LoopOptions } from "../../src/loop/loop.ts";
import type { AgentLoopConfig } from "../../src/loop/run/config.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";

const later = userMessage("later", 0);

/** Runs a prompt whose reply calls a tool; returns the messages after the call, and those of a warning. */
async function runCall(config: Partial<AgentLoopConfig>, options: LoopOptions = {}) {
  const streamFn = scriptedStream([reply([toolCall("look")])]);
  const context = { systemPrompt: "", messages: [], tools: [fakeTool({ name: "look" })] };
  const all = { model: modelSpec("test/model"), streamFn, ...config };
  const events = await checkEvents(agentLoop([userMessage("Go", 0)], context, all, options));
  const [end] = eventsOfType(events, "agent_end");
  const warned = eventsOfType(events, "warning").flatMap(({ code, data }) =>
    code === "messages_not_delivered" ? outlineMessages(data as AgentMessage[]) : []
  );
  return { appended: outlineMessages(end?.messages ?? []).slice(3), warned };
}

/** Returns a function that returns a message when the tool has run. */
function createSteering(act = () => {}): () => AgentMessage[] {
  let calls = 0;
  return () => {
    if (++calls !== 2) return [];
    act();
    return [later];
  };
}

const stop: Policy = { name: "stop", postTurn: () => ({ type: "stop", reason: "Enough" }) };

Deno.test("queues as functions: messages that no turn takes before the run is stopped are appended", async () => {
  for (const limit of [{ maxTurns: 1 }, { policies: [stop] }]) {
    assertEquals(await runCall({ ...limit, steering: createSteering() }), {
      appended: ["user: later"],
      warned: [],
    });
  }
});

Deno.test("queues as functions: messages are appended if the policies have not read those of the turns", async () => {
  const policies = ["log", "count"].map((name): Policy => ({ name, preTurn: () => {} }));
  const config = { maxTurns: 1, policies, steering: createSteering() };
  assertEquals(await runCall(config), { appended: ["user: later"], warned: [] });
});

Deno.test("queues as functions: a follow-up for which the run has no turn left is appended", async () => {
  const streamFn = scriptedStream([reply("One")]);
  const context = { systemPrompt: "", messages: [], tools: [] };
  const config = { model: modelSpec("test/model"), streamFn, maxTurns: 1, followUp: () => [later] };
  const events = await checkEvents(agentLoop([userMessage("Go", 0)], context, config));
  const [end] = eventsOfType(events, "agent_end");
  assertEquals(outlineMessages(end?.messages ?? []), ["user: Go", "assistant: One", "user: later"]);
});

Deno.test("queues as functions: a warning has the messages that policies would have to check", async () => {
  const check: Policy = { name: "check", preTurn: ({ newMessages }) => void newMessages };
  const config = { maxTurns: 1, policies: [check], steering: createSteering() };
  assertEquals(await runCall(config), { appended: [], warned: ["user: later"] });
});

Deno.test("queues as functions: a warning has the messages of a run that is aborted", async () => {
  const controller = new AbortController();
  const steering = createSteering(() => controller.abort());
  assertEquals(await runCall({ steering }, controller), { appended: [], warned: ["user: later"] });
});

Deno.test("queues as functions: a warning has the messages that a policy could not check before another stopped the run", async () => {
  const check: Policy = { name: "check", preTurn: ({ newMessages }) => void newMessages };
  const first: Policy = { name: "first", preTurn: () => ({ type: "stop", reason: "Enough" }) };
  const context = { systemPrompt: "", messages: [], tools: [] };
  const base = { model: modelSpec("test/model"), streamFn: scriptedStream([]) };
  for (const [policies, expected] of [[[first, check], 1], [[first], 2]] as const) {
    const config = { ...base, policies, steering: () => [later] };
    const events = await checkEvents(agentLoop([userMessage("Go", 0)], context, config));
    const warned = eventsOfType(events, "warning").map(({ code }) => code);
    assertEquals(eventsOfType(events, "agent_end")[0]?.messages.length, expected);
    assertEquals(warned, expected === 1 ? ["messages_not_delivered"] : []);
  }
});
