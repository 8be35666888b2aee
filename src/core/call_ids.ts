/**
 * Ids of tool calls, unique within a history.
 *
 * @module
 */

/** Hands out ids of which no two are the same; asking is cheap however often an id comes again. */
export class CallIds {
  readonly #reserved: ReadonlySet<string>;
  readonly #claimed = new Set<string>();
  readonly #lastNumber = new Map<string, number>();

  /** Begins with none; `reserved` ids are given to nobody who did not ask for them. */
  constructor(reserved: ReadonlySet<string> = new Set()) {
    this.#reserved = reserved;
  }

  /** Gives the wanted id if it is not empty and not taken, else one made of it with a number behind. */
  claim(wanted: string): string {
    const id = wanted !== "" && !this.#claimed.has(wanted) ? wanted : this.#addNumber(wanted);
    this.#claimed.add(id);
    return id;
  }

  /** Takes an id back, so that it can be claimed again. */
  release(id: string): void {
    this.#claimed.delete(id);
  }

  #addNumber(wanted: string): string {
    const stem = wanted === "" ? "call" : wanted;
    let number = this.#lastNumber.get(stem) ?? 0;
    let id: string;
    do id = `${stem}_${++number}`; while (this.#claimed.has(id) || this.#reserved.has(id));
    this.#lastNumber.set(stem, number);
    return id;
  }
}
