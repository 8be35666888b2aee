/**
 * Writes the events of one reply in a valid order, for adapters.
 *
 * @module
 */

import { AbortedError, AgentError, getErrorMessage, StreamError } from "../errors/errors.ts";
import type { Citation } from "../messages/content.ts";
import type { StopReason } from "../models/model.ts";
import type { Cost, Usage } from "../models/usage.ts";
import type { AssistantMessageEvent } from "./stream.ts";

/** The end of a successful reply. */
export interface FinishedReply {
  /** The reason why the model stopped. */
  readonly stopReason: Extract<StopReason, "stop" | "length" | "tool_use">;
  /** Token counts of the reply. */
  readonly usage: Usage;
  /** Cost as reported by the provider. Default: calculated from the agent's prices. */
  readonly cost?: Cost | undefined;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string | undefined;
}

/** Attributes of a block that are known at its end. */
export interface BlockEndOptions {
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string | undefined;
  /** Whether the reasoning is encrypted, with the ciphertext in `signature`. */
  readonly redacted?: boolean | undefined;
  /** The sources that the model cites for a text block. */
  readonly citations?: readonly Citation[] | undefined;
}

type TextOrThinking = "text" | "thinking";

/**
 * Writes one reply as {@linkcode AssistantMessageEvent}s.
 *
 * A text or thinking block is closed when another block starts. Tool calls stay open until they are closed, so that
 * their deltas can interleave. The end of the reply closes all open blocks, except that a `length` stop leaves tool
 * calls open: the loop treats those as truncated. The first terminal event ends the reply; later calls are ignored.
 */
export class BlockWriter {
  readonly #emit: (event: AssistantMessageEvent) => void;
  #started = false;
  #ended = false;
  #nextIndex = 0;
  #currentType: TextOrThinking | null = null;
  #currentIndex = -1;
  /** The first half of a character that the end of a delta has split; a display would replace each half. */
  #half = "";
  readonly #openCalls = new Set<number>();
  #responseId: string | undefined;

  constructor(emit: (event: AssistantMessageEvent) => void) {
    this.#emit = emit;
  }

  /** Sets the provider's id of the reply, for the end of a successful one. A value that is no text is ignored. */
  setResponseId(id: unknown): void {
    if (typeof id === "string" && id !== "") this.#responseId = id;
  }

  /** Whether the terminal event has been written. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether any block has been started. */
  get hasContent(): boolean {
    return this.#nextIndex > 0;
  }

  /** Starts the reply, if no other method has done so. */
  start(): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    this.#emit({ type: "start" });
  }

  /** Appends text, in a new block if needed; an empty delta is ignored. */
  writeText(delta: string): void {
    this.#write("text", delta);
  }

  /** Appends reasoning, in a new block if needed; an empty delta is ignored. */
  writeThinking(delta: string): void {
    this.#write("thinking", delta);
  }

  /** Closes the open text or thinking block, if any. */
  closeTextOrThinking(options: BlockEndOptions = {}): void {
    if (this.#currentType === null || this.#ended) return;
    this.#emitDelta(this.#currentType, this.#half);
    this.#half = "";
    const type = this.#currentType === "text" ? "text_end" : "thinking_end";
    this.#emit({ type, contentIndex: this.#currentIndex, ...omitUndefined(options) });
    this.#currentType = null;
  }

  /** Closes the open thinking block, or writes an empty one if none is open. */
  closeThinking(options: BlockEndOptions): void {
    if (this.#openTextOrThinking("thinking")) this.closeTextOrThinking(options);
  }

  /** Closes the open text block, or writes an empty one if none is open. */
  closeText(options: BlockEndOptions): void {
    if (this.#openTextOrThinking("text")) this.closeTextOrThinking(options);
  }

  /** Starts a tool call and returns its content index; the loop replaces an empty id with a new one. */
  openToolCall(id: string, name: string): number {
    const contentIndex = this.#startBlock();
    if (this.#ended) return contentIndex;
    this.#openCalls.add(contentIndex);
    this.#emit({ type: "tool_call_start", contentIndex, id, name });
    return contentIndex;
  }

  /** Appends to the arguments of an open tool call; ignored if the call is not open. */
  writeToolArguments(contentIndex: number, delta: string): void {
    if (delta === "" || this.#ended || !this.#openCalls.has(contentIndex)) return;
    this.#emit({ type: "tool_call_delta", contentIndex, delta });
  }

  /** Closes a tool call whose arguments are complete; ignored if the call is not open. */
  closeToolCall(contentIndex: number, options: BlockEndOptions = {}): void {
    if (this.#ended || !this.#openCalls.delete(contentIndex)) return;
    this.#emit({ type: "tool_call_end", contentIndex, ...omitUndefined(options) });
  }

  /** Writes a complete tool call; `args` is the JSON text of its arguments. */
  writeToolCall(id: string, name: string, args: string, options: BlockEndOptions = {}): void {
    const contentIndex = this.openToolCall(id, name);
    this.writeToolArguments(contentIndex, args);
    this.closeToolCall(contentIndex, options);
  }

  /** Writes a provider item that later requests send back unchanged; `data` is any JSON value. */
  writeExtension(typeName: string, data: unknown): void {
    const contentIndex = this.#startBlock();
    if (this.#ended) return;
    this.#emit({ type: "extension", contentIndex, typeName, data });
  }

  /** Writes a `warning` event; the reply stays unchanged. */
  warning(code: string, message: string, data?: unknown): void {
    if (this.#ended) return;
    this.start();
    this.#emit(
      data === undefined
        ? { type: "warning", code, message }
        : { type: "warning", code, message, data },
    );
  }

  /** Ends the reply with a `done` event. */
  finish(reply: FinishedReply): void {
    if (!this.#ensureStarted()) return;
    this.closeTextOrThinking();
    if (reply.stopReason !== "length") this.#closeCalls();
    this.#ended = true;
    const { stopReason, usage, cost, responseId = this.#responseId } = reply;
    this.#emit({
      type: "done",
      stopReason,
      usage,
      ...(cost && { cost }),
      ...(responseId !== undefined && { responseId }),
    });
  }

  /** Ends the reply with an `error` event; its stop reason is `aborted` if that is the error's code. */
  fail(error: AgentError, usage?: Usage): void {
    if (!this.#ensureStarted()) return;
    this.closeTextOrThinking();
    this.#closeCalls();
    this.#ended = true;
    // Untyped callers pass what they have caught.
    const failure = AgentError.is(error) ? error : toStreamError(error);
    const stopReason = failure.code === "aborted" ? "aborted" : "error";
    this.#emit({ type: "error", stopReason, error: failure, ...(usage && { usage }) });
  }

  /** Ends the reply as aborted; `reason` becomes the error's `cause`. */
  abort(reason?: unknown, usage?: Usage): void {
    this.fail(new AbortedError("The request was aborted", { cause: reason }), usage);
  }

  #write(type: TextOrThinking, delta: string): void {
    if (this.#ended || delta === "") return;
    if (typeof delta !== "string") throw createDeltaError(type, delta);
    this.#openTextOrThinking(type);
    const text = this.#half + delta;
    this.#half = endsWithinCharacter(text) ? text.slice(-1) : "";
    this.#emitDelta(type, this.#half ? text.slice(0, -1) : text);
  }

  #emitDelta(type: TextOrThinking, delta: string): void {
    if (delta === "") return;
    this.#emit({ type: `${type}_delta`, contentIndex: this.#currentIndex, delta });
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

  #openTextOrThinking(type: TextOrThinking): boolean {
    if (this.#ended) return false;
    if (this.#currentType === type) return true;
    this.#currentIndex = this.#startBlock();
    this.#currentType = type;
    this.#emit({ type: `${type}_start`, contentIndex: this.#currentIndex });
    return true;
  }

  #closeCalls(): void {
    for (const contentIndex of this.#openCalls) this.closeToolCall(contentIndex);
  }
}

function toStreamError(thrown: unknown): StreamError {
  return new StreamError(`The model failed: ${getErrorMessage(thrown)}`, { cause: thrown });
}

function createDeltaError(type: TextOrThinking, delta: unknown): StreamError {
  return new StreamError(`The ${type} to write must be a string, not ${typeof delta}`);
}

/** Removes properties that are `undefined`, so that events do not have them. */
function omitUndefined(
  options: BlockEndOptions,
): { signature?: string; redacted?: boolean; citations?: readonly Citation[] } {
  return {
    ...(options.signature !== undefined && { signature: options.signature }),
    ...(options.redacted !== undefined && { redacted: options.redacted }),
    ...(options.citations !== undefined && { citations: options.citations }),
  };
}

/** Whether a text ends with a high surrogate, as from servers that split texts by UTF-16 code units. */
function endsWithinCharacter(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xD800 && last <= 0xDBFF;
}
