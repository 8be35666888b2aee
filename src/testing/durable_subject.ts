/**
 * The engine under test.
 *
 * @module
 */

import type {
  DurableEngine,
  DurableRun,
  WorkflowFunction,
} from "../core/durable/durable_engine.ts";

/** An engine for one test, before and after a restart. */
export interface DurableEngineFixture {
  /**
   * Creates an engine over the storage of the test, as a process does that starts. The engine that was created before is
   * closed, with its runs unfinished.
   */
  readonly createEngine: () => DurableEngine | Promise<DurableEngine>;
  /** Creates an engine that executes no runs. Default: one without workflows. */
  readonly createClient?: (() => DurableEngine | Promise<DurableEngine>) | undefined;
  /** Whether `refuseMessages()` lets senders know. Default: `true`. */
  readonly refusesMessages?: boolean | undefined;
  /** Cleans up after the test. */
  readonly dispose?: (() => void | Promise<void>) | undefined;
}

/** Runs one workflow, and restarts its process. */
export class DurableSubject {
  readonly #fixture: DurableEngineFixture;
  #engine: DurableEngine | undefined;
  #graceMs = 0;

  constructor(fixture: DurableEngineFixture) {
    this.#fixture = fixture;
  }

  /** Returns the engine of the current process. */
  get engine(): DurableEngine {
    if (!this.#engine) throw new Error("Call open() first");
    return this.#engine;
  }

  /** Whether senders learn that a run accepts no further messages. */
  get refusesMessages(): boolean {
    return this.#fixture.refusesMessages ?? true;
  }

  /** Lets the steps that are executed when the process is stopped end. */
  stopGracefully(): void {
    this.#graceMs = 10_000;
  }

  /** Starts a process with one workflow; one that ran before is stopped, with its runs unfinished. */
  async open<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): Promise<(input: Input, id?: string) => Promise<DurableRun<Output>>> {
    const registered = await this.openWith((engine) => engine.register(name, workflow));
    return (input, id) => registered.start(input, { id });
  }

  /** Starts a process with the workflows that `register` registers. */
  async openWith<Registered>(register: (engine: DurableEngine) => Registered): Promise<Registered> {
    await this.close();
    const engine = this.#engine = await this.#fixture.createEngine();
    const registered = register(engine);
    await engine.start();
    return registered;
  }

  /** Starts a process that executes no runs; one that ran before is stopped. */
  async openClient(): Promise<void> {
    await this.close();
    const { createEngine, createClient = createEngine } = this.#fixture;
    this.#engine = await createClient();
    await this.#engine.start();
  }

  /** Stops the process. */
  async close(): Promise<void> {
    await this.#engine?.close({ graceMs: this.#graceMs });
    this.#graceMs = 0;
    this.#engine = undefined;
  }
}
