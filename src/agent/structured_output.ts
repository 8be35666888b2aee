/**
 * Structured output: answers that match a schema.
 *
 * The model gets a tool whose arguments are the answer, and calls it as its final action. Where the provider enforces a
 * schema natively, the text of the reply is the answer instead.
 *
 * @module
 */

import { extractText } from "../core/content.ts";
import { AbortedError, getErrorMessage, StructuredOutputFailedError } from "../core/errors.ts";
import type { SchemaSource } from "../core/infer.ts";
import type { JsonObject, JsonSchema } from "../core/json.ts";
import { userMessage } from "../core/message.ts";
import type { Policy, PolicyVerdict, PostTurnContext } from "../core/policy.ts";
import {
  type CompiledSchema,
  compileSchema,
  formatErrors,
  jsonSchemaValidator,
  type SchemaValidator,
} from "../core/schema.ts";
import { toJsonSchema } from "../core/standard_schema.ts";
import type { StreamOptions } from "../core/stream.ts";
import { type AgentTool, defineTool } from "../core/tool.ts";
import type { TurnSettings } from "../loop/config.ts";
import type { AgentResult } from "./collect.ts";

/** Options for `Agent.structuredOutput()`. */
export interface StructuredOutputOptions {
  /** Maximum number of further attempts after an invalid answer. Default: 3. */
  readonly maxRetries?: number;
}

/** Options for `StructuredAnswer.from()`. */
export interface StructuredAnswerOptions extends StructuredOutputOptions {
  /** The agent's tools, whose names the answer tool must not use. */
  readonly tools: readonly AgentTool[];
  /** Whether the provider enforces a schema natively. */
  readonly supportsSchema: (schema: JsonSchema) => boolean;
  /** Compiles the schema. Default: ajv. */
  readonly validator?: SchemaValidator | undefined;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Tools accept only objects, so an answer of another type is wrapped in one. */
const VALUE_PROPERTY = "value";

/** Requests an answer that matches a schema, and checks every attempt. */
export class StructuredAnswer {
  /** Checks each turn, requests another attempt, and ends the run. */
  readonly policy: Policy;
  /** Options of the model calls of the run. */
  readonly streamOptions: StreamOptions;
  readonly #options: StructuredAnswerOptions;
  readonly #schema: JsonSchema;
  readonly #isNative: boolean;
  readonly #tool: AgentTool;
  #check: CompiledSchema = () => [];
  #answer: { readonly value: unknown } | undefined;
  #attempts = 0;
  #lastError = "the model did not answer";

  private constructor(schema: JsonSchema, options: StructuredAnswerOptions) {
    this.#options = options;
    this.#schema = schema;
    this.#tool = this.#createTool();
    this.#isNative = options.supportsSchema(schema);
    this.streamOptions = this.#isNative ? { responseSchema: schema } : {};
    this.policy = {
      name: "structured_output",
      preTurn: () =>
        this.#isFinished() ? { type: "stop", reason: this.#getStopReason() } : undefined,
      postTurn: (turn) => this.#checkTurn(turn),
    };
  }

  /**
   * Creates a request for an answer.
   *
   * @throws {BadRequestError} If a Standard Schema validator does not provide its JSON Schema.
   */
  static from(source: SchemaSource, options: StructuredAnswerOptions): StructuredAnswer {
    return new StructuredAnswer(toJsonSchema(source), options);
  }

  /** Compiles the schema before the run starts. Rejects with a `BadRequestError` when the schema is invalid. */
  async prepare(): Promise<void> {
    this.#check = await compileSchema(this.#schema, this.#options.validator ?? jsonSchemaValidator);
  }

  /** Adds the tool that receives the answer to the agent's settings. */
  extendSettings(settings: TurnSettings): TurnSettings {
    if (this.#isNative) return settings;
    const answerTool = this.#tool;
    return { ...settings, tools: [...settings.tools, answerTool], answerTool };
  }

  /**
   * Returns the answer of a finished run.
   *
   * @throws {AgentError} The run's error, or {@linkcode StructuredOutputFailedError} when no answer matched.
   */
  getValue({ error, stopReason, abortReason }: AgentResult): unknown {
    if (this.#answer) return this.#answer.value;
    if (error) throw error;
    if (stopReason === "aborted") throw new AbortedError(undefined, { cause: abortReason });
    const lastError = this.#lastError;
    throw new StructuredOutputFailedError(
      `No valid answer after ${this.#attempts} attempts: ${lastError}`,
      { attempts: this.#attempts, lastError },
    );
  }

  #createTool(): AgentTool {
    const names = new Set(this.#options.tools.map(({ name }) => name));
    const isObject = this.#schema["type"] === "object";
    return defineTool({
      name: findFreeName("structured_output", names),
      description:
        "Returns the final answer in the requested shape. Call this exactly once, as the last action.",
      parameters: isObject ? this.#schema : {
        type: "object",
        properties: { [VALUE_PROPERTY]: this.#schema },
        required: [VALUE_PROPERTY],
        additionalProperties: false,
      },
      readOnly: true,
      requiresApproval: false,
      sideEffect: "none",
      execute: (args: JsonObject) => {
        this.#answer ??= { value: isObject ? args : args[VALUE_PROPERTY] };
        return "The answer was accepted.";
      },
    });
  }

  #checkTurn({ message, toolResults }: PostTurnContext): PolicyVerdict {
    if (this.#answer || message.stopReason === "error" || message.stopReason === "aborted") return;
    if (toolResults.length === 0) return this.#checkText(extractText(message.content));
    const refusal = toolResults.find(({ toolName, isError }) =>
      isError && toolName === this.#tool.name
    );
    if (!refusal) return;
    this.#recordFailure(extractText(refusal.content));
    return this.#isFinished() ? { type: "stop", reason: this.#getStopReason() } : undefined;
  }

  #checkText(text: string): PolicyVerdict {
    const problem = this.#isNative
      ? this.#acceptText(text)
      : `The answer must be given by calling the tool "${this.#tool.name}".`;
    if (!problem) return;
    this.#recordFailure(problem);
    if (this.#isFinished()) return { type: "stop", reason: this.#getStopReason() };
    return { type: "inject", messages: [userMessage(problem, this.#options.now())] };
  }

  /** Accepts the text of a native answer, or returns the problem with it. */
  #acceptText(text: string): string | undefined {
    try {
      const value: unknown = JSON.parse(text);
      const errors = this.#check(value);
      if (errors.length > 0) {
        return `The answer does not match the schema:\n${formatErrors(errors)}`;
      }
      this.#answer = { value };
      return undefined;
    } catch (thrown) {
      return `The answer is not JSON: ${getErrorMessage(thrown)}`;
    }
  }

  #recordFailure(problem: string): void {
    this.#attempts++;
    this.#lastError = problem;
  }

  #isFinished(): boolean {
    return this.#answer !== undefined || this.#attempts > (this.#options.maxRetries ?? 3);
  }

  #getStopReason(): string {
    return this.#answer ? "the answer was accepted" : "no answer matched the schema";
  }
}

function findFreeName(preferred: string, usedNames: ReadonlySet<string>): string {
  let name = preferred;
  for (let number = 2; usedNames.has(name); number++) name = `${preferred}_${number}`;
  return name;
}
