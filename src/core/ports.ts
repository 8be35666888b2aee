/**
 * Ports to the platform: clock, timers, ids, randomness and files.
 *
 * @module
 */

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
 * `sleep` or `newId` fails or returns an invalid value, the default takes its place.
 */
export interface Ports extends Clock {
  /** Creates a unique id. Default: a random UUID. */
  readonly newId: (kind: IdKind) => string;
  /** Returns a random number in [0, 1), for jitter. Default: `Math.random`. */
  readonly random: () => number;
  /** Reads the files of image blocks. Default: none; such a block fails with a `bad_request` error. */
  readonly readFile?: ReadFile;
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
  const { now: realNow, newId: randomId } = defaultPorts;
  return {
    now: now
      ? () => {
        const time = callPort(now);
        return typeof time === "number" ? time : realNow();
      }
      : realNow,
    newId: newId
      ? (kind) => {
        const id = callPort(() => newId(kind));
        return typeof id === "string" && id !== "" ? id : randomId(kind);
      }
      : randomId,
    random: random ?? defaultPorts.random,
    async sleep(milliseconds, signal) {
      try {
        await (sleep ?? realSleep)(milliseconds, signal);
      } catch {
        await realSleep(milliseconds, signal); // Many timers reject on abort; then this resolves immediately.
      }
    },
  };
}

function callPort(port: () => unknown): unknown {
  try {
    const value = port();
    if (value instanceof Promise) value.catch(() => {});
    return value;
  } catch {
    return undefined;
  }
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
    const timer = milliseconds === Infinity
      ? undefined
      : setTimeout(finish, Math.min(milliseconds, MAX_TIMER_MS));
    signal?.addEventListener("abort", finish);
  });
}
