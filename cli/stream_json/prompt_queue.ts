/**
 * The prompts of a program, one after the other.
 *
 * @module
 */

import type { PromptInput } from "../../mod.ts";
import type { ExitCode } from "../host/exit_code.ts";

/** Maximum number of prompts that wait. */
const MAX_WAITING = 1_000;

/** Reason of the abort of a run that the input ends. */
const INTERRUPTED = "interrupted by the input";

/** Runs a prompt until the signal is aborted. Never rejects. */
type Run = (prompt: PromptInput, signal: AbortSignal) => Promise<ExitCode>;

/** Prompts that run one after the other. */
export class PromptQueue {
  readonly #run: Run;
  readonly #waiting: PromptInput[] = [];
  #active: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #exitCode: ExitCode | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Adds a prompt. Returns `false` if too many wait. */
  add(prompt: PromptInput): boolean {
    if (this.#waiting.length >= MAX_WAITING) return false;
    this.#waiting.push(prompt);
    if (!this.#active) this.#running = this.#runAll();
    return true;
  }

  /** Ends the active run. Returns `false` if there is none. */
  interrupt(): boolean {
    if (!this.#active) return false;
    this.#active.abort(INTERRUPTED);
    return true;
  }

  /** Removes the prompts that wait. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** Waits for the end of all prompts. Returns the exit code of the last one; `undefined` if there was none. */
  async untilEmpty(): Promise<ExitCode | undefined> {
    await this.#running;
    return this.#exitCode;
  }

  async #runAll(): Promise<void> {
    for (let prompt = this.#waiting.shift(); prompt !== undefined; prompt = this.#waiting.shift()) {
      this.#active = new AbortController();
      this.#exitCode = await this.#run(prompt, this.#active.signal);
    }
    this.#active = undefined;
  }
}
