/**
 * Answers of a given shape.
 *
 * The model is given a tool whose arguments are the answer, and calls it as its final action. Where the provider
 * itself keeps replies to a schema, the reply's text is the answer instead.
 *
 * @module
 */

import { extractText } from "../core/content.ts";
import { AbortedError, messageOf, StructuredOutputFailedError } from "../core/errors.ts";
import type { SchemaSource } from "../core/infer.ts";
import type { JsonObject, JsonSchema } from "../core/json.ts";
import { userMessage } from "../core/message.ts";
import type { Policy, PolicyVerdict, PostTurnContext } from "../core/policy.ts";
import {
  ajvValidator,
  type CompiledSchema,
  compileSchema,
  describeErrors,
  jsonSchemaOf,
  type SchemaValidator,
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
export interface StructuredAnswerParts extends StructuredOutputOptions {
  /** The agent's own tools, whose names are taken. */
  readonly tools: readonly AgentTool[];
  /** Whether the provider itself holds replies to a schema. */
  readonly native: (schema: JsonSchema) => boolean;
  /** Compiles the schema. */
  readonly validator?: SchemaValidator | undefined;
  /** The clock. */
  readonly now: () => number;
}

/** Tools may only take objects, so any other answer is the member of one. */
const MEMBER = "value";

/** One question for an answer of a shape, from the first try to the last. */
export class StructuredAnswer {
  /** Watches the run, asks again, and ends it. */
  readonly policy: Policy;
  /** Options of the run's model calls. */
  readonly streamOptions: StreamOptions;
  readonly #parts: StructuredAnswerParts;
  readonly #schema: JsonSchema;
  readonly #native: boolean;
  readonly #tool: AgentTool;
  #check: CompiledSchema = () => [];
  #answer: { readonly value: unknown } | undefined;
  #attempts = 0;
  #lastError = "the model did not answer";

  private constructor(schema: JsonSchema, parts: StructuredAnswerParts) {
    this.#parts = parts;
    this.#schema = schema;
    this.#tool = this.#makeTool();
    this.#native = parts.native(schema);
    this.streamOptions = this.#native ? { responseSchema: schema } : {};
    this.policy = {
      name: "structured_output",
      preTurn: () => this.#isOver() ? { type: "stop", reason: this.#reason() } : undefined,
      postTurn: (turn) => this.#judge(turn),
    };
  }

  /**
   * Makes a question.
   *
   * @throws {BadRequestError} When a validator cannot tell its JSON Schema.
   */
  static of(source: SchemaSource, parts: StructuredAnswerParts): StructuredAnswer {
    return new StructuredAnswer(jsonSchemaOf(source), parts);
  }

  /** Compiles the schema, before the run begins. Rejects with {@linkcode BadRequestError} when it is not valid. */
  async prepare(): Promise<void> {
    this.#check = await compileSchema(this.#schema, this.#parts.validator ?? ajvValidator);
  }

  /** The run's settings: the agent's, and the tool that takes the answer. */
  settingsWith(settings: TurnSettings): TurnSettings {
    if (this.#native) return settings;
    const answerTool = this.#tool;
    return { ...settings, tools: [...settings.tools, answerTool], answerTool };
  }

  /**
   * The answer of a finished run.
   *
   * @throws {AgentError} The run's error, or {@linkcode StructuredOutputFailedError} when no answer fitted.
   */
  valueOf({ error, stopReason, abortReason }: AgentResult): unknown {
    if (this.#answer) return this.#answer.value;
    if (error) throw error;
    if (stopReason === "aborted") throw new AbortedError(undefined, { cause: abortReason });
    const lastError = this.#lastError;
    throw new StructuredOutputFailedError(
      `No valid answer after ${this.#attempts} attempts: ${lastError}`,
      { attempts: this.#attempts, lastError },
    );
  }

  #makeTool(): AgentTool {
    const names = new Set(this.#parts.tools.map(({ name }) => name));
    const isObject = this.#schema["type"] === "object";
    return defineTool({
      name: freeName("structured_output", names),
      description:
        "Gives the final answer in the shape that was asked for. Call this exactly once, as the last action.",
      parameters: isObject ? this.#schema : {
        type: "object",
        properties: { [MEMBER]: this.#schema },
        required: [MEMBER],
        additionalProperties: false,
      },
      readOnly: true,
      requiresApproval: false,
      sideEffect: "none",
      execute: (args: JsonObject) => {
        this.#answer ??= { value: isObject ? args : args[MEMBER] };
        return "The answer was taken.";
      },
    });
  }

  #judge({ message, toolResults }: PostTurnContext): PolicyVerdict {
    if (this.#answer || message.stopReason === "error" || message.stopReason === "aborted") return;
    if (toolResults.length === 0) return this.#judgeText(extractText(message.content));
    const refusal = toolResults.find(({ toolName, isError }) =>
      isError && toolName === this.#tool.name
    );
    if (!refusal) return;
    this.#fail(extractText(refusal.content));
    return this.#isOver() ? { type: "stop", reason: this.#reason() } : undefined;
  }

  #judgeText(text: string): PolicyVerdict {
    const problem = this.#native
      ? this.#takeText(text)
      : `The answer must be given by calling the tool "${this.#tool.name}".`;
    if (!problem) return;
    this.#fail(problem);
    if (this.#isOver()) return { type: "stop", reason: this.#reason() };
    return { type: "inject", messages: [userMessage(problem, this.#parts.now())] };
  }

  /** Takes a native answer; what is wrong with it otherwise. */
  #takeText(text: string): string | undefined {
    try {
      const value: unknown = JSON.parse(text);
      const errors = this.#check(value);
      if (errors.length > 0) {
        return `The answer does not fit the schema:\n${describeErrors(errors)}`;
      }
      this.#answer = { value };
      return undefined;
    } catch (thrown) {
      return `The answer is not JSON: ${messageOf(thrown)}`;
    }
  }

  #fail(problem: string): void {
    this.#attempts++;
    this.#lastError = problem;
  }

  #isOver(): boolean {
    return this.#answer !== undefined || this.#attempts > (this.#parts.maxRetries ?? 3);
  }

  #reason(): string {
    return this.#answer ? "the answer was given" : "no answer fitted the schema";
  }
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  return name;
}
