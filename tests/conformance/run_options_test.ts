import { assertEquals, assertRejects } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { RunOptions } from "../../src/agent/run_options.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import type { StreamOptions, ToolChoice } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });
const LOOKS = Array.from({ length: 4 }, () => reply([toolCall("look")]));

/** Runs three turns with tool calls; returns the stream options of each request. */
async function requestOptions(
  agentOptions: Partial<AgentOptions>,
  runOptions: RunOptions = {},
): Promise<readonly StreamOptions[]> {
  const { agent, streamFn } = testAgent([...LOOKS.slice(0, 2), reply("Done"), reply("Again")], {
    tools: [look()],
    ...agentOptions,
  });
  await agent.prompt("Go", runOptions);
  await agent.prompt("Again");
  return streamFn.calls.map(({ options }) => options);
}

Deno.test("maxTurns of a run: limits that run only", async () => {
  const { agent } = testAgent([...LOOKS, reply("Done")], { tools: [look()], maxTurns: 3 });
  const first = await agent.prompt("Go", { maxTurns: 1 });
  assertEquals([first.turns, first.stoppedBy], [
    1,
    { policy: "max_turns", reason: "The run reached its limit of 1 turn" },
  ]);
  const second = await agent.continue();
  assertEquals([second.turns, second.stoppedBy?.reason], [
    3,
    "The run reached its limit of 3 turns",
  ]);
});

for (const forced of ["required", { name: "look" }] as const) {
  const words = JSON.stringify(forced);

  Deno.test(`toolChoice ${words} of a run: applies to the first turn of that run only`, async () => {
    assertEquals(await requestOptions({}, { toolChoice: forced }), [
      { toolChoice: forced },
      {},
      {},
      {},
    ]);
  });

  Deno.test(`toolChoice ${words} of the agent, as an option or in streamOptions: applies to the first turn of every run`, async () => {
    const expected = [{ toolChoice: forced }, {}, {}, { toolChoice: forced }];
    assertEquals(await requestOptions({ toolChoice: forced }), expected);
    assertEquals(await requestOptions({ streamOptions: { toolChoice: forced } }), expected);
  });
}

for (const kept of ["auto", "none"] as const) {
  Deno.test(`toolChoice ${kept} of a run: applies to all turns, and replaces one that forces a call`, async () => {
    for (
      const agentOptions of [
        { toolChoice: "required" },
        { streamOptions: { toolChoice: "required" } },
      ] as const
    ) {
      assertEquals(await requestOptions(agentOptions, { toolChoice: kept }), [
        { toolChoice: kept },
        { toolChoice: kept },
        { toolChoice: kept },
        { toolChoice: "required" },
      ]);
    }
  });
}

for (
  const [place, agentOptions] of [
    ["streamOptions", { streamOptions: { toolChoice: "none", seed: 1 } }],
    ["options", { toolChoice: "none", streamOptions: { seed: 1 } }],
  ] as const
) {
  Deno.test(`toolChoice in the streamOptions of a run: replaces the one of the agent's ${place}`, async () => {
    assertEquals(
      await requestOptions(agentOptions, { streamOptions: { toolChoice: "required" } }),
      [
        { toolChoice: "required", seed: 1 },
        { seed: 1 },
        { seed: 1 },
        { toolChoice: "none", seed: 1 },
      ],
    );
  });
}

Deno.test("streamOptions of a run: replace those of the agent one by one, for that run only", async () => {
  const options = await requestOptions(
    { streamOptions: { temperature: 1, maxTokens: 10 } },
    { streamOptions: { temperature: 0, stop: ["END"] } },
  );
  const run = { temperature: 0, maxTokens: 10, stop: ["END"] };
  assertEquals(options, [run, run, run, { temperature: 1, maxTokens: 10 }]);
});

Deno.test("tools of a run: are added to those of the agent, run, and are gone in the next run", async () => {
  const extra = fakeTool({ name: "extra" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("extra"), toolCall("look")]),
    reply("Done"),
    reply("Again"),
  ], { tools: [look()] });
  await checkEvents(agent.promptStream("Go", { tools: [extra] }));
  assertEquals(extra.calls.length, 1);
  assertEquals(agent.state.tools.map(({ name }) => name), ["look"]);
  await agent.prompt("Again");
  assertEquals(streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name)), [
    ["look", "extra"],
    ["look", "extra"],
    ["look"],
  ]);
});

Deno.test("tools of a run: stay when setTools() changes those of the agent during the run", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("extra")]), reply("Done")], {
    tools: [look()],
  });
  const extra = fakeTool({ name: "extra", result: () => (agent.setTools([]), "ok") });
  await agent.prompt("Go", { tools: [extra] });
  assertEquals(streamFn.calls[1]?.context.tools.map(({ name }) => name), ["extra"]);
});

Deno.test("tools of a run: one of the same name that the agent gets during the run does not replace them", async () => {
  const own = fakeTool({ name: "extra" });
  const extra = fakeTool({ name: "extra", result: () => (agent.setTools([own]), "ok") });
  const steps = [reply([toolCall("extra")]), reply([toolCall("extra")]), reply("Done")];
  const { agent, streamFn } = testAgent(steps);
  await agent.prompt("Go", { tools: [extra] });
  const sent = streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name));
  assertEquals(sent, [["extra"], ["extra"], ["extra"]]);
  assertEquals([extra.calls.length, own.calls.length], [2, 0]);
});

Deno.test("tools of a run: the same list is sent in every turn, so that adapters can cache it", async () => {
  const { agent, streamFn } = testAgent([...LOOKS.slice(0, 2), reply("Done")], { tools: [look()] });
  const sent: unknown[] = [];
  agent.subscribe(() => {});
  await agent.prompt("Go", {
    tools: [fakeTool({ name: "extra" })],
    policies: [{
      name: "watch",
      preRequest: ({ request }) => void sent.push(request.context.tools),
    }],
  });
  assertEquals(new Set(sent).size, 1);
  streamFn.assertDone();
});

Deno.test("policies of a run: follow those of the agent, in that run only", async () => {
  const asked: string[] = [];
  const policy = (name: string): Policy => ({ name, preTurn: () => void asked.push(name) });
  const { agent } = testAgent([reply("One"), reply("Two")], { policies: [policy("own")] });
  await agent.prompt("Go", { policies: [policy("run")] });
  await agent.prompt("Again");
  assertEquals(asked, ["own", "run", "own"]);
});

Deno.test("context of a run: reaches tools, policies and approvals unchanged, and is nowhere else", async () => {
  const context = { secret: "s3cret", connection: () => {}, self: undefined as unknown };
  context.self = context;
  const seen: unknown[] = [];
  const watch: Policy = {
    name: "watch",
    preTurn: ({ context }) => void seen.push(context),
    preRequest: ({ context }) => void seen.push(context),
    preDispatch: ({ context }) => void seen.push(context),
    postDispatch: ({ context }) => void seen.push(context),
    postTurn: ({ context }) => void seen.push(context),
    postLoop: ({ context }) => void seen.push(context),
    onDelta: ({ context }) => void seen.push(context),
  };
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: (_args, { context }) => (seen.push(context), "ok") })],
    approve: ({ context }) => (seen.push(context), true),
    context: "that of the agent",
    policies: [watch],
  });
  const events = await checkEvents(agent.promptStream("Look", { context }));
  assertEquals(seen.every((value) => value === context), true);
  assertEquals(seen.length >= 13, true, `${seen.length}`);
  assertEquals(JSON.stringify([events, agent.state.messages]).includes("s3cret"), false);
  for (const { signal: _signal, ...request } of streamFn.calls) {
    assertEquals(JSON.stringify(request).includes("s3cret"), false);
    assertEquals("context" in request.options, false);
  }
});

Deno.test("context of a run: replaces the agent's in that run only, also if it is null or false", async () => {
  const seen: unknown[] = [];
  const { agent } = testAgent(Array(5).fill(reply("Hi")), {
    context: "agent",
    policies: [{ name: "watch", preTurn: ({ context }) => void seen.push(context) }],
  });
  for (const context of ["run", undefined, null, false, 0]) await agent.prompt("Hi", { context });
  assertEquals(seen, ["run", "agent", null, false, 0]);
});

const INVALID: readonly (readonly [unknown, string])[] = [
  [{ maxTurns: 0 }, "maxTurns must be a number above 0, not 0"],
  [{ maxTurns: "5" }, "maxTurns must be a number above 0, not a string"],
  [{ toolChoice: "always" }, "toolChoice must be"],
  [{ toolChoice: { tool: "look" } }, "toolChoice must be"],
  [{ streamOptions: "fast" }, "streamOptions must be an object"],
  [{ tools: {} }, "The tools must be a list"],
  [{ tools: [{ name: "odd" }] }, 'Invalid tool "odd"'],
  [{ tools: [look()] }, 'Two tools have the name "look"'],
  [{ tools: [fakeTool({ name: "a" }), fakeTool({ name: "a" })] }, 'Two tools have the name "a"'],
  [{ policies: {} }, "policies must be an array"],
  [{ policies: [() => {}] }, "A policy must have a name"],
  [{ signal: {} }, "signal must be an AbortSignal"],
];

for (const [options, words] of INVALID) {
  Deno.test(`prompt() and continue() reject the run options ${JSON.stringify(options)}`, async () => {
    const { agent, streamFn } = testAgent([reply("Hello")], { tools: [look()] });
    await assertRejects(() => agent.prompt("Hi", options as RunOptions), BadRequestError, words);
    agent.steer("Hi");
    await assertRejects(() => agent.continue(options as RunOptions), BadRequestError, words);
    assertEquals([agent.state.isRunning, streamFn.calls.length], [false, 0]);
    await agent.continue();
    streamFn.assertDone();
  });
}

Deno.test("run options that are undefined count as missing", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    maxTurns: 5,
    toolChoice: "required",
    streamOptions: { seed: 1 },
    context: "agent",
  });
  const names = ["signal", "maxTurns", "toolChoice", "streamOptions", "tools", "policies"];
  const options = Object.fromEntries([...names, "context", "approvals"].map((name) => [name]));
  const { turns, error } = await agent.prompt("Look", options);
  assertEquals([turns, error], [2, undefined]);
  assertEquals(streamFn.calls[0]?.options, { seed: 1, toolChoice: "required" });
});

Deno.test("structuredOutput(): run options apply, and its tool has a name that no tool of the run has", async () => {
  const own = fakeTool({ name: "structured_output" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("structured_output_2", { city: "Bern" })]),
  ]);
  const schema = { type: "object", properties: { city: { type: "string" } } } as const;
  const choice: ToolChoice = "required";
  const answer = await agent.structuredOutput("Which city?", schema, {
    tools: [own],
    toolChoice: choice,
    streamOptions: { seed: 1 },
  });
  assertEquals(answer, { city: "Bern" });
  assertEquals(streamFn.calls[0]?.options, { seed: 1, toolChoice: choice });
  assertEquals(streamFn.calls[0]?.context.tools.map(({ name }) => name), [
    "structured_output",
    "structured_output_2",
  ]);
});

Deno.test("structuredOutput(): does not use the provider's schema mode when the run has tools", async () => {
  const streamFn = Object.assign(
    scriptedStream([reply([toolCall("structured_output", { city: "Bern" })])]),
    { hasStrictSchema: () => true },
  );
  const { agent } = testAgent([], { streamFn });
  const schema = { type: "object", properties: { city: { type: "string" } } } as const;
  await agent.structuredOutput("Which city?", schema, { tools: [look()] });
  assertEquals(streamFn.calls[0]?.options.responseSchema, undefined);
});

for (const options of [null, 5, { tools: 5 }, { tools: null }]) {
  Deno.test(`prompt() and structuredOutput() with the options ${JSON.stringify(options)} reject with bad_request`, async () => {
    const { agent } = testAgent([reply("Hello")]);
    const untyped = options as unknown as RunOptions;
    await assertRejects(() => agent.prompt("Hi", untyped), BadRequestError);
    await assertRejects(() => agent.structuredOutput("Hi", {}, untyped), BadRequestError);
    assertEquals((await agent.prompt("Hi")).text, "Hello");
  });
}

Deno.test("streamOptions of a run: an undefined one keeps that of the agent", async () => {
  const options = { temperature: undefined, maxTokens: 9 };
  const [sent] = await requestOptions({ streamOptions: { temperature: 0 } }, {
    streamOptions: options,
  });
  assertEquals(sent, { temperature: 0, maxTokens: 9 });
});
