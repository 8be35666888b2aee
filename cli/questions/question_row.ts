/**
 * The question below its details, whose rows stay the last ones of the screen.
 *
 * @module
 */

import type { Terminal } from "../host/terminal.ts";
import { getTextWidth } from "../render/text_width.ts";

/** A question with the cursor behind it. */
export class QuestionRow {
  readonly #question: string;
  readonly #terminal: Pick<Terminal, "messages" | "columns">;
  /** The rows of the question as they were written; `undefined` before that, and after another program. */
  #rows: readonly string[] | undefined;
  #columns = 0;

  constructor(question: string, terminal: Pick<Terminal, "messages" | "columns">) {
    this.#question = question;
    this.#terminal = terminal;
  }

  /** Replaces the question by lines, and writes it below them, in rows of whole words. */
  write(lines: string): Promise<void> {
    const { messages, columns } = this.#terminal;
    const clear = this.#clear();
    this.#rows = wrapQuestion(this.#question, columns);
    this.#columns = columns;
    return messages.write(`${clear}${lines}${this.#rows.join("\n")}`);
  }

  /** Writes the answer behind the question, or below it if the terminal would break it. */
  end(answer: string): Promise<void> {
    const { messages, columns } = this.#terminal;
    const row = this.#rows?.at(-1) ?? "";
    const [indentation = ""] = /^ */.exec(this.#question) ?? [];
    const isBroken = getTextWidth(row) + getTextWidth(answer) > columns;
    return messages.write(`${isBroken ? `\n${indentation}` : ""}${answer}\n`);
  }

  /** Continues on a new row, after another program has moved the cursor there. */
  restart(): void {
    this.#rows = undefined;
  }

  /**
   * Writes the question again if its rows still fit. Else most terminals have wrapped them, and some have cut them off: a
   * row above them that is cleared may be one of the details.
   */
  resize(): void {
    if (this.#rows && this.#fits(this.#rows)) void this.write("");
  }

  #fits(rows: readonly string[]): boolean {
    return rows.every((row) => getTextWidth(row) < this.#terminal.columns);
  }

  /** Returns the text that clears the question, but no row above it. */
  #clear(): string {
    const rows = this.#rows;
    if (!rows) return this.#columns === 0 ? "" : "\r\x1b[J";
    const isResized = this.#columns !== this.#terminal.columns;
    const up = isResized && !this.#fits(rows) ? 0 : countRows(rows, this.#columns) - 1;
    return `${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`;
  }
}

/** Breaks a question before words that do not fit, and after the slash between answers; each row has its indentation. */
function wrapQuestion(question: string, columns: number): string[] {
  const indentation = question.slice(0, question.length - question.trimStart().length);
  const rows: string[] = [];
  let row = "";
  for (const word of question.match(/\s*\S+(?: \/)?\s*/g) ?? []) {
    if (row !== "" && getTextWidth(row + word.trimEnd()) > columns) {
      rows.push(row.trimEnd());
      row = indentation;
    }
    row += word;
  }
  return [...rows, row];
}

/** Counts the rows of the screen; the cursor stays in a row that is full. */
function countRows(rows: readonly string[], columns: number): number {
  return rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(getTextWidth(row) / columns)), 0);
}
