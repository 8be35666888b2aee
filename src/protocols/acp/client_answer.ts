/**
 * The answers of a client, which the package does not validate.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** An answer of a client, of which nothing is known. */
export class ClientAnswer {
  readonly #method: string;
  readonly #answer: JsonObject;

  /**
   * Creates it.
   *
   * @throws {BadRequestError} If the answer is no object.
   */
  constructor(method: string, answer: unknown) {
    this.#method = method;
    if (!isJsonObject(answer)) throw this.#createError("an object");
    this.#answer = answer;
  }

  /**
   * Returns a text.
   *
   * @throws {BadRequestError} If there is none.
   */
  readText(name: string): string {
    const { [name]: value } = this.#answer;
    if (typeof value !== "string") throw this.#createError(`a text ${name}`);
    return value;
  }

  /** Returns a text, or `undefined` if there is none. */
  findText(name: string): string | undefined {
    const { [name]: value } = this.#answer;
    return typeof value === "string" ? value : undefined;
  }

  /** Returns a number, or `undefined` if there is none. */
  findNumber(name: string): number | undefined {
    const { [name]: value } = this.#answer;
    return typeof value === "number" ? value : undefined;
  }

  /** Whether a value is `true`. */
  isTrue(name: string): boolean {
    return this.#answer[name] === true;
  }

  /** Returns an object, or `undefined` if there is none. */
  findObject(name: string): ClientAnswer | undefined {
    const { [name]: value } = this.#answer;
    return isJsonObject(value) ? new ClientAnswer(this.#method, value) : undefined;
  }

  #createError(expected: string): BadRequestError {
    return new BadRequestError(`The client must answer ${this.#method} with ${expected}`);
  }
}
