import { assertEquals, assertThrows } from "@std/assert";
import {
  Agent,
  type AgentOptions,
  type AgentTool,
  type AgentToolResult,
  type ApprovalAnswer,
  type AssistantMessageEvent,
  BadRequestError,
  type ContentBlock,
  defineTool,
  type ModelFallback,
  type ModelSpec,
  type Policy,
  type PolicyContext,
  type Rates,
  type RetryStrategy,
  type RunOptions,
  type ServerTool,
  type StreamFn,
  type StreamOptions,
  type StreamRequest,
  type ToolDefinition,
  type UserMessage,
} from "../../mod.ts";
import type { DecidedCall, PendingBatch } from "../../src/core/approval/approval.ts";
import type { TransformInput, TransformOutput } from "../../src/core/context/context.ts";
import type {
  ChangeVerdict,
  OnDeltaContext,
  PostLoopContext,
  PreTurnContext,
} from "../../src/core/hooks/policy.ts";
import type { CompactionReport } from "../../src/core/messages/compaction_report.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

/** The names of the optional properties of a type. */
type OptionalName<Type> = {
  [Name in keyof Type]-?: object extends Pick<Type, Name> ? Name : never;
}[keyof Type];

/** The names of the optional properties that may not be set to `undefined`, of each member of a union. */
type StrictName<Type> = Type extends unknown ? {
    [Name in OptionalName<Type>]-?: { readonly [Key in Name]: undefined } extends Pick<Type, Name>
      ? never
      : Name;
  }[OptionalName<Type>]
  : never;

/** Fails to compile if the type argument is not `never`. */
function assertNone<Name extends never>(): Name[] {
  return [];
}

type Example =
  | { readonly required: string; readonly loose?: string | undefined }
  | { readonly required: string; readonly strict?: string };

Deno.test("tools and options: each optional property may be set to undefined, whatever the compiler options", () => {
  // @ts-expect-error: the check finds a property that may not.
  assertNone<StrictName<Example>>();
  assertNone<StrictName<AgentTool>>();
  assertNone<StrictName<ToolDefinition<{ readonly type: "object" }>>>();
  assertNone<StrictName<AgentOptions>>();
  assertNone<StrictName<RunOptions>>();
  assertNone<StrictName<StreamOptions>>();
  assertNone<StrictName<ModelFallback>>();
});

Deno.test("what tools, policies, approvals and stream functions return: each optional property may be set to undefined", () => {
  assertNone<StrictName<AgentToolResult>>();
  assertNone<StrictName<Exclude<ApprovalAnswer, boolean>>>();
  assertNone<StrictName<PendingBatch>>();
  assertNone<StrictName<DecidedCall["decision"]>>();
  assertNone<StrictName<ChangeVerdict>>();
  assertNone<StrictName<Policy>>();
  assertNone<StrictName<Exclude<TransformOutput, readonly unknown[]>>>();
  assertNone<StrictName<CompactionReport>>();
  assertNone<StrictName<AssistantMessageEvent>>();
  assertNone<StrictName<StreamFn>>();
  assertNone<StrictName<RetryStrategy>>();
});

Deno.test("models, prices, prompts and contexts: each optional property may be set to undefined", () => {
  assertNone<StrictName<ModelSpec>>();
  assertNone<StrictName<NonNullable<ModelSpec["thinkingBudgets"]>>>();
  assertNone<StrictName<Rates>>();
  assertNone<StrictName<UserMessage>>();
  assertNone<StrictName<ContentBlock>>();
  assertNone<StrictName<ServerTool>>();
  assertNone<StrictName<StreamRequest>>();
  assertNone<StrictName<TransformInput>>();
  assertNone<StrictName<PolicyContext | PostLoopContext | OnDeltaContext>>();
});

Deno.test("policies: a hook that is undefined is as one that is missing, and one may declare its own context", async () => {
  const hooks: Required<{ [Name in OptionalName<Policy>]: undefined }> = {
    preTurn: undefined,
    preRequest: undefined,
    preCompaction: undefined,
    postCompaction: undefined,
    canUseTool: undefined,
    resumeTools: undefined,
    preDispatch: undefined,
    onRefused: undefined,
    postDispatch: undefined,
    postTurn: undefined,
    postLoop: undefined,
    onDelta: undefined,
  };
  const users: string[] = [];
  const policies: Policy[] = [
    { name: "none", ...hooks },
    {
      name: "typed",
      preTurn: ({ context }: PreTurnContext & { readonly context: { readonly user: string } }) =>
        void users.push(context.user),
    },
  ];
  const streamFn = scriptedStream([reply("Done")]);
  const agent = new Agent({ model: "any/model", streamFn, policies });
  assertEquals((await agent.prompt("Go", { context: { user: "ada" } })).text, "Done");
  assertEquals(users, ["ada"]);
});

Deno.test("results and verdicts: a property that is undefined is as one that is missing", async () => {
  const unset = { details: undefined, isError: undefined, usage: undefined, cost: undefined };
  const work = defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: () => ({ content: [{ type: "text", text: "done", citations: undefined }], ...unset }),
  });
  const verdict: Required<{ [Name in OptionalName<ChangeVerdict>]: undefined }> = {
    model: undefined,
    systemPrompt: undefined,
    messages: undefined,
    tools: undefined,
    toolChoice: undefined,
    options: undefined,
  };
  const streamFn = scriptedStream([reply([toolCall("work")]), reply("Done")]);
  const agent = new Agent({
    model: "any/model",
    streamFn,
    tools: [work],
    prices: { model: { input: 1, output: 1, cacheRead: undefined, tiers: undefined } },
    approve: () => ({ type: "approved", rule: undefined, scope: undefined, arguments: undefined }),
    policies: [{ name: "unchanged", preRequest: () => ({ type: "change", ...verdict }) }],
  });
  const { messages, text } = await agent.prompt("Go");
  assertEquals(text, "Done");
  const result = messages.find(({ role }) => role === "tool_result");
  assertEquals(result?.role === "tool_result" && result.content, [{ type: "text", text: "done" }]);
  assertEquals(result && Object.keys(result).toSorted(), [
    "content",
    "id",
    "isError",
    "role",
    "timestamp",
    "toolCallId",
    "toolName",
  ]);
});

Deno.test("defineTool(): a property that is undefined is as one that is missing, and a required one is refused", async () => {
  const optional: Required<{ [Name in OptionalName<AgentTool>]: undefined }> = {
    label: undefined,
    readOnly: undefined,
    requiresApproval: undefined,
    risk: undefined,
    interruptible: undefined,
    sequential: undefined,
    concurrencyKey: undefined,
    timeoutMs: undefined,
    sideEffect: undefined,
    preview: undefined,
    omitHunks: undefined,
    countedBy: undefined,
    traceAttributes: undefined,
    validate: undefined,
  };
  const { validate: _validate, ...properties } = optional;
  const work = defineTool({
    ...properties,
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: () => "done",
  });
  for (const tool of [work, { ...work, ...optional }]) {
    const streamFn = scriptedStream([reply([toolCall("work")]), reply("Done")]);
    const agent = new Agent({ model: "any/model", streamFn, tools: [tool] });
    assertEquals((await agent.prompt("Go")).text, "Done");
    assertEquals(agent.state.messages[2]?.role === "tool_result", true);
    assertEquals(JSON.stringify(agent.state.messages[2]).includes('"text":"done"'), true);
  }
  // @ts-expect-error: the model needs a description.
  const incomplete: AgentTool = { ...work, description: undefined };
  assertThrows(
    () => new Agent({ model: "any/model", tools: [incomplete] }),
    BadRequestError,
    "description must be a text for the model, not undefined",
  );
});
