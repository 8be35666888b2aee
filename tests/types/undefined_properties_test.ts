import { assertEquals, assertThrows } from "@std/assert";
import {
  Agent,
  type AgentOptions,
  type AgentTool,
  BadRequestError,
  defineTool,
  type ModelFallback,
  type RunOptions,
  type StreamOptions,
  type ToolDefinition,
} from "../../mod.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

/** The names of the optional properties of a type. */
type OptionalName<Type> = {
  [Name in keyof Type]-?: object extends Pick<Type, Name> ? Name : never;
}[keyof Type];

/** The names of the optional properties that may not be set to `undefined`. */
type StrictName<Type> = {
  [Name in OptionalName<Type>]-?: { readonly [Key in Name]: undefined } extends Pick<Type, Name>
    ? never
    : Name;
}[OptionalName<Type>];

/** Fails to compile if the type argument is not `never`. */
function assertNone<Name extends never>(): Name[] {
  return [];
}

interface Example {
  readonly required: string;
  readonly strict?: string;
  readonly loose?: string | undefined;
}

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
