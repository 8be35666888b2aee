import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as agentModule from "../../mod.ts";
import {
  Agent,
  AgentError,
  type AgentErrorRecord,
  type AgentOptions,
  BadRequestError,
  defineTool,
  type RunOptions,
} from "../../mod.ts";
import * as policies from "../../src/policies/mod.ts";
import * as sync from "../../src/sync/mod.ts";
import * as testing from "../../src/testing/mod.ts";
import { fakeTool, reply, scriptedStream } from "../../src/testing/mod.ts";
import { testAgent } from "./test_agent.ts";

/** Values that programs without types pass by mistake. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  "nothing": [],
  "null": [null],
  "a string": ["x"],
  "a number": [5],
  "a symbol": [Symbol("s")],
  "an array": [[]],
  "an array of null": [[null]],
  "an array of symbols": [[Symbol("s")]],
  "an object": [{}],
  "a function": [() => {}],
  "null three times": [null, null, null],
  "an object and null": [{}, null, null],
  "a string and null": ["x", null, null],
  "an array and symbols": [[], Symbol("s"), Symbol("s")],
};

/** Files that these would write. */
const SKIPPED = new Set(["recordFetch", "replayCassette"]);

/** Fails if a call throws, rejects or streams an error that is not of the library. */
async function assertAgentError(call: () => unknown): Promise<void> {
  try {
    const value = await call();
    if (!(value instanceof ReadableStream)) return;
    const reader = value.getReader();
    while (!(await reader.read()).done);
  } catch (error) {
    if (AgentError.is(error) || error instanceof testing.EventOrderError) return;
    throw error;
  }
}

const modules = { agentModule, policies, sync, testing };
for (const [moduleName, exports] of Object.entries(modules)) {
  for (const [name, exported] of Object.entries(exports)) {
    if (typeof exported !== "function" || SKIPPED.has(name)) continue;
    Deno.test(`misuse: ${name} of ${moduleName} returns a value or an AgentError for arguments of any type`, async () => {
      const isClass = Function.prototype.toString.call(exported).startsWith("class");
      for (const values of Object.values(VALUES)) {
        await assertAgentError(() =>
          isClass ? Reflect.construct(exported, values) : Reflect.apply(exported, null, values)
        );
      }
    });
  }
}

for (const name of ["recordFetch", "replayCassette"] as const) {
  Deno.test(`misuse: ${name}() throws a BadRequestError for options that are no object`, () => {
    assertThrows(
      () => Reflect.apply(testing[name], null, [() => {}, null, null]),
      BadRequestError,
    );
    assertThrows(() => Reflect.apply(testing[name], null, [null, "x", null]), BadRequestError);
  });
}

const methods = Object.getOwnPropertyNames(Agent.prototype).filter((name) =>
  typeof Object.getOwnPropertyDescriptor(Agent.prototype, name)?.value === "function" &&
  name !== "constructor"
);
for (const name of methods) {
  Deno.test(`misuse: Agent.${name}() returns a value or an AgentError for arguments of any type`, async () => {
    for (const values of Object.values(VALUES)) {
      const { agent } = testAgent([]);
      const method: unknown = Reflect.get(agent, name);
      assert(typeof method === "function");
      await assertAgentError(() => Reflect.apply(method, agent, values));
      await agent.waitForIdle();
    }
  });
}

Deno.test("misuse: AgentError.from() ignores attributes of wrong types, and converts any value", () => {
  const from = (value: unknown): AgentError => AgentError.from(value as AgentErrorRecord);
  const error = from({
    code: "auth_error",
    message: 5,
    status: "401",
    retryable: "no",
    model: "m",
  });
  assertEquals(
    [error.code, error.message, error.status, error.retryable, error.model],
    [
      "auth_error",
      '{"code":"auth_error","message":5,"status":"401","retryable":"no","model":"m"}',
      undefined,
      false,
      "m",
    ],
  );
  for (const value of [null, undefined, "boom", 5, [], Symbol("s"), {}]) {
    assertEquals(from(value).code, "stream_error");
  }
  assertEquals(from("boom").message, "boom");
});

const misspelledAgents: readonly (readonly [object, string])[] = [
  [{ systemprompt: "x" }, 'Unknown option "systemprompt" of the agent: did you mean systemPrompt?'],
  [{ maxTurn: 3 }, 'Unknown option "maxTurn" of the agent: did you mean maxTurns?'],
  [{ instructions: "x" }, 'Unknown option "instructions" of the agent: did you mean systemPrompt?'],
  [{ tempature: 1 }, 'Unknown option "tempature" of the agent'],
  [{ steering: () => [] }, 'Unknown option "steering" of the agent: did you mean steeringMode?'],
  [
    { temperature: 0 },
    'Unknown option "temperature" of the agent: pass it as streamOptions: { temperature }',
  ],
  [
    { streamOptions: { max_tokens: 5 } },
    'Unknown option "max_tokens" of streamOptions: did you mean maxTokens?',
  ],
  [
    { policies: [{ name: "guard", predispatch() {} }] },
    'Unknown property "predispatch" of the policy "guard": did you mean preDispatch?',
  ],
  [
    { tools: [{ ...fakeTool({ name: "rm" }), requireApproval: true }] },
    'Unknown property "requireApproval" of the tool "rm": did you mean requiresApproval?',
  ],
  [
    { tools: [{ ...fakeTool({ name: "rm" }), needsApproval: true }] },
    'Unknown property "needsApproval" of the tool "rm": did you mean requiresApproval?',
  ],
];
for (const [options, problem] of misspelledAgents) {
  Deno.test(`misuse: new Agent() throws: ${problem}`, () => {
    const all = { model: "any/model", streamFn: scriptedStream([]), ...options } as AgentOptions;
    assertEquals(assertThrows(() => new Agent(all), BadRequestError).message, problem);
  });
}

const misspelledRuns: readonly (readonly [object, string])[] = [
  [{ abortSignal: 1 }, 'Unknown option "abortSignal" of the run: did you mean signal?'],
  [
    { apiKey: "sk-1" },
    'Unknown option "apiKey" of the run: pass it as streamOptions: { apiKey }',
  ],
  [{ maxturns: 3 }, 'Unknown option "maxturns" of the run: did you mean maxTurns?'],
  [
    { streamOptions: { topp: 1 } },
    'Unknown option "topp" of streamOptions: did you mean topP?',
  ],
  [
    { policies: [{ name: "guard", postturn() {} }] },
    'Unknown property "postturn" of the policy "guard": did you mean postTurn?',
  ],
  [
    { tools: [{ ...fakeTool({ name: "rm" }), interruptable: false }] },
    'Unknown property "interruptable" of the tool "rm": did you mean interruptible?',
  ],
  [{ approvals: { call_1: true } }, "Pass the approvals to continue() instead"],
];
for (const [options, problem] of misspelledRuns) {
  Deno.test(`misuse: prompt() rejects and does not start a run: ${problem}`, async () => {
    const { agent } = testAgent([]);
    const error = await assertRejects(
      () => agent.prompt("Go", options as RunOptions),
      BadRequestError,
    );
    assertEquals(error.message, problem);
    assertEquals(agent.state.isRunning, false);
    assertEquals(agent.state.messages, []);
  });
}

Deno.test("misuse: defineTool() and setTools() refuse misspelled properties", () => {
  const tool = { ...fakeTool({ name: "rm" }), readonly: true };
  const problem = 'Unknown property "readonly" of the tool "rm": did you mean readOnly?';
  assertThrows(() => defineTool(tool), BadRequestError, problem);
  assertThrows(() => testAgent([]).agent.setTools([tool]), BadRequestError, problem);
});

Deno.test("misuse: tools and policies may have properties of their own, and options may be undefined", async () => {
  const tool = { ...fakeTool({ name: "work" }), version: 2, executed: 0, labels: ["a"] };
  const policy = { name: "counter", preTurn() {}, preTurns: 0, count: 0 };
  const { agent } = testAgent([reply("Done")], {
    tools: [tool],
    policies: [policy],
    ...{ unknown: undefined },
  });
  assertEquals((await agent.prompt("Go")).text, "Done");
});

Deno.test("misuse: budgets and other policies refuse unknown options, which would leave the run without the limit", () => {
  const create = (
    name: "budget" | "sharedBudget" | "loopDetection" | "auditLog",
    options: object,
  ) => assertThrows(() => Reflect.apply(policies[name], null, [options]), BadRequestError).message;
  assertEquals(
    create("budget", { costs: 5 }),
    'Unknown option "costs" of the budget: did you mean cost?',
  );
  assertEquals(create("sharedBudget", { maxCost: 5 }), 'Unknown option "maxCost" of the budget');
  assertEquals(
    create("loopDetection", { lookBack: 5 }),
    'Unknown option "lookBack" of loopDetection(): did you mean lookback?',
  );
  assertEquals(
    create("auditLog", { write() {}, onerror: "ignore" }),
    'Unknown option "onerror" of auditLog(): did you mean onError?',
  );
});

Deno.test("misuse: scripts refuse steps that are no answers, and listeners must be functions", () => {
  for (const step of [null, "hi", 5, { text: "hi" }]) {
    assertThrows(
      () => Reflect.apply(scriptedStream, null, [[step]]),
      BadRequestError,
      "Pass an array of steps",
    );
  }
  assertThrows(() => Reflect.apply(reply, null, [5]), BadRequestError, "A reply must be a text");
  const { agent } = testAgent([]);
  assertThrows(
    () => Reflect.apply(agent.subscribe, agent, [{}]),
    BadRequestError,
    "A listener must be a function",
  );
});
