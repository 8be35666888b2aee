/**
 * The start of an engine.
 *
 * @module
 */

/** Starts an engine once: calls at the same time share one start, and one that has failed may be repeated. */
export class EngineStart {
  #starting: Promise<void> | undefined;

  /** Whether the engine has started, or starts now. */
  get isCalled(): boolean {
    return this.#starting !== undefined;
  }

  /** Starts the engine, unless it has started; rejects with the error of the start. */
  async run(start: () => Promise<void>): Promise<void> {
    this.#starting ??= start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  /** Resolves when the engine does not start now. Never rejects. */
  async untilEnded(): Promise<void> {
    await this.#starting?.catch(() => {});
  }
}
