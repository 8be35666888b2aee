import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import { AgentError } from "../../src/core/errors/errors.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { type TestAgent, testAgent } from "./test_agent.ts";

/** Starts a run whose tool emits an update and returns, while a listener still handles the update. */
async function startBlockedUpdate(options: Partial<AgentOptions> = {}): Promise<
  TestAgent & { readonly running: ReturnType<typeof checkEvents>; readonly unblock: () => void }
> {
  const tool = fakeTool({
    name: "send",
    timeoutMs: 50,
    result: (_args, { onUpdate }) => {
      onUpdate("sending");
      return "sent";
    },
  });
  const test = testAgent([reply([toolCall("send")]), reply("Done")], { tools: [tool], ...options });
  let unblock = (): void => {};
  const blocked = new Promise<void>((resolve) => unblock = resolve);
  test.agent.subscribe(({ type }) => type === "tool_execution_update" ? blocked : undefined);
  const running = checkEvents(test.agent.promptStream("Send"));
  await settle();
  assertEquals(tool.calls.map(({ state }) => state), ["finished"]);
  return { ...test, running, unblock };
}

const LATE: readonly (readonly [string, (test: TestAgent) => void])[] = [
  ["its timeout passes", ({ clock }) => clock.advance(1_000)],
  ["steering arrives", ({ agent }) => void agent.steer("wait")],
  ["the run is aborted", ({ agent }) => agent.abort("enough")],
];

for (const [happening, act] of LATE) {
  Deno.test(`tool outcome: stays when ${happening} after execute() returned`, async () => {
    const test = await startBlockedUpdate();
    act(test);
    await settle();
    test.unblock();
    await settle();
    test.clock.advance(100);
    const events = await test.running;
    assertEquals(
      eventsOfType(events, "tool_execution_end").map(({ result, isError }) => [
        result,
        isError,
      ]),
      [[{ content: [{ type: "text", text: "sent" }] }, false]],
    );
    assertEquals(outlineMessages(test.agent.state.messages)[2], "tool_result: sent");
    const lines = outlineEvents(events);
    const start = lines.indexOf("tool_execution_start call_1");
    const kinds = lines.slice(start).filter((line) => line.startsWith("tool_execution"));
    assertEquals(kinds, [
      "tool_execution_start call_1",
      "tool_execution_update call_1",
      "tool_execution_end call_1",
    ]);
  });
}

/** Runs a tool that settles on demand; returns the run and the function that settles the tool. */
function startManual() {
  let settleTool = (_result: string | Error): void => {};
  const reasons: unknown[] = [];
  const tool = fakeTool({
    name: "send",
    timeoutMs: 50,
    ignoresSignal: true,
    result: (_args, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        settleTool = resolve;
      }),
  });
  const test = testAgent([reply([toolCall("send")]), reply("Done")], { tools: [tool] });
  const running = checkEvents(test.agent.promptStream("Send"));
  return { ...test, running, reasons, settleTool: (result: string | Error) => settleTool(result) };
}

for (
  const [happening, act, words] of [
    [
      "a timeout",
      ({ clock }: TestAgent) => clock.advance(50),
      'The tool "send" timed out after 50 ms',
    ],
    [
      "steering",
      ({ agent }: TestAgent) => void agent.steer("wait"),
      "tool call cancelled: user requested steering interrupt",
    ],
    ["an abort", ({ agent }: TestAgent) => agent.abort(), "tool call cancelled: run aborted"],
  ] as const
) {
  Deno.test(`tool outcome: is that of ${happening} when the tool returns after it`, async () => {
    const test = startManual();
    await settle();
    act(test);
    test.settleTool("sent");
    const events = await test.running;
    assertEquals(outlineMessages(test.agent.state.messages)[2], `tool_result: ${words}`);
    assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [true]);
    assertEquals(test.clock.sleepers, 0);
  });
}

Deno.test("tool outcome: the first cause stays when a timeout, steering and an abort follow each other", async () => {
  const test = startManual();
  await settle();
  test.clock.advance(50);
  await settle();
  test.agent.steer("wait");
  test.agent.abort("enough");
  test.settleTool("sent");
  await test.running;
  assertEquals(
    outlineMessages(test.agent.state.messages)[2],
    'tool_result: The tool "send" timed out after 50 ms',
  );
});

Deno.test("tool signal: its reason names the cancellation, with the caller's reason as the cause", async () => {
  const cause = new Error("the user left");
  const aborted = startManual();
  await settle();
  aborted.agent.abort(cause);
  aborted.settleTool("late");
  await aborted.running;
  const steered = startManual();
  await settle();
  steered.agent.steer("wait");
  steered.settleTool("late");
  await steered.running;
  const timedOut = startManual();
  await settle();
  timedOut.clock.advance(50);
  timedOut.settleTool("late");
  await timedOut.running;
  const reasons = [aborted, steered, timedOut].flatMap((test) => test.reasons);
  assertEquals(
    reasons.map((reason) => AgentError.is(reason) && [reason.code, reason.message, reason.cause]),
    [
      ["aborted", "tool call cancelled: run aborted", cause],
      ["aborted", "tool call cancelled: user requested steering interrupt", undefined],
      ["tool_timeout", 'The tool "send" timed out after 50 ms', undefined],
    ],
  );
});

Deno.test("tool signal: is aborted with its reason when it is first read after the cancellation", async () => {
  const reasons: unknown[] = [];
  let resume = (): void => {};
  const paused = new Promise<void>((resolve) => resume = resolve);
  const send = defineTool({
    name: "send",
    description: "",
    parameters: { type: "object" },
    execute: async (_args, context) => {
      await paused;
      const { aborted, reason } = context.signal;
      reasons.push(aborted, reason.message, reason.cause);
      return "sent";
    },
  });
  const { agent, clock } = testAgent([reply([toolCall("send")])], {
    tools: [send],
  });
  const running = checkEvents(agent.promptStream("Send"));
  await settle();
  agent.abort("enough");
  resume();
  await running;
  assertEquals(reasons, [true, "tool call cancelled: run aborted", "enough"]);
  assertEquals(clock.sleepers, 0);
});

Deno.test("tool outcome: what a cancelled tool reports itself takes precedence over the events that it forwards", async () => {
  const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
  const total = { ...usage, input: 13, total: 17 };
  const tool = fakeTool({
    name: "work",
    ignoresSignal: true,
    result: async (_args, { onEvent, signal }) => {
      await onEvent({
        type: "tool_execution_end",
        id: "x",
        name: "x",
        result: { content: [], usage },
        isError: false,
      });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { content: [], usage: total };
    },
  });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Fine")], { tools: [tool] });
  const running = agent.prompt("Go");
  await settle();
  agent.steer("Never mind");
  assertEquals((await running).usage.total, total.total);
});

Deno.test("tool outcome: what the agents of a cancelled tool have spent counts when the tool reports nothing", async () => {
  const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
  const tool = fakeTool({
    name: "work",
    ignoresSignal: true,
    result: async (_args, { onEvent, signal }) => {
      const result = { content: [], usage };
      await onEvent({ type: "tool_execution_end", id: "x", name: "x", result, isError: false });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "cleaned up";
    },
  });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Fine")], { tools: [tool] });
  const running = agent.prompt("Go");
  await settle();
  agent.steer("Never mind");
  assertEquals((await running).usage.total, usage.total);
});

Deno.test("tool outcome: what the agents of a tool have spent counts when the tool throws", async () => {
  const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const { agent } = testAgent([reply([toolCall("work"), toolCall("fail")]), reply("Fine")], {
    tools: [
      fakeTool({
        name: "work",
        result: async (_args, { onEvent }) => {
          const result = { content: [], usage, cost };
          await onEvent({ type: "tool_execution_end", id: "x", name: "x", result, isError: false });
          return new Error("lost");
        },
      }),
      fakeTool({ name: "fail", result: new Error("lost") }),
    ],
  });
  const result = await agent.prompt("Go");
  assertEquals([result.usage.total, result.cost.total], [7, 3]);
  assertEquals(
    result.messages.map((message) => message.role === "tool_result" && message.usage?.total),
    [false, false, 7, undefined, false],
  );
});
