/**
 * Prompts by the chat template of a model.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { ChatMessage, ChatTool } from "./chat_message.ts";
import { type JinjaTemplate, parseTemplate } from "./jinja_package.ts";

/** The template of models without one: ChatML, which most small models know. */
const DEFAULT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + " +
  "'<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}" +
  "{% endif %}";

/** Values of a template. */
export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** Whether the model is to think before it answers, if it can. */
  readonly thinks: boolean;
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
  /** The source of the template. */
  readonly source: string;
  readonly #template: JinjaTemplate;
  readonly #specialTexts: SpecialTexts;

  private constructor(source: string, template: JinjaTemplate, specialTexts: SpecialTexts) {
    this.source = source;
    this.#template = template;
    this.#specialTexts = specialTexts;
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

  /** Whether the template describes tools itself. */
  get hasTools(): boolean {
    return /\btools\b/.test(this.source);
  }

  /**
   * Returns the prompt. Where the template does not accept a system message, its text is added to the first message of
   * the user.
   *
   * @throws {BadRequestError} If the template refuses the messages.
   */
  render(input: TemplateInput): string {
    try {
      return this.#render(input);
    } catch (cause) {
      const merged = mergeSystemMessage(input.messages);
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

  #render({ messages, tools, thinks, addsReply }: TemplateInput): string {
    return this.#template.render({
      messages,
      tools: tools.length > 0 ? tools : null,
      add_generation_prompt: addsReply,
      enable_thinking: thinks,
      bos_token: this.#specialTexts.bos,
      eos_token: this.#specialTexts.eos,
    });
  }
}

function mergeSystemMessage(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const [first, second, ...others] = messages;
  if (first?.role !== "system" || second?.role !== "user") return undefined;
  return [{ role: "user", content: `${first.content}\n\n${second.content}` }, ...others];
}

function createTemplateError(cause: unknown): BadRequestError {
  const problem = "The chat template of the model does not accept the conversation";
  return new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
}
