/**
 * The keys of a conversation and their actions, in the table `[keys]` of the configuration.
 *
 * @module
 */

import type { OptionDefinition } from "../command_line/definition.ts";

/** An action and the keys that start it, unless the configuration names others. */
interface KeyActionDefinition extends OptionDefinition {
  readonly default: readonly string[];
}

/** The actions with their default keys. A project must not set keys: one that means yes could be moved. */
export const KEY_ACTIONS = {
  submit: defineAction("Sends the prompt; during a run, steers it.", "enter"),
  newline: defineAction("Begins a new line of the prompt.", "shift+enter", "ctrl+j"),
  follow_up: defineAction("Sends the prompt when the run ends.", "alt+enter"),
  abort: defineAction("Ends the run; Ctrl+C does, too, if the prompt is empty.", "escape"),
  quit: defineAction("Leaves the conversation; Ctrl+D does if the prompt is empty.", "ctrl+q"),
  toggle_plan: defineAction("Turns plan mode on or off.", "shift+tab"),
  history_search: defineAction("Searches earlier prompts.", "ctrl+r"),
  expand_tool: defineAction("Shows or hides the output of the selected tool call.", "f2"),
  previous_tool: defineAction("Selects the tool call before.", "shift+left"),
  next_tool: defineAction("Selects the next tool call.", "shift+right"),
  editor: defineAction("Opens the prompt in an editor.", "ctrl+g"),
  complete: defineAction("Completes a command or the path of a file.", "tab"),
  redraw: defineAction("Draws the prompt again.", "ctrl+l"),
  help: defineAction("Lists the commands.", "f1"),
  theme: defineAction("Selects the next theme.", "f3"),
  model: defineAction("Selects the next model.", "f4"),
  usage: defineAction("Shows tokens and cost.", "f5"),
} as const satisfies Readonly<Record<string, KeyActionDefinition>>;

/** An action of the conversation. */
export type KeyAction = keyof typeof KEY_ACTIONS;

function defineAction(description: string, ...keys: readonly string[]): KeyActionDefinition {
  return {
    type: "string",
    value: "keys",
    description,
    default: keys,
    repeatable: true,
    configuration: "user",
  };
}
