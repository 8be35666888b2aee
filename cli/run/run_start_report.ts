/**
 * The report of the start of a run.
 *
 * @module
 */

import type { AgentEvent } from "../../mod.ts";
import type { Reporter, RunStart } from "../render/reporter.ts";

/** Options for {@linkcode RunStartReport}. */
export interface RunStartReportOptions {
  /** Receives the start and the events. */
  readonly reporter: Reporter;
  /** Returns the properties of the run, and a warning about them. */
  readonly getStart: () => Promise<{
    readonly start: RunStart;
    readonly warning: string | undefined;
  }>;
}

/**
 * Reports the start of a run and then its events. What confines commands is found out by a process, which would delay the
 * first request: it starts afterwards, and the events before the request are held back.
 */
export class RunStartReport {
  readonly #options: RunStartReportOptions;
  readonly #held: AgentEvent[] = [];
  #isRequested = false;
  #reported: Promise<void> | undefined;

  constructor(options: RunStartReportOptions) {
    this.#options = options;
  }

  /** Reports the start and the events that were held back, once. Called when the first request has been sent. */
  report(): Promise<void> {
    this.#reported ??= this.#report();
    return this.#reported;
  }

  /** Reports an event, after the start. */
  async onEvent(event: AgentEvent): Promise<void> {
    if (!this.#isRequested) {
      this.#isRequested = event.type === "model_call_start";
      return void this.#held.push(event);
    }
    await this.report();
    await this.#options.reporter.onEvent(event);
  }

  async #report(): Promise<void> {
    const { reporter, getStart } = this.#options;
    const { start, warning } = await getStart();
    await reporter.onRunStart(start);
    if (warning !== undefined) await reporter.onNotice(warning);
    for (const event of this.#held) await reporter.onEvent(event);
  }
}
