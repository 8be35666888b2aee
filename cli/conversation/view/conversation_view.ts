/**
 * The view of a conversation: a terminal that shows output, and delivers input and answers.
 *
 * @module
 */

import type { Completer } from "../../editor/completion.ts";
import type { Choice } from "../../questions/choice.ts";
import type { Line } from "../../render/line/line.ts";
import type { Display } from "../../render/theme/display.ts";
import type { ThemeName } from "../../render/theme/theme.ts";
import type { ConversationInput } from "./conversation_input.ts";

/** Rows that change while an agent works. */
export interface LiveRows {
  /** The end of the output that may still change, such as the last line of a reply. */
  readonly open: readonly Line[];
  /** The running tool calls and agents. */
  readonly running: readonly Line[];
  /** The selected tool call, with its result if that is shown. */
  readonly selected: readonly Line[];
  /** The queued messages. */
  readonly queued: readonly Line[];
  /** The status. */
  readonly status: Line;
  /** Whether the rows change with the time, such as the duration of a run. */
  readonly isChanging: boolean;
}

/** Where the user has written a text: in the input, or in another program. */
export type TextSource = "line" | "editor";

/** Creates the rows that change; called at most 30 times a second. */
export type LiveSource = (columns: number) => LiveRows;

/** A question whose answer is a line of text. */
export interface TextQuestion {
  /** The question, such as `Reason`. */
  readonly message: string;
  /** The text that can be edited. Default: empty. */
  readonly initial?: string | undefined;
}

/** An event that the user may want to know of while the terminal is in the background. */
export type Notification =
  /** A run has ended. */
  | { readonly type: "ended"; readonly text: string; readonly durationMs: number }
  /** A question waits for an answer. */
  | { readonly type: "asked"; readonly text: string };

/** A terminal that another program uses. */
export interface LentTerminal {
  /** Returns to the screen of the conversation, which a program that was killed has not done. */
  readonly restoreScreen: () => Promise<void>;
}

/** A terminal with a conversation. Disposing of it restores the terminal. */
export interface ConversationView extends AsyncDisposable {
  /** How lines are shown. */
  readonly display: Display;
  /** Columns of a line; `Infinity` where lines are not wrapped. */
  readonly columns: number;
  /** Rows of the screen. */
  readonly rows: number;
  /** Whether input is read while a run is active. */
  readonly readsDuringRuns: boolean;
  /** Whether a text that has not been sent can be edited, so that `setDraft()` has an effect. */
  readonly hasDraft: boolean;

  /** Prints lines below the output. Never rejects; when the terminal is closed, they are discarded. */
  print(lines: readonly Line[]): Promise<void>;
  /**
   * Shows the text that the user has sent, unless the terminal shows it already.
   *
   * @param source Where the user has written it. Default: `line`.
   */
  echo(text: string, source?: TextSource): Promise<void>;
  /** Sets the source of the rows that change. */
  setLiveSource(source: LiveSource): void;
  /** Sets the source of completions. */
  setCompleter(completer: Completer): void;
  /** Draws the rows that change again, because their source has changed. */
  redraw(): void;

  /** Returns the next input. */
  read(): Promise<ConversationInput>;
  /** Replaces the text of the input that has not been sent, where it can be edited. */
  setDraft(text: string): void;
  /** Adds a text to the history of the input. */
  remember(text: string): void;

  /**
   * Asks a question with fixed answers. Keys that were typed before it are no answer, and a text that has not been sent is
   * kept. Returns `undefined` at the end of the input, and when `signal` is aborted.
   */
  askChoice<Answer extends string>(
    choice: Choice<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | undefined>;
  /** Asks for a line of text; `undefined` if the user cancels. */
  askText(question: TextQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** Asks for a text that is not shown; `undefined` if the user cancels. */
  askSecret(message: string, signal: AbortSignal): Promise<string | undefined>;

  /** Gives the terminal to another program while `use` runs. */
  lend<Result>(use: (lent: LentTerminal) => Promise<Result>): Promise<Result>;
  /** Copies a text to the clipboard of the user's terminal; `false` if the terminal cannot do that. */
  copy(text: string): Promise<boolean>;
  /** Notifies the user. */
  notify(notification: Notification): void;
  /** Clears the screen; the scrollback stays. */
  clear(): Promise<void>;
  /** Shows later lines with another theme. */
  setTheme(name: ThemeName): void;
}
