/**
 * The start of an engine.
 *
 * @module
 */

import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError } from "../../core/errors/errors.ts";

/**
 * Starts an engine once: calls at the same time share one start, and one that has failed may be repeated. An engine that
 * was closed, also meanwhile, does not start.
 */
export class EngineStart {
  readonly #closing: AbortSignal;
  #starting: Promise<void> | undefined;

  /** Creates the start of an engine; the signal is aborted when the engine is closed. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** Whether the engine has started, or starts now. */
  get isCalled(): boolean {
    return this.#starting !== undefined;
  }

  /**
   * Starts the engine, unless it has started; rejects with the error of the start.
   *
   * @throws {EngineClosedError} If the engine was closed.
   */
  async run(start: () => Promise<void>): Promise<void> {
    this.#throwIfClosed();
    this.#starting ??= start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    } finally {
      // A start that the end of the engine has interrupted may fail with another error.
      this.#throwIfClosed();
    }
  }

  /**
   * Waits for a start that has not ended; rejects with its error.
   *
   * @throws {EngineClosedError} If the engine was closed.
   * @throws {BadRequestError} If the engine was not started.
   */
  async untilStarted(): Promise<void> {
    this.#throwIfClosed();
    if (!this.#starting) throw new BadRequestError("Call start() of the engine first");
    try {
      await this.#starting;
    } finally {
      this.#throwIfClosed();
    }
  }

  /**
   * Calls a function of the engine that has started; rejects with its error.
   *
   * @throws {EngineClosedError} If it fails when the engine was closed, which may have interrupted it.
   */
  async whileOpen<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await call();
    } catch (error) {
      this.#throwIfClosed();
      throw error;
    }
  }

  /** Resolves when the engine does not start now. Never rejects. */
  async untilEnded(): Promise<void> {
    await this.#starting?.catch(() => {});
  }

  #throwIfClosed(): void {
    if (this.#closing.aborted) throw new EngineClosedError();
  }
}
