/**
 * The view of commands in an editor: what they print is collected as a text, and questions are asked in the editor.
 *
 * @module
 */

import type { AcpClient } from "../../src/protocols/acp/mod.ts";
import type { ConversationInput } from "../conversation/view/conversation_input.ts";
import type { ConversationView, LentTerminal } from "../conversation/view/conversation_view.ts";
import { toLineText } from "../conversation/view/lines.ts";
import type { Choice } from "../questions/choice.ts";
import type { Line } from "../render/line/line.ts";
import type { Display } from "../render/theme/display.ts";
import { ASCII_SYMBOLS } from "../render/theme/get_display.ts";
import { THEMES } from "../render/theme/themes.ts";

/** Collects the output of commands. */
export class EditorView implements ConversationView {
  readonly display: Display = {
    theme: THEMES.mono,
    colors: "none",
    hasLinks: false,
    symbols: ASCII_SYMBOLS,
    isPlain: true,
  };
  readonly columns: number = Infinity;
  readonly rows: number = 100;
  readonly readsDuringRuns: boolean = false;
  readonly hasDraft: boolean = false;
  readonly #client: Pick<AcpClient, "choose">;
  #lines: string[] = [];

  constructor(client: Pick<AcpClient, "choose">) {
    this.#client = client;
  }

  /** Returns what was printed since the last call, as Markdown that keeps the lines. */
  takeText(): string {
    const lines = this.#lines;
    this.#lines = [];
    const text = lines.join("\n").trimEnd();
    return lines.length < 2 ? text : toFence(text);
  }

  print(lines: readonly Line[]): Promise<void> {
    this.#lines.push(...lines.map(toLineText));
    return Promise.resolve();
  }

  async askChoice<Answer extends string>(
    { details, message, answers }: Choice<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const id = await this.#client.choose({
      title: message.replace(/\?.*$/s, "?"),
      // Markdown would hide comments of HTML.
      text: details.length === 0 ? "" : toFence(details.map(({ text }) => text).join("\n")),
      answers: answers.map((id) => ({ id, name: capitalize(id), allows: id !== "no" })),
    }, signal);
    return answers.find((answer) => answer === id);
  }

  /** An editor has no input for a text. */
  askText(): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  askSecret(): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  echo(): Promise<void> {
    return Promise.resolve();
  }

  read(): Promise<ConversationInput> {
    return Promise.resolve({ type: "end" });
  }

  copy(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async lend<Result>(use: (lent: LentTerminal) => Promise<Result>): Promise<Result> {
    return await use({ restoreScreen: () => Promise.resolve() });
  }

  clear(): Promise<void> {
    return Promise.resolve();
  }

  setLiveSource(): void {}
  setCompleter(): void {}
  redraw(): void {}
  setDraft(): void {}
  remember(): void {}
  notify(): void {}
  setTheme(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** Returns a text as a block of Markdown that it cannot end. */
function toFence(text: string): string {
  const [longest = ""] = [...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks).sort().slice(-1);
  const fence = "`".repeat(Math.max(3, longest.length + 1));
  return `${fence}\n${text}\n${fence}`;
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
