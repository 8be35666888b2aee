/**
 * The keys of the actions that a user can configure.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Key } from "../keys/key_event.ts";
import { formatKey, parseKey } from "../keys/key_notation.ts";

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
} as const satisfies Readonly<Record<string, KeyAction>>;

/** Name of an action. */
export type KeyActionName = keyof typeof KEY_ACTIONS;

/** The keys of each action, such as `{ submit: ["ctrl+s"], newline: ["enter"] }`. Default: those of {@linkcode KEY_ACTIONS}. */
export type KeyBindings = Readonly<Partial<Record<KeyActionName, readonly string[]>>>;

/** The action of each key, by the notation of `formatKey()`. */
export type ResolvedBindings = ReadonlyMap<string, KeyActionName>;

/**
 * Returns the action of each key. A key that is configured for an action is no longer a default key of another one.
 *
 * @throws {ConfigurationError} For a key that is unknown, that types a character, or that two actions have.
 */
export function resolveBindings(bindings: KeyBindings = {}): ResolvedBindings {
  const configured = new Map<string, KeyActionName>();
  for (const action of listActions()) {
    for (const notation of bindings[action] ?? []) {
      const key = formatKey(parseBinding(notation, action));
      const other = configured.get(key);
      if (other !== undefined && other !== action) {
        throw new ConfigurationError(
          `The key ${notation} is set for two actions, ${other} and ${action}`,
          "Give each of them a key of its own in the section [keys].",
        );
      }
      configured.set(key, action);
    }
  }
  const resolved = new Map<string, KeyActionName>();
  for (const action of listActions()) {
    if (bindings[action]) continue;
    for (const key of KEY_ACTIONS[action].keys) if (!configured.has(key)) resolved.set(key, action);
  }
  return new Map([...resolved, ...configured]);
}

/** Returns the keys of an action, for texts such as `press F2`. */
export function listKeys(bindings: ResolvedBindings, action: KeyActionName): readonly string[] {
  return [...bindings].flatMap(([key, name]) => name === action ? [key] : []);
}

/** Returns the names of the actions. */
export function listActions(): readonly KeyActionName[] {
  return Object.keys(KEY_ACTIONS).filter(isActionName);
}

/** Whether a name is that of an action. */
export function isActionName(name: string): name is KeyActionName {
  return Object.hasOwn(KEY_ACTIONS, name);
}

function parseBinding(notation: string, action: KeyActionName): Key {
  const key = parseKey(notation);
  if (!key) {
    throw new ConfigurationError(
      `The key "${notation}" of the action ${action} is unknown`,
      "Keys are such as ctrl+x, shift+enter, alt+b and f2.",
    );
  }
  const isText = !key.ctrl && !key.alt &&
    (Array.from(key.name).length === 1 || key.name === "space");
  if (!isText) return key;
  throw new ConfigurationError(
    `The key "${notation}" of the action ${action} could no longer be typed`,
    "Add ctrl or alt, or choose a function key.",
  );
}
