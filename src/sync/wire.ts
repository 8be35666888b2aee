/**
 * What the two sides of a synchronous run share: one buffer, a flag to wait on, and text in pieces.
 *
 * @module
 */

import type { AgentErrorRecord } from "../core/errors.ts";
import type { PromptInput } from "../core/message.ts";

/** What the worker is asked. */
export interface SyncRequest {
  /** The module whose default export makes the agent. */
  readonly module: string;
  /** What to say; nothing to continue. */
  readonly input?: PromptInput;
  /** The buffer that both sides share. */
  readonly buffer: SharedArrayBuffer;
}

/** What the worker answers, as JSON. */
export type SyncResponse =
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "failed"; readonly error: AgentErrorRecord };

/** Bytes of a piece. */
export const CHUNK_BYTES = 1 << 16;
/** Bytes before the piece: whose turn it is, how long the piece is, whether more follow. */
const HEADER_BYTES = 12;

const TURN_INDEX = 0;
const LENGTH_INDEX = 1;
const MORE_INDEX = 2;
const WORKER_TURN = 0;
const CALLER_TURN = 1;

/** A buffer for one run. */
export function createBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + CHUNK_BYTES);
}

/** Worker's side: hands a text over, piece by piece. */
export function sendText(buffer: SharedArrayBuffer, text: string): void {
  const { header, piece } = createViews(buffer);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    Atomics.wait(header, TURN_INDEX, CALLER_TURN);
    const part = bytes.subarray(at, at + CHUNK_BYTES);
    piece.set(part);
    Atomics.store(header, LENGTH_INDEX, part.length);
    Atomics.store(header, MORE_INDEX, at + CHUNK_BYTES < bytes.length ? 1 : 0);
    passTurn(header, CALLER_TURN);
  }
}

/** Caller's side: blocks the thread until a text has come; `undefined` when it did not begin in time. */
export function receiveText(buffer: SharedArrayBuffer, timeoutMs?: number): string | undefined {
  const { header, piece } = createViews(buffer);
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    if (Atomics.wait(header, TURN_INDEX, WORKER_TURN, timeoutMs) === "timed-out") return undefined;
    const more = Atomics.load(header, MORE_INDEX) === 1;
    text += decoder.decode(piece.slice(0, Atomics.load(header, LENGTH_INDEX)), { stream: more });
    if (!more) return text;
    passTurn(header, WORKER_TURN);
  }
}

function passTurn(header: Int32Array, turn: number): void {
  Atomics.store(header, TURN_INDEX, turn);
  Atomics.notify(header, TURN_INDEX);
}

function createViews(buffer: SharedArrayBuffer): {
  readonly header: Int32Array<SharedArrayBuffer>;
  readonly piece: Uint8Array<SharedArrayBuffer>;
} {
  return {
    header: new Int32Array(buffer, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT),
    piece: new Uint8Array(buffer, HEADER_BYTES),
  };
}
