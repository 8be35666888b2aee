/**
 * The keys of the actions that a user can configure.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Key } from "../keys/key_event.ts";
import { formatKey, parseKey } from "../keys/key_notation.ts";
import { KEY_ACTIONS, type KeyActionName, listActions } from "../settings/key_actions.ts";

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
