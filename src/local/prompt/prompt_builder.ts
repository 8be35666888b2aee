/**
 * Prompts of conversations, and the texts of replies in them.
 *
 * @module
 */

import type { ContentBlock } from "../../core/content.ts";
import type { AssistantMessage } from "../../core/message.ts";
import type { LlmContext } from "../../core/stream.ts";
import { type CallFormat, describeTools, findCallFormat } from "./call_format.ts";
import { type ChatMessage, toChatMessages, toChatTools } from "./chat_message.ts";
import type { ChatTemplate, TemplateInput } from "./chat_template.ts";
import { ReplyRecord } from "./reply_record.ts";

/** Encloses the number of a reply, which replaces its text while the template is rendered. */
const MARK = "\u{10fffd}";

/** A prompt. */
export interface BuiltPrompt {
  /** The text; special tokens in messages are divided. */
  readonly text: string;
  /** The part of the text that begins the reply, after the name of its role. */
  readonly replyStart: string;
}

/** Options for `PromptBuilder.build()`. */
export interface PromptOptions {
  /** Whether the model is to think before it answers. */
  readonly thinks: boolean;
  /** Divides special tokens in a text. */
  readonly protect: (text: string) => string;
}

/** Builds the prompts of a model. */
export class PromptBuilder {
  /** How the model writes tool calls. */
  readonly callFormat: CallFormat;
  readonly #template: ChatTemplate;
  readonly #replies = new ReplyRecord();

  constructor(template: ChatTemplate) {
    this.#template = template;
    this.callFormat = findCallFormat(template.source);
  }

  /**
   * Builds the prompt of a conversation. Replies of this model have the text that it wrote, so that the prompt begins like
   * the earlier ones.
   *
   * @throws {BadRequestError} If the template refuses the messages.
   */
  build(context: LlmContext, options: PromptOptions): BuiltPrompt {
    const texts: string[] = [];
    const findReply = ({ content }: AssistantMessage) => {
      const text = this.#replies.find(content);
      if (text === undefined) return undefined;
      texts.push(text);
      return `${MARK}${texts.length - 1}${MARK}`;
    };
    const marked = this.#createInput(context, { ...options, findReply });
    const rendered = this.#template.render(marked);
    const text = insertReplies(rendered, texts);
    if (text === undefined) {
      const plain = this.#createInput(context, { ...options, findReply: () => undefined });
      return this.#findReplyStart(this.#template.render(plain), plain, []);
    }
    return this.#findReplyStart(text, marked, texts);
  }

  /** Keeps the text of a reply for the next prompt; `start` is that of its prompt. */
  recordReply(content: readonly ContentBlock[], start: string, text: string): void {
    this.#replies.add(content, start + text);
  }

  #createInput(
    context: LlmContext,
    { thinks, protect, findReply }: PromptOptions & {
      readonly findReply: (message: AssistantMessage) => string | undefined;
    },
  ): TemplateInput {
    const clean = (text: string) => protect(text.replaceAll(MARK, ""));
    const messages = toChatMessages(context, { protect: clean, findReply });
    const tools = toChatTools(context.tools, clean);
    const input = { messages, tools, thinks, addsReply: true };
    if (tools.length === 0 || this.#template.hasTools) return input;
    return { ...input, messages: describeTools(messages, tools), tools: [] };
  }

  /** Compares the prompt with that of a conversation in which the reply exists. */
  #findReplyStart(text: string, input: TemplateInput, replies: readonly string[]): BuiltPrompt {
    const reply: ChatMessage = { role: "assistant", content: `${MARK}${replies.length}${MARK}` };
    const answered = this.#template.render({
      ...input,
      messages: [...input.messages, reply],
      addsReply: false,
    });
    const [start = ""] = answered.split(reply.content);
    const expected = insertReplies(start, replies) ?? start;
    return { text, replyStart: text.startsWith(expected) ? text.slice(expected.length) : "" };
  }
}

/** Replaces the numbers of replies by their texts; `undefined` if the template has not kept each of them once. */
function insertReplies(rendered: string, replies: readonly string[]): string | undefined {
  const parts = rendered.split(MARK);
  if (parts.length !== 2 * replies.length + 1) return undefined;
  const isComplete = replies.every((_, index) => parts[2 * index + 1] === String(index));
  if (!isComplete) return undefined;
  return parts.map((part, index) => index % 2 === 0 ? part : replies[(index - 1) / 2] ?? "")
    .join("");
}
