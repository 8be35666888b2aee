/**
 * The keys of actions in the configuration.
 *
 * @module
 */

import { isActionName, type KeyActionName } from "../settings/key_actions.ts";
import type { ConfigSetting } from "./config_value.ts";

/** Returns the configured keys by action, such as `{ submit: ["ctrl+s"] }`. */
export function getKeySettings(
  settings: ReadonlyMap<string, ConfigSetting>,
): Readonly<Partial<Record<KeyActionName, readonly string[]>>> {
  const entries = [...settings.values()].flatMap(({ key, value }) => {
    const [section, name = ""] = key.split(".");
    if (section !== "keys" || !isActionName(name) || !Array.isArray(value)) return [];
    return [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
