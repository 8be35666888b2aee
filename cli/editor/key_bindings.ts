/**
 * The actions of keys.
 *
 * @module
 */

import { formatKey, parseKey } from "../keys/key_notation.ts";
import { KEY_ACTIONS, type KeyAction } from "../settings/key_actions.ts";

/** An action of a key: one that can have other keys, or `suspend`. */
export type EditorAction = KeyAction | "suspend";

/** The action of each key, by the notation of `formatKey()`. */
export type ResolvedBindings = ReadonlyMap<string, EditorAction>;

/** Keys that always have the same effect. */
const FIXED_KEYS: ResolvedBindings = new Map([
  ["ctrl+c", "abort"],
  ["ctrl+z", "suspend"],
]);

/**
 * Returns the action of each key.
 *
 * @param bindings The keys of actions; those that are missing have their default keys.
 */
export function resolveBindings(
  bindings: Readonly<Partial<Record<KeyAction, readonly string[]>>> = {},
): ResolvedBindings {
  const keys = Object.entries(KEY_ACTIONS).flatMap(([name, action]) => {
    const isAction = (text: string): text is KeyAction => Object.hasOwn(KEY_ACTIONS, text);
    if (!isAction(name)) return [];
    return (bindings[name] ?? action.default).flatMap((notation) => {
      const key = parseKey(notation);
      return key ? [[formatKey(key), name] as const] : [];
    });
  });
  return new Map([...keys, ...FIXED_KEYS]);
}
