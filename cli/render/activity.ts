/**
 * The status of a run that writes nothing: what it awaits and for how long.
 *
 * @module
 */

import type { Screen } from "./screen.ts";
import { formatElapsed } from "./usage_line.ts";

/** Time without output after which the status is shown, and time between its updates. */
const INTERVAL_MS = 1_000;

/** Options for {@linkcode ActivityStatus}. */
export interface ActivityStatusOptions {
  /** Shows the status. */
  readonly screen: Screen;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** Whether the user is asked a question, below which no status may be. Default: never. */
  readonly isAsking?: (() => boolean) | undefined;
}

/** Something that a run waits for. */
export interface Activity {
  /** Label of the wait, such as `bash deno test`. */
  readonly label: string;
  /** Start of the wait, in milliseconds. */
  readonly startedAt: number;
  /** End of the wait, in milliseconds, if it is known. */
  readonly endsAt?: number;
  /** The last line of its output, or how to end the wait. */
  readonly detail?: string;
}

/** Shows what a run awaits, once nothing has been written for a second. */
export class ActivityStatus implements Disposable {
  readonly #options: ActivityStatusOptions;
  #activity: Activity | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ActivityStatusOptions) {
    this.#options = options;
  }

  /** Sets what is awaited; `undefined` stops the status, such as during a question. */
  async set(activity: Activity | undefined): Promise<void> {
    this.#activity = activity;
    if (activity) this.#timer ??= setTimeout(() => this.#show(), INTERVAL_MS);
    else await this.restart();
  }

  /** Erases the status, and shows it again after a second. */
  async restart(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = this.#activity && setTimeout(() => this.#show(), INTERVAL_MS);
    await this.#options.screen.eraseStatus();
  }

  /** Stops the timer. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#activity = undefined;
    this.#timer = undefined;
  }

  #show(): void {
    this.#timer = undefined;
    if (!this.#activity) return;
    this.#timer = setTimeout(() => this.#show(), INTERVAL_MS);
    const { screen, now, isAsking = () => false } = this.#options;
    if (isAsking()) return;
    const { label, detail } = this.#activity;
    const rest = formatWait(this.#activity, now()) + (detail ? ` · ${detail}` : "");
    // A failure is reported by the next line.
    screen.showStatus({ label, rest }).catch(() => {});
  }
}

function formatWait({ startedAt, endsAt }: Activity, now: number): string {
  if (endsAt !== undefined) return `in ${formatElapsed(Math.max(endsAt - now, 0))}`;
  return `· ${formatElapsed(Math.max(now - startedAt, INTERVAL_MS))}`;
}
