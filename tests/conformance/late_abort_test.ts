import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { atFirst, testAgent } from "./test_agent.ts";

/** The outcome of a run: its stop reason, abort reason and error. */
function getOutcome(events: readonly AgentEvent[]): unknown[] {
  const [end] = eventsOfType(events, "agent_end");
  return [end?.stopReason, end?.abortReason, end?.error?.code];
}

Deno.test("abort() at the turn_end of the last turn: the run is finished, not aborted", async () => {
  const { agent } = testAgent([reply("Hello")]);
  atFirst(agent, "turn_end", () => agent.abort("late"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(getOutcome(events), ["stop", undefined, undefined]);
  assertEquals(outlineEvents(events).slice(-2), ["turn_end complete", "agent_end"]);
});

for (const moment of ["message_end", "postTurn"] as const) {
  Deno.test(`abort() in ${moment} of the last turn, before its turn_end: the run is aborted, and the reply is kept`, async () => {
    const { agent } = testAgent([reply("Hello")], {
      policies: [{
        name: "late",
        postTurn: () => moment === "postTurn" ? agent.abort("enough") : undefined,
      }],
    });
    agent.subscribe((event) => {
      if (event.type !== moment || event.message.role !== "assistant") return;
      agent.abort("enough");
    });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(getOutcome(events), ["aborted", "enough", undefined]);
    assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
    assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
  });
}

for (const slot of ["postLoop", "agent_end"] as const) {
  Deno.test(`abort() in ${slot}: the run is finished, not aborted`, async () => {
    const { agent } = testAgent([reply("Hello"), reply("Again")], {
      policies: [{
        name: "late",
        postLoop: () => slot === "postLoop" ? agent.abort("late") : undefined,
      }],
    });
    if (slot === "agent_end") atFirst(agent, "agent_end", () => agent.abort("late"));
    const result = await agent.prompt("Hi");
    assertEquals([result.stopReason, "abortReason" in result], ["stop", false]);
    assertEquals((await agent.prompt("Again")).text, "Again");
  });
}

Deno.test("abort() at the last turn_end of a failed run: the error stays", async () => {
  const { agent } = testAgent([fail("auth_error", "No key")]);
  atFirst(agent, "turn_end", () => agent.abort("late"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals([getOutcome(events)[0], getOutcome(events)[2]], ["error", "auth_error"]);
});

for (const next of ["tool results", "a follow-up", "steering", "an injected message"] as const) {
  Deno.test(`abort() at turn_end, with ${next} to send: the run is aborted, and nothing is sent`, async () => {
    const first = next === "tool results" ? reply([toolCall("look")]) : reply("Hello");
    const { agent, streamFn } = testAgent([first], {
      tools: [fakeTool({ name: "look" })],
      policies: next === "an injected message"
        ? [{
          name: "hint",
          postTurn: () => ({
            type: "inject",
            messages: [{ role: "user", content: [{ type: "text", text: "hint" }], timestamp: 0 }],
          }),
        }]
        : [],
    });
    if (next === "a follow-up") agent.followUp("More");
    atFirst(agent, "turn_end", () => {
      if (next === "steering") agent.steer("More");
      agent.abort("enough");
    });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(getOutcome(events), ["aborted", "enough", undefined]);
    assertEquals(eventsOfType(events, "turn_start").length, 1);
    assertEquals(
      agent.queued.followUp.length + agent.queued.steering.length,
      next === "a follow-up" || next === "steering" ? 1 : 0,
    );
    assertEquals(outlineMessages(agent.state.messages).includes("user: More"), false);
    streamFn.assertDone();
  });
}

Deno.test("abort() at model_call_start: the model is not called", async () => {
  const { agent, streamFn } = testAgent([]);
  agent.subscribe((event) => event.type === "model_call_start" && agent.abort("enough"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(getOutcome(events), ["aborted", "enough", undefined]);
  assertEquals([streamFn.calls.length, eventsOfType(events, "model_call_end").length], [0, 1]);
});
