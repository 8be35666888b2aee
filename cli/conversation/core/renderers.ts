/**
 * The renderers of a conversation, whose code is loaded for the first output.
 *
 * @module
 */

import { extractText } from "../../../src/core/content.ts";
import { PlainTextFilter } from "../../render/plain_text.ts";
import { formatCall, formatResult } from "../../render/tool_line.ts";
import type { Line } from "../../render/line/line.ts";
import type { TextRenderer, TextRendererOptions } from "../../render/line/text_renderer.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { OutputSettings } from "../command/context.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLines } from "../view/lines.ts";

class RawTextRenderer implements TextRenderer {
  readonly #options: TextRendererOptions;
  readonly #filter = new PlainTextFilter();
  #rest = "";
  #isFirst = true;

  constructor(options: TextRendererOptions) {
    this.#options = options;
  }

  push(chunk: string): Line[] {
    const lines = (this.#rest + this.#filter.push(chunk)).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.map((line) => this.#toLine(line));
  }

  get open(): readonly Line[] {
    return this.#rest === "" ? [] : [[{ text: this.#rest }]];
  }

  poll(): Line[] {
    return [];
  }

  end(): Line[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : [this.#toLine(rest)];
  }

  #toLine(text: string): Line {
    const { label = [], indent = [], style } = this.#options;
    const start = this.#isFirst ? [...label, ...indent] : indent;
    this.#isFirst = false;
    return [...start, { ...style, text }];
  }
}

function formatEndedCall({ name, arguments: args, end }: CallView): Line {
  const result = end ? formatResult(end.result, end.isError) : "";
  return [
    { text: "• " },
    { text: name, role: "tool" },
    { text: ` ${formatCall(name, args)} · ` },
    { text: result, role: end?.isError ? "error" : "faint" },
  ];
}

/** The renderers of a conversation. */
export interface ConversationRenderers {
  /** Creates a renderer of a reply. */
  createText(isPlanning: boolean): TextRenderer;
  /** Creates a renderer of thinking. */
  createThinking(isPlanning: boolean): TextRenderer;
  /** Formats a call that has ended, in one line. */
  formatEndedCall(call: CallView): Line;
  /** Formats the complete result of a call, and its change. */
  formatExpandedCall(call: CallView): Line[];
  /** Formats the beginning of the change of a call. */
  formatChanges(call: CallView): Line[];
}

/** Options for `createRenderers()`. */
export interface RendererOptions {
  /** The terminal. */
  readonly view: ConversationView;
  /** How output is shown. */
  readonly settings: OutputSettings;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** Creates the renderers of a terminal. */
export function createRenderers({ view }: RendererOptions): ConversationRenderers {
  const options = (isPlanning: boolean): TextRendererOptions => ({
    getColumns: () => view.columns,
    display: view.display,
    label: view.display.isPlain ? [{ text: isPlanning ? "plan: " : "assistant: " }] : [],
    indent: isPlanning && !view.display.isPlain ? [{ text: "PLAN ", role: "plan" }] : [],
  });
  return {
    createText: (isPlanning) => new RawTextRenderer(options(isPlanning)),
    createThinking: (isPlanning) =>
      new RawTextRenderer({ ...options(isPlanning), style: { role: "thinking" } }),
    formatEndedCall,
    formatExpandedCall: (call) => toLines(extractText(call.end?.result.content ?? []), "faint"),
    formatChanges: ({ changes = [] }) =>
      changes.flatMap(({ diff = "" }) => diff === "" ? [] : toLines(diff)),
  };
}
