/**
 * Builds the content of an assistant message from stream events.
 *
 * @module
 */

import { describeValue } from "../errors/describe_value.ts";
import { getErrorMessage, StreamError } from "../errors/errors.ts";
import { copyJson } from "../json/copy_json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { parseArguments } from "../json/parse_arguments.ts";
import type { Citation, ContentBlock, ToolCallBlock } from "../messages/content.ts";
import type { StopReason } from "../models/model.ts";
import { TextBuffer } from "../text/text_buffer.ts";
import type {
  AssistantMessageEvent,
  BlockDeltaEvent,
  BlockEndEvent,
  StreamDoneEvent,
} from "./stream.ts";

/**
 * State of the arguments of a tool call.
 *
 * `complete`: they are a JSON object. `truncated`: the call is still open, or a reply that the token limit cut off ends with
 * arguments that are not a JSON object. `invalid`: they are not a JSON object otherwise; `text` is the raw text and `reason`
 * the reason why it is not.
 */
export type ArgumentsState =
  | { readonly type: "complete" }
  | { readonly type: "truncated" }
  | { readonly type: "invalid"; readonly text: string; readonly reason: string };

/** A tool call of a reply, with its parsed arguments. */
export interface FinishedCall {
  /** The block in the message; its `arguments` are `{}` unless `state` is `complete`. */
  readonly block: ToolCallBlock;
  /** State of its arguments. */
  readonly state: ArgumentsState;
}

/** Content of a reply. */
export interface AccumulatedReply {
  /**
   * The blocks, without empty text and thinking blocks. One with a signature stays, since the provider expects it back, and
   * so does one with citations.
   */
  readonly content: readonly ContentBlock[];
  /** The tool calls among the blocks, in order. */
  readonly calls: readonly FinishedCall[];
}

type TextDraft = {
  readonly type: "text" | "thinking";
  readonly text: TextBuffer;
  open: boolean;
  signature?: string;
  redacted?: boolean;
  citations?: readonly Citation[];
};
type CallDraft = {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly text: TextBuffer;
  open: boolean;
  signature?: string;
};
type ExtensionDraft = {
  readonly type: "extension";
  readonly block: ContentBlock;
  readonly open: false;
};
type BlockDraft = TextDraft | CallDraft | ExtensionDraft;

const STOP_REASONS: readonly StopReason[] = ["stop", "length", "tool_use", "aborted", "error"];

/** A table, so that a delta is checked without building a string. */
const DELTA_TYPES = {
  text: "text_delta",
  thinking: "thinking_delta",
  tool_call: "tool_call_delta",
} as const;

/**
 * Accumulates the events of one reply in linear time and validates their order.
 *
 * Deltas are only appended as text; {@linkcode ReplyAccumulator.finish} parses the arguments of tool calls.
 */
export class ReplyAccumulator {
  readonly #blocks: BlockDraft[] = [];
  #characters = 0;
  #ended = false;
  /** Whether the token limit cut off the reply. */
  #isCutOff = false;

  /** Length of the text, thinking and arguments so far, in UTF-16 code units. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether any block has started. */
  get hasContent(): boolean {
    return this.#blocks.length > 0;
  }

  /**
   * Applies the next event.
   *
   * @throws {StreamError} If the event violates the contract of `StreamFn`: a delta or an end for a block that is not
   * open, an index out of order, a `done` with an open block (except tool calls that a `length` stop cuts off), any event
   * after `done` or `error`, an unknown stop reason, or data that is not JSON.
   */
  apply(event: AssistantMessageEvent): void {
    if (this.#ended) {
      throw createContractError(`Unexpected "${event.type}" event after the end of the reply`);
    }
    switch (event.type) {
      case "start":
      case "warning":
        return;
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta":
        return this.append(event);
      case "text_start":
        return this.#openBlock(event.contentIndex, {
          type: "text",
          text: new TextBuffer(),
          open: true,
        });
      case "thinking_start":
        return this.#openBlock(event.contentIndex, {
          type: "thinking",
          text: new TextBuffer(),
          open: true,
        });
      case "tool_call_start": {
        const { contentIndex, id, name } = event;
        if (typeof id !== "string" || typeof name !== "string") {
          throw createContractError("The id or the name of a tool call is no string");
        }
        return this.#openBlock(contentIndex, {
          type: "tool_call",
          id,
          name,
          text: new TextBuffer(),
          open: true,
        });
      }
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        return this.#closeBlock(event);
      case "extension": {
        const { type, contentIndex, typeName, data } = event;
        if (typeof typeName !== "string") {
          throw createContractError("The typeName of an extension is no string");
        }
        const block: ContentBlock = copyBlockData(type, { type, typeName, data });
        return this.#openBlock(contentIndex, { type, block, open: false });
      }
      case "done":
        return this.#endReply(event);
      case "error":
        // A failure may interrupt any block; a violation would hide its cause.
        this.#ended = true;
        return;
    }
  }

  /**
   * Appends a delta: the same as {@linkcode ReplyAccumulator.apply}, for the most frequent events.
   *
   * @throws {StreamError} If the block of the delta is not open.
   */
  append({ type, contentIndex, delta }: BlockDeltaEvent): void {
    const draft = this.#blocks[contentIndex];
    if (this.#ended || !draft?.open || type !== DELTA_TYPES[draft.type]) {
      throw createContractError(
        `Unexpected "${type}" event: block ${contentIndex} is not an open block of this type`,
      );
    }
    if (typeof delta !== "string") throw createContractError(`The delta of "${type}" is no string`);
    draft.text.append(delta);
    this.#characters += delta.length;
  }

  /** Returns the reply so far; may be called at any time. Arguments of open calls are `truncated`. */
  finish(): AccumulatedReply {
    const content: ContentBlock[] = [];
    const calls: FinishedCall[] = [];
    const cut = this.#findCutBlock();
    for (const draft of this.#blocks) {
      if (draft.type === "tool_call") {
        const call = finishCallDraft(draft, { isCut: draft === cut });
        calls.push(call);
        content.push(call.block);
      } else if (draft.type === "extension") {
        content.push(draft.block);
      } else if (hasContent(draft)) {
        content.push(finishTextDraft(draft));
      }
    }
    return { content, calls };
  }

  /** Returns the last block of a reply that the token limit cut off. Some providers end it like a complete one. */
  #findCutBlock(): BlockDraft | undefined {
    return this.#isCutOff ? this.#blocks.findLast(({ type }) => type !== "extension") : undefined;
  }

  #openBlock(contentIndex: number, draft: BlockDraft): void {
    if (contentIndex !== this.#blocks.length) {
      throw createContractError(
        `Unexpected start of block ${contentIndex}: the next block is ${this.#blocks.length}`,
      );
    }
    this.#blocks.push(draft);
  }

  #closeBlock({ type, contentIndex, signature, redacted, citations }: BlockEndEvent): void {
    const draft = this.#blocks[contentIndex];
    if (!draft?.open || !type.startsWith(draft.type)) {
      throw createContractError(
        `Unexpected "${type}" event: block ${contentIndex} is not an open block of this type`,
      );
    }
    if (signature !== undefined && typeof signature !== "string") {
      throw createContractError(`The signature of "${type}" is no string`);
    }
    if (citations !== undefined && !isObjectList(citations)) {
      throw createContractError(`The citations of "${type}" are no list of objects`);
    }
    draft.open = false;
    if (signature !== undefined) draft.signature = signature;
    if (draft.type === "tool_call") return;
    if (redacted !== undefined) draft.redacted = redacted === true;
    if (citations !== undefined) draft.citations = copyBlockData(type, citations);
  }

  #endReply({ stopReason }: StreamDoneEvent): void {
    this.#ended = true;
    if (!STOP_REASONS.includes(stopReason)) {
      throw createContractError(
        `The stopReason of "done" must be one of ${STOP_REASONS.join(", ")}, not ${
          describeValue(stopReason)
        }`,
      );
    }
    this.#isCutOff = stopReason === "length";
    const open = this.#blocks.findIndex((draft) =>
      draft.open && !(this.#isCutOff && draft.type === "tool_call")
    );
    if (open >= 0) {
      throw createContractError(`Unexpected end of the reply: block ${open} is still open`);
    }
  }
}

function hasContent({ text, signature, citations = [] }: TextDraft): boolean {
  return text.toString() !== "" || signature !== undefined || citations.length > 0;
}

function finishTextDraft(draft: TextDraft): ContentBlock {
  const { type, signature, redacted, citations } = draft;
  const text = draft.text.toString();
  const attributes = {
    ...(signature !== undefined && { signature }),
    ...(redacted !== undefined && { redacted }),
  };
  if (type === "thinking") return { type, thinking: text, ...attributes };
  return { type, text, ...attributes, ...(citations && { citations }) };
}

function finishCallDraft(draft: CallDraft, { isCut }: { readonly isCut: boolean }): FinishedCall {
  if (draft.open) return { block: createCallBlock(draft), state: { type: "truncated" } };
  const text = draft.text.toString();
  const parsed = parseArguments(text);
  if ("value" in parsed) {
    return { block: createCallBlock(draft, parsed.value), state: { type: "complete" } };
  }
  const { reason } = parsed;
  const state: ArgumentsState = isCut ? { type: "truncated" } : { type: "invalid", text, reason };
  return { block: createCallBlock(draft), state };
}

function createCallBlock({ id, name, signature }: CallDraft, args: JsonObject = {}): ToolCallBlock {
  const block = { type: "tool_call", id, name, arguments: args } as const;
  return signature === undefined ? block : { ...block, signature };
}

function isObjectList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isJsonObject);
}

/** Copies data of a block, which must be JSON, since the block becomes a part of the history. */
function copyBlockData<Data>(event: string, data: Data): Data {
  try {
    return copyJson(data);
  } catch (cause) {
    throw createContractError(`Invalid "${event}" event: ${getErrorMessage(cause)}`, cause);
  }
}

function createContractError(message: string, cause?: unknown): StreamError {
  return new StreamError(message, { cause });
}
