import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });
const note = (words: string) => userMessage(words, 0);

Deno.test("preDispatch: rewritten arguments reach the next policy, are validated, emitted and noted in the result [A80, A87]", async () => {
  const read = fakeTool({
    name: "read",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  });
  const seen: unknown[] = [];
  const rewrite: Policy = {
    name: "rewrite",
    preDispatch: ({ arguments: args }) => {
      args["path"] = `/safe/${args["path"]}`;
    },
  };
  const watch: Policy = {
    name: "watch",
    preDispatch: ({ arguments: args }) => void seen.push({ ...args }),
  };
  const { agent, streamFn } = testAgent([reply([toolCall("read", { path: "a" })]), reply("Read")], {
    tools: [read],
    policies: [rewrite, watch],
    approve: ({ arguments: args }) => {
      seen.push(args);
      return true;
    },
  });
  const events = await checkEvents(agent.promptStream("Read"));
  const safe = { path: "/safe/a" };
  assertEquals(seen, [safe, safe]);
  assertEquals(read.calls.map((call) => call.arguments), [safe]);
  assertEquals(eventsOfType(events, "tool_approval_requested")[0]?.arguments, safe);
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, safe);
  const request = outlineMessages(streamFn.calls[1]?.context.messages ?? []);
  assertEquals(
    request[1],
    'assistant: read({"path":"a"})',
    "the history keeps the arguments of the model",
  );
  assertStringIncludes(request[2] ?? "", 'were changed before the call ran: {"path":"/safe/a"}');
});

Deno.test("preDispatch: invalid rewritten arguments refuse the call", async () => {
  const read = fakeTool({
    name: "read",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  });
  const { agent, streamFn } = testAgent(
    [reply([toolCall("read", { path: "a" })]), reply("Sorry")],
    {
      tools: [read],
      policies: [{
        name: "wrong",
        preDispatch: ({ arguments: args }) => {
          args["path"] = 5;
        },
      }],
    },
  );
  await checkEvents(agent.promptStream("Read"));
  assertEquals(read.calls, []);
  assertStringIncludes(
    outlineMessages(streamFn.calls[1]?.context.messages ?? [])[2] ?? "",
    "- /path: must be string",
  );
});

Deno.test("preDispatch: a policy that throws refuses the call, and its changes of the arguments are discarded [A88]", async () => {
  const read = fakeTool({ name: "read" });
  const { agent } = testAgent([reply([toolCall("read", { list: [1] })]), reply("Read")], {
    tools: [read],
    policies: [{
      name: "broken",
      preDispatch: ({ arguments: args }) => {
        (args["list"] as number[]).push(2);
        args["path"] = "x";
        throw new Error("policy failed");
      },
    }],
  });
  const events = await checkEvents(agent.promptStream("Read"));
  assertEquals(read.calls, []);
  const [start] = eventsOfType(events, "tool_execution_start");
  assertEquals(start?.arguments, { list: [1] });
  assertEquals(outlineMessages(agent.state.messages).slice(1, 3), [
    'assistant: read({"list":[1]})',
    'tool_result: Tool call refused: the policy "broken" failed: policy failed',
  ]);
});

Deno.test("preDispatch: changes of the arguments after the verdict have no effect", async () => {
  const read = fakeTool({ name: "read" });
  let kept: Record<string, unknown> = {};
  const { agent } = testAgent([reply([toolCall("read", {})]), reply("Read")], {
    tools: [read],
    policies: [{
      name: "late",
      preDispatch: ({ arguments: args }) => {
        args["path"] = "fine";
        kept = args;
      },
    }],
    approve: () => {
      kept["path"] = "/etc/passwd";
      return true;
    },
  });
  await checkEvents(agent.promptStream("Read"));
  assertEquals(read.calls.map((call) => call.arguments), [{ path: "fine" }]);
});

Deno.test("preDispatch skip: refuses one call with its reason, and the others run [A85, A87, A104]", async () => {
  const asked: string[] = [];
  const { agent, streamFn } = testAgent([
    reply([toolCall("rm"), toolCall("look")]),
    reply("Fine"),
  ], {
    tools: [fakeTool({ name: "rm" }), look()],
    policies: [{
      name: "deny",
      preDispatch: ({ tool }) =>
        tool.name === "rm" ? { type: "skip", reason: "rm is not allowed here" } : undefined,
    }, { name: "after", preDispatch: ({ tool }) => void asked.push(tool.name) }],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2), [
    "tool_result: Tool call refused: rm is not allowed here",
    "tool_result: ok",
  ]);
  assertEquals(asked, ["look"]);
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ id, isError }) => [id, isError]), [
    ["call_1", true],
    ["call_2", false],
  ]);
});

Deno.test("preDispatch stop: refuses all calls without approval and ends the run after the turn [A86]", async () => {
  const approvals: string[] = [];
  const tool = look();
  const { agent, streamFn } = testAgent([
    reply([toolCall("look"), toolCall("look", { n: 2 }), toolCall("lok")]),
  ], {
    tools: [tool],
    approve: ({ toolCallId }) => {
      approvals.push(toolCallId);
      return true;
    },
    policies: [{
      name: "halt",
      preDispatch: ({ arguments: { n } }) => n === 2 ? { type: "stop", reason: "two" } : undefined,
    }],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals([approvals, tool.calls], [[], []]);
  const [turn] = eventsOfType(events, "turn_end");
  assertEquals(outlineMessages(turn?.toolResults ?? []), [
    'tool_result: Tool call not run: the policy "halt" stopped the run: two',
    'tool_result: Tool call not run: the policy "halt" stopped the run: two',
    'tool_result: Tool "lok" not found. Available tools: look.',
  ]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.stoppedBy, { policy: "halt", reason: "two" });
  assertEquals(turn?.reason, "tools_executed");
  streamFn.assertDone();
});

Deno.test("preDispatch inject: the messages are in the next turn", async () => {
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    policies: [{
      name: "hint",
      preDispatch: () => ({ type: "inject", messages: [note("careful")] }),
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: ok",
    "user: careful",
    "assistant: Seen",
  ]);
});

for (
  const [refusal, refuse] of [
    ["skips the call", () => ({ type: "skip", reason: "no" } as const)],
    ["throws", () => {
      throw new Error("no rules");
    }],
  ] as const
) {
  Deno.test(`preDispatch inject: the messages are in the next turn when a later policy ${refusal}`, async () => {
    const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
      tools: [look()],
      policies: [
        { name: "hint", preDispatch: () => ({ type: "inject", messages: [note("careful")] }) },
        { name: "guard", preDispatch: refuse },
      ],
    });
    await agent.prompt("Look");
    assertEquals(outlineMessages(agent.state.messages).slice(3), [
      "user: careful",
      "assistant: Seen",
    ]);
  });
}

Deno.test("preDispatch: is not called with the other calls of a batch after an abort, and none of them runs", async () => {
  const asked: string[] = [];
  const work = fakeTool({ name: "work" });
  const { agent } = testAgent([reply([toolCall("work", { n: 1 }), toolCall("work", { n: 2 })])], {
    tools: [work],
    policies: [{
      name: "watch",
      preDispatch: ({ arguments: args }) => {
        asked.push(JSON.stringify(args));
        agent.abort();
      },
    }],
  });
  const { stopReason } = await agent.prompt("Go");
  assertEquals([stopReason, asked, work.calls.length], ["aborted", ['{"n":1}'], 0]);
});

Deno.test("preDispatch: gets the timeout of the tool, else that of the agent", async () => {
  const timeouts: unknown[] = [];
  const { agent } = testAgent([reply([toolCall("short"), toolCall("look")]), reply("Done")], {
    tools: [fakeTool({ name: "short", timeoutMs: 10 }), look()],
    toolTimeoutMs: 1000,
    policies: [{ name: "watch", preDispatch: ({ timeoutMs }) => void timeouts.push(timeoutMs) }],
  });
  await agent.prompt("Go");
  assertEquals(timeouts, [10, 1000]);
});
