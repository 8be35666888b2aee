import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  AbortedError,
  AlreadyRunningError,
  BadRequestError,
  BudgetExceededError,
  NetworkError,
  StreamError,
  StructuredOutputFailedError,
} from "../../src/core/errors/errors.ts";
import { isDeeperThan, type JsonSchema } from "../../src/core/json/json.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import { budget } from "../../src/policies/budget.ts";
import { sharedBudget } from "../../src/policies/shared_budget.ts";
import { findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" }, size: { enum: ["big", "small"] } },
  required: ["city"],
  additionalProperties: false,
} as const;
const answer = (args: Record<string, unknown>) => reply([toolCall("structured_output", args)]);

Deno.test("structuredOutput() returns a typed answer and leaves no tool registered [4.14, A72]", async () => {
  const look = fakeTool({ name: "look" });
  const { agent, streamFn, seen } = testAgent([
    reply([toolCall("look")]),
    answer({ city: "Bern", size: "small" }),
    reply("Hello"),
  ], { tools: [look] });
  const value = await agent.structuredOutput("Which city?", city);
  const typed: { city: string; size?: "big" | "small" } = value;
  assertEquals(typed, { city: "Bern", size: "small" });
  assertEquals(streamFn.calls[0]?.context.tools.map(({ name }) => name), [
    "look",
    "structured_output",
  ]);
  assertEquals(streamFn.calls[0]?.context.tools[1]?.parameters, city);
  assertEquals(agent.state.tools, [look]);
  await agent.prompt("Hi");
  assertEquals(streamFn.calls[2]?.context.tools.map(({ name }) => name), ["look"]);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  assertEquals(findViolation(seen), undefined);
  streamFn.assertDone();
});

Deno.test("structuredOutput() returns errors to the model, and each call has one result [4.15, A72]", async () => {
  const { agent, streamFn } = testAgent([
    answer({ city: 5 }),
    reply("It is Bern"),
    reply([toolCall("structured_output", '{"city": "Be')], { stopReason: "stop" }),
    answer({ city: "Bern" }),
  ]);
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  const feedback = streamFn.calls.slice(1).map(({ context }) =>
    outlineMessages(context.messages).at(-1) ?? ""
  );
  assertStringIncludes(feedback[0] ?? "", "- /city: must be string");
  assertEquals(
    feedback[1],
    'user: The answer must be given by calling the tool "structured_output".',
  );
  assertStringIncludes(feedback[2] ?? "", "not a JSON object");
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  streamFn.assertDone();
});

Deno.test("structuredOutput() accepts an empty object if the schema does [A72]", async () => {
  const { agent } = testAgent([answer({})]);
  assertEquals(await agent.structuredOutput("Anything?", { type: "object" }), {});
});

Deno.test("structuredOutput() wraps an answer that is not an object for the tool, and returns it unwrapped", async () => {
  const { agent, streamFn } = testAgent([
    answer({ value: ["a", 5] }),
    answer({ value: ["a", "b"] }),
  ]);
  const list = await agent.structuredOutput("Names?", { type: "array", items: { type: "string" } });
  const names: string[] = list;
  assertEquals(names, ["a", "b"]);
  assertStringIncludes(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "",
    "/value/1",
  );
});

Deno.test("structuredOutput() renames its tool when names are taken", async () => {
  const { agent, streamFn } = testAgent([
    reply([toolCall("structured_output_3", { city: "Bern" })]),
  ], {
    tools: ["structured_output", "structured_output_2"].map((name) => fakeTool({ name })),
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  streamFn.assertDone();
});

Deno.test("structuredOutput() uses the reply text where the provider enforces the schema", async () => {
  const script = scriptedStream([
    reply('{"city": 5}'),
    reply("Bern"),
    reply([text('{"city":'), text('"Bern"}')]),
  ]);
  const streamFn = Object.assign(script, { hasStrictSchema: () => true });
  const { agent } = testAgent([], { streamFn });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ options, context }) => [options.responseSchema, context.tools]),
    [
      [city, []],
      [city, []],
      [city, []],
    ],
  );
  const feedback = script.calls.slice(1).map(({ context }) =>
    outlineMessages(context.messages).at(-1) ?? ""
  );
  assertStringIncludes(feedback[0] ?? "", "- /city: must be string");
  assertStringIncludes(feedback[1] ?? "", "The answer is not JSON");
  script.assertDone();
});

Deno.test("structuredOutput() rejects with the error of a failed or aborted run", async () => {
  const failing = testAgent([fail("network_error", "Reset")], { retry: () => null });
  await assertRejects(() => failing.agent.structuredOutput("?", city), NetworkError, "Reset");
  const aborted = testAgent([hang()]);
  atFirst(
    aborted.agent,
    "message_start",
    () => queueMicrotask(() => aborted.agent.abort("enough")),
  );
  const error = await assertRejects(() => aborted.agent.structuredOutput("?", city), AbortedError);
  assertEquals(error.cause, "enough");
  const thrown = testAgent([], {
    streamFn: () => {
      throw new Error("no socket");
    },
  });
  await assertRejects(() => thrown.agent.structuredOutput("?", city), StreamError);
});

Deno.test("structuredOutput() is running at once: abort() right after the call ends it, and a prompt is refused", async () => {
  const { agent, streamFn } = testAgent([]);
  const asking = agent.structuredOutput("?", city);
  assertEquals(agent.state.isRunning, true);
  await assertRejects(() => agent.prompt("Hi"), AlreadyRunningError);
  agent.abort("enough");
  const error = await assertRejects(() => asking, AbortedError);
  assertEquals([error.cause, agent.state.isRunning, streamFn.calls], ["enough", false, []]);
});

Deno.test("structuredOutput() rejects an invalid schema before the run, and the agent is idle again", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  const bad: JsonSchema = { type: "nonsense" };
  const asking = agent.structuredOutput("?", bad);
  agent.steer("Meanwhile");
  await assertRejects(() => asking, BadRequestError, "The schema of the answer is invalid");
  assertEquals([agent.state.isRunning, agent.state.messages, streamFn.calls], [false, [], []]);
  await agent.waitForIdle();
  await agent.prompt("Hi");
  streamFn.assertDone();
});

Deno.test("structuredOutput(): the answer skips approval and policies", async () => {
  const asked: string[] = [];
  const { agent, seen } = testAgent([
    reply([toolCall("look"), toolCall("structured_output", { city: "Bern" })]),
  ], {
    tools: [fakeTool({ name: "look" })],
    approvalMode: "enabled",
    approve: ({ name }) => {
      asked.push(name);
      return false;
    },
    policies: [{ name: "none", preDispatch: ({ tool }) => ({ type: "skip", reason: tool.name }) }],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(asked, []);
  assertEquals(
    eventsOfType(seen, "tool_execution_end").map(({ name, isError }) => [name, isError]),
    [
      ["look", true],
      ["structured_output", false],
    ],
  );
});

Deno.test("structuredOutput() accepts steering and still waits for the answer", async () => {
  const { agent, streamFn } = testAgent([
    reply([toolCall("slow")]),
    answer({ city: "Basel" }),
  ], { tools: [fakeTool({ name: "slow", delayMs: Infinity })] });
  const asking = agent.structuredOutput("Which city?", city);
  await settle();
  agent.steer("On the Rhine");
  assertEquals(await asking, { city: "Basel" });
  assertEquals(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1),
    "user: On the Rhine",
  );
});

Deno.test("structuredOutput() ends the run with the answer and keeps follow-ups queued", async () => {
  const { agent, streamFn, seen } = testAgent([answer({ city: "Bern" })]);
  agent.followUp("More");
  await agent.structuredOutput("Which city?", city);
  assertEquals(agent.queued.followUp.length, 1);
  const [end] = eventsOfType(seen, "agent_end");
  assertEquals([end?.error, end?.stopReason], [undefined, "tool_use"]);
  streamFn.assertDone();
});

Deno.test("structuredOutput() accepts a Standard Schema with a JSON Schema form", async () => {
  const library = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) => ({ value: value as { city: string } }),
      jsonSchema: { input: () => city, output: () => city },
    },
  } as const;
  const { agent, streamFn } = testAgent([answer({}), answer({ city: "Bern" })]);
  assertEquals(await agent.structuredOutput("Which city?", library as never), { city: "Bern" });
  streamFn.assertDone();
});

Deno.test("structuredOutput() calls its tool, not the provider's schema mode, when the agent has tools", async () => {
  const script = scriptedStream([answer({ city: "Bern" })]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
    tools: [fakeTool({ name: "look" })],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  const [request] = script.calls;
  assertEquals(request?.options.responseSchema, undefined);
  assertEquals(request?.context.tools.map(({ name }) => name), ["look", "structured_output"]);
});

Deno.test("structuredOutput() checks a native answer with the validator of the agent", async () => {
  const script = scriptedStream([reply('{"city":"Atlantis"}'), reply('{"city":"Bern"}')]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
    validator: () => (value) =>
      JSON.stringify(value).includes("Atlantis")
        ? [{ path: "/city", message: "does not exist" }]
        : [],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    outlineMessages(agent.state.messages)[2],
    [
      "user: The answer does not match the schema:\n- /city: does not exist",
    ][0],
  );
  script.assertDone();
});

Deno.test("structuredOutput() returns the first answer when a reply has two", async () => {
  const { agent, streamFn } = testAgent([
    reply([
      toolCall("structured_output", { city: "Bern" }),
      toolCall("structured_output", { city: "Basel" }),
    ]),
  ]);
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  streamFn.assertDone();
});

Deno.test("structuredOutput() accepts no text of an aborted reply, even if it matches the schema", async () => {
  const { agent } = testAgent([], {
    streamFn: Object.assign(scriptedStream([hang({ after: "12" })]), {
      hasStrictSchema: () => true,
    }),
  });
  atFirst(agent, "message_update", () => agent.abort("enough"));
  await assertRejects(() => agent.structuredOutput("How many?", { type: "number" }), AbortedError);
});

Deno.test("structuredOutput() keeps the streamOptions of the agent", async () => {
  const { agent, streamFn } = testAgent([answer({ city: "Bern" })], {
    streamOptions: { temperature: 0 },
  });
  await agent.structuredOutput("Which city?", city);
  assertEquals(streamFn.calls[0]?.options, { temperature: 0 });
});

const node = {
  type: "object",
  properties: {
    name: { type: "string" },
    list: { type: "array", items: { $ref: "#/$defs/node" } },
  },
  required: ["name"],
};

Deno.test("structuredOutput(): definitions of a schema that is not an object move to the root of the tool", async () => {
  const tree = [{ name: "a", list: [{ name: "b" }] }];
  const definitions = { node: { ...node, properties: { name: { type: "string" } } } };
  const cases: [schema: JsonSchema, value: unknown][] = [
    [{ type: "array", items: { $ref: "#/$defs/node" }, $defs: { node } }, tree],
    [{ $ref: "#/$defs/node", $defs: { node } }, tree[0]],
    [{ anyOf: [{ type: "null" }, { $ref: "#/definitions/node" }], definitions }, { name: "a" }],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { $ref: "#" }] } }, ["a", ["b"]]],
    [{ type: "array", prefixItems: [{ type: "string" }], items: { $ref: "#/prefixItems/0" } }, [
      "a",
      "b",
    ]],
    [{ $id: "https://example.com/list", type: "array", items: { $ref: "#" } }, [[], [[]]]],
  ];
  for (const [schema, value] of cases) {
    const { agent, streamFn, seen } = testAgent([answer({ value: [5] }), answer({ value })]);
    assertEquals(await agent.structuredOutput("Tree?", schema), value);
    assertEquals(eventsOfType(seen, "warning"), []);
    streamFn.assertDone();
  }
});

Deno.test("structuredOutput(): the tool gets the definitions where providers expect them", async () => {
  const { agent, streamFn } = testAgent([answer({ value: [] })]);
  await agent.structuredOutput("Tree?", {
    type: "array",
    items: { anyOf: [{ $ref: "#/$defs/node" }, { $ref: "#" }] },
    $defs: { node },
  });
  assertEquals(streamFn.calls[0]?.context.tools[0]?.parameters, {
    type: "object",
    properties: {
      value: {
        type: "array",
        items: { anyOf: [{ $ref: "#/$defs/node" }, { $ref: "#/properties/value" }] },
      },
    },
    required: ["value"],
    additionalProperties: false,
    $defs: { node },
  });
});

/** A library's schema for a city that exists, with its name in capitals. */
const capitals = {
  "~standard": {
    version: 1,
    vendor: "test",
    types: undefined as { input: { city: string }; output: { name: string } } | undefined,
    validate: async (value: unknown) => {
      const { city } = await Promise.resolve(value as { city: string });
      return city === "Atlantis"
        ? { issues: [{ message: "does not exist", path: ["city"] }] }
        : { value: { name: city.toUpperCase() } };
    },
    jsonSchema: { input: () => ({ ...city }) },
  },
} as const;

Deno.test("structuredOutput() returns the output of a library's schema, and its errors to the model", async () => {
  const tools = testAgent([answer({ city: "Atlantis" }), answer({ city: "Bern" })]);
  const value = await tools.agent.structuredOutput("Which city?", capitals);
  const typed: { name: string } = value;
  assertEquals(typed, { name: "BERN" });
  const texts = scriptedStream([reply('{"city":"Atlantis"}'), reply('{"city":"Bern"}')]);
  const native = testAgent([], { streamFn: Object.assign(texts, { hasStrictSchema: () => true }) });
  assertEquals(await native.agent.structuredOutput("Which city?", capitals), { name: "BERN" });
  for (const { calls } of [tools.streamFn, texts]) {
    const feedback = outlineMessages(calls[1]?.context.messages ?? []).at(-1) ?? "";
    assertStringIncludes(feedback, "- /city: does not exist");
  }
});

Deno.test("structuredOutput() fills in the defaults of a JSON Schema, and validates wrapped values", async () => {
  const schema = {
    type: "array",
    items: { type: "object", properties: { size: { type: "integer", default: 1 } } },
  } as const;
  const { agent } = testAgent([answer({ value: [{}, { size: 2 }] })]);
  const value: { size: number }[] = await agent.structuredOutput("Sizes?", schema);
  assertEquals(value, [{ size: 1 }, { size: 2 }]);
});

Deno.test("structuredOutput(): a library's schema that throws is an invalid answer", async () => {
  const broken = {
    "~standard": {
      ...capitals["~standard"],
      validate: () => {
        throw new Error("no database");
      },
    },
  };
  const texts = Object.assign(scriptedStream([reply('{"city":"Bern"}')]), {
    hasStrictSchema: () => true,
  });
  for (const options of [{}, { streamFn: texts }]) {
    const { agent } = testAgent([answer({ city: "Bern" })], options);
    const error = await assertRejects(
      () => agent.structuredOutput("?", broken, { maxRetries: 0 }),
      StructuredOutputFailedError,
    );
    assertStringIncludes(error.lastError, "no database");
  }
});

Deno.test("structuredOutput() accepts native answers of 200 levels, and refuses deeper ones", async () => {
  const ask = (levels: number): Promise<unknown> => {
    const text = `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    const streamFn = Object.assign(scriptedStream([reply(text)]), { hasStrictSchema: () => true });
    const { agent } = testAgent([], { streamFn });
    return agent.structuredOutput("?", { type: "object" }, { maxRetries: 0 });
  };
  assertEquals(isDeeperThan(await ask(200), 199), true);
  for (const levels of [201, 20_000]) {
    const error = await assertRejects(() => ask(levels), StructuredOutputFailedError);
    assertStringIncludes(error.lastError, "nested more than 200 levels deep");
  }
});

Deno.test("structuredOutput() rejects with the policy that stopped the run and its reason", async () => {
  const stop = (policy: string) => ({
    name: policy,
    preTurn: () => ({ type: "stop", reason: "Closed today" }) as const,
  });
  const stopped = await assertRejects(
    () => testAgent([], { policies: [stop("hours")] }).agent.structuredOutput("?", city),
    StructuredOutputFailedError,
    'The policy "hours" stopped the run before a valid answer: Closed today',
  );
  assertEquals([stopped.attempts, stopped.lastError], [0, "Closed today"]);
  const turns = testAgent([answer({})], { maxTurns: 1 });
  const limited = await assertRejects(
    () => turns.agent.structuredOutput("?", city),
    StructuredOutputFailedError,
    'The policy "max_turns" stopped the run before a valid answer: The run reached its limit of 1 turn',
  );
  assertEquals(limited.attempts, 1);
  assertStringIncludes(limited.lastError, "- /city: is required");
  for (const policy of [budget({ tokens: 0 }), sharedBudget({ tokens: 0 })]) {
    await assertRejects(
      () => testAgent([], { policies: [policy] }).agent.structuredOutput("?", city),
      BudgetExceededError,
      "The run reached the limit of 0 tokens",
    );
  }
});

Deno.test("structuredOutput() rejects when the run waits for approvals, which stay pending", async () => {
  const { agent } = testAgent([reply([toolCall("look")])], {
    tools: [fakeTool({ name: "look" })],
    approve: () => ({ type: "pending" }),
  });
  const error = await assertRejects(
    () => agent.structuredOutput("?", city),
    StructuredOutputFailedError,
    "The run waits for approvals before a valid answer",
  );
  assertEquals([error.attempts, error.lastError], [0, "approvals are pending"]);
  assertEquals(agent.state.pendingApprovals.map(({ name }) => name), ["look"]);
});

Deno.test("structuredOutput() with full returns the usage, cost and messages of the run", async () => {
  const call = toolCall("structured_output", { city: "Bern" });
  const usage = { ...zeroUsage(), input: 5, total: 5 };
  const { agent } = testAgent([answer({ city: 5 }), reply([call], { usage })]);
  const result = await agent.structuredOutput("Which city?", city, { full: true });
  const typed: { city: string } = result.value;
  assertEquals(typed, { city: "Bern" });
  assertEquals(result.messages, agent.state.messages);
  assertEquals(Object.keys(result).toSorted(), ["cost", "messages", "usage", "value"]);
  assertEquals(result.usage.total, 5);
});

Deno.test("structuredOutput() compiles only the form of the schema that the provider gets", async () => {
  const schema = { type: "string", minLength: 1 } as const;
  for (const isNative of [false, true]) {
    const compiled: JsonSchema[] = [];
    const script = scriptedStream([isNative ? reply('"Bern"') : answer({ value: "Bern" })]);
    const { agent } = testAgent([], {
      streamFn: Object.assign(script, { hasStrictSchema: () => isNative }),
      validator: (schema) => {
        compiled.push(schema);
        return () => [];
      },
    });
    assertEquals(await agent.structuredOutput("Which city?", schema), "Bern");
    assertEquals(compiled.map(({ type }) => type), [isNative ? "string" : "object"]);
  }
});
