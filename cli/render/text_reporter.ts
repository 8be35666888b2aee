/**
 * Reports for users: streamed text, one line per tool call and per result, tokens and cost at the end.
 *
 * @module
 */

import type { AgentEvent, AssistantMessageDelta } from "../../mod.ts";
import type { AgentEventBody } from "../../src/loop/mod.ts";
import type { Output } from "../host/terminal.ts";
import { getFinalText } from "./final_text.ts";
import { PlainTextFilter, toPlainText } from "./plain_text.ts";
import type { Reporter, RunReport } from "./reporter.ts";
import { Screen } from "./screen.ts";
import type { Paint, Style } from "./style.ts";
import { truncateToWidth } from "./text_width.ts";
import { formatCall, formatResult } from "./tool_line.ts";
import { formatDuration, formatUsage } from "./usage_line.ts";
import { WordWrap } from "./word_wrap.ts";
import { wrapText } from "./wrap_text.ts";

/** Maximum columns of a line when the output is not a terminal. */
const LOG_COLUMNS = 120;

/** Minimum duration of a call that is shown. */
const MIN_SHOWN_DURATION_MS = 1_000;

/** Options for {@linkcode TextReporter}. */
export interface TextReporterOptions {
  /** Output for the text of the model. */
  readonly text: Output;
  /** Output for everything else. */
  readonly lines: Output;
  /** Whether text is written as it arrives. Otherwise the text of the last reply is written at the end. */
  readonly live: boolean;
  /** Style of the lines. */
  readonly style: Style;
  /** Columns of the terminal. */
  readonly columns: number;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

interface RunningCall {
  /** Tool and arguments in one line. */
  readonly summary: string;
  readonly startedAt: number;
}

/** Writes a run as text. */
export class TextReporter implements Reporter {
  readonly #options: TextReporterOptions;
  readonly #screen: Screen;
  readonly #style: Style;
  readonly #calls = new Map<string, RunningCall>();
  #filter = new PlainTextFilter();
  #wrap: WordWrap;
  /** Id of the call on the last line. */
  #lastCall: string | undefined;
  #isThinkingShown = false;

  constructor(options: TextReporterOptions) {
    this.#options = options;
    this.#screen = new Screen(options);
    this.#style = options.style;
    this.#wrap = this.#createWrap();
  }

  /** Writes nothing. */
  onRunStart(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes text, tool calls, results and notices. */
  async onEvent(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "message_start":
        this.#filter = new PlainTextFilter();
        this.#wrap = this.#createWrap();
        this.#isThinkingShown = false;
        return;
      case "message_update":
        return await this.#writeDelta(event.delta);
      case "message_end":
        return await this.#endText();
      case "tool_execution_start":
        return await this.#onToolStart(event);
      case "tool_execution_end":
        return await this.#onToolEnd(event);
      default:
        return await this.#writeNotice(getNotice(event));
    }
  }

  /** Writes the final answer if it was not streamed, and the totals. */
  async onRunEnd(report: RunReport): Promise<void> {
    const { live } = this.#options;
    if (!live) await this.#screen.writeText(toPlainText(getFinalText(report.outcome.messages)));
    await this.#screen.endText();
    if (report.turns === 0) return;
    for (const line of wrapText(formatUsage(report), this.#columns)) {
      await this.#writeLine(this.#style.faint, line);
    }
  }

  async #writeDelta(delta: AssistantMessageDelta): Promise<void> {
    if (delta.type === "thinking_delta") return await this.#writeThinking();
    if (delta.type !== "text_delta" || !this.#options.live) return;
    await this.#screen.writeText(this.#wrap.push(this.#filter.push(delta.delta)));
  }

  async #endText(): Promise<void> {
    await this.#screen.writeText(this.#wrap.flush());
    await this.#screen.endText();
  }

  /** Creates the word wrapping of a reply, which applies only to a terminal. */
  #createWrap(): WordWrap {
    const { text, columns } = this.#options;
    return new WordWrap(text.isTerminal ? columns : Infinity);
  }

  /** Reports thinking once per message, because it may take a minute. */
  async #writeThinking(): Promise<void> {
    if (this.#isThinkingShown || !this.#options.live) return;
    this.#isThinkingShown = true;
    await this.#writeLine(this.#style.faint, "thinking");
  }

  async #onToolStart(
    { id, name, arguments: args }: EventByType<"tool_execution_start">,
  ): Promise<void> {
    const tool = toPlainText(name);
    const call = formatCall(name, args);
    this.#calls.set(id, { summary: `${tool} ${call}`.trimEnd(), startedAt: this.#options.now() });
    this.#lastCall = id;
    const shown = truncateToWidth(call, this.#columns - tool.length - 3);
    await this.#screen.writeLine(`• ${this.#style.name(tool)} ${shown}`.trimEnd());
  }

  async #onToolEnd({ id, result, isError }: EventByType<"tool_execution_end">): Promise<void> {
    const now = this.#options.now();
    const { summary, startedAt } = this.#calls.get(id) ?? { summary: "", startedAt: now };
    this.#calls.delete(id);
    const durationMs = now - startedAt;
    const time = durationMs < MIN_SHOWN_DURATION_MS ? "" : ` · ${formatDuration(durationMs)}`;
    // Parallel calls end in any order, so a result that does not follow its call names it.
    const call = this.#lastCall === id ? "" : `${truncateToWidth(summary, this.#columns / 2)}: `;
    this.#lastCall = undefined;
    const text = formatResult(result, isError);
    await this.#writeLine(this.#getPaint(text, isError), `  ${call}${text}${time}`);
  }

  #getPaint(text: string, isError: boolean): Paint {
    if (isError) return this.#style.error;
    return /^Exit code: (?!0\b)/.test(text) ? this.#style.warning : this.#style.faint;
  }

  async #writeNotice(notice: string | undefined): Promise<void> {
    if (notice === undefined) return;
    this.#lastCall = undefined;
    await this.#writeLine(this.#style.warning, toPlainText(notice));
  }

  async #writeLine(paint: Paint, line: string): Promise<void> {
    await this.#screen.writeLine(paint(truncateToWidth(line, this.#columns)));
  }

  get #columns(): number {
    return this.#options.lines.isTerminal ? this.#options.columns : LOG_COLUMNS;
  }
}

type EventByType<Type extends AgentEventBody["type"]> = Extract<AgentEvent, { type: Type }>;

/** Returns the notice for an event other than text and tool calls; `undefined` when it needs none. */
export function getNotice(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "retry": {
      const delay = event.delayMs > 0 ? `in ${formatDuration(event.delayMs)}` : "now";
      const discarded = event.discard ? "; the text above is discarded" : "";
      return `attempt ${event.attempt} failed, retrying ${delay}${discarded}: ${event.error.message}`;
    }
    case "model_fallback":
      return `${event.from.modelId} failed, continuing with ${event.to.modelId}`;
    case "context_compacted":
      return "the context was compacted to fit the context window";
    case "warning":
      return `warning: ${event.message}`;
    default:
      return undefined;
  }
}
