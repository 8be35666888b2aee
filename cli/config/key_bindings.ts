/**
 * The keys of a conversation, from the configuration.
 *
 * @module
 */

import { KEY_ACTIONS, type KeyAction } from "../settings/key_actions.ts";
import type { ConfigProblem, ConfigSetting } from "./config_value.ts";

/** The names of the keys of each action, such as `ctrl+r`; no key starts two actions. */
export type KeyBindings = Readonly<Record<KeyAction, readonly string[]>>;

/** The keys of a user who has configured none. */
export const DEFAULT_KEY_BINDINGS: KeyBindings = mapActions((action) =>
  KEY_ACTIONS[action].default
);

/** Keys and what is wrong with them. */
export interface ResolvedKeyBindings {
  /** The keys. Of a conflict, the first action has the key. */
  readonly bindings: KeyBindings;
  /** Keys with two actions, and a prompt that no key sends. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Returns the keys of a conversation. A configured key is taken from the action that has it by default; two actions with
 * the same configured key are an error.
 */
export function resolveKeyBindings(
  settings: ReadonlyMap<string, ConfigSetting>,
): ResolvedKeyBindings {
  const problems: ConfigProblem[] = [];
  const owners = new Map<string, KeyAction>();
  const configured = new Map<KeyAction, readonly string[]>();
  for (const action of listActions()) {
    const setting = settings.get(`keys.${action}`);
    if (!setting || !Array.isArray(setting.value)) continue;
    const keys: string[] = [];
    for (const key of setting.value) {
      const owner = owners.get(key);
      owners.set(key, owner ?? action);
      if (owner === undefined) keys.push(key);
      else problems.push(createProblem(setting, `${setting.key}: ${key} is in keys.${owner}, too`));
    }
    configured.set(action, keys);
  }
  const bindings = mapActions((action) =>
    configured.get(action) ?? DEFAULT_KEY_BINDINGS[action].filter((key) => !owners.has(key))
  );
  return {
    bindings,
    problems: [...problems, ...findMissingSubmit(bindings, { settings, owners })],
  };
}

/** Without a key that sends the prompt, a conversation cannot be used. */
function findMissingSubmit(
  { submit }: KeyBindings,
  { settings, owners }: {
    readonly settings: ReadonlyMap<string, ConfigSetting>;
    readonly owners: ReadonlyMap<string, KeyAction>;
  },
): ConfigProblem[] {
  if (submit.length > 0) return [];
  const own = settings.get("keys.submit");
  if (own) return [createProblem(own, "keys.submit needs a key")];
  const [key = ""] = DEFAULT_KEY_BINDINGS.submit;
  const taker = settings.get(`keys.${owners.get(key)}`);
  return taker
    ? [createProblem(
      taker,
      `${taker.key}: ${key} sends the prompt; set keys.submit to another key first`,
    )]
    : [];
}

function createProblem({ origin }: ConfigSetting, message: string): ConfigProblem {
  return { type: "error", origin, message };
}

function listActions(): KeyAction[] {
  return Object.keys(KEY_ACTIONS) as KeyAction[];
}

function mapActions(getKeys: (action: KeyAction) => readonly string[]): KeyBindings {
  return Object.fromEntries(
    listActions().map((action) => [action, getKeys(action)]),
  ) as unknown as KeyBindings;
}
