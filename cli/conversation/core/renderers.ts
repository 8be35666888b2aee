/**
 * The renderers of a conversation, whose code is loaded for the first output.
 *
 * @module
 */

import { extractText } from "../../../src/core/content.ts";
import { importLate } from "../../host/import_late.ts";
import type { Highlighter } from "../../render/highlight/highlighter.ts";
import type { Line } from "../../render/line/line.ts";
import type { TextRenderer, TextRendererOptions } from "../../render/line/text_renderer.ts";
import { PlainTextFilter } from "../../render/plain_text.ts";
import { formatCall, formatResult } from "../../render/tool_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { OutputSettings } from "../command/command_context.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLines } from "../view/lines.ts";

/** The renderers of a conversation. */
export interface ConversationRenderers {
  /** Creates a renderer of a reply. */
  createText(isPlanning: boolean): Promise<TextRenderer>;
  /** Creates a renderer of thinking. */
  createThinking(isPlanning: boolean): Promise<TextRenderer>;
  /** Formats a call that has ended, in one line. */
  formatEndedCall(call: CallView): Promise<Line>;
  /** Formats the complete result of a call, and its change. */
  formatExpandedCall(call: CallView): Promise<Line[]>;
  /** Formats the beginning of the change of a call. */
  formatChanges(call: CallView): Promise<Line[]>;
}

/** Number of lines of a change that are shown when its call ends. */
const MAX_CHANGE_LINES = 20;

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
export function createRenderers({ view, settings, now }: RendererOptions): ConversationRenderers {
  let highlighter: Promise<Highlighter> | undefined;
  const formatChanges = async ({ changes = [], number }: CallView, maxLines: number) => {
    const [{ formatDiff }, { diffChange }] = await Promise.all([
      importLate<typeof import("../../render/diff/format_diff.ts")>(
        "../../render/diff/format_diff.ts",
        import.meta.url,
      ),
      importLate<typeof import("../../render/diff/diff_change.ts")>(
        "../../render/diff/diff_change.ts",
        import.meta.url,
      ),
    ]);
    highlighter ??= importHighlighter(now);
    return formatDiff(changes.map(diffChange), {
      columns: view.columns,
      display: view.display,
      layout: settings.diffLayout,
      highlighter: await highlighter,
      maxLines,
      hint: `/expand ${number} shows all`,
    });
  };
  return {
    async createText(isPlanning) {
      const { MarkdownRenderer } = await importLate<
        typeof import("../../render/markdown/markdown_renderer.ts")
      >("../../render/markdown/markdown_renderer.ts", import.meta.url);
      highlighter ??= importHighlighter(now);
      const options = createTextOptions(view, isPlanning);
      return new MarkdownRenderer({ ...options, now, highlighter: await highlighter });
    },
    async createThinking(isPlanning) {
      const options = createTextOptions(view, isPlanning);
      return await Promise.resolve(
        new RawTextRenderer({ ...options, style: { role: "thinking" } }),
      );
    },
    formatEndedCall: (call) => Promise.resolve(formatEndedCall(call)),
    async formatExpandedCall(call) {
      if (call.changes && !call.end?.isError) return await formatChanges(call, Infinity);
      return toLines(extractText(call.end?.result.content ?? []), "faint");
    },
    formatChanges: (call) => formatChanges(call, MAX_CHANGE_LINES),
  };
}

async function importHighlighter(now: () => number): Promise<Highlighter> {
  const { loadHighlighter } = await importLate<
    typeof import("../../render/highlight/load_highlighter.ts")
  >("../../render/highlight/load_highlighter.ts", import.meta.url);
  return await loadHighlighter({ now });
}

/** Returns the options of texts: in plan mode they are labelled and marked in every line. */
function createTextOptions(view: ConversationView, isPlanning: boolean): TextRendererOptions {
  const { display } = view;
  const label = display.isPlain ? (isPlanning ? "plan: " : "assistant: ") : isPlanning ? "PLAN " : "";
  return {
    getColumns: () => view.columns,
    display,
    label: label === "" ? [] : [{ text: label, role: isPlanning ? "plan" : "text" }],
    indent: isPlanning && !display.isPlain
      ? [{ text: `${display.symbols.quote} `, role: "plan" }]
      : [],
  };
}

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
