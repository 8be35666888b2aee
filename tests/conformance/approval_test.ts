import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ApprovalMode } from "../../src/core/approval/approval.ts";
import type { Approve } from "../../src/core/hooks/approve.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const tools = () => [
  fakeTool({ name: "read", readOnly: true }),
  fakeTool({ name: "write" }),
  fakeTool({ name: "bash", requiresApproval: ({ command }) => command !== "ls" }),
];
const calls = reply([
  toolCall("read"),
  toolCall("write"),
  toolCall("bash", { command: "ls" }),
  toolCall("bash", { command: "rm" }),
]);
const all = ["call_1", "call_2", "call_3", "call_4"];

/** Runs one batch of calls; returns the ids of those that needed approval and of those that ran. */
async function runWithApproval(
  approvalMode: ApprovalMode | undefined,
  approve: Approve | undefined,
): Promise<{ asked: string[]; ran: string[] }> {
  const fakeTools = tools();
  const { agent } = testAgent([calls, reply("Done")], {
    tools: fakeTools,
    ...(approvalMode && { approvalMode }),
    ...(approve && { approve }),
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const ran = fakeTools.flatMap((tool) => tool.calls.map(({ toolCallId }) => toolCallId));
  return { asked: eventsOfType(events, "tool_approval_requested").map(({ id }) => id), ran };
}

Deno.test("approvalMode: always and its alias enabled request every approval, smart those the tool requires, bypassed none [A81, AC-29]", async () => {
  assertEquals(await runWithApproval("always", () => true), { asked: all, ran: all });
  assertEquals(await runWithApproval("enabled", () => true), { asked: all, ran: all });
  assertEquals(await runWithApproval("smart", () => true), {
    asked: ["call_2", "call_4"],
    ran: all,
  });
  assertEquals(await runWithApproval("bypassed", () => false), { asked: [], ran: all });
});

Deno.test("approve: every call needs approval with it, and none without it, by default", async () => {
  assertEquals(await runWithApproval(undefined, undefined), { asked: [], ran: all });
  assertEquals(await runWithApproval(undefined, () => true), { asked: all, ran: all });
});

Deno.test("approvalMode without approve denies every call that needs approval", async () => {
  assertEquals(await runWithApproval("smart", undefined), {
    asked: ["call_2", "call_4"],
    ran: ["call_1", "call_3"],
  });
  assertEquals((await runWithApproval("always", undefined)).ran, []);
  assertEquals((await runWithApproval("enabled", undefined)).ran, []);
});

Deno.test("approve: a denied call gets an error result with the reason, and the other calls run [A78, A79, B23]", async () => {
  const fakeTools = tools();
  const { agent, streamFn } = testAgent([
    reply([toolCall("write"), toolCall("read"), toolCall("write")]),
    reply("Done"),
  ], {
    tools: fakeTools,
    approve: ({ toolCallId, name }) => {
      if (name === "read") return true;
      return toolCallId === "call_1" ? { type: "denied", reason: "production is frozen" } : false;
    },
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2), [
    "tool_result: Tool call rejected by approval: production is frozen",
    "tool_result: ok",
    "tool_result: Tool call rejected by approval",
  ]);
  const lines = outlineEvents(events);
  assertEquals(lines.slice(lines.indexOf("message_end assistant") + 1).slice(0, 12), [
    "tool_approval_requested call_1",
    "tool_approval_resolved call_1 denied",
    "tool_approval_requested call_2",
    "tool_approval_resolved call_2 approved",
    "tool_approval_requested call_3",
    "tool_approval_resolved call_3 denied",
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "tool_execution_start call_3",
    "tool_execution_end call_3",
    "tool_execution_start call_2",
    "tool_execution_end call_2",
  ]);
});

Deno.test("edited arguments: are validated, checked by policies, run, emitted and noted in the result [A82]", async () => {
  const write = fakeTool({
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  });
  const checked: unknown[] = [];
  const edited = { path: "b" };
  const { agent, streamFn } = testAgent(
    [reply([toolCall("write", { path: "a" })]), reply("Done")],
    {
      tools: [write],
      approve: () => ({ type: "approved", arguments: edited }),
      policies: [{
        name: "watch",
        preDispatch: ({ arguments: args }) => void checked.push({ ...args }),
      }],
    },
  );
  const events = await checkEvents(agent.promptStream("Go"));
  edited.path = "changed later";
  assertEquals(checked, [{ path: "a" }, { path: "b" }]);
  assertEquals(write.calls.map((call) => call.arguments), [{ path: "b" }]);
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, { path: "b" });
  const request = outlineMessages(streamFn.calls[1]?.context.messages ?? []);
  assertEquals(request[1], 'assistant: write({"path":"a"})');
  assertStringIncludes(request[2] ?? "", 'were changed before the call ran: {"path":"b"}');
});

Deno.test("edited arguments: do not run when they are invalid or a policy refuses them", async () => {
  const write = fakeTool({
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  });
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", { path: "a" }), toolCall("write", { path: "b" })]),
    reply("Done"),
  ], {
    tools: [write],
    approve: ({ arguments: args }) => ({
      type: "approved",
      arguments: { path: args["path"] === "a" ? 5 : "/etc" },
    }),
    policies: [{
      name: "fence",
      preDispatch: ({ arguments: args }) =>
        args["path"] === "/etc" ? { type: "skip", reason: "outside" } : undefined,
    }],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(write.calls, []);
  const [first, second] = outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2);
  assertStringIncludes(first ?? "", "- /path: must be string");
  assertEquals(second, "tool_result: Tool call refused: outside");
});

Deno.test("edited arguments: a message that preDispatch injects for them is in the next turn", async () => {
  const { agent } = testAgent([reply([toolCall("write", { path: "a" })]), reply("Done")], {
    tools: tools(),
    approve: () => ({ type: "approved", arguments: { path: "b" } }),
    policies: [{
      name: "note",
      preDispatch: ({ arguments: { path } }) =>
        path === "b" ? { type: "inject", messages: [userMessage("Writing b", 0)] } : undefined,
    }],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(agent.state.messages).slice(3), [
    "user: Writing b",
    "assistant: Done",
  ]);
});

const notAnObject = "the edited arguments are not an object";
for (
  const [kind, args, words] of [
    ["an array", [1], notAnObject],
    ["null", null, notAnObject],
    ["an empty text", "", notAnObject],
    [
      "a text as JSON",
      { toJSON: () => "x" },
      "the approval failed: the arguments are not an object",
    ],
    ["not JSON", { n: 5n }, "the approval failed: "],
  ] as const
) {
  Deno.test(`edited arguments: the call is denied when they are ${kind}`, async () => {
    const write = fakeTool({ name: "write" });
    const { agent } = testAgent([reply([toolCall("write")]), reply("Done")], {
      tools: [write],
      approve: () => ({ type: "approved", arguments: args as never }),
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(write.calls, []);
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", words);
  });
}

Deno.test("edited arguments: run as the approval left them, whatever a policy changes after it", async () => {
  const write = fakeTool({ name: "write" });
  const checked: unknown[] = [];
  const { agent } = testAgent([reply([toolCall("write", { path: "a" })]), reply("Done")], {
    tools: [write],
    approve: ({ arguments: args }) => ({
      type: "approved",
      arguments: { path: `${args["path"]} approved` },
    }),
    policies: [{
      name: "rewrite",
      preDispatch: ({ arguments: args }) => {
        checked.push({ ...args });
        args["path"] = `${args["path"]} rewritten`;
      },
    }, { name: "watch", preDispatch: ({ arguments: args }) => void checked.push({ ...args }) }],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const approved = { path: "a rewritten approved" };
  assertEquals(checked, [{ path: "a" }, { path: "a rewritten" }, approved, approved]);
  assertEquals(write.calls.map((call) => call.arguments), [approved]);
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, approved);
});

Deno.test("edited arguments: policies are not called again when nothing was changed", async () => {
  const write = fakeTool({ name: "write" });
  let checks = 0;
  const { agent } = testAgent([reply([toolCall("write", { path: "a" })]), reply("Done")], {
    tools: [write],
    approve: ({ arguments: args }) => ({ type: "approved", arguments: args }),
    policies: [{ name: "count", preDispatch: () => void checks++ }],
  });
  await agent.prompt("Go");
  assertEquals([checks, write.calls.length], [1, 1]);
  assertEquals(outlineMessages(agent.state.messages)[2], "tool_result: ok");
});

Deno.test("approve: gets the context of the run, and its rule and origin are in the event", async () => {
  const contexts: unknown[] = [];
  const { agent } = testAgent([reply([toolCall("write")]), reply("Done")], {
    tools: tools(),
    context: { user: "ada" },
    approve: ({ context, signal }) => {
      contexts.push(context, signal.aborted);
      return { type: "approved", scope: "prefix", prefix: "git", rule: "git *", origin: "rule" };
    },
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(contexts, [{ user: "ada" }, false]);
  assertEquals(eventsOfType(events, "tool_approval_resolved").map(({ decision }) => decision), [
    { type: "approved", scope: "prefix", prefix: "git", rule: "git *", origin: "rule" },
  ]);
});

Deno.test("edited arguments: a policy stop refuses the batch and ends the run", async () => {
  const fakeTools = tools();
  const { agent } = testAgent([reply([toolCall("read"), toolCall("write")])], {
    tools: fakeTools,
    approve: ({ name }) => name === "write" ? { type: "approved", arguments: { bad: 1 } } : true,
    policies: [{
      name: "halt",
      preDispatch: ({ arguments: { bad } }) => bad ? { type: "stop", reason: "bad" } : undefined,
    }],
  });
  const { stoppedBy, messages } = await agent.prompt("Go");
  assertEquals(stoppedBy?.policy, "halt");
  assertEquals(fakeTools.flatMap((tool) => tool.calls), []);
  assertEquals(messages.length, 4);
});

for (
  const [failure, approve] of [
    ["throws", () => {
      throw new Error("no terminal");
    }],
    ["rejects", () => Promise.reject(new Error("no terminal"))],
  ] as const
) {
  Deno.test(`approve that ${failure} denies the call and the run continues [A83, B24]`, async () => {
    const fakeTools = tools();
    const { agent, streamFn } = testAgent([reply([toolCall("write")]), reply("Done")], {
      tools: fakeTools,
      approve,
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(
      outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1),
      "tool_result: Tool call rejected by approval: the approval failed: no terminal",
    );
    assertEquals(fakeTools[1]?.calls, []);
  });
}

for (const answer of [undefined, null, "yes", 1, {}, { type: "deny", reason: "Not on Friday" }]) {
  const reason = Object(answer).reason ? "; the reason of its answer: Not on Friday" : "";
  Deno.test(`approve that returns ${JSON.stringify(answer)} denies the call, and the result says what it must return`, async () => {
    const fakeTools = tools();
    const { agent, streamFn } = testAgent([reply([toolCall("write")]), reply("Done")], {
      tools: fakeTools,
      approve: () => answer as never,
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals([fakeTools[1]?.calls, agent.state.error], [[], undefined]);
    assertEquals(
      outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1),
      "tool_result: Tool call rejected by approval: approve must return true, false or a decision such as " +
        `{ type: "approved" }${reason}`,
    );
  });
}

for (const moment of ["a listener", "a preview"] as const) {
  for (const cause of ["abort()", "reset()", "steer()"] as const) {
    Deno.test(`approval: approve is not called after ${cause} in ${moment}`, async () => {
      const end = (): void => {
        if (cause === "abort()") agent.abort();
        if (cause === "reset()") agent.reset();
        if (cause === "steer()") agent.steer("Wait");
      };
      const asked: string[] = [];
      const work: AgentTool = {
        ...fakeTool({ name: "work" }),
        preview: () => {
          if (moment === "a preview") end();
          return Promise.resolve([]);
        },
      };
      const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
        tools: [work],
        approve: ({ toolCallId }) => {
          asked.push(toolCallId);
          return true;
        },
      });
      if (moment === "a listener") atFirst(agent, "tool_approval_requested", end);
      await checkEvents(agent.promptStream("Go"));
      assertEquals(asked, []);
    });
  }
}

Deno.test("abort() during an approval runs no call and requests no further approval [A84]", async () => {
  const fakeTools = tools();
  const requested: string[] = [];
  const { agent, clock, streamFn } = testAgent([
    reply([toolCall("lok"), toolCall("read"), toolCall("write"), toolCall("write")]),
  ], {
    tools: fakeTools,
    approve: ({ toolCallId, name }) => {
      requested.push(toolCallId);
      return name === "read" ? true : new Promise(() => {});
    },
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.abort();
  const events = await running;
  assertEquals([requested, clock.waits], [["call_2", "call_3"], []]);
  assertEquals(fakeTools.flatMap((tool) => tool.calls), []);
  const [turn] = eventsOfType(events, "turn_end");
  const cancelled = "tool_result: tool call cancelled: run aborted";
  assertEquals([turn?.reason, outlineMessages(turn?.toolResults ?? [])], ["aborted", [
    'tool_result: Tool "lok" not found. Available tools: read, write, bash.',
    cancelled,
    cancelled,
    cancelled,
  ]]);
  streamFn.assertDone();
});

Deno.test("requiresApproval that throws makes the call need approval", async () => {
  const unsure = fakeTool({
    name: "unsure",
    requiresApproval: () => {
      throw new Error("undecided");
    },
  });
  const { agent } = testAgent([reply([toolCall("unsure")]), reply("Done")], {
    tools: [unsure],
    approvalMode: "smart",
    approve: () => false,
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(unsure.calls, []);
});

Deno.test("approve gets the previewed changes and cannot change the call", async () => {
  const changes = [{ path: "a", before: "", after: "x" }] as const;
  const edit = fakeTool({
    name: "edit",
    preview: (args) => {
      Object.assign(args, { added: 1 });
      return Promise.resolve(changes as never);
    },
  });
  const blind = fakeTool({ name: "blind", preview: () => Promise.reject(new Error("no file")) });
  const seen: unknown[] = [];
  const { agent } = testAgent([
    reply([toolCall("edit", { n: 1 }), toolCall("blind")]),
    reply("Done"),
  ], {
    tools: [edit, blind],
    approve: (request) => {
      seen.push(request.changes);
      Object.assign(request.arguments, { added: 2 });
      return true;
    },
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(seen, [changes, undefined]);
  assertEquals(edit.calls.map((call) => call.arguments), [{ n: 1 }]);
  assertEquals(outlineMessages(agent.state.messages)[1], 'assistant: edit({"n":1}) blind({})');
});

Deno.test("approve: a denied call does not run although requiresApproval changes its answer", async () => {
  let answers = 0;
  const bash = fakeTool({ name: "bash", requiresApproval: () => ++answers === 1 });
  const { agent } = testAgent([reply([toolCall("bash")]), reply("Done")], {
    tools: [bash],
    approvalMode: "smart",
    approve: () => false,
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals([bash.calls.length, answers], [0, 1]);
});

Deno.test("approve: properties of a decision that are no texts are ignored", async () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const decision = { type: "approved", scope: cycle, prefix: 1n, rule: "allow", origin: Symbol() };
  const bash = fakeTool({ name: "bash" });
  const { agent } = testAgent([reply([toolCall("bash")]), reply("Done")], {
    tools: [bash],
    approve: () => decision as unknown as boolean,
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(bash.calls.length, 1);
  assertEquals(eventsOfType(events, "tool_approval_resolved").map(({ decision }) => decision), [
    { type: "approved", rule: "allow" },
  ]);
});

Deno.test("continue({ approvals }): steering and injected messages come after the results of the resumed calls", async () => {
  const note = userMessage("By the way", 0);
  const { agent } = testAgent([reply([toolCall("write")]), reply("Done")], {
    tools: tools(),
    approve: () => ({ type: "pending" }),
    policies: [{
      name: "note",
      preTurn: ({ messages }) =>
        messages.length === 2 ? { type: "inject", messages: [note] } : undefined,
    }],
  });
  await checkEvents(agent.promptStream("Go"));
  agent.steer("Hurry up");
  await checkEvents(agent.continueStream({ approvals: { call_1: true } }));
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Go",
    "assistant: write({})",
    "tool_result: ok",
    "user: By the way",
    "user: Hurry up",
    "assistant: Done",
  ]);
});

for (const callback of ["approve", "preview"] as const) {
  for (const cause of ["abort()", "steer()"] as const) {
    Deno.test(`approval: ${cause} aborts the signal of ${callback}`, async () => {
      const entered = Promise.withResolvers<AbortSignal>();
      const wait = async (name: string, signal: AbortSignal): Promise<void> => {
        if (name !== callback) return;
        entered.resolve(signal);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      };
      const { agent } = testAgent([reply([toolCall("write")]), reply("Done")], {
        tools: [{
          ...fakeTool({ name: "write" }),
          preview: async (_args, { signal }) => {
            await wait("preview", signal);
            return [];
          },
        }],
        approve: async ({ signal }) => {
          await wait("approve", signal);
          return false;
        },
      });
      const running = agent.prompt("Write");
      const signal = await entered.promise;
      if (cause === "abort()") agent.abort("enough");
      else agent.steer("Stop");
      await running;
      assertEquals(signal.aborted, true);
      if (cause === "abort()") assertEquals(signal.reason, "enough");
    });
  }
}
