/**
 * Passes a text from a worker to the blocked thread that started it, in chunks through a shared buffer.
 *
 * A blocked thread gets no events, so that it cannot notice by them that its worker has ended. The worker therefore
 * increments a counter while its event loop runs, its heartbeat, and the caller counts the beats that are missing.
 *
 * @module
 */

/** Maximum length of a chunk, in bytes. */
export const CHUNK_BYTES = 1 << 16;
/** Time between two beats, and between two looks at their counter, in milliseconds. */
export const HEARTBEAT_MS = 100;

const STATE_INDEX = 0;
const LENGTH_INDEX = 1;
const HAS_MORE_INDEX = 2;
const BEATS_INDEX = 3;
/** Length of the header before the chunk, in bytes. */
const HEADER_BYTES = 4 * Int32Array.BYTES_PER_ELEMENT;
/** State in which the worker may write a chunk. */
const EMPTY = 0;
/** State in which the caller may read a chunk. */
const FULL = 1;

/** Limits on the time without a beat, in milliseconds. */
export interface HeartbeatLimits {
  /** For the first beat. */
  readonly startMs: number;
  /** For every further beat. */
  readonly heartbeatMs: number;
}

/** Limits on the time that {@linkcode receiveText} waits, in milliseconds. */
export interface ReceiveLimits extends HeartbeatLimits {
  /** For the complete text. */
  readonly timeoutMs: number;
}

/** The outcome of waiting for a text. */
export type ReceivedText =
  | { readonly type: "complete"; readonly text: string }
  | { readonly type: "timeout" }
  /** No beat has arrived within its limit. */
  | { readonly type: "lost"; readonly hasStarted: boolean };

/** Creates the buffer of a channel. */
export function createBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + CHUNK_BYTES);
}

/** Starts the heartbeat of the worker, which lasts until the worker ends. */
export function startHeartbeat(buffer: SharedArrayBuffer): void {
  const { header } = createViews(buffer);
  const beat = () => Atomics.add(header, BEATS_INDEX, 1);
  beat();
  setInterval(beat, HEARTBEAT_MS);
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

/** Receives a text; blocks the caller until it is complete or a limit is reached. */
export function receiveText(buffer: SharedArrayBuffer, limits: ReceiveLimits): ReceivedText {
  const { header, chunk } = createViews(buffer);
  const heartbeat = new HeartbeatWatch(buffer, limits);
  const deadline = performance.now() + limits.timeoutMs;
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    const left = Math.max(0, deadline - performance.now());
    if (Atomics.wait(header, STATE_INDEX, EMPTY, Math.min(left, HEARTBEAT_MS)) === "timed-out") {
      if (performance.now() >= deadline) return { type: "timeout" };
      if (heartbeat.isLost()) return { type: "lost", hasStarted: heartbeat.hasStarted };
      continue;
    }
    const hasMore = Atomics.load(header, HAS_MORE_INDEX) === 1;
    text += decoder.decode(chunk.slice(0, Atomics.load(header, LENGTH_INDEX)), { stream: hasMore });
    if (!hasMore) return { type: "complete", text };
    setState(header, EMPTY);
  }
}

/**
 * Counts the missing beats. It counts looks at the counter instead of measuring the time, so that a computer that was
 * suspended does not make the worker look dead.
 */
export class HeartbeatWatch {
  readonly #header: Int32Array;
  readonly #limits: HeartbeatLimits;
  #beats = 0;
  #missing = 0;

  /** Creates a watch of the worker that has the buffer. */
  constructor(buffer: SharedArrayBuffer, limits: HeartbeatLimits) {
    this.#header = createViews(buffer).header;
    this.#limits = limits;
  }

  /** Whether any beat has been counted. */
  get hasStarted(): boolean {
    return this.#beats > 0;
  }

  /** Looks at the counter; returns whether too many beats are missing. To be called every {@linkcode HEARTBEAT_MS}. */
  isLost(): boolean {
    const beats = Atomics.load(this.#header, BEATS_INDEX);
    this.#missing = beats === this.#beats ? this.#missing + 1 : 0;
    this.#beats = beats;
    const { startMs, heartbeatMs } = this.#limits;
    return this.#missing * HEARTBEAT_MS >= (this.hasStarted ? heartbeatMs : startMs);
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
