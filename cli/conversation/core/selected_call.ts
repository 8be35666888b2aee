/**
 * The selected tool call, whose result is shown above the input until it is hidden again.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import type { RecordedConversation } from "./recorded_conversation.ts";
import type { ConversationRenderers } from "./renderers.ts";

/** Options for {@linkcode SelectedCall}. */
export interface SelectedCallOptions {
  /** The calls. */
  readonly record: Pick<RecordedConversation, "calls" | "selectedCall">;
  /** Formats calls. */
  readonly renderers: Pick<ConversationRenderers, "formatSelectedCall">;
  /** The terminal. */
  readonly view: Pick<ConversationView, "rows" | "redraw">;
}

/** The rows of a call at a width. */
interface FormattedCall {
  readonly call: CallView;
  readonly columns: number;
  readonly isExpanded: boolean;
  readonly lines: readonly Line[];
}

/** Selects tool calls, and shows their results. */
export class SelectedCall {
  readonly #options: SelectedCallOptions;
  #isExpanded = false;
  #formatted: FormattedCall | undefined;
  #isFormatting = false;

  constructor(options: SelectedCallOptions) {
    this.#options = options;
  }

  /** Selects the call before the selected one, or the one after it; at first the last call. */
  select(step: -1 | 1): void {
    const { record } = this.#options;
    const { ended } = this;
    const selected = ended.findIndex(({ number }) => number === record.selectedCall);
    const index = selected < 0 ? ended.length - 1 : Math.max(selected + step, 0);
    record.selectedCall = ended[index]?.number;
    this.#options.view.redraw();
  }

  /** Shows the result of the selected call, or of the last one; hides it when it is shown. */
  toggle(): void {
    const { record, view } = this.#options;
    if (this.#isExpanded) return this.clear();
    record.selectedCall ??= this.ended.at(-1)?.number;
    this.#isExpanded = record.selectedCall !== undefined;
    view.redraw();
  }

  /** Selects no call. */
  clear(): void {
    this.#isExpanded = false;
    this.#options.record.selectedCall = undefined;
    this.#options.view.redraw();
  }

  /** The calls that have ended. */
  get ended(): readonly CallView[] {
    return this.#options.record.calls.filter(({ end }) => end);
  }

  /** Returns the rows of the selected call; the view is drawn again when they are known. */
  getRows(columns: number): readonly Line[] {
    const call = this.ended.find(({ number }) => number === this.#options.record.selectedCall);
    if (!call) return [];
    const formatted = this.#formatted;
    const isCurrent = formatted?.call === call && formatted.columns === columns &&
      formatted.isExpanded === this.#isExpanded;
    if (!isCurrent && !this.#isFormatting) void this.#format(call, columns);
    return formatted?.call === call ? formatted.lines : [];
  }

  async #format(call: CallView, columns: number): Promise<void> {
    const { renderers, view } = this.#options;
    const isExpanded = this.#isExpanded;
    this.#isFormatting = true;
    // Half of the screen remains for the conversation.
    const maxLines = isExpanded ? Math.floor(view.rows / 2) : 0;
    const lines = await renderers.formatSelectedCall(call, { columns, maxLines });
    this.#formatted = { call, columns, isExpanded, lines };
    this.#isFormatting = false;
    view.redraw();
  }
}
