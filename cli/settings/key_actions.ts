/**
 * The actions of keys, which the section `[keys]` of the configuration gives other keys.
 *
 * @module
 */

import type { OptionDefinition, OptionDefinitions } from "../command_line/definition.ts";

/** Something that a key does, apart from editing the line. */
export interface KeyAction {
  /** Its effect, for the list of keys: `Sends the text`. */
  readonly description: string;
  /** Its keys by default, as `parseKey()` reads them: `shift+enter`. */
  readonly keys: readonly string[];
}

/** The actions with their default keys. The names are those of the configuration. */
export const KEY_ACTIONS = {
  submit: { description: "Sends the text", keys: ["enter"] },
  newline: { description: "Starts a new line", keys: ["ctrl+j", "shift+enter"] },
  follow_up: { description: "Queues the text until the agent has finished", keys: ["alt+enter"] },
  abort: { description: "Clears the line, or aborts the run", keys: ["ctrl+c", "escape"] },
  quit: { description: "Leaves the program", keys: ["ctrl+q"] },
  suspend: { description: "Stops the program until the shell continues it", keys: ["ctrl+z"] },
  toggle_plan: { description: "Switches between plan mode and execution", keys: ["shift+tab"] },
  history_search: { description: "Searches the earlier prompts", keys: ["ctrl+r"] },
  complete: { description: "Completes the word", keys: ["tab"] },
  expand_tool: { description: "Shows or hides the result of the selected tool", keys: ["f2"] },
  previous_tool: { description: "Selects the previous tool", keys: ["shift+left"] },
  next_tool: { description: "Selects the next tool", keys: ["shift+right"] },
  editor: { description: "Opens the text in an editor", keys: ["ctrl+g"] },
  redraw: { description: "Draws the input again", keys: ["ctrl+l"] },
  help: { description: "Lists the commands", keys: ["f1"] },
  theme: { description: "Selects the next theme", keys: ["f3"] },
  model: { description: "Selects the next model", keys: ["f4"] },
  usage: { description: "Shows tokens and cost", keys: ["f5"] },
} as const satisfies Readonly<Record<string, KeyAction>>;

/** Name of an action. */
export type KeyActionName = keyof typeof KEY_ACTIONS;

/** Returns the names of the actions. */
export function listActions(): readonly KeyActionName[] {
  return Object.keys(KEY_ACTIONS).filter(isActionName);
}

/** Whether a name is that of an action. */
export function isActionName(name: string): name is KeyActionName {
  return Object.hasOwn(KEY_ACTIONS, name);
}

/** The keys of the section `[keys]`. */
export const KEY_SETTINGS: OptionDefinitions = Object.fromEntries(
  Object.entries<KeyAction>(KEY_ACTIONS).map(([name, { description, keys }]) => {
    const definition: OptionDefinition = {
      type: "string",
      repeatable: true,
      description: `${description}. Default: ${keys.join(", ")}.`,
      configuration: "user",
    };
    return [name, definition];
  }),
);
