import { assertEquals, assertThrows } from "@std/assert";
import { type TestAgent, testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import type { JsonObject } from "../core/json/json.ts";
import { extractText } from "../core/messages/content.ts";
import { type AgentToolResult, errorResult, textResult } from "../core/messages/tool_result.ts";
import { fakeTool, reply, toolCall } from "../testing/mod.ts";
import { loopDetection, type LoopDetectionOptions } from "./mod.ts";

/** Creates an agent whose model calls `poll` with these arguments, turn by turn, and gets these results. */
function startAgent(
  args: readonly JsonObject[],
  options: LoopDetectionOptions = {},
  results: readonly (string | AgentToolResult)[] = [],
): TestAgent {
  const poll = fakeTool({ name: "poll", result: () => results[poll.calls.length - 1] ?? "same" });
  const calls = args.map((args) => reply([toolCall("poll", args)]));
  return testAgent([...calls, reply("Done")], {
    tools: [poll],
    policies: [loopDetection(options)],
  });
}

Deno.test("loopDetection() stops after three turns with equal calls and results, regardless of call ids [A105]", async () => {
  const { agent } = startAgent([{ b: 1, a: [2] }, { b: 1, a: [2] }, { b: 1, a: [2] }, {}]);
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy], [3, {
    policy: "loop_detection",
    reason: "The model made the same tool calls in 3 consecutive turns, with the same results",
  }]);
});

Deno.test("loopDetection() does not stop after two equal turns", async () => {
  const { agent } = startAgent([{}, {}]);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() counts arguments as equal regardless of the order of their properties", async () => {
  const { agent } = startAgent([{ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }], {
    lookback: 2,
  });
  assertEquals((await agent.prompt("Go")).turns, 2);
});

Deno.test("loopDetection() does not stop calls with different arguments [A105]", async () => {
  const { agent } = startAgent([{ a: 1 }, { a: 2 }, { a: [1] }, { a: { a: 1 } }], { lookback: 2 });
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() does not stop calls of different tools with the same arguments", async () => {
  const names = ["read", "list"];
  const { agent } = testAgent([...names.map((name) => reply([toolCall(name)])), reply("Done")], {
    tools: names.map((name) => fakeTool({ name })),
    policies: [loopDetection({ lookback: 2 })],
  });
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() ignores the details of results, which the model does not read", async () => {
  const results = [1, 2].map((at) => textResult("same", { at }));
  const { agent } = startAgent([{}, {}], { lookback: 2 }, results);
  assertEquals((await agent.prompt("Go")).stoppedBy?.policy, "loop_detection");
});

Deno.test("loopDetection() stops only when the equal turns are consecutive", async () => {
  const { agent } = startAgent([{ a: 1 }, { a: 1 }, { a: 2 }, { a: 1 }, { a: 1 }]);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() does not stop equal calls whose results differ", async () => {
  const results = ["10 %", "20 %", "30 %", "40 %", "built"];
  const { agent } = startAgent([{}, {}, {}, {}, {}], {}, results);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() distinguishes an error from a result with the same text", async () => {
  const results = [textResult("failed"), errorResult("failed"), textResult("failed")];
  const { agent } = startAgent([{}, {}, {}], { lookback: 2 }, results);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() stops when the results become equal", async () => {
  const { agent } = startAgent([{}, {}, {}, {}, {}], {}, ["10 %", "20 %"]);
  assertEquals((await agent.prompt("Go")).turns, 5);
});

Deno.test("loopDetection() stops equal calls that are refused each time", async () => {
  const { agent } = testAgent([1, 2, 3].map(() => reply([toolCall("missing")])), {
    policies: [loopDetection()],
  });
  assertEquals((await agent.prompt("Go")).stoppedBy?.policy, "loop_detection");
});

Deno.test("loopDetection() compares all calls of a turn", async () => {
  const call = (args: JsonObject) => toolCall("poll", args);
  const { agent } = testAgent([
    reply([call({ a: 1 }), call({ a: 2 })]),
    reply([call({ a: 1 }), call({ a: 3 })]),
    reply([call({ a: 1 })]),
    reply("Done"),
  ], { tools: [fakeTool({ name: "poll" })], policies: [loopDetection({ lookback: 2 })] });
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("loopDetection() injects the `steer` message instead of stopping [A105]", async () => {
  const { agent } = startAgent([{}, {}], { lookback: 2, steer: "Try another way" });
  const { messages, stoppedBy } = await agent.prompt("Go");
  const prompts = messages.flatMap((message) =>
    message.role === "user" ? [extractText(message.content)] : []
  );
  assertEquals(prompts, ["Go", "Try another way"]);
  assertEquals(stoppedBy, undefined);
});

Deno.test("loopDetection() ignores consecutive turns without tool calls", async () => {
  const note = { role: "custom", type: "note", data: "Continue", timestamp: 0 } as const;
  const continueOnce: Policy = {
    name: "continue",
    postTurn: ({ turn }) => turn < 3 ? { type: "inject", messages: [note] } : undefined,
  };
  const { agent } = testAgent([reply("a"), reply("a"), reply("a")], {
    policies: [continueOnce, loopDetection({ lookback: 2 })],
  });
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy], [3, undefined]);
});

Deno.test("loopDetection() counts only turns after the last user message", async () => {
  const call = () => reply([toolCall("poll")]);
  const { agent } = testAgent([call(), call(), call(), call()], {
    tools: [fakeTool({ name: "poll" })],
    policies: [loopDetection()],
    maxTurns: 2,
  });
  for (const prompt of ["first", "second"]) {
    assertEquals((await agent.prompt(prompt)).stoppedBy?.policy, "max_turns");
  }
});

Deno.test("loopDetection() counts the turns of an earlier run after the last user message", async () => {
  const poll = fakeTool({ name: "poll", result: "same" });
  const { agent } = testAgent(Array(3).fill(reply([toolCall("poll")])), {
    tools: [poll],
    maxTurns: 2,
    policies: [loopDetection()],
  });
  assertEquals((await agent.prompt("Go")).stoppedBy?.policy, "max_turns");
  assertEquals((await agent.continue()).stoppedBy?.policy, "loop_detection");
});

Deno.test("loopDetection() reads the history only after a turn with the calls of the previous one", async () => {
  const calls = [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 3 }, { a: 4 }];
  const detection = loopDetection();
  const turns: number[] = [];
  const { agent } = testAgent(calls.map((args) => reply([toolCall("poll", args)])), {
    tools: [fakeTool({ name: "poll", result: "same" })],
    maxTurns: calls.length,
    policies: [{
      ...detection,
      postTurn: (context) =>
        detection.postTurn?.(Object.defineProperty({ ...context }, "messages", {
          get() {
            turns.push(context.turn);
            return context.messages;
          },
        })),
    }],
  });
  await agent.prompt("Go");
  assertEquals(turns, [1, 4]);
});

Deno.test("loopDetection() throws for a lookback that is not an integer of at least 2", () => {
  for (const lookback of [1, 2.5, Number.NaN]) {
    assertThrows(() => loopDetection({ lookback }), BadRequestError, "lookback must be an integer");
  }
});

Deno.test("loopDetection() throws for a steer without text", () => {
  for (const steer of ["", " \n", 5, null, ["Stop"]]) {
    assertThrows(
      () => loopDetection({ steer: steer as string }),
      BadRequestError,
      "steer must be a text for the model, not",
    );
  }
});
