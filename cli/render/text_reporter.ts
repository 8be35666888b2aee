/**
 * Reports for users: a header, streamed text, one line per tool call, tokens and cost at the end.
 *
 * @module
 */

import type {
  AgentEvent,
  AgentMessage,
  AgentTool,
  AssistantMessageDelta,
  JsonObject,
} from "../../mod.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentEventBody } from "../../src/loop/mod.ts";
import { listenForSuspension } from "../host/suspension.ts";
import type { Output, Terminal } from "../host/terminal.ts";
import { ActivityStatus } from "./activity.ts";
import { CallLines, type ShownCall } from "./call_lines.ts";
import { CallSchedule } from "./call_schedule.ts";
import { formatDiffLines } from "./diff_lines.ts";
import { formatHeader } from "./header.ts";
import { PlainTextFilter, toPlainText } from "./plain_text.ts";
import type { Reporter, RunReport, RunStart } from "./reporter.ts";
import { RunNotices } from "./run_notices.ts";
import { Screen } from "./screen.ts";
import type { Paint, Style } from "./style.ts";
import { paintLines } from "./styled_line.ts";
import { getTextWidth, truncateToWidth } from "./text_width.ts";
import { formatCall, formatResult, formatToolName } from "./tool_line.ts";
import { formatDuration, formatUsage } from "./usage_line.ts";
import { WordWrap } from "./word_wrap.ts";
import { wrapText } from "./wrap_text.ts";

/** Maximum columns of a line when the output is not a terminal. */
const LOG_COLUMNS = 120;

/** Minimum duration of a call that is shown. */
const MIN_SHOWN_DURATION_MS = 1_000;

/** Amount of output: the answer alone, one line per call, or also the output of tools and diffs. */
export type Verbosity = "quiet" | "normal" | "verbose";

/** The questions at a terminal. */
export interface OpenQuestions {
  /** Whether one is open, or waits for others. */
  readonly isAsking: boolean;
  /** Resolves when none is open. */
  untilAnswered(): Promise<void>;
  /** Calls a function before each question, which waits for it; returns a function that ends that. */
  onAsk(listener: () => Promise<void>): () => void;
}

/** Options for {@linkcode TextReporter}. */
export interface TextReporterOptions {
  /** Output for the text of the model. */
  readonly text: Output;
  /** Output for everything else. */
  readonly lines: Output;
  /** Size and suspension of the terminal. */
  readonly terminal: Pick<Terminal, "columns" | "onRedraw" | "onSuspend" | "stop">;
  /** Amount of output. */
  readonly verbosity: Verbosity;
  /** Whether a status shows what is awaited; requires that `lines` is a terminal that can move the cursor. */
  readonly hasStatus: boolean;
  /** Whether text is written as it arrives. Otherwise the text of the last reply is written at the end. */
  readonly live: boolean;
  /** Style of the lines. */
  readonly style: Style;
  /** Value of `--base-url`, which errors name. */
  readonly baseUrl?: string | undefined;
  /** Home directory, which the header abbreviates. */
  readonly home?: string | undefined;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** The questions at the same terminal, during which nothing else is written. Default: none. */
  readonly questions?: OpenQuestions | undefined;
  /** Returns the diff of the change that a call would make; empty if it makes none. Default: no diffs are shown. */
  readonly previewDiff?: (name: string, args: JsonObject) => Promise<string>;
  /** Finds a tool of the agent, to recognize calls that run one after the other. Default: all run at the same time. */
  readonly findTool?: (name: string) => AgentTool | undefined;
}

/** Writes a run as text. */
export class TextReporter implements Reporter {
  readonly #options: TextReporterOptions;
  readonly #screen: Screen;
  readonly #style: Style;
  readonly #status: ActivityStatus | undefined;
  readonly #calls = new CallLines();
  readonly #schedule: CallSchedule;
  readonly #runNotices = new RunNotices();
  readonly #stopRedrawing: () => void;
  readonly #stopListening: (() => void) | undefined;
  readonly #suspension: Disposable | undefined;
  #model = "the model";
  #filter = new PlainTextFilter();
  #wrap: WordWrap;
  /** Notices that wait for the end of the reply whose text they would interrupt. */
  #notices: string[] = [];
  #isTextOpen = false;
  #isThinking = false;

  constructor(options: TextReporterOptions) {
    this.#options = options;
    const { terminal, style } = options;
    this.#screen = new Screen({ ...options, getColumns: () => terminal.columns });
    this.#style = style;
    this.#schedule = new CallSchedule(options.findTool ?? (() => undefined));
    this.#status = options.hasStatus
      ? new ActivityStatus({
        screen: this.#screen,
        now: options.now,
        isAsking: () => options.questions?.isAsking ?? false,
      })
      : undefined;
    this.#stopListening = options.questions?.onAsk(async () => await this.#status?.restart());
    // Before the shell writes there; afterwards, the status returns with the next redrawing.
    this.#suspension = this.#status && listenForSuspension({
      terminal,
      suspend: async () => await this.#status?.restart(),
      resume: () => Promise.resolve(),
    });
    this.#wrap = this.#createWrap();
    this.#stopRedrawing = terminal.onRedraw((cause) => {
      const isMoved = cause === "continued";
      if (isMoved) this.#wrap.restartRow();
      const redrawn = isMoved ? this.#screen.reset() : Promise.resolve();
      // A failure is reported by the next line.
      redrawn.then(() => this.#status?.restart()).catch(() => {});
    });
  }

  /** Stops the status. */
  [Symbol.dispose](): void {
    this.#stopRedrawing();
    this.#stopListening?.();
    this.#suspension?.[Symbol.dispose]();
    this.#status?.[Symbol.dispose]();
  }

  /** Writes the header. */
  async onRunStart(start: RunStart): Promise<void> {
    this.#model = `${start.model.provider}/${start.model.modelId}`;
    const { style: { faint }, home } = this.#options;
    for (const row of formatHeader(start, { home, columns: this.#columns })) {
      await this.#writeLine(faint(row));
    }
  }

  /** Writes text, tool calls and notices. */
  async onEvent(event: AgentEvent): Promise<void> {
    // A line would be in the middle of the question.
    const { questions } = this.#options;
    if (questions?.isAsking) await questions.untilAnswered();
    switch (event.type) {
      case "message_start":
        if (event.message.role !== "assistant") return;
        this.#startText();
        return await this.#await(`waiting for ${this.#model}`);
      case "message_update":
        return await this.#onDelta(event.delta);
      case "message_end":
        return await this.#onMessageEnd(event.message);
      case "tool_approval_requested":
        return await this.#status?.set(undefined);
      case "tool_execution_start":
        return await this.#onToolStart(event);
      case "tool_execution_update": {
        const { id, update } = event;
        this.#calls.update(id, typeof update === "string" ? update : extractText(update.content));
        return await this.#showRunningCall();
      }
      case "tool_execution_end": {
        const endedAt = this.#options.now();
        // A call that has waited until its end was canceled.
        if (this.#schedule.isWaiting(event.id)) this.#calls.restart(event.id, endedAt);
        for (const id of this.#schedule.end(event.id)) this.#calls.restart(id, endedAt);
        await this.#calls.end(event.id, (call) => this.#writeCall(call, { ...event, endedAt }));
        return await this.#showRunningCall();
      }
      case "sub_agent":
        return await this.#onSubAgentEvent(event);
      case "turn_end":
        return await this.#calls.flush();
      case "agent_end":
        return await this.#status?.set(undefined);
      case "retry":
      case "model_fallback": {
        const notice = this.#getNotice(event);
        if (event.discard) await this.#discardText();
        await this.#writeNotice(notice);
        if (event.type === "retry") return await this.#awaitRetry(event.delayMs);
        return await this.#await(`waiting for ${this.#model}`);
      }
      default:
        return await this.#writeNotice(this.#getNotice(event));
    }
  }

  /** Shows what a sub-agent does as the progress of the call that runs it. */
  async #onSubAgentEvent({ path: [id = ""], event }: EventByType<"sub_agent">): Promise<void> {
    switch (event.type) {
      case "tool_execution_start":
        this.#calls.update(id, `${event.name} ${formatCall(event.name, event.arguments)}`);
        return await this.#showRunningCall();
      case "retry":
        this.#calls.update(id, this.#getNotice(event) ?? "");
        return await this.#showRunningCall();
      case "warning":
        return await this.#writeNotice(this.#getNotice(event));
      default:
        return;
    }
  }

  /** Writes a notice, also when only the answer is requested. */
  async onNotice(notice: string): Promise<void> {
    for (const line of wrapText(toPlainText(notice), this.#columns)) {
      await this.#screen.writeLine(this.#style.warning(line));
    }
    await this.#status?.restart();
  }

  /** Writes the final answer if it was not streamed, and the totals. */
  async onRunEnd(report: RunReport): Promise<void> {
    const { live, verbosity } = this.#options;
    await this.#status?.set(undefined);
    const isStreamed = live && verbosity !== "quiet";
    const text = isStreamed ? "" : toPlainText(report.text).trimEnd();
    // In one write: behind a pipe, the totals could otherwise come between the text and its line feed.
    if (text !== "") await this.#screen.writeText(`${text}\n`);
    await this.#screen.endText();
    if (report.turns > 0) await this.#writeWrapped(this.#style.faint, formatUsage(report));
  }

  /** Sets what is awaited, from now on. */
  async #await(label: string): Promise<void> {
    await this.#status?.set({ label, startedAt: this.#options.now() });
  }

  /** Shows the time until the next attempt. */
  async #awaitRetry(delayMs: number): Promise<void> {
    const startedAt = this.#options.now();
    await this.#status?.set({
      label: "retrying",
      startedAt,
      endsAt: startedAt + delayMs,
      detail: "Ctrl+C ends the run",
    });
  }

  async #showRunningCall(): Promise<void> {
    await this.#status?.set(this.#calls.activity);
  }

  #startText(): void {
    this.#filter = new PlainTextFilter();
    this.#wrap = this.#createWrap();
    this.#isTextOpen = false;
    this.#isThinking = false;
  }

  async #onDelta(delta: AssistantMessageDelta): Promise<void> {
    switch (delta.type) {
      case "thinking_delta":
        if (!this.#isThinking) await this.#await("thinking");
        this.#isThinking = true;
        return;
      case "tool_call_start":
        return await this.#await(`preparing ${toPlainText(delta.name)}`);
      case "text_delta":
        return await this.#writeText(delta.delta);
      default:
        return;
    }
  }

  async #writeText(delta: string): Promise<void> {
    const { live, verbosity } = this.#options;
    if (!live || verbosity === "quiet") return;
    this.#isTextOpen = true;
    this.#isThinking = false;
    await this.#screen.writeText(this.#wrap.push(this.#filter.push(delta)));
    await this.#await(`waiting for ${this.#model}`);
    await this.#status?.restart();
  }

  async #onMessageEnd(message: AgentMessage): Promise<void> {
    if (message.role !== "assistant") return;
    await this.#endText();
    this.#calls.expect(
      message.content.filter((block) => block.type === "tool_call").map(({ id }) => id),
    );
    await this.#status?.set(undefined);
  }

  async #endText(): Promise<void> {
    await this.#screen.writeText(this.#wrap.flush());
    await this.#screen.endText();
    this.#isTextOpen = false;
    for (const notice of this.#notices.splice(0)) await this.#writeNotice(notice);
  }

  /** Ends the text of a failed attempt; the next attempt starts from empty. */
  async #discardText(): Promise<void> {
    await this.#endText();
    this.#startText();
  }

  /** Creates the word wrapping of a reply, which applies only to a terminal. */
  #createWrap(): WordWrap {
    const { text, terminal } = this.#options;
    return new WordWrap(() => text.isTerminal ? terminal.columns : Infinity);
  }

  async #onToolStart(event: EventByType<"tool_execution_start">): Promise<void> {
    const { now, verbosity, previewDiff } = this.#options;
    const diff = verbosity === "verbose"
      ? await previewDiff?.(event.name, event.arguments).catch(() => "")
      : undefined;
    this.#calls.start(event, { startedAt: now(), ...(diff !== undefined && { diff }) });
    this.#schedule.start(event);
    await this.#showRunningCall();
  }

  async #writeCall(
    call: ShownCall | undefined,
    { name, result, isError, endedAt }: EndedCall,
  ): Promise<void> {
    const { verbosity } = this.#options;
    const { tool = formatToolName(name), summary = "", startedAt = endedAt, diff = "" } = call ??
      {};
    const durationMs = endedAt - startedAt;
    const time = durationMs < MIN_SHOWN_DURATION_MS ? "" : ` · ${formatDuration(durationMs)}`;
    const text = formatResult(result, isError);
    const free = this.#columns - getTextWidth(`• ${tool}  · ${time}`);
    const resultColumns = Math.max(Math.floor(free / 2), free - getTextWidth(summary));
    const end = truncateToWidth(text, resultColumns) + time;
    const shown = truncateToWidth(summary, free + getTextWidth(time) - getTextWidth(end));
    const head = `• ${this.#style.name(tool)}${shown && ` ${shown}`}`;
    await this.#writeLine(`${head} · ${this.#getPaint(text, isError)(end)}`);
    // A call that failed or was refused has made no change.
    const details = { output: extractText(result.content), diff: isError ? "" : diff };
    if (verbosity === "verbose") await this.#writeDetails(details);
  }

  async #writeDetails(
    { output, diff }: { readonly output: string; readonly diff: string },
  ): Promise<void> {
    const { faint } = this.#style;
    const changes = paintLines(formatDiffLines(diff, this.#style));
    const lines = toPlainText(output).trimEnd().split("\n").map((line) => faint(line));
    for (const line of changes.length > 0 ? changes : lines) await this.#writeLine(`  ${line}`);
  }

  #getPaint(text: string, isError: boolean): Paint {
    if (isError) return this.#style.error;
    return /^Exit code: (?!0\b)/.test(text) ? this.#style.warning : this.#style.faint;
  }

  #getNotice(event: AgentEvent): string | undefined {
    const { baseUrl } = this.#options;
    return this.#runNotices.get(event, { baseUrl, isTextShown: this.#isTextOpen });
  }

  async #writeNotice(notice: string | undefined): Promise<void> {
    if (notice === undefined) return;
    if (this.#isTextOpen) return void this.#notices.push(notice);
    await this.#writeWrapped(this.#style.warning, toPlainText(notice));
  }

  async #writeWrapped(paint: Paint, text: string): Promise<void> {
    for (const line of wrapText(text, this.#columns)) await this.#writeLine(paint(line));
  }

  async #writeLine(line: string): Promise<void> {
    if (this.#options.verbosity === "quiet") return;
    await this.#screen.writeLine(line);
    await this.#status?.restart();
  }

  get #columns(): number {
    const { lines, terminal } = this.#options;
    return lines.isTerminal ? terminal.columns : LOG_COLUMNS;
  }
}

/** A call that has ended. Its lines may be written later, after those of the earlier calls. */
interface EndedCall extends EventByType<"tool_execution_end"> {
  /** End of the call, in milliseconds. */
  readonly endedAt: number;
}

type EventByType<Type extends AgentEventBody["type"]> = Extract<AgentEvent, { type: Type }>;
