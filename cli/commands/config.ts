/**
 * `swink config`: shows and changes the configuration.
 *
 * @module
 */

import { type ArgumentDefinition, defineCommand } from "../command_line/definition.ts";
import { CONFIG_KEYS } from "../config/config_keys.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

const { ok, failed, usage, configuration } = ExitCode;

const KEY: ArgumentDefinition = {
  name: "key",
  description: "Name of a key, such as max_turns or providers.openai.base_url.",
  suggestions: CONFIG_KEYS.map(({ key }) => key),
};

const get = defineCommand({
  name: "get",
  summary: "Prints the value of a key, or all settings and where they come from",
  arguments: [{ ...KEY, optional: true }],
  examples: [["swink config get", "all settings"], ["swink config get model", "one value"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [key] }, host) {
    const { printSettings } = await loadActions();
    return await printSettings(key, host);
  },
});

const set = defineCommand({
  name: "set",
  summary: "Sets a key in the configuration file of the user; comments in the file are kept",
  arguments: [KEY, {
    name: "value",
    description:
      "The value. A list is written as in TOML; names, models and rules can also be separated by commas.",
  }],
  examples: [
    ["swink config set model openai/gpt-6.2-sol", "a value"],
    [`swink config set allowed_tools '["bash(git log *)"]'`, "a list"],
  ],
  exitCodes: [ok, failed, usage, configuration],
  async action({ arguments: [key = "", value = ""] }, host) {
    const { checkSetting } = await importLate<typeof import("../rules/check_setting.ts")>(
      "../rules/check_setting.ts",
      import.meta.url,
    );
    await checkSetting(key, value);
    const { setKey } = await loadActions();
    return await setKey({ key, value }, host);
  },
});

const unset = defineCommand({
  name: "unset",
  summary: "Removes a key from the configuration file of the user",
  arguments: [KEY],
  examples: [["swink config unset model", "the default applies again"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ arguments: [key = ""] }, host) {
    const { setKey } = await loadActions();
    return await setKey({ key }, host);
  },
});

const edit = defineCommand({
  name: "edit",
  summary: "Opens the configuration file of the user in an editor, and checks it afterwards",
  environment: [["EDITOR, VISUAL", "the editor: the first one that is set; vi without them"]],
  examples: [["swink config edit", "opens $EDITOR"]],
  exitCodes: [ok, failed, configuration],
  async action(_invocation, host) {
    const { editFile } = await loadActions();
    return await editFile(host);
  },
});

const path = defineCommand({
  name: "path",
  summary: "Prints the path of the configuration file of the user",
  examples: [["swink config path", "for scripts"]],
  exitCodes: [ok, configuration],
  async action(_invocation, host) {
    const { printPath } = await loadActions();
    return await printPath(host);
  },
});

const schema = defineCommand({
  name: "schema",
  summary: "Prints the JSON Schema of configuration files, for editors",
  examples: [["swink config schema > swink.schema.json", "for an editor"]],
  exitCodes: [ok],
  async action(_invocation, { terminal }) {
    const { createConfigSchema } = await importLate<typeof import("../config/config_schema.ts")>(
      "../config/config_schema.ts",
      import.meta.url,
    );
    await terminal.output.write(`${JSON.stringify(createConfigSchema(), null, 2)}\n`);
    return ok;
  },
});

/** `swink config`. */
export const config = defineCommand({
  name: "config",
  summary: "Shows and changes the configuration",
  synonyms: { list: "get", show: "get", ls: "get", delete: "unset", rm: "unset", remove: "unset" },
  commands: [get, set, unset, edit, path, schema],
  exitCodes: [ok, failed, usage, configuration],
});

function loadActions(): Promise<typeof import("../config/config_actions.ts")> {
  return importLate("../config/config_actions.ts", import.meta.url);
}
