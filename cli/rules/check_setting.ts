/**
 * Checks values of the configuration before they are written to a file.
 *
 * @module
 */

import { toFlag } from "../command_line/definition.ts";
import { parseOverrides } from "../config/parse_overrides.ts";
import { UsageError } from "../host/cli_error.ts";
import type { ParseOption } from "../run/settings/configure_run.ts";
import { parseConfiguredSettings } from "../run/settings/configured_settings.ts";
import { checkRules } from "./rule_actions.ts";

/**
 * Checks a value as a run does, since every run would fail with an invalid one. Unknown keys and values of another type
 * are not checked: they are reported where the key is set.
 *
 * @param text The value, as in an argument of `--config`.
 * @throws {UsageError} If it is invalid.
 */
export async function checkSetting(key: string, text: string): Promise<void> {
  const settings = new Map(
    parseOverrides([`${key}=${text}`]).settings.map((setting) => [setting.key, setting]),
  );
  const parseOption: ParseOption = (option, parse) => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(error.message.replaceAll(toFlag(option), key), error.advice);
    }
  };
  await checkRules(parseConfiguredSettings({ settings }, parseOption));
}
