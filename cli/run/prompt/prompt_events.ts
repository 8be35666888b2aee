/**
 * The events of a prompt, and its answer if that must match a schema.
 *
 * @module
 */

import type { Agent, AgentEvent, JsonSchema, PromptInput } from "../../../mod.ts";
import { AgentError, BadRequestError } from "../../../src/core/errors/errors.ts";
import { UsageError } from "../../host/cli_error.ts";

/** An answer that matches the schema, or the reason why there is none. */
export type StructuredAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: AgentError };

/** A prompt that runs. */
export interface PromptEvents {
  /** All events, in order. */
  readonly events: AsyncIterable<AgentEvent>;
  /** Resolves after the last event to the answer; `undefined` without a schema. */
  getAnswer(): Promise<StructuredAnswer | undefined>;
}

/** Options for `startPrompt()`. */
export interface PromptEventOptions {
  /** The JSON Schema of the answer. Default: any text. */
  readonly schema?: JsonSchema | undefined;
  /** Aborts the run. */
  readonly signal: AbortSignal;
}

/** Sends a prompt to the agent. */
export function startPrompt(
  agent: Agent,
  prompt: PromptInput,
  { schema, signal }: PromptEventOptions,
): PromptEvents {
  if (!schema) {
    const events = agent.promptStream(prompt, { signal });
    return { events, getAnswer: () => Promise.resolve(undefined) };
  }
  const { readable, writable } = new TransformStream<AgentEvent, AgentEvent>();
  const writer = writable.getWriter();
  // The agent waits until an event is read.
  const unsubscribe = agent.subscribe((event) => writer.write(event).catch(() => {}));
  const answer = requestAnswer(agent, prompt, { schema, signal }).finally(() => {
    unsubscribe();
    return writer.close().catch(() => {});
  });
  answer.catch(() => {});
  return { events: readable, getAnswer: () => answer };
}

async function requestAnswer(
  agent: Agent,
  prompt: PromptInput,
  { schema, signal }: Required<Pick<PromptEventOptions, "signal">> & {
    readonly schema: JsonSchema;
  },
): Promise<StructuredAnswer> {
  try {
    return { type: "value", value: await agent.structuredOutput(prompt, schema, { signal }) };
  } catch (error) {
    if (error instanceof BadRequestError && error.provider === undefined) {
      throw new UsageError(`--json-schema: ${error.message}`);
    }
    if (AgentError.is(error)) return { type: "failed", error };
    throw error;
  }
}
