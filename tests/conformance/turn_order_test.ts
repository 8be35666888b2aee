import { assertEquals } from "@std/assert";
import { omitCustomMessages } from "../../src/core/context/context.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { outlineAllEvents, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("turn: hooks and events are called and emitted in a fixed order, in every turn", async () => {
  const log: string[] = [];
  const { agent } = testAgent([reply([toolCall("look", { at: "x" })]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: () => (log.push("execute"), "a cat") })],
    transformContext: (messages) => (log.push("transformContext"), messages),
    convertToLlm: (
      message,
    ) => (log.push(`convertToLlm ${message.role}`), omitCustomMessages(message)),
    getApiKey: () => (log.push("getApiKey"), undefined),
    approve: () => (log.push("approve"), true),
    validator: () => () => (log.push("validate"), []),
    policies: [{
      name: "watch",
      preTurn: () => void log.push("preTurn"),
      preRequest: () => void log.push("preRequest"),
      preDispatch: () => void log.push("preDispatch"),
      postDispatch: () => void log.push("postDispatch"),
      postTurn: () => void log.push("postTurn"),
      postLoop: () => void log.push("postLoop"),
    }],
  });
  agent.subscribe((event) => void log.push(...outlineAllEvents([event])));
  await checkEvents(agent.promptStream("Look"));
  assertEquals(log, [
    "agent_start",
    "preTurn",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "transformContext",
    "convertToLlm user",
    "preRequest",
    "getApiKey",
    "message_start assistant",
    "model_call_start 1",
    "message_update tool_call_start",
    "message_update tool_call_delta",
    "model_call_end 1",
    "message_end assistant",
    "validate",
    "preDispatch",
    "tool_approval_requested call_1",
    "approve",
    "tool_approval_resolved call_1 approved",
    "tool_execution_start call_1",
    "execute",
    "postDispatch",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "postTurn",
    "turn_end tools_executed",
    "preTurn",
    "turn_start 2",
    "transformContext",
    "convertToLlm assistant",
    "convertToLlm tool_result",
    "preRequest",
    "getApiKey",
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "model_call_end 1",
    "message_end assistant",
    "postTurn",
    "turn_end complete",
    "postLoop",
    "agent_end",
  ]);
});

Deno.test("turn: each attempt of a retried call gets its own key, and the message starts once", async () => {
  const log: string[] = [];
  const { agent } = testAgent([fail("network_error", "Reset", { after: "Half" }), reply("Whole")], {
    ...scriptedPorts(new InstantClock()),
    getApiKey: () => (log.push("getApiKey"), undefined),
    policies: [{ name: "watch", preRequest: () => void log.push("preRequest") }],
  });
  agent.subscribe((event) => void log.push(...outlineAllEvents([event])));
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(log.slice(4), [
    "preRequest",
    "getApiKey",
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "model_call_end 1",
    "retry 1 discard",
    "getApiKey",
    "model_call_start 2",
    "message_update text_delta",
    "model_call_end 2",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
});

Deno.test("preTurn: a change of model, prompt and tools counts in the same turn, also in the first", async () => {
  const seen: string[] = [];
  const extra = fakeTool({ name: "extra" });
  const { agent, streamFn } = testAgent([reply([toolCall("extra")]), reply("Done")], {
    policies: [{
      name: "prepare",
      preTurn: ({ turn, model }) => {
        seen.push(model.modelId);
        agent.setModel(`test/model${turn + 1}:low`);
        agent.setSystemPrompt(`turn ${turn + 1}`);
        agent.setTools([extra, fakeTool({ name: `only_in_${turn + 1}` })]);
      },
      postTurn: ({ model }) => void seen.push(model.modelId),
    }],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(seen, ["model", "model1", "model1", "model2"]);
  assertEquals(
    streamFn.calls.map(({ model, context }) => [
      model,
      context.systemPrompt,
      context.tools.map(({ name }) => name),
    ]),
    [
      [modelSpec("test/model1:low"), "turn 1", ["extra", "only_in_1"]],
      [modelSpec("test/model2:low"), "turn 2", ["extra", "only_in_2"]],
    ],
  );
  assertEquals(extra.calls.length, 1);
  assertEquals(
    agent.state.messages.flatMap((message) => message.role === "assistant" ? message.modelId : []),
    ["model1", "model2"],
  );
});

Deno.test("preTurn stop on the first turn: appends the prompt, starts no turn and keeps steering queued", async () => {
  const { agent, streamFn } = testAgent([], {
    policies: [{ name: "closed", preTurn: () => ({ type: "stop", reason: "out of hours" }) }],
  });
  agent.steer("by the way");
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineAllEvents(events), [
    "agent_start",
    "message_start user",
    "message_end user",
    "agent_end",
  ]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stoppedBy, outlineMessages(end.messages)], [
    { policy: "closed", reason: "out of hours" },
    ["user: Hi"],
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  assertEquals(agent.queued.steering.length, 1);
  streamFn.assertDone();
});

Deno.test("preTurn stop on the first turn: the run ends after all messages of the prompt are delivered", async () => {
  const { agent } = testAgent([], {
    policies: [{ name: "closed", preTurn: () => ({ type: "stop", reason: "out of hours" }) }],
  });
  agent.subscribe(() => settle());
  const { messages } = await agent.prompt([userMessage("Hi", 0), userMessage("Bye", 0)]);
  assertEquals(outlineMessages(messages), ["user: Hi", "user: Bye"]);
});
