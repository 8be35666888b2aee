/**
 * A view for terminals that only write lines, and for screen readers: output never moves the cursor, and input is read
 * line by line between the runs.
 *
 * @module
 */

import type { Host } from "../../host/host.ts";
import type { Input } from "../../host/terminal.ts";
import { askChoice } from "../../questions/ask_choice.ts";
import { askSecret } from "../../questions/ask_secret.ts";
import type { Choice, QuestionContext } from "../../questions/choice.ts";
import { TypedInput } from "../../questions/typed_input.ts";
import type { Line } from "../../render/line/line.ts";
import type { Display } from "../../render/theme/display.ts";
import type { ConversationInput } from "../view/conversation_input.ts";
import type {
  ConversationView,
  LentTerminal,
  TextQuestion,
  TextSource,
} from "../view/conversation_view.ts";
import { toPromptLines } from "../view/lines.ts";
import { InputLines } from "./input_lines.ts";

/** Options for {@linkcode PlainView}. */
export interface PlainViewOptions {
  /** Terminal, environment and clock. */
  readonly host: Pick<Host, "terminal" | "env" | "now">;
  /** The keyboard. */
  readonly keyboard: Input;
  /** How lines are shown. */
  readonly display: Display;
  /** Encodes a line. */
  readonly encode: (line: Line) => string;
}

/** A terminal that only writes lines. */
export class PlainView implements ConversationView {
  readonly columns: number = Infinity;
  readonly readsDuringRuns: boolean = false;
  readonly hasDraft: boolean = false;
  readonly display: Display;
  readonly #options: PlainViewOptions;
  readonly #input: TypedInput;
  readonly #lines: InputLines;
  readonly #closing = new AbortController();
  /** The prompt, while input is read. */
  #prompt: string | undefined;

  constructor(options: PlainViewOptions) {
    this.#options = options;
    this.display = options.display;
    this.#input = new TypedInput(options.keyboard);
    this.#lines = new InputLines(() => this.#input.readChunk(this.#closing.signal));
  }

  get rows(): number {
    return this.#options.host.terminal.rows;
  }

  async print(lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return;
    const { encode } = this.#options;
    const text = lines.map((line) => `${encode(line)}\n`).join("");
    // A message during the input, such as one about Ctrl+C, begins on a new row, and the prompt follows it.
    await this.#write(this.#prompt === undefined ? text : `\n${text}${this.#prompt}`);
  }

  /** The terminal has shown the keys. */
  async echo(text: string, source: TextSource = "line"): Promise<void> {
    if (source === "editor") await this.print(toPromptLines(text, this.display.symbols.prompt));
  }

  setLiveSource(): void {}

  setCompleter(): void {}

  redraw(): void {}

  async read(): Promise<ConversationInput> {
    const { symbols } = this.display;
    const lines: string[] = [];
    for (;;) {
      const line = await this.#readLine(
        `${lines.length === 0 ? symbols.prompt : " ".repeat(symbols.prompt.length)} `,
      );
      if (line === undefined) {
        await this.#write("\n");
        return { type: "end" };
      }
      const isContinued = line.endsWith("\\");
      lines.push(isContinued ? line.slice(0, -1) : line);
      if (!isContinued) return { type: "line", text: lines.join("\n") };
    }
  }

  async #readLine(prompt: string): Promise<string | undefined> {
    await this.#write(prompt);
    this.#prompt = prompt;
    try {
      return await this.#lines.read();
    } finally {
      this.#prompt = undefined;
    }
  }

  /** A line that was sent cannot be edited. */
  setDraft(): void {}

  remember(): void {}

  async askChoice<Answer extends string>(
    choice: Choice<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const context = this.#createContext(signal);
    return await this.#input.runExclusively(() => askChoice(choice, context));
  }

  async askText(question: TextQuestion, signal: AbortSignal): Promise<string | undefined> {
    return await this.#input.runExclusively(() => this.#askText(question, signal));
  }

  async #askText(
    { message, initial = "" }: TextQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const suggestion = initial === "" ? "" : ` [${initial}]`;
    await this.#write(`  ${message}${suggestion}: `);
    const lines = new InputLines(() => this.#input.readChunk(this.#end(signal)));
    const line = await lines.read();
    if (line === undefined) await this.#write("\n");
    return line === "" && initial !== "" ? initial : line;
  }

  async askSecret(message: string, signal: AbortSignal): Promise<string | undefined> {
    const context = this.#createContext(signal);
    return await this.#input.runExclusively(() => askSecret(message, context));
  }

  async lend<Result>(use: (lent: LentTerminal) => Promise<Result>): Promise<Result> {
    return await use({ restoreScreen: () => Promise.resolve() });
  }

  /** A terminal that only writes lines would show the escape sequence. */
  copy(): Promise<boolean> {
    return Promise.resolve(false);
  }

  notify(): void {}

  async clear(): Promise<void> {
    await this.#write("\n");
  }

  setTheme(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#input[Symbol.dispose]();
    return Promise.resolve();
  }

  #createContext(signal: AbortSignal): QuestionContext {
    const { host, keyboard } = this.#options;
    return { host, keyboard, input: this.#input, signal: this.#end(signal) };
  }

  #end(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal]);
  }

  async #write(text: string): Promise<void> {
    // Output to a terminal that is closed is discarded.
    await this.#options.host.terminal.output.write(text).catch(() => {});
  }
}
