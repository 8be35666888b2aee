/**
 * The line that the user edits.
 *
 * @module
 */

import type { Completer, Completion, CompletionRequest } from "../../editor/completion.ts";
import { showCompletions } from "../../editor/completion_menu.ts";
import { editLine } from "../../editor/edit_line.ts";
import type { EditorOptions, InputLayout, InputView } from "../../editor/editor_options.ts";
import {
  createEditorState,
  type EditorEffect,
  type EditorState,
  type EditorStep,
} from "../../editor/editor_state.ts";
import { renderInput } from "../../editor/render_input.ts";
import type { KeyEvent } from "../../keys/key_event.ts";

/** Options for {@linkcode InputLine}. */
export interface InputLineOptions extends Omit<EditorOptions, "history"> {
  /** Returns the earlier inputs, the latest first. */
  readonly getHistory: () => readonly string[];
  /** Finds completions. */
  readonly complete: Completer["complete"];
  /** Called when completions have arrived. */
  readonly onChange: () => void;
}

/** A line that is edited. */
export class InputLine {
  readonly #options: InputLineOptions;
  #state: EditorState = createEditorState();
  #completing = new AbortController();

  constructor(options: InputLineOptions) {
    this.#options = options;
  }

  /** The text that has not been sent. */
  get text(): string {
    return this.#state.text;
  }

  /** Whether keys are commands of vi. */
  get isInNormalMode(): boolean {
    const { type } = this.#state.mode;
    return type === "normal" || type === "command";
  }

  /** Replaces the text. */
  setText(text: string): void {
    this.#state = createEditorState(text);
  }

  /** Applies a key. Returns what is left to do. */
  press(event: KeyEvent): EditorEffect | undefined {
    const { bindings, hasViKeys, getHistory } = this.#options;
    const history = getHistory();
    this.#completing.abort();
    return this.#apply(editLine(this.#state, event, { bindings, hasViKeys, history }));
  }

  /** Lays the line out in rows. */
  render(layout: InputLayout): InputView {
    return renderInput(this.#state, layout);
  }

  /** Takes the state of a step, and starts to look for completions. Returns its effect if that is another one. */
  #apply({ state, effect }: EditorStep): EditorEffect | undefined {
    this.#state = state;
    if (effect?.type !== "complete") return effect;
    void this.#complete(effect.request);
    return undefined;
  }

  async #complete(request: CompletionRequest): Promise<void> {
    const { complete, onChange } = this.#options;
    const completing = new AbortController();
    this.#completing = completing;
    const items = await complete(request, completing.signal)
      .catch((): readonly Completion[] => []) ?? [];
    if (completing.signal.aborted) return;
    this.#apply(showCompletions(this.#state, request, items));
    onChange();
  }
}
