/**
 * The renderers of a conversation, whose code is loaded for the first output.
 *
 * @module
 */

import type { FileChange } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import { importLate } from "../../host/import_late.ts";
import type { Highlighter } from "../../render/highlight/highlighter.ts";
import { createEncoder } from "../../render/line/encode_line.ts";
import type { Line } from "../../render/line/line.ts";
import { getSpeakerLabel, type Speaker } from "../../render/line/speaker_label.ts";
import type { TextRenderer, TextRendererOptions } from "../../render/line/text_renderer.ts";
import { UnformattedText } from "../../render/line/unformatted_text.ts";
import type { StyledLine } from "../../render/styled_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import { formatEndedCall } from "../../render/tools/format_calls.ts";
import type { ExpandedCallOptions } from "../../render/tools/format_expanded_call.ts";
import type { OutputSettings } from "../command/command_context.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toMessage } from "../view/lines.ts";

/** The renderers of a conversation. */
export interface ConversationRenderers {
  /** Creates a renderer of a reply. */
  createText(isPlanning: boolean): Promise<TextRenderer>;
  /** Creates a renderer of thinking. */
  createThinking(isPlanning: boolean): Promise<TextRenderer>;
  /** Formats a call that has ended, in one line. */
  formatEndedCall(call: CallView): Line;
  /** Formats a call with its complete change or result. */
  formatExpandedCall(call: CallView): Promise<Line[]>;
  /** Formats the selected call, with the beginning of its change or result. */
  formatSelectedCall(
    call: CallView,
    limits: { readonly columns: number; readonly maxLines: number },
  ): Promise<Line[]>;
  /** Formats the beginning of the change of a call. */
  formatChanges(call: CallView): Promise<Line[]>;
  /** Formats changes for a question about them. */
  formatQuestion(changes: readonly FileChange[]): Promise<StyledLine[]>;
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
  /** The modules that need packages. Default: those of the program. */
  readonly modules?: RendererModules;
}

/** Loads the modules that need packages, which Deno may have to download. */
export interface RendererModules {
  /** Loads the renderer of replies. */
  markdown(): Promise<typeof import("../../render/markdown/markdown_renderer.ts")>;
  /** Loads the renderer of thinking. */
  thinking(): Promise<typeof import("../../render/markdown/thinking_renderer.ts")>;
  /** Loads the highlighter of code. */
  highlighter(options: { readonly now: () => number }): Promise<Highlighter>;
}

const MODULES: RendererModules = {
  markdown: () => importLate("../../render/markdown/markdown_renderer.ts", import.meta.url),
  thinking: () => importLate("../../render/markdown/thinking_renderer.ts", import.meta.url),
  async highlighter(options) {
    const { loadHighlighter } = await importLate<
      typeof import("../../render/highlight/load_highlighter.ts")
    >("../../render/highlight/load_highlighter.ts", import.meta.url);
    return await loadHighlighter(options);
  },
};

/** Highlights nothing. */
const NO_HIGHLIGHTER: Highlighter = { start: () => undefined };

/**
 * Creates the renderers of a terminal. Where a module cannot be loaded, such as when Deno has to download a package without
 * a network, one warning is printed, and texts are shown as they are.
 */
export function createRenderers(
  { view, settings, now, modules = MODULES }: RendererOptions,
): ConversationRenderers {
  let isWarned = false;
  const orElse = async <Module, Fallback>(loading: Promise<Module>, fallback: Fallback) => {
    try {
      return await loading;
    } catch (error) {
      if (!isWarned) {
        isWarned = true;
        const problem = `texts are shown without formats: ${getErrorMessage(error)}`;
        await view.print(toMessage("warning", problem, view));
      }
      return fallback;
    }
  };
  let loading: Promise<Highlighter> | undefined;
  const loadHighlighter = () => loading ??= orElse(modules.highlighter({ now }), NO_HIGHLIGHTER);
  const formatExpanded = async (call: CallView, limits: ExpandedLimits) => {
    const { formatExpandedCall } = await importLate<
      typeof import("../../render/tools/format_expanded_call.ts")
    >("../../render/tools/format_expanded_call.ts", import.meta.url);
    return formatExpandedCall(call, {
      columns: view.columns,
      display: view.display,
      layout: settings.diffLayout,
      highlighter: await loadHighlighter(),
      hint: `/expand ${call.number} shows all`,
      ...limits,
    });
  };
  return {
    async createText(isPlanning) {
      const speaker = isPlanning ? "plan" : "assistant";
      const options = createTextOptions(view, { speaker, isPlanning });
      const markdown = await orElse(modules.markdown(), undefined);
      if (!markdown) return new UnformattedText(options);
      const highlighter = await loadHighlighter();
      return new markdown.MarkdownRenderer({ ...options, now, highlighter });
    },
    async createThinking(isPlanning) {
      const options = createTextOptions(view, { speaker: "thinking", isPlanning });
      const isHidden = () => settings.hidesThinking;
      const thinking = await orElse(modules.thinking(), undefined);
      if (thinking) return new thinking.ThinkingRenderer({ ...options, now, isHidden });
      return new UnformattedText({ ...options, style: { role: "thinking" }, isHidden });
    },
    formatEndedCall: (call) => formatEndedCall(call, view),
    formatExpandedCall: (call) => formatExpanded(call, {}),
    formatSelectedCall: (call, limits) => formatExpanded(call, { ...limits, isSelected: true }),
    async formatChanges(call) {
      // The first line is that of the call.
      return (await formatExpanded(call, { maxLines: MAX_CHANGE_LINES })).slice(1);
    },
    formatQuestion: (changes) => formatQuestion(changes, { view, settings, loadHighlighter }),
  };
}

/** The part of a call that is shown. */
type ExpandedLimits = Partial<
  Pick<ExpandedCallOptions, "columns" | "maxLines" | "isSelected">
>;

interface QuestionOptions extends Pick<RendererOptions, "view" | "settings"> {
  readonly loadHighlighter: () => Promise<Highlighter>;
}

/** Formats changes as lines that fit into the terminal, so that a question does not break them. */
async function formatQuestion(
  changes: readonly FileChange[],
  { view, settings, loadHighlighter }: QuestionOptions,
): Promise<StyledLine[]> {
  const [{ formatDiff }, { diffChange }, highlighter] = await Promise.all([
    importLate<typeof import("../../render/diff/format_diff.ts")>(
      "../../render/diff/format_diff.ts",
      import.meta.url,
    ),
    importLate<typeof import("../../render/diff/diff_change.ts")>(
      "../../render/diff/diff_change.ts",
      import.meta.url,
    ),
    loadHighlighter(),
  ]);
  const { columns, display } = view;
  const encode = createEncoder(display);
  const layout = settings.diffLayout;
  return formatDiff(changes.map(diffChange), {
    columns: columns - QUESTION_INDENT.length,
    display,
    layout,
    highlighter,
  })
    .map((line) => {
      const text = line.map((span) => span.text).join("");
      // A narrower terminal breaks the line.
      return { text, mark: QUESTION_INDENT, paint: (row) => row === text ? encode(line) : row };
    });
}

/** Written before the lines of a change in a question. */
const QUESTION_INDENT = "  ";

/** Returns the options of texts: in plan mode they are labelled and marked in every line. */
function createTextOptions(
  view: ConversationView,
  { speaker, isPlanning }: { readonly speaker: Speaker; readonly isPlanning: boolean },
): TextRendererOptions {
  const { display } = view;
  return {
    getColumns: () => view.columns,
    display,
    label: getSpeakerLabel(speaker, display),
    indent: isPlanning && !display.isPlain
      ? [{ text: `${display.symbols.quote} `, role: "plan" }]
      : [],
  };
}
