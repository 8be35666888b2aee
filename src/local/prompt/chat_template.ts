/**
 * Prompts by the chat template of a model.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { type CallFormat, CHANNEL_CALLS, findCallFormat, TAGGED_CALLS } from "./call_format.ts";
import { type ChatMessage, type ChatTool, joinNeighbours } from "./chat_message.ts";
import { type JinjaTemplate, parseTemplate } from "./jinja_package.ts";
import { findAbilities } from "./template_abilities.ts";

/** The template of models without one: ChatML, which most small models know. */
const DEFAULT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + " +
  "'<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}" +
  "{% endif %}";

/** The durations of thinking that gpt-oss distinguishes. */
export type ReasoningEffort = "low" | "medium" | "high";

/** Values of a template. */
export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** Whether the model is to think before it answers, if it can. */
  readonly thinks: boolean;
  /** How long it thinks; only gpt-oss distinguishes it. Default: that of the template. */
  readonly effort?: ReasoningEffort | undefined;
  /** Whether the prompt ends with the start of a reply. */
  readonly addsReply: boolean;
}

/** Texts of special tokens. */
export interface SpecialTexts {
  readonly bos: string;
  readonly eos: string;
}

/** The chat template of a model. */
export class ChatTemplate {
  /** How the model writes tool calls. */
  readonly callFormat: CallFormat;
  /** Whether the template describes tools itself, with their calls and results. */
  readonly hasTools: boolean;
  readonly #template: JinjaTemplate;
  readonly #specialTexts: SpecialTexts;
  readonly #hasSystem: boolean;
  /** The value for no tools, which some templates accept only as a list. */
  readonly #noTools: null | readonly [];

  private constructor(source: string, template: JinjaTemplate, specialTexts: SpecialTexts) {
    this.#template = template;
    this.#specialTexts = specialTexts;
    this.#noTools = null;
    this.#noTools = this.#acceptsNoTools() ? null : [];
    const format = findCallFormat(source);
    const abilities = findAbilities(
      (messages, tools) => this.#render({ messages, tools, thinks: false, addsReply: true }),
      format,
    );
    this.hasTools = /\btools\b/.test(source) && abilities.hasTools;
    this.#hasSystem = abilities.hasSystem;
    // A call without a text before it is known only to models whose templates show it.
    this.callFormat = this.hasTools || format.open !== "" ? format : TAGGED_CALLS;
  }

  /**
   * Parses a template; an empty one is replaced by ChatML.
   *
   * @throws {BadRequestError} If it is invalid.
   */
  static async parse(source: string, specialTexts: SpecialTexts): Promise<ChatTemplate> {
    const text = source.trim() === "" ? DEFAULT_TEMPLATE : source;
    return new ChatTemplate(text, await parseTemplate(text), specialTexts);
  }

  /**
   * Returns the prompt. Where the template does not accept a system message, or leaves it out, its text is added to the first
   * message of the user.
   *
   * @throws {BadRequestError} If the template refuses the messages.
   */
  render(input: TemplateInput): string {
    const merged = mergeSystemMessage(input.messages);
    try {
      return this.#render(merged && !this.#hasSystem ? { ...input, messages: merged } : input);
    } catch (cause) {
      if (merged) return this.#renderAgain({ ...input, messages: merged }, cause);
      throw createTemplateError(cause);
    }
  }

  #renderAgain(input: TemplateInput, cause: unknown): string {
    try {
      return this.#render(input);
    } catch {
      throw createTemplateError(cause);
    }
  }

  #acceptsNoTools(): boolean {
    const messages: ChatMessage[] = [{ role: "user", content: "Question" }];
    try {
      this.#render({ messages, tools: [], thinks: false, addsReply: true });
      return true;
    } catch {
      return false;
    }
  }

  #render({ messages, tools, thinks, effort, addsReply }: TemplateInput): string {
    return this.#template.render({
      messages,
      tools: tools.length > 0 ? tools : this.#noTools,
      add_generation_prompt: addsReply,
      enable_thinking: thinks,
      // Other templates refuse some of the values.
      ...(effort && this.callFormat === CHANNEL_CALLS && { reasoning_effort: effort }),
      bos_token: this.#specialTexts.bos,
      eos_token: this.#specialTexts.eos,
    });
  }
}

function mergeSystemMessage(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const [first, ...others] = messages;
  if (first?.role !== "system" || others.length === 0) return undefined;
  return joinNeighbours([{ role: "user", content: first.content }, ...others], ["user"]);
}

function createTemplateError(cause: unknown): BadRequestError {
  const problem = "The chat template of the model does not accept the conversation";
  return new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
}
