/**
 * The progress of an evaluation: a line for each result, and on a terminal a live block below them with a bar and the
 * running cases.
 *
 * @module
 */

import { type CaseResult, type RunSummary, summarizeRun } from "../../src/eval/mod.ts";
import { formatScore } from "../../src/eval/reports/format_measure.ts";
import type { Host } from "../host/host.ts";
import { CLEAR_BELOW } from "../render/screen.ts";
import { getStyle, type Style } from "../render/style.ts";
import { truncateToWidth } from "../render/text_width.ts";
import { formatDuration } from "../render/usage_line.ts";
import { formatCost, formatFailures } from "./eval_tables.ts";

/** Time between two updates of the live block. */
const INTERVAL_MS = 250;

/** Columns of the bar. */
const BAR_COLUMNS = 24;

/** Options for `EvalProgress`. */
export interface EvalProgressOptions {
  /** Number of runs. */
  readonly total: number;
  /** Results that were finished before. */
  readonly finished: readonly CaseResult[];
}

type RunKey = Pick<CaseResult, "caseId" | "repetition">;

/** Shows the progress on standard error. Disposing of it erases the live block. */
export class EvalProgress implements AsyncDisposable {
  readonly #host: Host;
  readonly #total: number;
  readonly #style: Style;
  readonly #isLive: boolean;
  readonly #startedAt: number;
  readonly #running = new Map<string, number>();
  readonly #removeListener: () => void;
  #passed = 0;
  #failed = 0;
  #cost: number | null = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isBlockShown = false;
  #isDrawing = false;

  constructor({ total, finished }: EvalProgressOptions, host: Host) {
    const { messages } = host.terminal;
    this.#host = host;
    this.#total = total;
    this.#style = getStyle(messages, host.env);
    this.#isLive = messages.isTerminal && host.env("TERM") !== "dumb";
    this.#startedAt = host.now();
    for (const result of finished) this.#count(result);
    this.#removeListener = host.terminal.onRedraw(() => this.#draw());
    if (this.#isLive) this.#timer = setInterval(() => this.#draw(), INTERVAL_MS);
  }

  /** Adds a running case. */
  start(run: RunKey): void {
    this.#running.set(formatRun(run), this.#host.now());
    this.#draw();
  }

  /** Writes the line of a result. */
  async finish(result: CaseResult): Promise<void> {
    this.#running.delete(formatRun(result));
    if (result.outcome === "skipped") return;
    this.#count(result);
    const line = this.#formatResult(result);
    await this.#enqueue(() => `${this.#erase()}${line}\n${this.#formatBlock()}`);
  }

  #count(result: CaseResult): void {
    if (result.outcome === "passed") this.#passed++;
    else this.#failed++;
    const { cost } = summarize(result);
    this.#cost = this.#cost === null || cost === null ? null : this.#cost + cost;
  }

  #formatResult(result: CaseResult): string {
    const { outcome, durationMs } = result;
    const isPassed = outcome === "passed";
    const { score, cost } = summarize(result);
    const measures = [
      `score ${formatScore(score)}`,
      formatCost(cost),
      formatDuration(durationMs),
    ].join(" · ");
    const [failure = ""] = formatFailures(result);
    const reason = failure === "" ? "" : `  ${failure.slice(failure.indexOf(": ") + 2)}`;
    const line = `${isPassed ? "✓ passed" : "✗ failed"}  ${
      formatRun(result)
    }  ${measures}${reason}`;
    return this.#fit(line).replace(/^. \w+/, isPassed ? this.#style.success : this.#style.error);
  }

  /** Returns the live block; the cursor stays at its beginning, so that a narrower terminal does not move it. */
  #formatBlock(): string {
    if (!this.#isLive) return "";
    const { rows } = this.#host.terminal;
    const now = this.#host.now();
    const done = this.#passed + this.#failed;
    const filled = Math.round((done / Math.max(1, this.#total)) * BAR_COLUMNS);
    const bar = "█".repeat(filled) + "░".repeat(BAR_COLUMNS - filled);
    const counts = [
      `${done} of ${this.#total}`,
      `${this.#passed} passed`,
      `${this.#failed} failed`,
      formatCost(this.#cost),
      formatDuration(now - this.#startedAt),
    ].join(" · ");
    const running = Array.from(
      this.#running,
      ([run, startedAt]) => `  ${run}  ${formatDuration(now - startedAt)}`,
    );
    const lines = [`${bar}  ${counts}`, ...running].slice(0, Math.max(1, rows - 2));
    this.#isBlockShown = true;
    const back = lines.length > 1 ? `\x1b[${lines.length - 1}A` : "";
    return `${lines.map((line) => this.#fit(line)).join("\n")}${back}\r`;
  }

  #erase(): string {
    const wasShown = this.#isBlockShown;
    this.#isBlockShown = false;
    return wasShown ? CLEAR_BELOW : "";
  }

  #fit(line: string): string {
    const { columns, messages } = this.#host.terminal;
    return messages.isTerminal ? truncateToWidth(line, columns - 1) : line;
  }

  #draw(): void {
    if (!this.#isLive || this.#isDrawing) return;
    this.#isDrawing = true;
    const drawing = this.#enqueue(() => this.#erase() + this.#formatBlock());
    void drawing.finally(() => this.#isDrawing = false);
  }

  #enqueue(format: () => string): Promise<void> {
    this.#writing = this.#writing.then(() => this.#host.terminal.messages.write(format()));
    return this.#writing;
  }

  /** Erases the live block. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#removeListener();
    await this.#enqueue(() => this.#erase());
  }
}

function summarize(result: CaseResult): RunSummary {
  return summarizeRun({ setId: "", results: [result] });
}

function formatRun({ caseId, repetition }: RunKey): string {
  return repetition > 1 ? `${caseId} (${repetition})` : caseId;
}
