/**
 * Answers of a given shape.
 *
 * The model is given a tool whose arguments are the answer, and calls it as its final action. Where the provider
 * itself keeps replies to a schema, the reply's text is the answer instead.
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
  ajvValidator,
  type CompiledSchema,
  compileSchema,
  formatErrors,
  type SchemaValidator,
  toJsonSchema,
} from "../core/schema.ts";
import type { StreamOptions } from "../core/stream.ts";
import { type AgentTool, defineTool } from "../core/tool.ts";
import type { TurnSettings } from "../loop/config.ts";
import type { AgentResult } from "./collect.ts";

/** Options of {@linkcode Agent.structuredOutput}. */
export interface StructuredOutputOptions {
  /** How often the model may try again after its first answer. Default: 3. */
  readonly maxRetries?: number;
}

/** What {@linkcode StructuredAnswer} is made of. */
export interface StructuredAnswerOptions extends StructuredOutputOptions {
  /** The agent's own tools, whose names are taken. */
  readonly tools: readonly AgentTool[];
  /** Whether the provider itself holds replies to a schema. */
  readonly supportsSchema: (schema: JsonSchema) => boolean;
  /** Compiles the schema. */
  readonly validator?: SchemaValidator | undefined;
  /** The clock. */
  readonly now: () => number;
}

/** Tools may only take objects, so any other answer is the member of one. */
const VALUE_PROPERTY = "value";

/** One question for an answer of a shape, from the first try to the last. */
export class StructuredAnswer {
  /** Watches the run, asks again, and ends it. */
  readonly policy: Policy;
  /** Options of the run's model calls. */
  readonly streamOptions: StreamOptions;
  readonly #options: StructuredAnswerOptions;
  readonly #schema: JsonSchema;
  readonly #isNative: boolean;
  readonly #tool: AgentTool;
  #check: CompiledSchema = () => [];
  #answer: { readonly value: unknown } | undefined;
  #attempts = 0;
  #lastError = "the model did not answer";

  private constructor(schema: JsonSchema, parts: StructuredAnswerOptions) {
    this.#options = parts;
    this.#schema = schema;
    this.#tool = this.#createTool();
    this.#isNative = parts.supportsSchema(schema);
    this.streamOptions = this.#isNative ? { responseSchema: schema } : {};
    this.policy = {
      name: "structured_output",
      preTurn: () =>
        this.#isFinished() ? { type: "stop", reason: this.#getStopReason() } : undefined,
      postTurn: (turn) => this.#checkTurn(turn),
    };
  }

  /**
   * Makes a question.
   *
   * @throws {BadRequestError} When a validator cannot tell its JSON Schema.
   */
  static from(source: SchemaSource, parts: StructuredAnswerOptions): StructuredAnswer {
    return new StructuredAnswer(toJsonSchema(source), parts);
  }

  /** Compiles the schema, before the run begins. Rejects with {@linkcode BadRequestError} when it is not valid. */
  async prepare(): Promise<void> {
    this.#check = await compileSchema(this.#schema, this.#options.validator ?? ajvValidator);
  }

  /** The run's settings: the agent's, and the tool that takes the answer. */
  extendSettings(settings: TurnSettings): TurnSettings {
    if (this.#isNative) return settings;
    const answerTool = this.#tool;
    return { ...settings, tools: [...settings.tools, answerTool], answerTool };
  }

  /**
   * The answer of a finished run.
   *
   * @throws {AgentError} The run's error, or {@linkcode StructuredOutputFailedError} when no answer fitted.
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
        "Gives the final answer in the shape that was asked for. Call this exactly once, as the last action.",
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
        return "The answer was taken.";
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

  /** Takes a native answer; what is wrong with it otherwise. */
  #acceptText(text: string): string | undefined {
    try {
      const value: unknown = JSON.parse(text);
      const errors = this.#check(value);
      if (errors.length > 0) {
        return `The answer does not fit the schema:\n${formatErrors(errors)}`;
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
    return this.#answer ? "the answer was given" : "no answer fitted the schema";
  }
}

function findFreeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  return name;
}
