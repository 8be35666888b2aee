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
export interface BlockEndOptions {
  /** An opaque mark that the provider wants back with the block. */
  readonly signature?: string | undefined;
  /** The reasoning was sent encrypted, as the signature. */
  readonly redacted?: boolean | undefined;
}

type TextOrThinking = "text" | "thinking";

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
  #currentType: TextOrThinking | null = null;
  #currentIndex = -1;
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
  writeText(delta: string): void {
    if (delta === "" || !this.#openTextOrThinking("text")) return;
    this.#emit({ type: "text_delta", contentIndex: this.#currentIndex, delta });
  }

  /** Appends reasoning; an empty piece opens no block. */
  writeThinking(delta: string): void {
    if (delta === "" || !this.#openTextOrThinking("thinking")) return;
    this.#emit({ type: "thinking_delta", contentIndex: this.#currentIndex, delta });
  }

  /** Closes the open text or thinking block, if there is one. */
  closeTextOrThinking(closing: BlockEndOptions = {}): void {
    if (this.#currentType === null || this.#ended) return;
    const type = this.#currentType === "text" ? "text_end" : "thinking_end";
    this.#emit({ type, contentIndex: this.#currentIndex, ...omitUndefined(closing) });
    this.#currentType = null;
  }

  /** Closes the reasoning with its signature; opens an empty block first when only the signature came. */
  closeThinking(closing: BlockEndOptions): void {
    if (this.#openTextOrThinking("thinking")) this.closeTextOrThinking(closing);
  }

  /** Closes the text with its signature; opens an empty block first when only the signature came. */
  closeText(closing: BlockEndOptions): void {
    if (this.#openTextOrThinking("text")) this.closeTextOrThinking(closing);
  }

  /** Begins a tool call and returns its content index; an empty id is given one by the loop. */
  openToolCall(id: string, name: string): number {
    const contentIndex = this.#startBlock();
    if (this.#ended) return contentIndex;
    this.#openCalls.add(contentIndex);
    this.#emit({ type: "tool_call_start", contentIndex, id, name });
    return contentIndex;
  }

  /** Appends a piece of the arguments of an open tool call. */
  writeToolArguments(contentIndex: number, delta: string): void {
    if (delta === "" || this.#ended || !this.#openCalls.has(contentIndex)) return;
    this.#emit({ type: "tool_call_delta", contentIndex, delta });
  }

  /** Closes a tool call; the provider has said that its arguments are complete. */
  closeToolCall(contentIndex: number, closing: BlockEndOptions = {}): void {
    if (this.#ended || !this.#openCalls.delete(contentIndex)) return;
    this.#emit({ type: "tool_call_end", contentIndex, ...omitUndefined(closing) });
  }

  /** Writes a whole tool call. */
  writeToolCall(id: string, name: string, args: string, closing: BlockEndOptions = {}): void {
    const contentIndex = this.openToolCall(id, name);
    this.writeToolArguments(contentIndex, args);
    this.closeToolCall(contentIndex, closing);
  }

  /** Writes a provider item that is to be replayed as it is. */
  writeExtension(typeName: string, data: unknown): void {
    const contentIndex = this.#startBlock();
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
    if (!this.#ensureStarted()) return;
    this.closeTextOrThinking();
    if (reply.stopReason !== "length") this.#closeCalls();
    this.#ended = true;
    const { stopReason, usage, cost } = reply;
    this.#emit(
      cost ? { type: "done", stopReason, usage, cost } : { type: "done", stopReason, usage },
    );
  }

  /** Ends the reply with an error; one of code `aborted` ends it as aborted. */
  fail(error: AgentError, usage?: Usage): void {
    if (!this.#ensureStarted()) return;
    this.closeTextOrThinking();
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

  #ensureStarted(): boolean {
    if (this.#ended) return false;
    this.start();
    return true;
  }

  #startBlock(): number {
    if (!this.#ensureStarted()) return this.#nextIndex;
    this.closeTextOrThinking();
    return this.#nextIndex++;
  }

  #openTextOrThinking(kind: TextOrThinking): boolean {
    if (this.#ended) return false;
    if (this.#currentType === kind) return true;
    this.#currentIndex = this.#startBlock();
    this.#currentType = kind;
    this.#emit({ type: `${kind}_start`, contentIndex: this.#currentIndex });
    return true;
  }

  #closeCalls(): void {
    for (const contentIndex of this.#openCalls) this.closeToolCall(contentIndex);
  }
}

/** Leaves out what is `undefined`, so that events carry no empty members. */
function omitUndefined(closing: BlockEndOptions): { signature?: string; redacted?: boolean } {
  return {
    ...(closing.signature !== undefined && { signature: closing.signature }),
    ...(closing.redacted !== undefined && { redacted: closing.redacted }),
  };
}
