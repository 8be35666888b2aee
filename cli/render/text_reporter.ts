/**
 * A run for people: the text as it comes, one line for each tool call and its result, tokens and cost at the end.
 *
 * @module
 */

import type { AgentEvent, AssistantMessageDelta } from "../../mod.ts";
import type { AgentEventBody } from "../../src/loop/mod.ts";
import type { Output } from "../terminal.ts";
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

/** Lines in a log are kept to this length. */
const LOG_COLUMNS = 120;

/** A call that took less is not worth a time. */
const MIN_SHOWN_DURATION_MS = 1_000;

/** How a {@linkcode TextReporter} tells. */
export interface TextReporterOptions {
  /** Where the text goes. */
  readonly text: Output;
  /** Where everything else goes. */
  readonly lines: Output;
  /** Whether the text is shown while it comes. Otherwise the last reply is shown at the end. */
  readonly live: boolean;
  /** The style of the lines. */
  readonly style: Style;
  /** Columns of the terminal. */
  readonly columns: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

interface RunningCall {
  /** The tool and its arguments, in a line. */
  readonly summary: string;
  readonly startedAt: number;
}

/** Tells of a run in text. */
export class TextReporter implements Reporter {
  readonly #options: TextReporterOptions;
  readonly #screen: Screen;
  readonly #style: Style;
  readonly #calls = new Map<string, RunningCall>();
  #filter = new PlainTextFilter();
  #wrap: WordWrap;
  /** The call that the last line is about. */
  #lastCall: string | undefined;
  #isThinkingShown = false;

  /** Makes a reporter that has said nothing yet. */
  constructor(options: TextReporterOptions) {
    this.#options = options;
    this.#screen = new Screen(options);
    this.#style = options.style;
    this.#wrap = this.#createWrap();
  }

  /** A person knows what was started. */
  onRunStart(): Promise<void> {
    return Promise.resolve();
  }

  /** Shows what happened, where it is worth a line. */
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

  /** Shows the answer where it has not been shown, and what the run took. */
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

  /** Programs get lines as they are; a terminal would break them within words. */
  #createWrap(): WordWrap {
    const { text, columns } = this.#options;
    return new WordWrap(text.isTerminal ? columns : Infinity);
  }

  /** Reasoning may take a minute in which nothing else is to be seen. */
  async #writeThinking(): Promise<void> {
    if (this.#isThinkingShown || !this.#options.live) return;
    this.#isThinkingShown = true;
    await this.#writeLine(this.#style.faint, "thinking");
  }

  async #onToolStart(
    { id, name, arguments: args }: EventOf<"tool_execution_start">,
  ): Promise<void> {
    const tool = toPlainText(name);
    const words = formatCall(name, args);
    this.#calls.set(id, { summary: `${tool} ${words}`.trimEnd(), startedAt: this.#options.now() });
    this.#lastCall = id;
    const shown = truncateToWidth(words, this.#columns - tool.length - 3);
    await this.#screen.writeLine(`• ${this.#style.name(tool)} ${shown}`.trimEnd());
  }

  async #onToolEnd({ id, result, isError }: EventOf<"tool_execution_end">): Promise<void> {
    const { summary: words, startedAt: since } = this.#calls.get(id) ??
      { summary: "", startedAt: this.#options.now() };
    this.#calls.delete(id);
    const took = this.#options.now() - since;
    const time = took < MIN_SHOWN_DURATION_MS ? "" : ` · ${formatDuration(took)}`;
    // Calls that run side by side end in any order.
    const whose = this.#lastCall === id ? "" : `${truncateToWidth(words, this.#columns / 2)}: `;
    this.#lastCall = undefined;
    const said = formatResult(result, isError);
    await this.#writeLine(this.#getPaint(said, isError), `  ${whose}${said}${time}`);
  }

  #getPaint(said: string, isError: boolean): Paint {
    if (isError) return this.#style.error;
    return /^Exit code: (?!0\b)/.test(said) ? this.#style.warning : this.#style.faint;
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

type EventOf<Type extends AgentEventBody["type"]> = Extract<AgentEvent, { type: Type }>;

/** What a person should know of an event that is no text and no tool call. */
export function getNotice(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "retry": {
      const again = event.delayMs > 0 ? `again in ${formatDuration(event.delayMs)}` : "again now";
      const isVoid = event.discard ? "; what it said is void" : "";
      return `attempt ${event.attempt} failed, ${again}${isVoid}: ${event.error.message}`;
    }
    case "model_fallback":
      return `${event.from.modelId} failed, ${event.to.modelId} goes on`;
    case "context_compacted":
      return "the conversation was shortened to fit the model";
    case "warning":
      return `warning: ${event.message}`;
    default:
      return undefined;
  }
}
