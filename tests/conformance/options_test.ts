import { assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop, agentLoopContinue } from "../../src/loop/loop.ts";
import type { AgentLoopConfig } from "../../src/loop/run/config.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

/** Every option of an agent but `model`; the type checker reports one that is missing. */
const OPTIONS: Readonly<Record<keyof Omit<AgentOptions, "model">, undefined>> = {
  parent: undefined,
  streamFn: undefined,
  systemPrompt: undefined,
  tools: undefined,
  messages: undefined,
  pendingApprovals: undefined,
  decidedCalls: undefined,
  steeringMode: undefined,
  followUpMode: undefined,
  streamOptions: undefined,
  toolChoice: undefined,
  convertToLlm: undefined,
  transformContext: undefined,
  getApiKey: undefined,
  retry: undefined,
  fallback: undefined,
  policies: undefined,
  approve: undefined,
  approvalMode: undefined,
  interrupt: undefined,
  maxTurns: undefined,
  toolTimeoutMs: undefined,
  validator: undefined,
  prices: undefined,
  context: undefined,
  now: undefined,
  sleep: undefined,
  newId: undefined,
  random: undefined,
  readFile: undefined,
};

const STEPS = [
  reply([toolCall("look", { at: "x" })]),
  fail("network_error", "Reset"),
  reply("Seen"),
];

for (const name of Object.keys(OPTIONS)) {
  Deno.test(`new Agent({ ${name}: undefined }): the option counts as missing`, async () => {
    const tools = [fakeTool({ name: "look" })];
    const base = { tools, ...scriptedPorts(new InstantClock()), retry: () => 0 };
    const { agent } = testAgent(STEPS, { ...base, [name]: undefined });
    // The default stream would call a provider.
    if (name === "streamFn") return;
    await agent.prompt("Look", { maxTurns: 3 });
    assertEquals(outlineMessages(agent.state.messages), expectedLines(name));
  });
}

function expectedLines(name: string): string[] {
  const missing = 'tool_result: Tool "look" not found. Available tools: none.';
  return [
    "user: Look",
    'assistant: look({"at":"x"})',
    name === "tools" ? missing : "tool_result: ok",
    "assistant: Seen",
  ];
}

Deno.test("agentLoop(): options that are undefined count as missing, also all together", async () => {
  const { streamFn: _streamFn, ...undefinedOptions } = OPTIONS;
  const config: AgentLoopConfig = {
    ...undefinedOptions,
    steering: undefined,
    followUp: undefined,
    settings: undefined,
    model: modelSpec("test/model"),
    streamFn: scriptedStream([reply("Hello")]),
  };
  const context = { systemPrompt: "", messages: [], tools: [] };
  const events = await checkEvents(agentLoop([userMessage("Hi", 0)], context, config));
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stopReason, outlineMessages(end.messages)], [
    "stop",
    ["user: Hi", "assistant: Hello"],
  ]);
});

Deno.test("new Agent({ maxTurns: undefined }): the limit is 100", async () => {
  const steps = Array.from({ length: 120 }, () => reply([toolCall("look")]));
  const { agent } = testAgent(steps, { tools: [fakeTool({ name: "look" })], maxTurns: undefined });
  assertEquals((await agent.prompt("Look")).turns, 100);
});

const look = fakeTool({ name: "look" });

const INVALID: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ model: undefined }, "A model must have a provider and a modelId"],
  [{ model: {} }, "A model must have a provider and a modelId"],
  [{ model: "gpt-5" }, "write it as provider/model"],
  [
    { model: { provider: "a", modelId: "b", thinkingLevel: "hihg" } },
    'The thinking level must be one of off, minimal, low, medium, high, extra_high, not "hihg"',
  ],
  [{ streamFn: "openai" }, "streamFn must be a function, not a string"],
  [{ systemPrompt: 5 }, "systemPrompt must be a string, not number"],
  [{ tools: look }, "The tools must be a list"],
  [{ tools: [look, look] }, 'Two tools have the name "look"'],
  [{ tools: [{ ...look, execute: undefined }] }, "execute must be a function"],
  [{ tools: [{ ...look, parameters: undefined }] }, "parameters must be a JSON Schema"],
  [{ messages: "Hi" }, "The messages must be an array"],
  [{ messages: ["Hi"] }, "Invalid message: a message must be an object with a role"],
  [{ pendingApprovals: "call_1" }, "pendingApprovals must be the pendingApprovals of an earlier"],
  [{ pendingApprovals: ["call_1"] }, "pendingApprovals must be the pendingApprovals of an earlier"],
  ...[
    { toolCallId: 1, name: "look", arguments: {} },
    { toolCallId: "call_1", arguments: {} },
    { toolCallId: "call_1", name: "look", arguments: "{}" },
  ].map((call) =>
    [{ decidedCalls: [call] }, "decidedCalls must be the decidedCalls of an earlier"] as const
  ),
  [{ steeringMode: "any" }, 'steeringMode must be one of one_at_a_time, all, not "any"'],
  [{ steeringMode: Symbol("all") }, "one of one_at_a_time, all, not Symbol(all)"],
  [{ followUpMode: true }, "followUpMode must be one of one_at_a_time, all, not true"],
  [{ streamOptions: [] }, "streamOptions must be an object, not an array"],
  [{ streamOptions: Promise.resolve({}) }, "streamOptions must be an object, not a promise"],
  [{ streamOptions: { toolChoice: "any" } }, "streamOptions.toolChoice must be auto, none"],
  [{ toolChoice: "any" }, 'toolChoice must be auto, none, required or { name: "…" }, not "any"'],
  [{ convertToLlm: {} }, "convertToLlm must be a function, not an object"],
  [{ transformContext: [] }, "transformContext must be a function, not an array"],
  [{ getApiKey: "sk-1" }, "getApiKey must be a function, not a string"],
  [{ retry: 3 }, "retry must be a function, not 3"],
  [{ fallback: modelSpec("a/b") }, "fallback must be an array, not an object"],
  [{ fallback: [undefined] }, "Pass fallbacks such as { model: modelSpec(name) }"],
  [{ fallback: ["gpt-6"] }, 'Cannot parse the model "gpt-6": write it as provider/model'],
  [{ fallback: [{ model: "a/b" }] }, "A model must have a provider and a modelId"],
  ...["streamFn", "getApiKey", "retry"].map((name) =>
    [
      { fallback: [{ model: modelSpec("a/b"), [name]: 1 }] },
      `${name} must be a function, not 1`,
    ] as const
  ),
  [{ policies: { name: "a" } }, "policies must be an array, not an object"],
  [{ policies: [undefined] }, "A policy must have a name and hooks"],
  [{ policies: [{ preTurn: () => {} }] }, "A policy must have a name and hooks"],
  [
    { policies: [{ name: "a", preTurn: "stop" }] },
    'preTurn of the policy "a" must be a function, not a string',
  ],
  [{ approve: true }, "approve must be a function, not true"],
  [
    { approvalMode: "smrt" },
    'approvalMode must be one of always, enabled, smart, bypassed, not "smrt"',
  ],
  [{ interrupt: null }, "interrupt must be one of cancel, boundary, after_batch, not null"],
  [{ maxTurns: 0 }, "maxTurns must be a number above 0, not 0"],
  [{ maxTurns: "10" }, "maxTurns must be a number above 0, not a string"],
  [{ maxTurns: NaN }, "maxTurns must be a number above 0, not NaN"],
  [{ maxTurns: null }, "maxTurns must be a number above 0, not null"],
  [{ toolTimeoutMs: -1 }, "toolTimeoutMs must be a number above 0, not -1"],
  [{ validator: {} }, "validator must be a function, not an object"],
  [{ prices: "cheap" }, "prices must be a function, not a string"],
  [{ now: 0 }, "now must be a function, not 0"],
  [{ sleep: 0 }, "sleep must be a function, not 0"],
  [{ newId: "id" }, "newId must be a function, not a string"],
  [{ random: 0.5 }, "random must be a function, not 0.5"],
  [{ readFile: "a.png" }, "readFile must be a function, not a string"],
];

for (const [options, words] of INVALID) {
  const [[name, value] = []] = Object.entries(options);
  const shown = JSON.stringify(value, (_key, inner) => inner === undefined ? "undefined" : inner);
  Deno.test(`new Agent({ ${name}: ${shown?.slice(0, 60)} }) throws and says what to pass`, () => {
    const all = { model: "a/b", ...options } as unknown as AgentOptions;
    const error = assertThrows(() => new Agent(all), BadRequestError);
    assertEquals(error.message.includes(words), true, error.message);
  });
}

Deno.test("new Agent() throws without options, and for options that are a model name", () => {
  for (const options of [undefined, null, "a/b", []]) {
    assertThrows(
      () => new Agent(options as unknown as AgentOptions),
      BadRequestError,
      "Pass options with a model",
    );
  }
});

for (
  const [options, words] of [
    [{ steering: [] }, "steering must be a function, not an array"],
    [{ followUp: "later" }, "followUp must be a function, not a string"],
    [{ settings: {} }, "settings must be a function, not an object"],
    [{ streamFn: undefined }, "streamFn must be a function, not undefined"],
    [{ model: "a/b" }, "A model must have a provider and a modelId"],
    [{ maxTurn: 5 }, "did you mean maxTurns?"],
    [{ approvalmode: "always" }, "did you mean approvalMode?"],
  ] as const
) {
  Deno.test(`agentLoop() throws for ${JSON.stringify(options)}`, () => {
    const config = { model: modelSpec("a/b"), streamFn: scriptedStream([]), ...options };
    const context = { systemPrompt: "", messages: [userMessage("Hi", 0)], tools: [] };
    for (
      const start of [
        () => agentLoop([userMessage("Hi", 0)], context, config as unknown as AgentLoopConfig),
        () => agentLoopContinue(context, config as unknown as AgentLoopConfig),
      ]
    ) assertThrows(start, BadRequestError, words);
  });
}

Deno.test("agentLoop() throws for a misspelled option of the run, which would not be aborted", () => {
  const config = { model: modelSpec("a/b"), streamFn: scriptedStream([]) };
  const context = { systemPrompt: "", messages: [userMessage("Hi", 0)], tools: [] };
  const options = { singal: AbortSignal.abort() } as object;
  for (
    const start of [
      () => agentLoop([userMessage("Hi", 0)], context, config, options),
      () => agentLoopContinue(context, config, options),
    ]
  ) assertThrows(start, BadRequestError, "did you mean signal?");
});

Deno.test("setModel(), setThinkingLevel() and setTools() throw for invalid values and change nothing", () => {
  const { agent, seen } = testAgent([], { tools: [look] });
  for (const model of ["gpt", {}, undefined, { provider: "a", modelId: "b" }]) {
    assertThrows(() => agent.setModel(model as string), BadRequestError);
  }
  assertThrows(() => agent.setThinkingLevel("hihg" as "high"), BadRequestError, 'not "hihg"');
  assertThrows(() => agent.setTools({} as never), BadRequestError, "The tools must be a list");
  assertThrows(() => agent.setTools([{ name: "odd" }] as never), BadRequestError);
  assertThrows(() => agent.setSystemPrompt(5 as never), BadRequestError, "must be a string");
  assertEquals([agent.state.model, agent.state.tools, agent.state.systemPrompt, seen], [
    modelSpec("test/model"),
    [look],
    "",
    [],
  ]);
});

Deno.test("new Agent() does not keep the caller's lists", async () => {
  const tools = [look];
  const messages = [userMessage("Before", 0)];
  const { agent, streamFn } = testAgent([reply("Hello")], { tools, messages });
  tools.pop();
  messages.pop();
  await agent.prompt("Hi");
  const [call] = streamFn.calls;
  assertEquals([call?.context.tools.length, call?.context.messages.length], [1, 2]);
});
