/**
 * A run for programs: one object at the end, or every event as a line.
 *
 * @module
 */

import type { AgentEvent } from "../../mod.ts";
import type { Output } from "../terminal.ts";
import { BatchedOutput } from "./batched_output.ts";
import { getFinalText } from "./final_text.ts";
import type { Reporter, RunReport, RunStart } from "./reporter.ts";

/** Writes the result of a run as one JSON object. */
export class JsonReporter implements Reporter {
  readonly #output: Output;

  /** Makes a reporter that writes to an output. */
  constructor(output: Output) {
    this.#output = output;
  }

  /** Nothing is said before the end. */
  onRunStart(): Promise<void> {
    return Promise.resolve();
  }

  /** Nothing is said before the end. */
  onEvent(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes the result. */
  async onRunEnd(report: RunReport, patch?: string): Promise<void> {
    const { messages } = report.outcome;
    await this.#output.write(toJsonLine({ ...createResult(report, patch), messages }));
  }
}

/** Writes a run as lines of JSON: `init`, every event of the library as it is, `result`. */
export class StreamJsonReporter implements Reporter {
  readonly #output: BatchedOutput;

  /** Makes a reporter that writes to an output. */
  constructor(output: Output) {
    this.#output = new BatchedOutput(output);
  }

  /** Writes the first line. */
  async onRunStart(opening: RunStart): Promise<void> {
    await this.#output.write(toJsonLine({ type: "init", ...opening }));
  }

  /** Writes an event. */
  async onEvent(event: AgentEvent): Promise<void> {
    await this.#output.write(toJsonLine(event));
  }

  /** Writes the last line; the messages were in the events. */
  async onRunEnd(report: RunReport, patch?: string): Promise<void> {
    await this.#output.write(toJsonLine(createResult(report, patch)));
    await this.#output.flush();
  }
}

function createResult(
  { outcome, exitCode, refused, turns, durationMs }: RunReport,
  patch: string | undefined,
): object {
  const { messages, ...rest } = outcome;
  return {
    type: "result",
    exitCode,
    text: getFinalText(messages),
    ...rest,
    turns,
    durationMs: Math.round(durationMs),
    ...(refused.length > 0 && { refused }),
    ...(patch !== undefined && { patch }),
  };
}

/** A value as a line. JSON leaves delete and the C1 controls as they are, and terminals obey them. */
function toJsonLine(value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${json}\n`;
}
