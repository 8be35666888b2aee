import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { text } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { pending, pendingAgent, ranCalls } from "./pending_agent.ts";

Deno.test("setMessages(messages, { interruptedCalls }): continue() runs those that run again, and keeps other results", async () => {
  const first = pendingAgent();
  await first.agent.prompt("Go");
  const test = pendingAgent([reply("Done")], { approve: () => true });
  const result = { content: [text("before")] };
  const interruptedCalls = [
    { toolCallId: "call_1", result },
    { toolCallId: "call_2", result, rerun: {} },
  ];
  assertEquals(test.agent.state.interruptedCalls, []);
  test.agent.setMessages(first.agent.state.messages, { pendingApprovals: [], interruptedCalls });
  assertEquals(test.agent.state.interruptedCalls, interruptedCalls);
  const events = await checkEvents(test.agent.continueStream());
  assertEquals([test.agent.state.interruptedCalls, ranCalls(test)], [[], ["call_2"]]);
  const ends = eventsOfType(events, "tool_execution_end").map(({ id, isError }) => [id, isError]);
  assertEquals(ends, [["call_1", false], ["call_3", true], ["call_4", true], ["call_2", false]]);
  const results = outlineMessages(test.agent.state.messages).slice(2);
  assertEquals(results.slice(0, 2), ["tool_result: before", "tool_result: ok"]);
  assertStringIncludes(results[2] ?? "", "Tool call not run: its state was lost");
});

for (const [path, expected] of [["a", "tool_result: ok"], ["b", "tool_result: before"]] as const) {
  Deno.test(`interrupted calls: one that may run again only with the path "a", which a policy sets to "${path}"`, async () => {
    const first = pendingAgent();
    await first.agent.prompt("Go");
    const test = pendingAgent([reply("Done")], {
      approve: () => true,
      policies: [{
        name: "rewrite",
        preDispatch: ({ arguments: args }) => void (args["path"] = path),
      }],
    });
    const rerun = { idempotencyKey: "key", arguments: { path: "a" } };
    test.agent.setMessages(first.agent.state.messages, {
      pendingApprovals: [],
      interruptedCalls: [{ toolCallId: "call_2", result: { content: [text("before")] }, rerun }],
    });
    const events = await checkEvents(test.agent.continueStream());
    assertEquals(outlineMessages(test.agent.state.messages)[3], expected);
    const isRun = path === "a";
    assertEquals(ranCalls(test), isRun ? ["call_2"] : []);
    const started = eventsOfType(events, "tool_execution_start").find(({ id }) => id === "call_2");
    assertEquals(started?.idempotencyKey, isRun ? "key" : undefined);
  });
}

Deno.test("interrupted calls: stay so when a policy stops the run before them, and run later", async () => {
  const first = pendingAgent();
  await first.agent.prompt("Go");
  let isClosed = true;
  const hours: Policy = {
    name: "hours",
    preTurn: () => isClosed ? { type: "stop", reason: "closed" } : undefined,
  };
  const options = { approve: () => true, policies: [hours] };
  const test = pendingAgent([reply("Done")], options);
  const interruptedCalls = [{ toolCallId: "call_2", result: { content: [text("before")] } }];
  const rerun = interruptedCalls.map((call) => ({ ...call, rerun: {} }));
  test.agent.setMessages(first.agent.state.messages, {
    pendingApprovals: [],
    interruptedCalls: rerun,
  });
  const { stoppedBy, messages } = await test.agent.continue();
  assertEquals([stoppedBy?.reason, messages, ranCalls(test)], ["closed", [], []]);
  assertEquals(test.agent.state.interruptedCalls, rerun);
  isClosed = false;
  await test.agent.continue();
  assertEquals([test.agent.state.interruptedCalls, ranCalls(test)], [[], ["call_2"]]);
});

Deno.test("prompt(): an interrupted call keeps its result, and the other calls are answered as not approved", async () => {
  const first = pendingAgent();
  await first.agent.prompt("Go");
  const test = pendingAgent([reply("Done")]);
  const result = { content: [text("before")], details: { line: 1 } };
  test.agent.setMessages(first.agent.state.messages, {
    pendingApprovals: [],
    interruptedCalls: [
      { toolCallId: "call_2", result },
      { toolCallId: "call_3", result: { ...result, isError: true } },
    ],
  });
  const { messages } = await test.agent.prompt("Never mind");
  const declined = "tool_result: Tool call not run: not approved: the conversation went on";
  assertEquals(outlineMessages(messages), [
    declined,
    "tool_result: before",
    "tool_result: before",
    declined,
    "user: Never mind",
    "assistant: Done",
  ]);
  const kept = messages.slice(1, 3).map((message) =>
    message.role === "tool_result" && [message.toolCallId, message.isError, message.details]
  );
  assertEquals(kept, [["call_2", false, { line: 1 }], ["call_3", true, { line: 1 }]]);
  assertEquals(ranCalls(test), []);
});

Deno.test("interrupted calls: one that is approved later runs again with its key", async () => {
  const first = pendingAgent();
  const { pendingApprovals = [] } = await first.agent.prompt("Go");
  const test = pendingAgent([reply("Done")]);
  const rerun = { idempotencyKey: "key" };
  test.agent.setMessages(first.agent.state.messages, {
    pendingApprovals,
    interruptedCalls: [{ toolCallId: "call_2", result: { content: [] }, rerun }],
  });
  const events = await checkEvents(test.agent.continueStream({ approvals: { call_2: true } }));
  assertEquals(ranCalls(test), ["call_2"]);
  const started = eventsOfType(events, "tool_execution_start").find(({ id }) => id === "call_2");
  assertEquals(started?.idempotencyKey, "key");
});

Deno.test("interrupted calls: while one waits for an approval, another keeps the decision of a person", async () => {
  const first = pendingAgent();
  const { pendingApprovals = [] } = await first.agent.prompt("Go");
  const test = pendingAgent([reply("Done")], { approve: () => pending });
  test.agent.setMessages(first.agent.state.messages, {
    pendingApprovals,
    interruptedCalls: [{
      toolCallId: "call_1",
      result: { content: [text("before")] },
      rerun: {},
    }],
  });
  const decision = { type: "approved", origin: "person" } as const;
  const result = await test.agent.continue({ approvals: { call_2: decision } });
  assertEquals(result.pendingApprovals?.map(({ toolCallId }) => toolCallId), ["call_1"]);
  const decided = result.decidedCalls?.find(({ toolCallId }) => toolCallId === "call_2");
  assertEquals([decided?.decision, ranCalls(test)], [decision, []]);
});

Deno.test("interrupted calls: one of an unknown tool names only the tools that policies leave", async () => {
  const first = pendingAgent();
  await first.agent.prompt("Go");
  const test = pendingAgent([reply("Done")], {
    policies: [{
      name: "read_only",
      canUseTool: (offered) => offered.type === "tool" && offered.tool.readOnly === true,
    }],
  });
  test.agent.setMessages(first.agent.state.messages, {
    pendingApprovals: [],
    interruptedCalls: [{
      toolCallId: "call_4",
      result: { content: [text("before")] },
      rerun: {},
    }],
  });
  await test.agent.continue();
  assertEquals(
    outlineMessages(test.agent.state.messages)[5],
    'tool_result: Tool "lok" not found. Available tools: look.',
  );
});
