/**
 * Prompts of conversations, and the texts of replies in them.
 *
 * @module
 */

import type { ContentBlock } from "../../core/messages/content.ts";
import type { AssistantMessage } from "../../core/messages/message.ts";
import type { LlmContext } from "../../core/streams/stream.ts";
import { type CallFormat, CHANNEL_CALLS, describeTools } from "./call_format.ts";
import { type ChatMessage, separateCalls, toChatMessages, toChatTools } from "./chat_message.ts";
import type { ChatTemplate, ReasoningEffort, TemplateInput } from "./chat_template.ts";
import { ReplyRecord } from "./reply_record.ts";
import { removeEmptyThinking } from "./thinking_tags.ts";

/** Encloses the number of a reply, which replaces its text while the template is rendered. */
const MARK = "\u{10fffd}";

/** A prompt. */
export interface BuiltPrompt {
  /** The text; special tokens in messages are divided. */
  readonly text: string;
  /** The part of the text that begins the reply, after the name of its role. */
  readonly replyStart: string;
  /** Number of characters up to the end of the first message of the user; 0 if it is not known. */
  readonly openingLength: number;
}

/** Options for `PromptBuilder.build()`. */
export interface PromptOptions {
  /** Whether the model is to think before it answers. */
  readonly thinks: boolean;
  /** How long it thinks, if the model distinguishes that. Default: that of the template. */
  readonly effort?: ReasoningEffort | undefined;
  /** Divides special tokens in a text. */
  readonly protect: (text: string) => string;
}

/** Builds the prompts of a model. */
export class PromptBuilder {
  /** How the model writes tool calls. */
  readonly callFormat: CallFormat;
  readonly #template: ChatTemplate;
  readonly #replies = new ReplyRecord();
  /** Texts between a message and its reply, by whether the model thinks. */
  readonly #roleTexts = new Map<boolean, string>();

  constructor(template: ChatTemplate) {
    this.#template = template;
    this.callFormat = template.callFormat;
  }

  /**
   * Builds the prompt of a conversation. Replies of this model have the text that it wrote, so that the prompt begins like
   * the earlier ones.
   *
   * @throws {BadRequestError} If the template refuses the messages.
   */
  build(context: LlmContext, options: PromptOptions): BuiltPrompt {
    let failure: { readonly error: unknown } | undefined;
    for (const { input, replies } of this.#createInputs(context, options)) {
      try {
        const form = { replies, role: this.#findRoleText(input) };
        const text = insertReplies(this.#template.render(input), form);
        if (text === undefined) continue;
        const replyStart = this.#findReplyStart(text, input, form);
        return { text, replyStart, openingLength: this.#countOpening(text, input) };
      } catch (error) {
        failure ??= { error };
      }
    }
    throw failure?.error;
  }

  /** Keeps the text of a reply for the next prompt; `start` is that of its prompt. */
  recordReply(content: readonly ContentBlock[], start: string, text: string): void {
    // The template writes the headers of the messages in a reply, and leaves its thinking out.
    if (this.callFormat === CHANNEL_CALLS) return;
    this.#replies.add(content, start + text);
  }

  /**
   * Creates inputs from the best one to the one that the fewest templates refuse: with the texts of replies, without them,
   * and with calls and results as text, since templates may require that user and assistant alternate.
   */
  *#createInputs(
    context: LlmContext,
    { thinks, effort, protect }: PromptOptions,
  ): Generator<PromptInput> {
    const clean = (text: string) => protect(text.replaceAll(MARK, ""));
    const replies: string[] = [];
    const findReply = ({ content }: AssistantMessage) => {
      const text = this.#replies.find(content);
      if (text === undefined) return undefined;
      replies.push(text);
      return `${MARK}${replies.length - 1}${MARK}`;
    };
    const marked = toChatMessages(context, { protect: clean, findReply });
    const messages = toChatMessages(context, { protect: clean, findReply: () => undefined });
    const tools = toChatTools(context.tools, clean);
    const base = { thinks, effort, addsReply: true };
    const describe = (described: readonly ChatMessage[]): TemplateInput => ({
      ...base,
      messages: describeTools(described, tools, this.callFormat),
      tools: [],
    });
    if (this.#template.hasTools) {
      if (replies.length > 0) yield { input: { ...base, messages: marked, tools }, replies };
      const separated = this.callFormat === CHANNEL_CALLS ? separateCalls(messages) : messages;
      yield { input: { ...base, messages: separated, tools }, replies: [] };
    }
    if (replies.length > 0) yield { input: describe(marked), replies };
    yield { input: describe(messages), replies: [] };
  }

  /** Compares the prompt with that of a conversation in which the reply exists and another message follows. */
  #findReplyStart(text: string, input: TemplateInput, form: ReplyForm): string {
    const conversation = this.#tryRender({ ...input, addsReply: false });
    const before = conversation && insertReplies(conversation, form);
    if (before === undefined) return "";
    const end = before + form.role;
    return text.startsWith(end) ? text.slice(end.length) : "";
  }

  #countOpening(text: string, { messages, ...input }: TemplateInput): number {
    const first = messages.findIndex(({ role }) => role === "user");
    const opening = { ...input, messages: messages.slice(0, first + 1), addsReply: false };
    const start = this.#tryRender(opening) ?? "";
    if (text.startsWith(start)) return start.length;
    // Some templates end a conversation with a token, such as that of Phi.
    const content = messages[first]?.content.trim() ?? "";
    const index = content === "" ? -1 : start.lastIndexOf(content);
    const end = index + content.length;
    return index >= 0 && text.startsWith(start.slice(0, end)) ? end : 0;
  }

  /**
   * Returns the text between a message and the reply to it, which is not the last message; empty if it is not known. Spaces and
   * thinking without a text at its end belong to the reply, since templates write them in some replies and not in others.
   */
  #findRoleText({ thinks }: TemplateInput): string {
    const known = this.#roleTexts.get(thinks);
    if (known !== undefined) return known;
    const question: ChatMessage = { role: "user", content: "Q" };
    const reply: ChatMessage = { role: "assistant", content: MARK };
    const input = { thinks, tools: [], addsReply: false };
    const before = this.#tryRender({ ...input, messages: [question] });
    const [start = ""] = this.#tryRender({ ...input, messages: [question, reply, question] })
      ?.split(MARK) ?? [];
    const isPrefix = before !== undefined && start.startsWith(before);
    const text = isPrefix ? removeEmptyThinking(start.slice(before.length)) : "";
    this.#roleTexts.set(thinks, text);
    return text;
  }

  #tryRender(input: TemplateInput): string | undefined {
    try {
      return this.#template.render(input);
    } catch {
      return undefined;
    }
  }
}

interface PromptInput {
  readonly input: TemplateInput;
  /** Texts of the replies whose numbers the messages have. */
  readonly replies: readonly string[];
}

/** How replies are inserted into a prompt. */
interface ReplyForm {
  /** Texts of the replies whose numbers the messages have. */
  readonly replies: readonly string[];
  /** The text before a reply; empty if it is not known. */
  readonly role: string;
}

/** Replaces the numbers of replies by their texts; `undefined` if the template has not kept each of them once. */
function insertReplies(rendered: string, { replies, role }: ReplyForm): string | undefined {
  const parts = rendered.split(MARK);
  if (parts.length !== 2 * replies.length + 1) return undefined;
  const isComplete = replies.every((_, index) => parts[2 * index + 1] === String(index));
  if (!isComplete) return undefined;
  return parts.map((part, index) => {
    if (index % 2 === 1) return replies[(index - 1) / 2] ?? "";
    return index < parts.length - 1 ? trimReplyStart(part, role) : part;
  }).join("");
}

/** Removes what the template has written between the text before a reply and the reply, which has its own start. */
function trimReplyStart(part: string, role: string): string {
  if (role === "") return part;
  const trimmed = removeEmptyThinking(part);
  return trimmed.endsWith(role) ? trimmed : part;
}
