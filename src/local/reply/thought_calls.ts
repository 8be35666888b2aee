/**
 * Tool calls that a model writes before it has ended its thinking.
 *
 * Models such as Qwen3 draft calls while they think, and call the tool afterwards or decide not to; executing the draft, too,
 * would repeat an action or do one that was not meant. Others, such as Qwen3.5, end some replies with a call without having
 * ended the thinking. So only calls that a reply ends with are meant.
 *
 * @module
 */

import { JsonObjectEnd } from "./call_reader.ts";
import { FUNCTION_OPEN, isInParameter } from "./function_call.ts";

/** Collects calls that follow each other. */
export class ThoughtCalls {
  #text = "";
  /** The last call. */
  #call = "";
  #isComplete = false;

  /** The text of the calls, with the spaces between them. */
  get text(): string {
    return this.#text;
  }

  /** Whether the last call has ended. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether the text ends within a value of the last call. */
  get isInValue(): boolean {
    const start = this.#call.indexOf(FUNCTION_OPEN);
    // The name of the other format precedes all values.
    if (start >= 0 && !this.#call.slice(0, start).includes("{")) return isInParameter(this.#call);
    const end = new JsonObjectEnd();
    return end.find(this.#call) === undefined && end.isInString;
  }

  /** Starts a call; `text` is its start, with the text before it. */
  open(text: string): void {
    this.#text += text;
    this.#call = text.trimStart();
    this.#isComplete = false;
  }

  /** Adds a part of the last call, or of the spaces after it. */
  add(text: string): void {
    this.#text += text;
    this.#call += text;
  }

  /** Adds the text after a call, which ends it unless a value of its arguments contains it. */
  close(text: string): void {
    this.#isComplete = !this.isInValue;
    this.add(text);
  }
}
