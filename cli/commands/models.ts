/**
 * `swink models`: lists the known models.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { LIST_FORMAT_OPTIONS } from "../settings/list_options.ts";

/** `swink models`. */
export const models = defineCommand({
  name: "models",
  summary: "Lists the known models with context window and prices per million tokens",
  details: "Other models work too, without prices.",
  arguments: [{
    name: "pattern",
    description: "Only models whose name contains all of these words.",
    optional: true,
    variadic: true,
  }],
  options: LIST_FORMAT_OPTIONS,
  examples: [["swink models claude", "the models of Anthropic, also on other providers"]],
  exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.usage],
  async action({ options: { outputFormat }, arguments: words }, host) {
    const { listModels } = await importLate<typeof import("../models/list_models.ts")>(
      "../models/list_models.ts",
      import.meta.url,
    );
    return await listModels(words, outputFormat, host);
  },
});
