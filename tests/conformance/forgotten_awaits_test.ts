import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

interface Forgetful {
  readonly tool?: Partial<AgentTool>;
  readonly policy?: Omit<Policy, "name">;
  readonly options?: Partial<AgentOptions>;
}

/** Rejects after the run has read what contains it, so that a rejection that is not handled ends the test. */
async function rejectLater(): Promise<never> {
  for (let count = 0; count < 4; count++) await settle();
  throw new Error("late");
}

const createContent = () => [{ type: "text", text: rejectLater() }];
const createMessages = () => [{ role: "user", content: createContent(), timestamp: 0 }];

function streamOne(event: () => object): Partial<AgentOptions> {
  const streamFn = async function* () {
    await Promise.resolve();
    yield { type: "text_start", contentIndex: 0 };
    yield event();
  };
  return { streamFn: streamFn as never, retry: () => null };
}

const cases: Readonly<Record<string, unknown>> = {
  "text of a tool": { tool: { execute: () => ({ content: createContent() }) } },
  "block of a tool": { tool: { execute: () => ({ content: [rejectLater()] }) } },
  "isError of a tool": { tool: { execute: () => ({ content: [], isError: rejectLater() }) } },
  "usage of a tool": { tool: { execute: () => ({ content: [], usage: rejectLater() }) } },
  "token count of a tool": {
    tool: { execute: () => ({ content: [], usage: { input: rejectLater() } }) },
  },
  "cost of a tool": { tool: { execute: () => ({ content: [], cost: rejectLater() }) } },
  "error of a tool": { tool: { execute: () => Promise.reject({ cause: rejectLater() }) } },
  "update of a tool": {
    tool: {
      execute: (_: unknown, context: { onUpdate: (update: unknown) => void }) => {
        context.onUpdate({ content: createContent() });
        return "ok";
      },
    },
  },
  "errors of validate()": {
    tool: { validate: () => ({ valid: false, errors: [rejectLater()] }) },
  },
  "answer of validate()": { tool: { validate: () => ({ valid: rejectLater() }) } },
  "reason of a policy that stops": {
    policy: { preTurn: () => ({ type: "stop", reason: rejectLater() }) },
  },
  "reason of a policy that skips": {
    policy: { preDispatch: () => ({ type: "skip", reason: rejectLater() }) },
  },
  "type of a verdict": { policy: { preDispatch: () => ({ type: rejectLater() }) } },
  "text of a policy": {
    policy: { postDispatch: () => ({ content: createContent() }) },
  },
  "injected message": {
    policy: { preTurn: () => ({ type: "inject", messages: createMessages() }) },
  },
  "list of injected messages": {
    policy: { preTurn: () => ({ type: "inject", messages: rejectLater() }) },
  },
  "system prompt of a policy": {
    policy: { preRequest: () => ({ type: "change", systemPrompt: rejectLater() }) },
  },
  "option of a policy": {
    policy: { preRequest: () => ({ type: "change", options: { maxTokens: rejectLater() } }) },
  },
  "hidden tools of a policy": {
    policy: { preRequest: () => ({ type: "hide", tools: rejectLater() }) },
  },
  "reason of an approval": {
    options: { approve: () => ({ type: "denied", reason: rejectLater() }) },
  },
  "messages of transformContext": {
    options: { transformContext: () => ({ messages: rejectLater() }) },
  },
  "message of convertToLlm": { options: { convertToLlm: () => createMessages()[0] } },
  "key of getApiKey": { options: { getApiKey: () => ({ key: rejectLater() }) } },
  "list of keys of getApiKey": { options: { getApiKey: () => [rejectLater()] } },
  "rate of a price list": {
    options: { prices: () => ({ input: rejectLater(), output: 1 }) },
  },
  "delta of a stream": {
    options: streamOne(() => ({ type: "text_delta", contentIndex: 0, delta: rejectLater() })),
  },
  "warning of a stream": {
    options: streamOne(() => ({ type: "warning", code: "a", message: rejectLater() })),
  },
  "error of a stream": { options: streamOne(() => ({ type: "error", error: rejectLater() })) },
  "usage of a stream": {
    options: streamOne(() => ({ type: "error", usage: { input: rejectLater() } })),
  },
};

for (const [place, forgetful] of Object.entries(cases)) {
  Deno.test(`forgotten await: a promise as the ${place} neither ends the process nor the agent`, async () => {
    const { tool, policy, options } = forgetful as Forgetful;
    const steps = [reply([toolCall("work")]), reply("Done"), reply("Again")];
    const { agent } = testAgent(steps, {
      ...scriptedPorts(new InstantClock()),
      tools: [{ ...fakeTool({ name: "work" }), ...tool }],
      policies: policy ? [{ name: "forgetful", ...policy }] : [],
      ...options,
    });
    const { stopReason } = await agent.prompt("Go");
    for (let count = 0; count < 7; count++) await settle();
    assertEquals([stopReason === "aborted", agent.state.isRunning], [false, false]);
  });
}
