/**
 * Highlighting with the modes of CodeMirror, which read a line at a time.
 *
 * @module
 */

import { StringStream } from "@codemirror/streamparser";
import { appendSpan, joinSpans } from "../line/append_span.ts";
import type { Span } from "../line/line.ts";
import type { Role } from "../theme/role.ts";
import type { Highlighter, LineHighlighter } from "./highlighter.ts";
import { findMode, type Mode } from "./modes.ts";

/** Characters of a line beyond which it is not highlighted, since modes take quadratic time on some lines. */
const MAX_LINE = 500;

/** Columns of indentation that a mode reads; the expressions of some take cubic time on spaces. */
const MAX_INDENT = 40;

/** Matches more spaces within a line than a mode reads. */
const LONG_GAP = /\S\s{40}/;

/** Characters of a text beyond which unfinished lines are not highlighted, since the state of a mode grows with it. */
const MAX_PEEKED = 200_000;

/** Columns of a tab and of an indentation, which modes ask for. */
const TAB_SIZE = 4;
const INDENT_UNIT = 2;

/** Calls of a mode that may return no text before a character is skipped. */
const MAX_EMPTY_TOKENS = 10;

/** Roles by the first part of the name of a token. */
const ROLES: Readonly<Record<string, Role>> = {
  keyword: "keyword",
  controlKeyword: "keyword",
  operatorKeyword: "keyword",
  modifier: "keyword",
  string: "string",
  character: "string",
  escape: "string",
  regexp: "string",
  url: "string",
  comment: "comment",
  lineComment: "comment",
  blockComment: "comment",
  docComment: "comment",
  number: "number",
  atom: "number",
  bool: "number",
  null: "number",
  unit: "number",
  color: "number",
  type: "type",
  typeName: "type",
  builtin: "type",
  className: "type",
  namespace: "type",
  meta: "type",
  macroName: "name",
  qualifier: "name",
  def: "name",
  tag: "name",
  tagName: "name",
  property: "name",
  propertyName: "name",
  attribute: "name",
  attributeName: "name",
  labelName: "name",
  heading: "heading",
  header: "heading",
  link: "link",
  inserted: "added",
  deleted: "removed",
  changed: "warning",
};

/** Time that highlighting a text may take before it is given up: some, and more for each character. */
const BUDGET_MS = 50;
const BUDGET_MS_PER_CHARACTER = 0.02;

/** Options for `createModeHighlighter()`. */
export interface ModeHighlighterOptions {
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** Creates the highlighter of all languages. Text on which a mode takes too long is not highlighted further. */
export function createModeHighlighter({ now }: ModeHighlighterOptions): Highlighter {
  return {
    start(language) {
      const mode = findMode(language);
      return mode && new ModeLineHighlighter(mode, now);
    },
  };
}

/** Highlights the lines of one text. */
class ModeLineHighlighter implements LineHighlighter {
  readonly #mode: Mode;
  readonly #now: () => number;
  #state: unknown;
  #length = 0;
  #elapsedMs = 0;
  /** Whether the mode has failed or takes too long; the remaining lines are not highlighted. */
  #hasFailed = false;

  constructor(mode: Mode, now: () => number) {
    this.#mode = mode;
    this.#now = now;
    this.#state = mode.startState?.(INDENT_UNIT) ?? {};
  }

  next(line: string): Span[] {
    const start = this.#now();
    const spans = this.#highlight(line, this.#state);
    this.#length += line.length;
    this.#elapsedMs += this.#now() - start;
    if (this.#elapsedMs > BUDGET_MS + this.#length * BUDGET_MS_PER_CHARACTER) {
      this.#hasFailed = true;
    }
    return spans;
  }

  peek(line: string): Span[] {
    if (this.#length > MAX_PEEKED || this.#hasFailed) return [{ text: line }];
    return this.#highlight(line, this.#copyState());
  }

  #highlight(line: string, state: unknown): Span[] {
    if (this.#hasFailed || line.length > MAX_LINE || LONG_GAP.test(line)) return [{ text: line }];
    const excess = Math.max(line.length - line.trimStart().length - MAX_INDENT, 0);
    try {
      const spans = readTokens(this.#mode, { line: line.slice(excess), state });
      return excess === 0 ? spans : joinSpans([{ text: line.slice(0, excess) }, ...spans]);
    } catch {
      this.#hasFailed = true;
      return [{ text: line }];
    }
  }

  #copyState(): unknown {
    const state = this.#state;
    if (this.#mode.copyState) return this.#mode.copyState(state);
    if (typeof state !== "object" || state === null) return state;
    return Object.fromEntries(
      Object.entries(state).map(([key, value]) => [key, Array.isArray(value) ? [...value] : value]),
    );
  }
}

function readTokens(
  mode: Mode,
  { line, state }: { readonly line: string; readonly state: unknown },
): Span[] {
  if (line === "") {
    mode.blankLine?.(state, INDENT_UNIT);
    return [];
  }
  const stream = new StringStream(line, TAB_SIZE, INDENT_UNIT);
  const spans: Span[] = [];
  for (let empty = 0; !stream.eol();) {
    stream.start = stream.pos;
    const token = mode.token(stream, state);
    if (stream.pos > stream.start) {
      empty = 0;
    } else if (++empty >= MAX_EMPTY_TOKENS) {
      stream.next();
      empty = 0;
    } else continue;
    const role = getRole(token);
    appendSpan(spans, { text: stream.current(), ...(role && { role }) });
  }
  return spans;
}

/** Returns the role of a token, named as `string.special` or `keyword error`. */
function getRole(token: string | null): Role | undefined {
  const [name = ""] = token?.match(/[a-z]+/i) ?? [];
  return Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
}
