/**
 * The doors through which time, chance and files come in.
 *
 * @module
 */

/** What a port makes an id for. */
export type IdKind = "run" | "call" | "message" | "queued";

/** Reads a file for an image block of source `file`. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Waits; resolves early when the signal fires, and never rejects. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Time and timers of agents, adapters and tests. */
export interface Clock {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now: () => number;
  /** Waits for retries, timeouts and grace periods. Default: `setTimeout`. */
  readonly sleep: Sleep;
}

/** Everything of the outside world that the engine uses; with scripted ports, two runs are the same. */
export interface Ports extends Clock {
  /** Makes ids. Default: random UUIDs. */
  readonly newId: (kind: IdKind) => string;
  /** Chance in [0, 1), for jitter. Default: `Math.random`. */
  readonly random: () => number;
  /** Reads files for image blocks. Default: none, such blocks are a `bad_request`. */
  readonly readFile?: ReadFile;
}

/** The clock of the runtime. */
export const systemClock: Clock = { now: () => Date.now(), sleep: realSleep };

/** The ports of a host that has no wishes. */
export const defaultPorts: Ports = {
  ...systemClock,
  newId: () => crypto.randomUUID(),
  random: Math.random,
};

/** Platforms take a longer time for none at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits by the real clock; `Infinity` waits for the signal alone. */
export function realSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = milliseconds === Infinity
      ? undefined
      : setTimeout(wake, Math.min(milliseconds, MAX_TIMER_MS));
    signal?.addEventListener("abort", wake);
  });
}
