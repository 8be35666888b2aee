/**
 * Types keys into the line editor, for tests.
 *
 * @module
 */

import type { Completion } from "../../cli/editor/completion.ts";
import { showCompletions } from "../../cli/editor/completion_menu.ts";
import { editLine } from "../../cli/editor/edit_line.ts";
import type { EditorOptions } from "../../cli/editor/editor_options.ts";
import {
  createEditorState,
  type EditorEffect,
  type EditorState,
  type EditorStep,
} from "../../cli/editor/editor_state.ts";
import { resolveBindings } from "../../cli/editor/key_bindings.ts";
import type { KeyEvent } from "../../cli/keys/key_event.ts";
import { parseKey } from "../../cli/keys/key_notation.ts";
import { splitGraphemes } from "../../cli/render/text_width.ts";

/** Options for {@linkcode TypedEditor}. */
export interface TypedEditorOptions extends Partial<EditorOptions> {
  /** Completions by the word; they are shown as soon as they are requested. Default: none. */
  readonly complete?: (word: string) => readonly Completion[];
}

/** A line editor with its state. */
export class TypedEditor {
  /** The state after the last key. */
  state: EditorState = createEditorState();
  readonly #options: EditorOptions;
  readonly #complete: ((word: string) => readonly Completion[]) | undefined;
  #effects: EditorEffect[] = [];

  constructor({ complete, ...options }: TypedEditorOptions = {}) {
    this.#options = { bindings: resolveBindings(), hasViKeys: false, history: [], ...options };
    this.#complete = complete;
  }

  /** Presses keys: characters, keys in angle brackets such as `<ctrl+w>`, and pasted texts such as `<paste:text>`. */
  type(keys: string): this {
    for (const event of parseKeys(keys)) this.press(event);
    return this;
  }

  /** Applies an event. */
  press(event: KeyEvent): void {
    this.#apply(editLine(this.state, event, this.#options));
  }

  #apply({ state, effect }: EditorStep): void {
    this.state = state;
    if (effect?.type === "complete" && this.#complete) {
      const items = this.#complete(effect.request.word);
      this.#apply(showCompletions(state, effect.request, items));
    } else if (effect) this.#effects.push(effect);
  }

  /** Returns the effects since the last call. */
  takeEffects(): readonly EditorEffect[] {
    return this.#effects.splice(0);
  }

  /** The text with a `|` at the cursor. */
  get text(): string {
    const { text, cursor } = this.state;
    return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
  }
}

/** Parses keys as `TypedEditor.type()` does. */
export function parseKeys(keys: string): KeyEvent[] {
  const parts = keys.match(/<paste:[^>]*>|<[a-z0-9_+\-\\/]+>|[^]/gu) ?? [];
  return splitGraphemes(keys).length === parts.length && !keys.includes("<")
    ? splitGraphemes(keys).map((text) => ({ type: "character", text }))
    : parts.map(parsePart);
}

function parsePart(part: string): KeyEvent {
  if (part.startsWith("<paste:")) return { type: "paste", text: part.slice(7, -1), omitted: 0 };
  const key = part.length > 1 && part.startsWith("<") ? parseKey(part.slice(1, -1)) : undefined;
  return key ?? { type: "character", text: part };
}
