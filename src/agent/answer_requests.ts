/**
 * The requests of a run for an answer that matches a schema, in a form that the provider of the model supports.
 *
 * @module
 */

import type { AgentError } from "../core/errors/errors.ts";
import type { PreRequestContext, PreRequestVerdict } from "../core/hooks/policy.ts";
import type { JsonSchema } from "../core/json/json.ts";
import { type LlmMessage, userMessage } from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { ModelFallback, ResolvedConfig, TurnSettings } from "../loop/run/config.ts";
import type { AnswerSchema } from "./answer_schema.ts";

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

/** Options for `new AnswerRequests()`. */
export interface AnswerRequestsOptions {
  /** The schema of the answer. */
  readonly answerSchema: AnswerSchema;
  /** The tool that receives the answer. */
  readonly tool: AgentTool;
  /** The agent's tools. */
  readonly tools: readonly AgentTool[];
}

/** Changes the requests of a run so that they ask for the answer. */
export class AnswerRequests {
  readonly #answerSchema: AnswerSchema;
  readonly #tool: AgentTool;
  readonly #tools: readonly AgentTool[];
  #form: AnswerForm = "tool";
  /** The model of the latest request. */
  #model: ModelSpec | undefined;
  #hasOtherTools = false;
  /** Whether the provider rejected the schema, so that the prompt alone has it if the model has no tools either. */
  #isSchemaRejected = false;
  #streamFn: StreamFn | undefined;
  /** Whether the call of the tool is forced, unless the provider refuses that. */
  #isForced = false;
  #now: () => number = Date.now;

  /** Creates requests that ask for a call of the tool. */
  constructor({ answerSchema, tool, tools }: AnswerRequestsOptions) {
    this.#answerSchema = answerSchema;
    this.#tool = tool;
    this.#tools = tools;
  }

  /** How the next request asks for the answer. */
  get form(): AnswerForm {
    return this.#form;
  }

  /** Whether the latest request had a tool in addition to the one that receives the answer. */
  get hasOtherTools(): boolean {
    return this.#hasOtherTools;
  }

  /** Chooses the form for a run: whether the provider enforces the schema, also with each of the fallback models. */
  async configure(
    { streamFn, fallback, now }: Pick<ResolvedConfig, "streamFn" | "fallback" | "now">,
    getSettings: () => TurnSettings,
  ): Promise<void> {
    this.#streamFn = streamFn;
    // Some providers accept either tools or a schema.
    const isEnforced = this.#tools.length === 0 &&
      await isEnforcedByAll(this.#answerSchema.schema, [getSettings(), ...fallback], streamFn);
    this.#form = isEnforced ? "schema" : "tool";
    this.#model = getSettings().model;
    this.#now = now;
  }

  /** Forces the call of the tool in the following requests, since an attempt was a text without a call. */
  forceCall(): void {
    this.#isForced = true;
  }

  /** Changes a request so that it asks for the answer in the current form. */
  async apply({ model, tools, request }: PreRequestContext): Promise<PreRequestVerdict> {
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
    const mustCall = this.#isForced && await this.#canForceCall(model);
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
  extendSettings(settings: TurnSettings): TurnSettings {
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
    const canChange = this.#form === "tool" && this.#tools.length === 0;
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
    if (!this.#isForced || !/tool_?choice/i.test(message)) return false;
    this.#isForced = false;
    return true;
  }
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
