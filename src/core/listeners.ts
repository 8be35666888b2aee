/**
 * Listeners that come and go often.
 *
 * @module
 */

/** A listener and its neighbours. */
interface Entry<Listener> {
  readonly listener: Listener;
  previous: Entry<Listener> | undefined;
  next: Entry<Listener> | undefined;
  isListed: boolean;
}

/**
 * An ordered list of listeners, in which adding and removing take constant time.
 *
 * A `Set` would do the same, but V8 links each hash table to the one that replaces it. Of a long-lived set these tables,
 * and what their last listeners refer to, are only freed by a full garbage collection; those between copy them.
 */
export class Listeners<Listener> {
  #first: Entry<Listener> | undefined;
  #last: Entry<Listener> | undefined;

  /** Adds a listener; returns a function that removes it. */
  add(listener: Listener): () => void {
    const entry: Entry<Listener> = {
      listener,
      previous: this.#last,
      next: undefined,
      isListed: true,
    };
    if (this.#last) this.#last.next = entry;
    else this.#first = entry;
    this.#last = entry;
    return () => this.#remove(entry);
  }

  /** Returns the listeners of now, in the order in which they were added. */
  list(): readonly Listener[] {
    const listeners: Listener[] = [];
    for (let entry = this.#first; entry; entry = entry.next) listeners.push(entry.listener);
    return listeners;
  }

  #remove(entry: Entry<Listener>): void {
    if (!entry.isListed) return;
    entry.isListed = false;
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    // A removed entry in the old generation would keep its neighbours from being freed.
    entry.previous = entry.next = undefined;
  }
}
