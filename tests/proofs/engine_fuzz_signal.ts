/**
 * An abort signal that counts its listeners.
 *
 * @module
 */

/** A signal that is never aborted and counts its listeners. */
export class CountedSignal {
  /** The signal. */
  readonly signal: AbortSignal = new AbortController().signal;
  #listeners = 0;

  constructor() {
    const { signal } = this;
    const count = (change: number, original: typeof signal.addEventListener) =>
      ((...args: Parameters<typeof original>): void => {
        this.#listeners += change;
        original.apply(signal, args);
      }) as typeof original;
    signal.addEventListener = count(1, signal.addEventListener);
    signal.removeEventListener = count(-1, signal.removeEventListener);
  }

  /** The number of listeners. */
  get listeners(): number {
    return this.#listeners;
  }
}
