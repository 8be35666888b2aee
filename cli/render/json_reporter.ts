/**
 * Reports for programs: one JSON object at the end, or one line of JSON per event.
 *
 * @module
 */

import type { AgentEvent } from "../../mod.ts";
import type { Output } from "../host/terminal.ts";
import { BatchedOutput } from "./batched_output.ts";
import { toJsonLine } from "./json_line.ts";
import { toPlainText } from "./plain_text.ts";
import { type Reporter, type RunReport, type RunStart, SCHEMA_VERSION } from "./reporter.ts";

/** Writes the result of a run as one JSON object. */
export class JsonReporter implements Reporter {
  readonly #output: Output;
  readonly #messages: Output;

  constructor(output: Output, messages: Output) {
    this.#output = output;
    this.#messages = messages;
  }

  /** Writes nothing. */
  onRunStart(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes nothing. */
  onEvent(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes a notice to standard error. */
  async onNotice(notice: string): Promise<void> {
    await this.#messages.write(`${toPlainText(notice)}\n`);
  }

  /** Does nothing. */
  [Symbol.dispose](): void {}

  /** Writes the result. */
  async onRunEnd(report: RunReport, patch?: string): Promise<void> {
    const { messages } = report.outcome;
    await this.#output.write(toJsonLine({ ...createResult(report, patch), messages }));
  }
}

/** Writes a run as lines of JSON: `init`, every event of the library, `result`. */
export class StreamJsonReporter implements Reporter {
  readonly #output: BatchedOutput;
  readonly #messages: Output;

  constructor(output: Output, messages: Output) {
    this.#output = new BatchedOutput(output);
    this.#messages = messages;
  }

  /** Writes the `init` line. */
  async onRunStart(start: RunStart): Promise<void> {
    await this.#output.write(toJsonLine({ type: "init", schemaVersion: SCHEMA_VERSION, ...start }));
  }

  /** Writes a notice to standard error. */
  async onNotice(notice: string): Promise<void> {
    await this.#messages.write(`${toPlainText(notice)}\n`);
  }

  /** Does nothing. */
  [Symbol.dispose](): void {}

  /** Writes an event. */
  async onEvent(event: AgentEvent): Promise<void> {
    await this.#output.write(toJsonLine(event));
  }

  /** Writes the `result` line, without messages: the events contain them. */
  async onRunEnd(report: RunReport, patch?: string): Promise<void> {
    await this.#output.write(toJsonLine(createResult(report, patch)));
    await this.#output.flush();
  }
}

function createResult(
  { outcome, exitCode, refused, turns, durationMs, model, runId, sessionId, text, answer }:
    RunReport,
  patch: string | undefined,
): object {
  const { messages: _messages, ...result } = outcome;
  return {
    type: "result",
    schemaVersion: SCHEMA_VERSION,
    runId,
    sessionId,
    model,
    exitCode,
    text,
    ...(answer && { structuredOutput: answer.value }),
    ...result,
    turns,
    durationMs: Math.round(durationMs),
    ...(refused.length > 0 && { refused }),
    ...(patch !== undefined && { patch }),
  };
}
