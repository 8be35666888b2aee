/**
 * The activity that a conversation awaits, and its duration.
 *
 * @module
 */

/** Something that is awaited. */
export interface Activity {
  /** Its name, such as `thinking`. */
  readonly label: string;
  /** Time until it ends, in milliseconds, if that is known. */
  readonly endsInMs?: number;
}

/** The current activity. */
export class ConversationActivity {
  readonly #now: () => number;
  #activity: (Activity & { readonly startedAt: number }) | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Sets the activity, from now on. */
  set(activity: Activity | undefined): void {
    this.#activity = activity && { ...activity, startedAt: this.#now() };
  }

  /** The activity as a text, such as `retrying in 3 s`; `undefined` if there is none. */
  get text(): string | undefined {
    if (!this.#activity) return undefined;
    const { label, endsInMs, startedAt } = this.#activity;
    const elapsedMs = this.#now() - startedAt;
    if (endsInMs !== undefined) {
      return `${label} in ${Math.ceil(Math.max(endsInMs - elapsedMs, 0) / 1_000)} s`;
    }
    const seconds = Math.floor(elapsedMs / 1_000);
    return seconds < 2 ? label : `${label} ${seconds} s`;
  }
}
