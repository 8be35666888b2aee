/**
 * The view of a terminal with a live region: output scrolls above it, and the input line, the queue and the status stay
 * below.
 *
 * @module
 */

import type { Completer } from "../../editor/completion.ts";
import { importLate } from "../../host/import_late.ts";
import { listenForSuspension } from "../../host/suspension.ts";
import type { KeyEvent } from "../../keys/key_event.ts";
import type { Choice, QuestionContext } from "../../questions/choice.ts";
import { createEncoder, type EncodeLine } from "../../render/line/encode_line.ts";
import type { Line } from "../../render/line/line.ts";
import type { Display } from "../../render/theme/display.ts";
import type { ThemeName } from "../../render/theme/theme.ts";
import { THEMES } from "../../render/theme/themes.ts";
import { keepScreen, type KeptScreen } from "../../screen/kept_screen.ts";
import type { RegionContent } from "../../screen/live_region.ts";
import type { ConversationInput } from "../view/conversation_input.ts";
import type {
  ConversationView,
  LentTerminal,
  LiveSource,
  Notification,
  TextQuestion,
} from "../view/conversation_view.ts";
import { toLines, toMessage } from "../view/lines.ts";
import { AnswerTail } from "./answer_tail.ts";
import { createCopySequence } from "./copy_sequence.ts";
import { fitLine } from "./fit_line.ts";
import { FrameTimer } from "./frame_timer.ts";
import { InputEffects } from "./input_effects.ts";
import { InputLine } from "./input_line.ts";
import { InputQueue } from "./input_queue.ts";
import { createInputStyle } from "./input_style.ts";
import { KeyInput } from "./key_input.ts";
import type { LiveViewOptions } from "./live_view_options.ts";
import { PendingRows } from "./pending_rows.ts";
import { layOutPrompt } from "./prompt_rows.ts";
import { TaskQueue } from "./task_queue.ts";

/** Columns that are left free at the right, as most terminals wrap a line that fills the last one. */
const MARGIN = 1;

/** A question for a text, which takes the keys. */
interface TextPrompt {
  readonly line: InputLine;
  readonly sign: string;
  readonly resolve: (text: string | undefined) => void;
}

/** A terminal with a live region. */
export class LiveView implements ConversationView {
  readonly readsDuringRuns: boolean = true;
  readonly hasDraft: boolean = true;
  readonly #options: LiveViewOptions;
  readonly #inputs = new InputQueue();
  readonly #line: InputLine;
  readonly #effects: InputEffects;
  readonly #frames: FrameTimer;
  readonly #closing = new AbortController();
  readonly #cleanup = new DisposableStack();
  /** Rows that are printed with the next frame, so that they and the region match. */
  readonly #pending = new PendingRows();
  /** Resolves when the terminal has taken the rows so far. */
  #drained: Promise<void> = Promise.resolve();
  #display: Display;
  #encode: EncodeLine;
  #source: LiveSource | undefined;
  /** Keys are read before it is there; their completions wait for it. */
  readonly #completer = Promise.withResolvers<Completer>();
  #textPrompt: TextPrompt | undefined;
  #answerTail: AnswerTail | undefined;
  /** Resolves when the history is written. */
  #remembered: Promise<void> = Promise.resolve();
  /** Owner of the keys and of the rows below the output. */
  #owner: "input" | "question" | "program" = "input";
  /** The screen of the last program that had the terminal. */
  #screen: KeptScreen | undefined;
  /** Stops reading keys, while a question or another program has them. */
  #reading = new AbortController();
  /** Resolves when the keys are no longer read. */
  #keyLoop: Promise<void> = Promise.resolve();
  /** Tasks that need the keys or the terminal. */
  readonly #tasks = new TaskQueue();

  constructor(options: LiveViewOptions) {
    this.#options = options;
    const { display, host: { terminal }, region, startTimer, onEarlyEnd } = options;
    this.#display = display;
    this.#encode = createEncoder(display);
    this.#line = this.#createLine();
    this.#effects = new InputEffects({
      inputs: this.#inputs,
      line: this.#line,
      terminal,
      region,
      warn: (message) => void this.print(toMessage("warning", message, this)),
      onEarlyEnd,
    });
    this.#frames = new FrameTimer({ draw: () => this.#draw(), startTimer });
    this.#cleanup.defer(
      terminal.onRedraw((cause) => {
        if (cause !== "resized") return;
        region.resized();
        this.#draw();
      }),
    );
    this.#cleanup.use(listenForSuspension({
      terminal,
      suspend: () => this.#suspend(),
      resume: () => this.#resume(),
    }));
    this.#startReading();
    this.#draw();
  }

  get display(): Display {
    return this.#display;
  }

  get columns(): number {
    return Math.max(this.#options.host.terminal.columns - MARGIN, 1);
  }

  get rows(): number {
    return this.#options.host.terminal.rows;
  }

  async print(lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return;
    this.#pending.add(this.#encodeRows(lines));
    this.#frames.request();
    await this.#drained;
  }

  async echo(text: string): Promise<void> {
    const rows = layOutPrompt(text, { columns: this.columns, display: this.#display });
    this.#pending.addPrompt(rows.map(this.#encode));
    this.#frames.request();
    await this.#drained;
  }

  setLiveSource(source: LiveSource): void {
    this.#source = source;
    this.redraw();
  }

  setCompleter(completer: Completer): void {
    this.#completer.resolve(completer);
  }

  redraw(): void {
    this.#frames.request();
  }

  read(): Promise<ConversationInput> {
    return this.#inputs.read();
  }

  setDraft(text: string): void {
    // Text that was typed meanwhile is not lost.
    const typed = this.#line.text;
    this.#line.setText(typed === "" || typed === text ? text : `${text}\n${typed}`);
    this.#draw();
  }

  remember(text: string): void {
    this.#remembered = this.#options.history.add(text);
  }

  async askChoice<Answer extends string>(
    choice: Choice<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { askChoice } = await importLate<typeof import("../../questions/ask_choice.ts")>(
      "../../questions/ask_choice.ts",
      import.meta.url,
    );
    const { now } = this.#options.host;
    const ask = async (context: QuestionContext) => {
      const answer = await askChoice(choice, context);
      this.#answerTail = answer === undefined ? undefined : new AnswerTail(answer, now());
      return answer;
    };
    return await this.#ask(ask, { signal, acceptsPastes: false });
  }

  async askSecret(message: string, signal: AbortSignal): Promise<string | undefined> {
    const { askSecret } = await importLate<typeof import("../../questions/ask_secret.ts")>(
      "../../questions/ask_secret.ts",
      import.meta.url,
    );
    const ask = (context: QuestionContext) => askSecret(message, context);
    return await this.#ask(ask, { signal, acceptsPastes: true });
  }

  async askText(
    { message, initial = "" }: TextQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return await this.#tasks.run(async () => {
      const line = this.#createLine();
      line.setText(initial);
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      this.#answerTail = undefined;
      this.#textPrompt = { line, sign: `${message}: `, resolve };
      const cancel = () => resolve(undefined);
      const canceled = this.#abortOnClose(signal);
      canceled.addEventListener("abort", cancel, { once: true });
      if (canceled.aborted) cancel();
      this.#draw();
      const text = await promise;
      canceled.removeEventListener("abort", cancel);
      this.#textPrompt = undefined;
      await this.print(toLines(`  ${message}: ${text ?? ""}`));
      return text;
    });
  }

  async lend<Result>(use: (lent: LentTerminal) => Promise<Result>): Promise<Result> {
    return await this.#tasks.run(async () => {
      await this.#suspend();
      this.#owner = "program";
      const { terminal } = this.#options.host;
      const screen = await keepScreen({ output: terminal.output, getSize: () => terminal });
      this.#screen = screen;
      try {
        return await use({ restoreScreen: screen.restore });
      } finally {
        this.#owner = "input";
        await this.#resume();
      }
    });
  }

  async copy(text: string): Promise<boolean> {
    const sequence = createCopySequence(text);
    if (sequence !== undefined) await this.#send(sequence);
    return sequence !== undefined;
  }

  notify(notification: Notification): void {
    const sequence = this.#options.notifier.getSequence(notification);
    if (sequence !== undefined) void this.#send(sequence);
    if (notification.type === "ended") this.#pending.endOutput();
  }

  async clear(): Promise<void> {
    const { region } = this.#options;
    // The rows of the screen move into the scrollback.
    this.#pending.add(Array.from({ length: this.rows }, () => ""));
    await this.#suspendRegion();
    await this.#options.host.terminal.output.write("\x1b[H").catch(() => {});
    await region.resume();
    this.#draw();
  }

  setTheme(name: ThemeName): void {
    this.#display = { ...this.#display, theme: THEMES[name] };
    this.#encode = createEncoder(this.#display);
    this.#draw();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#cleanup[Symbol.dispose]();
    this.#frames[Symbol.dispose]();
    await this.#stopReading();
    this.#printRows();
    await this.#options.region.close();
    await this.#options.keyboard[Symbol.asyncDispose]();
    await this.#remembered;
  }

  #createLine(): InputLine {
    const { bindings, hasViKeys, history } = this.#options;
    return new InputLine({
      bindings,
      hasViKeys,
      complete: async (request, signal) => {
        const completer = await this.#completer.promise;
        return await completer.complete(request, signal);
      },
      getHistory: () => history.entries,
      onChange: () => this.#draw(),
    });
  }

  /** Asks a question that writes to the terminal itself. */
  async #ask<Answer>(
    ask: (context: QuestionContext) => Promise<Answer>,
    { signal, acceptsPastes }: { readonly signal: AbortSignal; readonly acceptsPastes: boolean },
  ): Promise<Answer> {
    return await this.#tasks.run(async () => {
      const { host, keyboard, region } = this.#options;
      await this.#stopReading();
      await this.#suspendRegion();
      this.#owner = "question";
      const aborting = new AbortController();
      try {
        return await ask({
          host,
          // The keyboard is in raw mode.
          keyboard: { setRaw() {} },
          input: new KeyInput({
            keyboard,
            acceptsPastes,
            onAbort: ({ ctrl }) => {
              aborting.abort();
              this.#inputs.push({ type: "action", name: ctrl ? "interrupt" : "abort" });
            },
            onSuspend: () => this.#options.host.terminal.requestSuspension(),
          }),
          signal: AbortSignal.any([this.#abortOnClose(signal), aborting.signal]),
        });
      } finally {
        this.#owner = "input";
        await region.resume();
        this.#startReading();
        this.#draw();
      }
    });
  }

  /** Returns the signal, which is also aborted when the view closes. */
  #abortOnClose(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal]);
  }

  /** Leaves the terminal to another program, unless one has it. */
  async #suspend(): Promise<void> {
    // The program is stopped, too, and the shell writes below.
    if (this.#owner === "program") return this.#screen?.forgetPosition();
    if (this.#owner === "input") {
      await this.#stopReading();
      await this.#suspendRegion();
    }
    await this.#options.keyboard.suspend();
  }

  /** Takes the terminal back. A question draws itself again. */
  async #resume(): Promise<void> {
    if (this.#owner === "program") return;
    await this.#options.keyboard.resume();
    if (this.#owner === "question") return;
    await this.#options.region.resume();
    this.#startReading();
    this.#draw();
  }

  #startReading(): void {
    if (this.#closing.signal.aborted) return;
    // After a stop that was not prepared, keys are still read.
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#keyLoop = this.#readKeys(this.#reading.signal);
  }

  async #stopReading(): Promise<void> {
    this.#reading.abort();
    await this.#keyLoop;
  }

  async #readKeys(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const keys = await this.#options.keyboard.read(signal);
      if (!keys) break;
      for (const key of keys) this.#press(key);
      this.#draw();
    }
    if (!signal.aborted) this.#effects.leave({ type: "end" });
  }

  #press(event: KeyEvent): void {
    if (this.#textPrompt) return this.#answerText(event, this.#textPrompt);
    const { now } = this.#options.host;
    for (const key of this.#answerTail?.filter(event, now()) ?? [event]) {
      const effect = this.#line.press(key);
      if (effect) this.#effects.apply(effect);
    }
  }

  #answerText(event: KeyEvent, { line, resolve }: TextPrompt): void {
    const effect = line.press(event);
    switch (effect?.type) {
      case "submit":
      case "follow_up":
        return resolve(effect.text);
      case "abort":
      case "quit":
        return resolve(undefined);
      case "action":
        if (effect.name === "suspend" || effect.name === "redraw") {
          this.#effects.forward(effect.name);
        }
        return;
      default:
        return;
    }
  }

  /** Draws what was printed, and the region below it as it is then. */
  #draw(): void {
    if (this.#closing.signal.aborted) return;
    const content = this.#createContent();
    this.#drained = this.#options.region.draw(this.#pending.take(), content);
    this.#frames.drawn();
  }

  #encodeRows(lines: readonly Line[]): string[] {
    return lines.flatMap((line) => fitLine(line, this.columns)).map(this.#encode);
  }

  #printRows(): void {
    const rows = this.#pending.take();
    if (rows.length > 0) this.#drained = this.#options.region.printLines(rows);
  }

  async #suspendRegion(): Promise<void> {
    this.#printRows();
    await this.#options.region.suspend();
  }

  /** Writes a sequence after what was printed. */
  async #send(sequence: string): Promise<void> {
    this.#printRows();
    await this.#options.region.send(sequence);
  }

  #createContent(): RegionContent {
    const { terminal } = this.#options.host;
    const { columns } = this;
    const live = this.#source?.(columns);
    if (live?.isChanging) this.#frames.tick();
    const above = live
      ? [...live.open, ...live.running, ...live.selected, ...live.queued, live.status].map(
        this.#encode,
      )
      : [];
    const prompt = this.#textPrompt;
    const line = prompt?.line ?? this.#line;
    const { symbols } = this.#display;
    const sign = line.isInNormalMode ? symbols.normalPrompt : symbols.prompt;
    const input = line.render({
      columns: terminal.columns,
      sign: prompt?.sign ?? `${sign} `,
      style: createInputStyle(this.#encode),
    });
    return {
      rows: [...above, ...input.rows],
      cursor: input.cursor &&
        { row: above.length + input.cursor.row, column: input.cursor.column },
    };
  }
}
