/**
 * Unique ids of the messages or the tool calls of a history.
 *
 * @module
 */

/** Assigns unique ids, in constant time however often the same id is requested. */
export class UniqueIds {
  readonly #reserved: ReadonlySet<string>;
  readonly #claimed = new Set<string>();
  readonly #lastNumber = new Map<string, number>();

  /** Creates an empty set. A `reserved` id is assigned only if it is requested itself, never as a numbered id. */
  constructor(reserved: ReadonlySet<string> = new Set()) {
    this.#reserved = reserved;
  }

  /** Returns the requested id if it is not empty and still free, otherwise the id with a number appended. */
  claim(requested: string): string {
    const { size } = this.#claimed;
    if (requested !== "" && this.#claimed.add(requested).size > size) return requested;
    const id = this.#addNumber(requested);
    this.#claimed.add(id);
    return id;
  }

  /** Releases an id, so that it can be claimed again. */
  release(id: string): void {
    this.#claimed.delete(id);
  }

  #addNumber(requested: string): string {
    const stem = requested === "" ? "call" : requested;
    let number = this.#lastNumber.get(stem) ?? 0;
    let id: string;
    do id = `${stem}_${++number}`; while (this.#claimed.has(id) || this.#reserved.has(id));
    this.#lastNumber.set(stem, number);
    return id;
  }
}
