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
  type AgentError,
  BudgetExceededError,
  getErrorMessage,
  StructuredOutputFailedError,
} from "../core/errors/errors.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type {
  Policy,
  PolicyVerdict,
  PostTurnContext,
  PreRequestContext,
  PreRequestVerdict,
} from "../core/hooks/policy.ts";
import { isJsonObject, type JsonSchema } from "../core/json/json.ts";
import { findLostDigits, findParsedProblem } from "../core/json/parsed_problem.ts";
import { extractText, extractToolCalls } from "../core/messages/content.ts";
import {
  type AgentMessage,
  type LlmMessage,
  type ToolResultMessage,
  userMessage,
} from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { Cost, Usage } from "../core/models/usage.ts";
import {
  compileSchema,
  findPlainCheck,
  formatErrors,
  runCompiled,
} from "../core/schemas/compile_schema.ts";
import type { SchemaValidator } from "../core/schemas/schema.ts";
import { libraryChecks, type ValidateFunction } from "../core/schemas/standard_schema.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { Cancellation } from "../loop/callbacks/cancellation.ts";
import { toHookError } from "../loop/callbacks/hook_error.ts";
import type { ModelFallback, ResolvedConfig, TurnSettings } from "../loop/run/config.ts";
import { ownPolicies } from "../loop/run/guard.ts";
import { isSteeringText } from "../loop/tool_calls/cancel_text.ts";
import type { AgentResult } from "./agent_result.ts";
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

/** Matches errors about a schema, or about the field of a request that has it. */
const REJECTED_SCHEMA =
  /schema|response_?format|output_?(?:config|format)|text_?format|grammar|json mode/i;
/**
 * Matches errors about a model, or a server, without tools: "does not support tools" of Ollama, "`tool calling` is not supported
 * with this model" of Groq, "'tools' is not supported with this model" of OpenAI, "This model doesn't support tool use" of Bedrock,
 * "Function calling is not enabled for models/gemma-3-27b-it" of Google, "does not support Function Calling" of DeepSeek, "No
 * endpoints found that support tool use" of OpenRouter, "requires --enable-auto-tool-choice" of vLLM and "does not support
 * parameters: ['tools']" of LiteLLM.
 */
const REJECTED_TOOLS =
  /(?:not|n't|that) support (?:tools\b|(?:tool|function)[- ](?:use|call))|(?:\btools|(?:tool|function)[- ](?:use|calls?|calling))[`'"]? (?:is|are) not (?:supported|enabled)|requires --enable-auto-tool-choice|support parameters: [[{][^\]]*'tools'/i;

/**
 * How a request asks for the answer. `tool`: as a call of the tool. `schema`: as text, for which the provider enforces the
 * schema. `prompt_and_schema`: also with the schema in the prompt, for a model without tools, which may not enforce it.
 * `prompt`: with the schema in the prompt alone.
 */
type AnswerForm = "tool" | "schema" | "prompt_and_schema" | "prompt";

/** Requests an answer that matches a schema, and checks every attempt. */
export class StructuredAnswer {
  /** Checks each turn, requests another attempt, and ends the run. */
  readonly #policy: Policy;
  readonly #options: StructuredAnswerOptions;
  readonly #answerSchema: AnswerSchema;
  #form: AnswerForm = "tool";
  /** The model of the latest request. */
  #model: ModelSpec | undefined;
  /** Whether the latest request had a tool in addition to the one that receives the answer. */
  #hasOtherTools = false;
  /** Whether the provider rejected the schema, so that the prompt alone has it if the model has no tools either. */
  #isSchemaRejected = false;
  #streamFn: StreamFn | undefined;
  /** Whether an attempt was a text without a call, so that the call is forced unless the provider refuses that. */
  #hasText = false;
  #now: () => number = Date.now;
  readonly #tool: AgentTool;
  #validator: SchemaValidator | undefined;
  #answer: { readonly value: unknown } | undefined;
  #attempts = 0;
  #lastError = "the model did not answer";

  /** Creates a request for an answer. */
  constructor(options: StructuredAnswerOptions) {
    this.#options = options;
    this.#answerSchema = new AnswerSchema(options.schema, options.validate);
    this.#tool = this.#createTool();
    this.#policy = {
      name: POLICY_NAME,
      preTurn: () => this.#isFinished() ? this.#stop() : undefined,
      preRequest: (request) => this.#requestAnswer(request),
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
    const { tools, getSettings } = this.#options;
    const { schema, parameters } = this.#answerSchema;
    this.#streamFn = config.streamFn;
    // Some providers accept either tools or a schema.
    const isEnforced = tools.length === 0 &&
      await isEnforcedByAll(schema, [getSettings(), ...config.fallback], config.streamFn);
    this.#form = isEnforced ? "schema" : "tool";
    this.#model = getSettings().model;
    this.#now = config.now;
    const { settings = getSettings, policies, validator } = config;
    this.#validator = validator;
    const used = isEnforced ? schema : parameters;
    if (!findPlainCheck(used, validator)) {
      await compileSchema(used, validator, this.#options.validate);
    }
    return {
      ...config,
      settings: () => this.#extendSettings(settings()),
      policies: [...policies, this.#policy],
    };
  }

  /** Changes a request so that it asks for the answer in the current form. */
  async #requestAnswer({ model, tools, request }: PreRequestContext): Promise<PreRequestVerdict> {
    if (this.#form !== "tool" && !isSameModel(model, this.#model)) await this.#adaptForm(model);
    this.#model = model;
    this.#hasOtherTools = tools.some((tool) => tool !== this.#tool);
    if (this.#form !== "tool") {
      return {
        type: "change",
        tools: tools.filter((tool) => tool !== this.#tool),
        ...(this.#form !== "schema" && { messages: this.#addSchema(request.context.messages) }),
        ...(this.#form !== "prompt" && { options: { responseSchema: this.#answerSchema.schema } }),
      };
    }
    // The form has just become `tool`, or another policy has replaced the tools.
    const needsTool = !tools.includes(this.#tool);
    const mustCall = this.#hasText && await this.#canForceCall(model);
    const choice = mustCall && { toolChoice: { name: this.#tool.name } };
    // The answer is no use of the agent's tools.
    if (request.options.toolChoice === "none") {
      this.#hasOtherTools = false;
      return { type: "change", tools: [this.#tool], toolChoice: "auto", ...choice };
    }
    if (!needsTool && !mustCall) return undefined;
    return { type: "change", ...(needsTool && { tools: this.#addTool(tools) }), ...choice };
  }

  /** Chooses the form for another model, whose provider may not enforce the schema. */
  async #adaptForm(model: ModelSpec): Promise<void> {
    const { schema } = this.#answerSchema;
    const isEnforced = await isEnforcedByAll(schema, [{ model }], this.#streamFn);
    this.#form = isEnforced ? "schema" : "tool";
    this.#isSchemaRejected = false;
  }

  /** Adds the schema to the newest prompt. Some models without tools have no system prompt either. */
  #addSchema(messages: readonly LlmMessage[]): readonly LlmMessage[] {
    const text =
      "Give the final answer as JSON without any other text. It must match this JSON Schema:\n" +
      JSON.stringify(this.#answerSchema.schema);
    const last = messages.at(-1);
    if (last?.role !== "user") return [...messages, userMessage(text, this.#now())];
    const content = [...last.content, { type: "text", text } as const];
    return [...messages.slice(0, -1), { ...last, content }];
  }

  /** Whether a model obeys a forced call; small models may never call the tool on their own. */
  #canForceCall(model: ModelSpec): Promise<boolean> {
    return isEnforcedByAll(this.#answerSchema.parameters, [{ model }], this.#streamFn);
  }

  /** Adds the tool that receives the answer to the agent's settings. */
  #extendSettings(settings: TurnSettings): TurnSettings {
    const answerTool = this.#tool;
    const recoverRequest = (error: AgentError) =>
      this.#omitSchema(error) || this.#useTool(error) || this.#useText(error) ||
      this.#askAgain(error);
    const tools = this.#form === "tool" ? this.#addTool(settings.tools) : settings.tools;
    return { ...settings, tools, answerTool, recoverRequest };
  }

  /** Adds the tool that receives the answer; one of the same name, which the agent got meanwhile, does not exist then. */
  #addTool(tools: readonly AgentTool[]): readonly AgentTool[] {
    return [...tools.filter(({ name }) => name !== this.#tool.name), this.#tool];
  }

  /** Requests the answer as a tool call if the provider rejected the schema; providers enforce only some keywords. */
  #useTool({ message }: AgentError): boolean {
    if (this.#form !== "schema" || !REJECTED_SCHEMA.test(message)) return false;
    this.#form = "tool";
    this.#isSchemaRejected = true;
    return true;
  }

  /** Requests the answer as JSON text from a model that has no tools, also if it is not known to enforce the schema. */
  #useText({ message }: AgentError): boolean {
    const canChange = this.#form === "tool" && this.#options.tools.length === 0;
    if (!canChange || !REJECTED_TOOLS.test(message)) return false;
    this.#form = this.#isSchemaRejected ? "prompt" : "prompt_and_schema";
    return true;
  }

  /** Requests JSON text without enforcing it from a model that has neither tools nor schemas. */
  #omitSchema({ message }: AgentError): boolean {
    if (this.#form !== "prompt_and_schema" || !REJECTED_SCHEMA.test(message)) return false;
    this.#form = "prompt";
    this.#isSchemaRejected = true;
    return true;
  }

  /** Requests the call without forcing it if the provider refuses that, as some do while a model thinks. */
  #askAgain({ message }: AgentError): boolean {
    if (!this.#hasText || !/tool_?choice/i.test(message)) return false;
    this.#hasText = false;
    return true;
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
    const isUseless = !this.#hasOtherTools && results.every(({ isError }) => isError);
    return isUseless ? results[0] : undefined;
  }

  async #checkText(text: string): Promise<PolicyVerdict> {
    // Small models write the arguments of the tool as text.
    const mismatch = await this.#acceptText(text);
    if (!mismatch) return;
    const problem = this.#form === "tool"
      ? `The answer must be given by calling the tool "${this.#tool.name}".`
      : mismatch;
    this.#hasText = true;
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
    if (this.#form !== "tool" || !isWrittenCall(value)) return undefined;
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

/** Whether the providers of all models enforce a schema. */
async function isEnforcedByAll(
  schema: JsonSchema,
  models: readonly Pick<ModelFallback, "model" | "streamFn">[],
  defaultStreamFn: StreamFn | undefined,
): Promise<boolean> {
  try {
    for (const { model, streamFn = defaultStreamFn } of models) {
      if (await streamFn?.hasStrictSchema?.(model, schema) !== true) return false;
    }
    return true;
  } catch {
    return false; // The answer is then requested as a tool call, which every provider supports.
  }
}

function isSameModel(model: ModelSpec, other: ModelSpec | undefined): boolean {
  return model.provider === other?.provider && model.modelId === other.modelId;
}
