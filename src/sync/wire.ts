/**
 * Passes a text between the two threads of a synchronous run, in chunks through a shared buffer.
 *
 * @module
 */

import type { AgentErrorRecord } from "../core/errors.ts";
import type { PromptInput } from "../core/message.ts";

/** The request to the worker. */
export interface SyncRequest {
  /** URL of the module whose default export is the agent, or a function that returns it. */
  readonly module: string;
  /** The prompt. Default: none; the worker continues the history. */
  readonly input?: PromptInput;
  /** The buffer for the response. */
  readonly buffer: SharedArrayBuffer;
}

/** The response of the worker, sent as JSON. */
export type SyncResponse =
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "failed"; readonly error: AgentErrorRecord };

/** Maximum length of a chunk, in bytes. */
export const CHUNK_BYTES = 1 << 16;
/** Length of the header before the chunk, in bytes: state, chunk length, and whether more chunks follow. */
const HEADER_BYTES = 12;

const STATE_INDEX = 0;
const LENGTH_INDEX = 1;
const HAS_MORE_INDEX = 2;
/** State in which the worker may write a chunk. */
const EMPTY = 0;
/** State in which the caller may read a chunk. */
const FULL = 1;

/** Creates the buffer of a run. */
export function createBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + CHUNK_BYTES);
}

/** Sends a text in chunks; blocks the worker until the caller has read all but the last one. */
export function sendText(buffer: SharedArrayBuffer, text: string): void {
  const { header, chunk } = createViews(buffer);
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
    Atomics.wait(header, STATE_INDEX, FULL);
    const part = bytes.subarray(offset, offset + CHUNK_BYTES);
    chunk.set(part);
    Atomics.store(header, LENGTH_INDEX, part.length);
    Atomics.store(header, HAS_MORE_INDEX, offset + CHUNK_BYTES < bytes.length ? 1 : 0);
    setState(header, FULL);
  }
}

/**
 * Receives a text; blocks the caller until it is complete. Returns `undefined` if a chunk does not arrive within
 * `timeoutMs`. Default of `timeoutMs`: no limit.
 */
export function receiveText(buffer: SharedArrayBuffer, timeoutMs?: number): string | undefined {
  const { header, chunk } = createViews(buffer);
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    if (Atomics.wait(header, STATE_INDEX, EMPTY, timeoutMs) === "timed-out") return undefined;
    const hasMore = Atomics.load(header, HAS_MORE_INDEX) === 1;
    text += decoder.decode(chunk.slice(0, Atomics.load(header, LENGTH_INDEX)), { stream: hasMore });
    if (!hasMore) return text;
    setState(header, EMPTY);
  }
}

function setState(header: Int32Array, state: typeof EMPTY | typeof FULL): void {
  Atomics.store(header, STATE_INDEX, state);
  Atomics.notify(header, STATE_INDEX);
}

function createViews(buffer: SharedArrayBuffer): {
  readonly header: Int32Array<SharedArrayBuffer>;
  readonly chunk: Uint8Array<SharedArrayBuffer>;
} {
  return {
    header: new Int32Array(buffer, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT),
    chunk: new Uint8Array(buffer, HEADER_BYTES),
  };
}
