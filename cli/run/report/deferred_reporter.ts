/**
 * A reporter that is opened after the first request.
 *
 * @module
 */

import type { AgentEvent } from "../../../mod.ts";
import type { Reporter } from "../../render/reporter.ts";

/**
 * Holds back the events before the first request, so that the request does not wait for the reporter: for its code, and
 * for the process that finds out what confines commands.
 */
export class DeferredReporter implements AsyncDisposable {
  readonly #openReporter: () => Promise<Reporter>;
  readonly #held: ((reporter: Reporter) => Promise<void>)[] = [];
  #isRequested = false;
  #opened: Promise<Reporter> | undefined;

  /** `openReporter` returns a reporter that has reported the start of the run. */
  constructor(openReporter: () => Promise<Reporter>) {
    this.#openReporter = openReporter;
  }

  /** Opens the reporter and reports the events that were held back, once. Called when the first request has been sent. */
  open(): Promise<Reporter> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Reports an event. */
  async onEvent(event: AgentEvent): Promise<void> {
    const isHeld = !this.#isRequested;
    this.#isRequested ||= event.type === "model_call_start";
    await this.#report((reporter) => reporter.onEvent(event), isHeld);
  }

  /** Reports a notice. */
  async onNotice(notice: string): Promise<void> {
    await this.#report((reporter) => reporter.onNotice(notice), !this.#isRequested);
  }

  async #report(report: (reporter: Reporter) => Promise<void>, isHeld: boolean): Promise<void> {
    if (isHeld && !this.#opened) this.#held.push(report);
    else await report(await this.open());
  }

  /** Disposes of the reporter if it was opened. */
  async [Symbol.asyncDispose](): Promise<void> {
    // A failure to open it has been thrown by open().
    const reporter = await this.#opened?.catch(() => undefined);
    reporter?.[Symbol.dispose]();
  }

  async #open(): Promise<Reporter> {
    const reporter = await this.#openReporter();
    for (const report of this.#held) await report(reporter);
    return reporter;
  }
}
