/**
 * Structured output: answers that match a schema.
 *
 * The model gets a tool whose arguments are the answer, and calls it as its final action. Where the provider enforces a
 * schema natively, the text of the reply is the answer instead.
 *
 * @module
 */

import {
  AbortedError,
  BudgetExceededError,
  getErrorMessage,
  StructuredOutputFailedError,
} from "../core/errors/errors.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type { Policy, PolicyVerdict, PostTurnContext } from "../core/hooks/policy.ts";
import { isJsonObject, type JsonSchema } from "../core/json/json.ts";
import { findLostDigits, findParsedProblem } from "../core/json/parsed_problem.ts";
import { extractText, extractToolCalls } from "../core/messages/content.ts";
import {
  type AgentMessage,
  type ToolResultMessage,
  userMessage,
} from "../core/messages/message.ts";
import type { Cost, Usage } from "../core/models/usage.ts";
import {
  compileSchema,
  findPlainCheck,
  formatErrors,
  runCompiled,
} from "../core/schemas/compile_schema.ts";
import type { SchemaValidator } from "../core/schemas/schema.ts";
import { libraryChecks, type ValidateFunction } from "../core/schemas/standard_schema.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { Cancellation } from "../loop/callbacks/cancellation.ts";
import { toHookError } from "../loop/callbacks/hook_error.ts";
import type { ResolvedConfig, TurnSettings } from "../loop/run/config.ts";
import { ownPolicies } from "../loop/run/guard.ts";
import { isSteeringText } from "../loop/tool_calls/cancel_text.ts";
import type { AgentResult } from "./agent_result.ts";
import { AnswerRequests } from "./answer_requests.ts";
import { AnswerSchema } from "./answer_schema.ts";

/** Options for `Agent.structuredOutput()`. */
export interface StructuredOutputOptions {
  /** Maximum number of further attempts after an invalid answer. Default: 3. */
  readonly maxRetries?: number | undefined;
  /** Whether the result has the usage, cost and messages of the run in addition to the value. Default: `false`. */
  readonly full?: boolean | undefined;
}

/** Result of `Agent.structuredOutput()` with the option `full`. */
export interface StructuredOutputResult<Value> {
  /** The answer. */
  readonly value: Value;
  /** Token counts of all model calls of the run. */
  readonly usage: Usage;
  /** Cost of all model calls of the run. */
  readonly cost: Cost;
  /** The messages that the run appended to the history, in order, including the prompt. */
  readonly messages: readonly AgentMessage[];
}

/** Options for `new StructuredAnswer()`. */
export interface StructuredAnswerOptions extends StructuredOutputOptions {
  /** The JSON Schema of the answer; must be valid. */
  readonly schema: JsonSchema;
  /** Checks an answer that matches the JSON Schema further. Default: the answer is used as it is. */
  readonly validate: ValidateFunction | undefined;
  /** The agent's tools, whose names the answer tool must not use. */
  readonly tools: readonly AgentTool[];
  /** Returns the settings of the agent. */
  readonly getSettings: () => TurnSettings;
}

const POLICY_NAME = "structured_output";
/** Names of the policies `budget()` and `sharedBudget()`. */
const BUDGET_NAMES: readonly string[] = ["budget", "shared_budget"];

/** Requests an answer that matches a schema, and checks every attempt. */
export class StructuredAnswer {
  /** Checks each turn, requests another attempt, and ends the run. */
  readonly #policy: Policy;
  readonly #options: StructuredAnswerOptions;
  readonly #answerSchema: AnswerSchema;
  readonly #tool: AgentTool;
  readonly #requests: AnswerRequests;
  #now: () => number = Date.now;
  #validator: SchemaValidator | undefined;
  #answer: { readonly value: unknown } | undefined;
  #attempts = 0;
  #lastError = "the model did not answer";

  /** Creates a request for an answer. */
  constructor(options: StructuredAnswerOptions) {
    this.#options = options;
    this.#answerSchema = new AnswerSchema(options.schema, options.validate);
    this.#tool = this.#createTool();
    this.#requests = new AnswerRequests({
      answerSchema: this.#answerSchema,
      tool: this.#tool,
      tools: options.tools,
    });
    this.#policy = {
      name: POLICY_NAME,
      preTurn: () => this.#isFinished() ? this.#stop() : undefined,
      preRequest: (request) => this.#requests.apply(request),
      postTurn: (turn) => this.#checkTurn(turn),
    };
    // The replies of agents that the tools of the run start are no attempts.
    ownPolicies.add(this.#policy);
  }

  /**
   * Determines whether the provider enforces the schema, also with each of the fallback models, and returns the
   * configuration of the run. Rejects with a `BadRequestError` if the validator fails: the form of the schema that is used
   * is compiled first if it must be. Rejects on an abort, even if the provider or the validator never answers.
   */
  async configure(config: ResolvedConfig, cancellation: Cancellation): Promise<ResolvedConfig> {
    try {
      return await cancellation.withGrace(this.#configure(config));
    } catch (thrown) {
      if (!cancellation.aborted) throw toHookError("The validator", thrown);
      throw new AbortedError(undefined, { cause: cancellation.reason });
    }
  }

  async #configure(config: ResolvedConfig): Promise<ResolvedConfig> {
    const { getSettings } = this.#options;
    const { schema, parameters } = this.#answerSchema;
    await this.#requests.configure(config, getSettings);
    this.#now = config.now;
    const { settings = getSettings, policies, validator } = config;
    this.#validator = validator;
    const used = this.#requests.form === "schema" ? schema : parameters;
    if (!findPlainCheck(used, validator)) {
      await compileSchema(used, validator, this.#options.validate);
    }
    return {
      ...config,
      settings: () => this.#requests.extendSettings(settings()),
      policies: [...policies, this.#policy],
    };
  }

  /**
   * Returns the answer of a finished run.
   *
   * @throws {AgentError} The run's error; {@linkcode BudgetExceededError} when the budget stopped the run;
   * {@linkcode StructuredOutputFailedError} when another policy stopped it, or no answer matched.
   */
  getResult(run: AgentResult): StructuredOutputResult<unknown> {
    if (!this.#answer) throw this.#createError(run);
    const { usage, cost, messages } = run;
    return { value: this.#answer.value, usage, cost, messages };
  }

  #createError(run: AgentResult): Error {
    const { error, stoppedBy, stopReason, abortReason, pendingApprovals } = run;
    if (error) return error;
    if (stoppedBy && stoppedBy.policy !== POLICY_NAME) return this.#createStopError(stoppedBy);
    if (stopReason === "aborted") return new AbortedError(undefined, { cause: abortReason });
    const attempts = this.#attempts;
    const lastError = this.#lastError;
    if (pendingApprovals) {
      const message = "The run waits for approvals before a valid answer";
      return new StructuredOutputFailedError(message, {
        attempts,
        lastError: attempts > 0 ? lastError : "approvals are pending",
      });
    }
    const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
    const message = `No valid answer after ${count}: ${lastError}`;
    return new StructuredOutputFailedError(message, { attempts, lastError });
  }

  #createStopError({ policy, reason }: StoppedBy): Error {
    const message = `The policy "${policy}" stopped the run before a valid answer: ${reason}`;
    if (BUDGET_NAMES.includes(policy)) return new BudgetExceededError(message);
    const attempts = this.#attempts;
    const lastError = attempts > 0 ? this.#lastError : reason;
    return new StructuredOutputFailedError(message, { attempts, lastError });
  }

  #createTool(): AgentTool {
    const { tools, validate: check } = this.#options;
    const names = new Set(tools.map(({ name }) => name));
    const validate: AgentTool["validate"] = async (args) => {
      const result = await this.#answerSchema.validateArguments(args);
      return result.valid ? { valid: true, value: { value: result.value } } : result;
    };
    if (check && libraryChecks.has(check)) libraryChecks.add(validate);
    return {
      name: findFreeName("structured_output", names),
      description:
        "Returns the final answer in the requested shape. Call this exactly once, as the last action.",
      parameters: this.#answerSchema.parameters,
      readOnly: true,
      requiresApproval: false,
      sideEffect: "none",
      validate,
      execute: ({ value }) => {
        this.#answer ??= { value };
        return Promise.resolve("The answer was accepted.");
      },
    };
  }

  async #checkTurn({ message, toolResults }: PostTurnContext): Promise<PolicyVerdict> {
    if (this.#answer || message.stopReason === "error" || message.stopReason === "aborted") return;
    if (toolResults.length === 0) {
      const { content } = message;
      // Calls without results wait for approvals.
      return extractToolCalls(content).length > 0
        ? undefined
        : await this.#checkText(extractText(content));
    }
    const refusal =
      toolResults.find(({ toolName, isError }) => isError && toolName === this.#tool.name) ??
        this.#findUselessCall(toolResults);
    const problem = extractText(refusal?.content ?? []);
    if (!refusal || isSteeringText(problem)) return;
    this.#recordFailure(problem);
    return this.#isFinished() ? this.#stop() : undefined;
  }

  /** Returns the result of a call in a turn without a call that could lead to the answer: small models repeat such turns. */
  #findUselessCall(results: readonly ToolResultMessage[]): ToolResultMessage | undefined {
    const isUseless = !this.#requests.hasOtherTools && results.every(({ isError }) => isError);
    return isUseless ? results[0] : undefined;
  }

  async #checkText(text: string): Promise<PolicyVerdict> {
    // Small models write the arguments of the tool as text.
    const mismatch = await this.#acceptText(text);
    if (!mismatch) return;
    const problem = this.#requests.form === "tool"
      ? `The answer must be given by calling the tool "${this.#tool.name}".`
      : mismatch;
    this.#requests.forceCall();
    this.#recordFailure(problem);
    if (this.#isFinished()) return this.#stop();
    return { type: "inject", messages: [userMessage(problem, this.#now())] };
  }

  /** Accepts an answer that is text, or returns the problem with it. */
  async #acceptText(text: string): Promise<string | undefined> {
    const json = removeFence(text);
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (thrown) {
      return `The answer is not JSON: ${getErrorMessage(thrown)}`;
    }
    try {
      return findLostDigits(json) ?? this.#findCall(value) ?? await this.#acceptValue(value);
    } catch (thrown) {
      return `The answer cannot be checked: ${getErrorMessage(thrown)}`;
    }
  }

  /** Small models also write the call of a tool as text, which a schema with a property `name` would accept. */
  #findCall(value: unknown): string | undefined {
    if (this.#requests.form !== "tool" || !isWrittenCall(value)) return undefined;
    const tools = [this.#tool, ...this.#options.tools];
    return tools.some(({ name }) => name === value.name)
      ? "The answer is the call of a tool, written as text"
      : undefined;
  }

  async #acceptValue(value: unknown): Promise<string | undefined> {
    const problem = findParsedProblem(value);
    if (problem) return `The answer is ${problem}`;
    const { schema } = this.#answerSchema;
    const isPlainlyValid = findPlainCheck(schema, this.#validator)?.(value) ?? false;
    const mismatches = isPlainlyValid
      ? []
      : runCompiled(await compileSchema(schema, this.#validator, this.#options.validate), value);
    const result = mismatches.length > 0
      ? { valid: false, errors: mismatches } as const
      : await this.#answerSchema.validate(value);
    if (!result.valid) {
      return `The answer does not match the schema:\n${formatErrors(result.errors)}`;
    }
    this.#answer = { value: result.value };
    return undefined;
  }

  #recordFailure(problem: string): void {
    this.#attempts++;
    this.#lastError = problem;
  }

  #isFinished(): boolean {
    return this.#answer !== undefined || this.#attempts > (this.#options.maxRetries ?? 3);
  }

  #stop(): PolicyVerdict {
    const reason = this.#answer ? "the answer was accepted" : "no answer matched the schema";
    return { type: "stop", reason };
  }
}

/** Whether a value has the form in which models write a call as text. */
function isWrittenCall(value: unknown): value is { readonly name: unknown } {
  return isJsonObject(value) && "name" in value &&
    ["arguments", "parameters", "input"].some((name) => name in value);
}

/** Returns the content of a text that is a code block, in which models put JSON unless a schema is enforced. */
function removeFence(text: string): string {
  return /^\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*$/is.exec(text)?.[1] ?? text;
}

function findFreeName(preferred: string, usedNames: ReadonlySet<string>): string {
  let name = preferred;
  for (let number = 2; usedNames.has(name); number++) name = `${preferred}_${number}`;
  return name;
}
