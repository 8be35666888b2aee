import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Approve } from "../../src/core/hooks/approve.ts";
import type { Policy, PolicyVerdict, PreDispatchVerdict } from "../../src/core/hooks/policy.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

/** Returns an object that is nested `levels` deep. */
function nest(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

/** Values that hooks of untyped code may set as arguments, and that are not JSON. */
const NOT_JSON: readonly (readonly [string, unknown])[] = [
  ["a BigInt", 5n],
  ["a cycle", cycle],
  ["4,000 levels", nest(4_000)],
  ["100,000 levels", nest(100_000)],
  ["an object whose toJSON throws", {
    toJSON: () => {
      throw new Error("detached");
    },
  }],
];

/** Runs a batch of two calls under a policy or an approval; returns the results, and checks what must always hold. */
async function runGuarded(
  guard: { readonly policy?: Policy; readonly approve?: Approve },
): Promise<{ results: string[]; ran: string[]; warnings: string[] }> {
  const tools = [fakeTool({ name: "rm" }), fakeTool({ name: "look" })];
  const { agent, streamFn } = testAgent([
    reply([toolCall("rm", { path: "a" }), toolCall("look")]),
    reply("Done"),
  ], {
    tools,
    ...(guard.policy && { policies: [guard.policy] }),
    ...(guard.approve && { approve: guard.approve }),
  });
  const events = await checkEvents(agent.promptStream("Go"));
  streamFn.assertDone();
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "complete",
  ]);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  JSON.stringify(events);
  return {
    results: outlineMessages(agent.state.messages).slice(2, -1),
    ran: tools.flatMap(({ name, calls }) => calls.map(() => name)),
    warnings: eventsOfType(events, "warning").map(({ code }) => code),
  };
}

const onlyRm = (act: () => unknown): Policy => ({
  name: "guard",
  preDispatch: ({ tool }) => tool.name === "rm" ? act() as PreDispatchVerdict : undefined,
});

for (
  const [failure, act] of [
    ["throws", () => {
      throw new Error("no rules");
    }],
    ["rejects", () => Promise.reject(new Error("no rules"))],
    ["rejects with a text", () => Promise.reject("no rules")],
    ["throws a value without a prototype", () => {
      throw Object.assign(Object.create(null), { message: "no rules" });
    }],
  ] as const
) {
  Deno.test(`preDispatch that ${failure} refuses the call, names the guard, and the other calls run`, async () => {
    assertEquals(await runGuarded({ policy: onlyRm(act) }), {
      results: [
        'tool_result: Tool call refused: the policy "guard" failed: no rules',
        "tool_result: ok",
      ],
      ran: ["look"],
      warnings: ["policy_failed"],
    });
  });
}

for (
  const [verdict, words] of [
    ["stop", "a verdict must be an object"],
    [true, "a verdict must be an object"],
    [[], "a verdict must be an object"],
    [{}, "the type of a verdict must be"],
    [{ type: "Skip", reason: "no" }, "the type of a verdict must be"],
    [{ type: "change" }, "the type of a verdict must be"],
    [{ type: "inject" }, "an inject verdict must have messages"],
    [{ type: "inject", messages: "Hi" }, "an inject verdict must have messages"],
    [{ type: "inject", messages: ["Hi"] }, "a message must be an object"],
    [{ type: "inject", messages: [{ role: "user", content: "Hi" }] }, "content must be an array"],
  ] as const
) {
  Deno.test(`preDispatch that returns ${JSON.stringify(verdict)}, which is no verdict, refuses the call`, async () => {
    const { results, ran, warnings } = await runGuarded({ policy: onlyRm(() => verdict) });
    assertStringIncludes(results[0] ?? "", 'refused: the policy "guard" failed: ');
    assertStringIncludes(results[0] ?? "", words);
    assertEquals([ran, warnings], [["look"], ["policy_failed"]]);
  });
}

for (const [name, value] of NOT_JSON) {
  Deno.test(`preDispatch that sets ${name} as an argument refuses the call`, async () => {
    const policy: Policy = {
      name: "guard",
      preDispatch: ({ tool, arguments: args }) => {
        if (tool.name === "rm") args["n"] = value;
      },
    };
    const { results, ran, warnings } = await runGuarded({ policy });
    assertStringIncludes(results[0] ?? "", 'refused: the policy "guard" failed: ');
    assertEquals([results[1], ran, warnings], ["tool_result: ok", ["look"], ["policy_failed"]]);
  });

  Deno.test(`approve that returns ${name} as an argument denies the call`, async () => {
    const approve: Approve = ({ name }) =>
      name === "rm" ? { type: "approved", arguments: { n: value } } : true;
    const { results, ran } = await runGuarded({ approve });
    assertStringIncludes(results[0] ?? "", "rejected by approval: the approval failed: ");
    assertEquals([results[1], ran], ["tool_result: ok", ["look"]]);
  });

  Deno.test(`preDispatch that injects a message with ${name} refuses the call`, async () => {
    const message = { role: "custom", type: "note", data: value, timestamp: 0 };
    const { results, ran } = await runGuarded({
      policy: onlyRm(() => ({ type: "inject", messages: [message] })),
    });
    assertStringIncludes(results[0] ?? "", 'refused: the policy "guard" failed: ');
    assertEquals([results[1], ran], ["tool_result: ok", ["look"]]);
  });
}

Deno.test("approve: an answer with fields of other types keeps none of them", async () => {
  const odd = { rule: cycle, origin: 5n, scope: {}, prefix: () => {}, reason: cycle } as never;
  const approved: Approve = () => Object.assign({ type: "approved" as const }, odd);
  assertEquals((await runGuarded({ approve: approved })).ran, ["rm", "look"]);
  const denied: Approve = () => Object.assign({ type: "denied" as const }, odd);
  assertEquals((await runGuarded({ approve: denied })).results, [
    "tool_result: Tool call rejected by approval",
    "tool_result: Tool call rejected by approval",
  ]);
});

for (const slot of ["preTurn", "postTurn"] as const) {
  for (
    const verdict of [
      "stop",
      { type: "Stop", reason: "x" },
      { type: "skip", reason: "x" },
      { type: "inject" },
      { type: "inject", messages: [{ role: "user", content: "Hi" }] },
      { type: "inject", messages: [{ role: "custom", type: "note", data: cycle, timestamp: 0 }] },
    ]
  ) {
    const words = JSON.stringify(verdict, (key, value) => key === "data" ? "a cycle" : value);
    Deno.test(`${slot} that returns ${words}, which is no verdict, continues with a warning`, async () => {
      const { agent, streamFn } = testAgent([reply("Hello")], {
        policies: [{ name: "odd", [slot]: () => verdict as unknown as PolicyVerdict }],
      });
      const events = await checkEvents(agent.promptStream("Hi"));
      assertEquals(eventsOfType(events, "warning").map(({ code, data }) => [code, data]), [
        ["policy_failed", { policy: "odd" }],
      ]);
      assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
      streamFn.assertDone();
    });
  }
}

Deno.test("policies: a stop or a skip without a reason says that none was given", async () => {
  const { results } = await runGuarded({ policy: onlyRm(() => ({ type: "skip" })) });
  assertEquals(results[0], "tool_result: Tool call refused: no reason given");
  for (const slot of ["preTurn", "preRequest", "onDelta", "preDispatch", "postTurn"]) {
    const { agent } = testAgent([reply([toolCall("look")])], {
      tools: [fakeTool({ name: "look" })],
      policies: [{ name: "halt", [slot]: () => ({ type: "stop" }) as PolicyVerdict }],
    });
    const { stoppedBy } = await agent.prompt("Hi");
    assertEquals(stoppedBy, { policy: "halt", reason: "no reason given" }, slot);
  }
});

Deno.test("inject: a message that the policy changes later stays as it was", async () => {
  const note = userMessage("hint", 0);
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: () => (Object.assign(note, { content: [] }), "ok") })],
    policies: [{
      name: "hint",
      preDispatch: () => ({ type: "inject", messages: [note] }),
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: ok",
    "user: hint",
    "assistant: Seen",
  ]);
});

for (const levels of [201, 4_000, 20_000, 500_000]) {
  Deno.test(`tool arguments that are nested ${levels} levels deep are unreadable, with and without guards`, async () => {
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const guard: Policy = { name: "guard", preDispatch: () => {}, postDispatch: () => {} };
    for (const options of [{}, { policies: [guard] }, { approve: () => true }]) {
      const look = fakeTool({ name: "look" });
      const { agent, streamFn } = testAgent([
        reply([toolCall("look", deep), toolCall("look")]),
        reply("Sorry"),
        reply("Again"),
      ], { tools: [look], ...options });
      await checkEvents(agent.promptStream("Look"));
      assertEquals(look.calls.map(({ toolCallId }) => toolCallId), ["call_2"]);
      assertStringIncludes(
        outlineMessages(agent.state.messages)[2] ?? "",
        'The arguments for "look" are not a JSON object',
      );
      assertEquals(repairHistory(agent.state.messages).repairs, []);
      assertEquals((await agent.prompt("Again")).text, "Again");
      streamFn.assertDone();
    }
  });
}

Deno.test("tool arguments that are nested 200 levels deep run, and are the same in history and events", async () => {
  const look = fakeTool({ name: "look" });
  const args = nest(199);
  const { agent } = testAgent([reply([toolCall("look", JSON.stringify(args))]), reply("Seen")], {
    tools: [look],
    policies: [{ name: "guard", preDispatch: () => {}, postDispatch: () => {} }],
    approve: () => true,
  });
  const events = await checkEvents(agent.promptStream("Look"));
  const texts = [
    look.calls[0]?.arguments,
    eventsOfType(events, "tool_execution_start")[0]?.arguments,
    ...[agent.state.messages[1], eventsOfType(events, "message_end")[1]?.message].map((message) =>
      message?.role === "assistant" && message.content[0]?.type === "tool_call" &&
      message.content[0].arguments
    ),
  ].map((value) => JSON.stringify(value));
  assertEquals(texts, Array(4).fill(JSON.stringify(args)));
});
