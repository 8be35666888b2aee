/**
 * Ports to the platform: clock, timers, ids, randomness and files.
 *
 * @module
 */

import { isThenable, refusePromise } from "../errors/refuse_promise.ts";

/** Kind of object that an id is created for. */
export type IdKind = "run" | "call" | "message" | "queued";

/** Reads the file of an image block with a `file` source. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Waits for a time in milliseconds; resolves early when the signal is aborted. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Time and timers. */
export interface Clock {
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now: () => number;
  /** Waits for retries and timeouts. Default: based on `setTimeout`. */
  readonly sleep: Sleep;
}

/**
 * The platform functions that a run uses. With deterministic ports and model, a run is deterministic. Where `now`,
 * `sleep`, `newId` or `random` fails or returns an invalid value, the default takes its place.
 */
export interface Ports extends Clock {
  /** Creates a unique id. Default: a random UUID. */
  readonly newId: (kind: IdKind) => string;
  /** Returns a random number in [0, 1), for jitter. Default: `Math.random`. */
  readonly random: () => number;
  /** Reads the files of image blocks. Default: none; such a block fails with a `bad_request` error. */
  readonly readFile?: ReadFile | undefined;
}

/** The clock of the runtime. */
export const systemClock: Clock = { now: () => Date.now(), sleep: realSleep };

/** The default ports. */
export const defaultPorts: Ports = {
  ...systemClock,
  newId: () => crypto.randomUUID(),
  random: Math.random,
};

/** Ports of an application; the missing ones are filled in. */
type PortOptions = { readonly [Name in keyof Ports]?: Ports[Name] | undefined };

/**
 * Fills in the defaults. Where a port of the application throws, rejects or returns an invalid value, the default takes
 * its place, since a run cannot end properly without time and ids.
 */
export function resolvePorts({ now, sleep, newId, random }: PortOptions): Ports {
  const wait = guardPort(sleep, realSleep, isThenable);
  return {
    now: guardPort(now, defaultPorts.now, Number.isFinite),
    newId: guardPort(newId, defaultPorts.newId, (id) => typeof id === "string" && id !== ""),
    random: guardPort(
      random,
      defaultPorts.random,
      (value) => typeof value === "number" && value >= 0 && value < 1,
    ),
    async sleep(milliseconds, signal) {
      try {
        await wait(milliseconds, signal);
      } catch {
        await realSleep(milliseconds, signal); // Many timers reject on abort; then this resolves immediately.
      }
    },
  };
}

/** Calls a port of the application, or the default if it throws or returns an invalid value. */
function guardPort<Input extends unknown[], Value>(
  port: ((...input: Input) => Value) | undefined,
  fallback: (...input: Input) => Value,
  isValid: (value: unknown) => boolean,
): (...input: Input) => Value {
  if (!port) return fallback;
  return (...input) => {
    try {
      const value = port(...input);
      if (isValid(value)) return value;
      refusePromise(value, "");
    } catch {
      // The default is called instead.
    }
    return fallback(...input);
  };
}

/** The longest delay of a timer; platforms treat a longer one as 0. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits with a timer of the platform; `Infinity` waits for the signal only. The default {@linkcode Sleep}. */
export function realSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (rest: number) => {
      const next = () => rest > MAX_TIMER_MS ? wait(rest - MAX_TIMER_MS) : finish();
      timer = setTimeout(next, Math.min(rest, MAX_TIMER_MS));
    };
    if (milliseconds !== Infinity) wait(milliseconds);
    signal?.addEventListener("abort", finish);
  });
}
