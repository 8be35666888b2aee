/**
 * The pen of every adapter: opens, feeds and closes blocks, so that no reply can end badly.
 *
 * @module
 */

import { AbortedError, type AgentError } from "./errors.ts";
import type { StopReason } from "./model.ts";
import type { AssistantMessageEvent } from "./stream.ts";
import type { Cost, Usage } from "./usage.ts";

/** How a reply ended well. */
export interface FinishedReply {
  /** Why the model stopped. */
  readonly stopReason: Extract<StopReason, "stop" | "length" | "tool_use">;
  /** Tokens of the reply. */
  readonly usage: Usage;
  /** What the provider itself says it cost. */
  readonly cost?: Cost | undefined;
}

/** What closes a block besides its end. */
export interface BlockClosing {
  /** An opaque mark that the provider wants back with the block. */
  readonly signature?: string | undefined;
  /** The reasoning was sent encrypted, as the signature. */
  readonly redacted?: boolean | undefined;
}

type ProseKind = "text" | "thinking";

/**
 * Writes one reply as {@linkcode AssistantMessageEvent}s.
 *
 * Prose (text, thinking) is closed as soon as other prose or a tool call begins. Tool calls stay open until they are
 * closed, so that deltas of several can interleave. The end closes what is open, but a `length` stop leaves
 * open tool calls open: the loop tells by that which calls were cut. There is one terminal event, whatever
 * is called; everything after it is ignored.
 */
export class BlockWriter {
  readonly #emit: (event: AssistantMessageEvent) => void;
  #started = false;
  #ended = false;
  #nextIndex = 0;
  #prose: ProseKind | null = null;
  #proseIndex = -1;
  readonly #openCalls = new Set<number>();

  /** Makes a writer whose events go to `emit`. */
  constructor(emit: (event: AssistantMessageEvent) => void) {
    this.#emit = emit;
  }

  /** Whether the terminal event has been written. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether any block has been written. */
  get hasContent(): boolean {
    return this.#nextIndex > 0;
  }

  /** Begins the reply; every other method does so by itself. */
  start(): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    this.#emit({ type: "start" });
  }

  /** Appends text; an empty piece opens no block. */
  text(delta: string): void {
    if (delta === "" || !this.#openProse("text")) return;
    this.#emit({ type: "text_delta", contentIndex: this.#proseIndex, delta });
  }

  /** Appends reasoning; an empty piece opens no block. */
  thinking(delta: string): void {
    if (delta === "" || !this.#openProse("thinking")) return;
    this.#emit({ type: "thinking_delta", contentIndex: this.#proseIndex, delta });
  }

  /** Closes the open text or thinking block, if there is one. */
  closeProse(closing: BlockClosing = {}): void {
    if (this.#prose === null || this.#ended) return;
    const type = this.#prose === "text" ? "text_end" : "thinking_end";
    this.#emit({ type, contentIndex: this.#proseIndex, ...definedOf(closing) });
    this.#prose = null;
  }

  /** Closes the reasoning with its signature; opens an empty block first when only the signature came. */
  closeThinking(closing: BlockClosing): void {
    if (this.#openProse("thinking")) this.closeProse(closing);
  }

  /** Closes the text with its signature; opens an empty block first when only the signature came. */
  closeText(closing: BlockClosing): void {
    if (this.#openProse("text")) this.closeProse(closing);
  }

  /** Begins a tool call and returns its content index; an empty id is given one by the loop. */
  openToolCall(id: string, name: string): number {
    const contentIndex = this.#nextBlock();
    if (this.#ended) return contentIndex;
    this.#openCalls.add(contentIndex);
    this.#emit({ type: "tool_call_start", contentIndex, id, name });
    return contentIndex;
  }

  /** Appends a piece of the arguments of an open tool call. */
  toolArguments(contentIndex: number, delta: string): void {
    if (delta === "" || this.#ended || !this.#openCalls.has(contentIndex)) return;
    this.#emit({ type: "tool_call_delta", contentIndex, delta });
  }

  /** Closes a tool call; the provider has said that its arguments are complete. */
  closeToolCall(contentIndex: number, closing: BlockClosing = {}): void {
    if (this.#ended || !this.#openCalls.delete(contentIndex)) return;
    this.#emit({ type: "tool_call_end", contentIndex, ...definedOf(closing) });
  }

  /** Writes a whole tool call. */
  toolCall(id: string, name: string, args: string, closing: BlockClosing = {}): void {
    const contentIndex = this.openToolCall(id, name);
    this.toolArguments(contentIndex, args);
    this.closeToolCall(contentIndex, closing);
  }

  /** Writes a provider item that is to be replayed as it is. */
  extension(typeName: string, data: unknown): void {
    const contentIndex = this.#nextBlock();
    if (this.#ended) return;
    this.#emit({ type: "extension", contentIndex, typeName, data });
  }

  /** Tells the user something without touching the reply. */
  warning(code: string, message: string, data?: unknown): void {
    if (this.#ended) return;
    this.start();
    this.#emit(
      data === undefined
        ? { type: "warning", code, message }
        : { type: "warning", code, message, data },
    );
  }

  /** Ends the reply well. */
  finish(reply: FinishedReply): void {
    if (!this.#begin()) return;
    this.closeProse();
    if (reply.stopReason !== "length") this.#closeCalls();
    this.#ended = true;
    const { stopReason, usage, cost } = reply;
    this.#emit(
      cost ? { type: "done", stopReason, usage, cost } : { type: "done", stopReason, usage },
    );
  }

  /** Ends the reply with an error; one of code `aborted` ends it as aborted. */
  fail(error: AgentError, usage?: Usage): void {
    if (!this.#begin()) return;
    this.closeProse();
    this.#closeCalls();
    this.#ended = true;
    const stopReason = error.code === "aborted" ? "aborted" : "error";
    this.#emit(
      usage ? { type: "error", stopReason, error, usage } : { type: "error", stopReason, error },
    );
  }

  /** Ends the reply because the caller cancelled. */
  abort(reason?: unknown, usage?: Usage): void {
    this.fail(new AbortedError("The request was aborted", { cause: reason }), usage);
  }

  #begin(): boolean {
    if (this.#ended) return false;
    this.start();
    return true;
  }

  #nextBlock(): number {
    if (!this.#begin()) return this.#nextIndex;
    this.closeProse();
    return this.#nextIndex++;
  }

  #openProse(kind: ProseKind): boolean {
    if (this.#ended) return false;
    if (this.#prose === kind) return true;
    this.#proseIndex = this.#nextBlock();
    this.#prose = kind;
    this.#emit({ type: `${kind}_start`, contentIndex: this.#proseIndex });
    return true;
  }

  #closeCalls(): void {
    for (const contentIndex of this.#openCalls) this.closeToolCall(contentIndex);
  }
}

/** Leaves out what is `undefined`, so that events carry no empty members. */
function definedOf(closing: BlockClosing): { signature?: string; redacted?: boolean } {
  return {
    ...(closing.signature !== undefined && { signature: closing.signature }),
    ...(closing.redacted !== undefined && { redacted: closing.redacted }),
  };
}
