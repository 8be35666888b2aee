/**
 * The effects of keys in the input line.
 *
 * @module
 */

import type { EditorEffect, ForwardedAction } from "../../editor/editor_state.ts";
import type { Host } from "../../host/host.ts";
import type { LiveRegion } from "../../screen/live_region.ts";
import type { ConversationInput } from "../view/conversation_input.ts";
import type { InputLine } from "./input_line.ts";
import type { InputQueue } from "./input_queue.ts";

/** Options for {@linkcode InputEffects}. */
export interface InputEffectsOptions {
  /** The inputs of the conversation. */
  readonly inputs: InputQueue;
  /** The input line. */
  readonly line: InputLine;
  /** The terminal, which can be suspended. */
  readonly terminal: Pick<Host["terminal"], "requestSuspension">;
  /** The live region. */
  readonly region: Pick<LiveRegion, "redraw">;
  /** Shows a warning. */
  readonly warn: (message: string) => void;
  /** Called when the user leaves before the first input is read. */
  readonly onEarlyEnd: () => void;
}

/** Applies the effects of keys: most become an input of the conversation. */
export class InputEffects {
  readonly #options: InputEffectsOptions;

  constructor(options: InputEffectsOptions) {
    this.#options = options;
  }

  /** Applies the effect of a key. */
  apply(effect: EditorEffect): void {
    const { inputs, warn } = this.#options;
    switch (effect.type) {
      case "submit":
        return inputs.push({ type: "line", text: effect.text });
      case "follow_up":
        return inputs.push({ type: "line", text: effect.text, delivery: "follow_up" });
      case "command":
        return inputs.push({ type: "line", text: `/${effect.text}` });
      case "abort": {
        // Only Ctrl+C leaves when it is pressed twice.
        const { name, ctrl } = effect.key;
        if (ctrl && name === "c") return this.leave({ type: "action", name: "interrupt" });
        return inputs.push({ type: "action", name: "abort" });
      }
      case "quit":
        return this.leave({ type: "action", name: "quit" });
      case "notice":
        return warn(effect.message);
      case "action":
        return this.forward(effect.name);
      case "complete":
        return;
    }
  }

  /** Passes on that the user wants to leave, or to end the run. */
  leave(input: ConversationInput): void {
    const { inputs, onEarlyEnd } = this.#options;
    if (!inputs.isRead) onEarlyEnd();
    if (input.type === "end") inputs.end();
    else inputs.push(input);
  }

  /** Runs an action that the editor does not handle itself. */
  forward(action: ForwardedAction): void {
    const { inputs, line, region, terminal } = this.#options;
    switch (action) {
      case "suspend":
        return terminal.requestSuspension();
      case "redraw":
        return region.redraw();
      case "editor": {
        const { text } = line;
        line.setText("");
        return inputs.push({ type: "action", name: "editor", text });
      }
      default:
        return inputs.push({ type: "action", name: action });
    }
  }
}
