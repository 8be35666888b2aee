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
export type SyncAnswer =
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "failed"; readonly error: AgentErrorRecord };

/** Bytes of a piece. */
export const PIECE_BYTES = 1 << 16;
/** Bytes before the piece: whose turn it is, how long the piece is, whether more follow. */
const HEADER_BYTES = 12;

const TURN = 0;
const LENGTH = 1;
const MORE = 2;
const WORKERS_TURN = 0;
const CALLERS_TURN = 1;

/** A buffer for one run. */
export function makeBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + PIECE_BYTES);
}

/** Worker's side: hands a text over, piece by piece. */
export function sendText(buffer: SharedArrayBuffer, text: string): void {
  const { header, piece } = viewsOf(buffer);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    Atomics.wait(header, TURN, CALLERS_TURN);
    const part = bytes.subarray(at, at + PIECE_BYTES);
    piece.set(part);
    Atomics.store(header, LENGTH, part.length);
    Atomics.store(header, MORE, at + PIECE_BYTES < bytes.length ? 1 : 0);
    pass(header, CALLERS_TURN);
  }
}

/** Caller's side: blocks the thread until a text has come; `undefined` when it did not begin in time. */
export function receiveText(buffer: SharedArrayBuffer, timeoutMs?: number): string | undefined {
  const { header, piece } = viewsOf(buffer);
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    if (Atomics.wait(header, TURN, WORKERS_TURN, timeoutMs) === "timed-out") return undefined;
    const more = Atomics.load(header, MORE) === 1;
    text += decoder.decode(piece.slice(0, Atomics.load(header, LENGTH)), { stream: more });
    if (!more) return text;
    pass(header, WORKERS_TURN);
  }
}

function pass(header: Int32Array, turn: number): void {
  Atomics.store(header, TURN, turn);
  Atomics.notify(header, TURN);
}

function viewsOf(buffer: SharedArrayBuffer): {
  readonly header: Int32Array<SharedArrayBuffer>;
  readonly piece: Uint8Array<SharedArrayBuffer>;
} {
  return {
    header: new Int32Array(buffer, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT),
    piece: new Uint8Array(buffer, HEADER_BYTES),
  };
}
