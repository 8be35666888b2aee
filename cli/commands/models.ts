/**
 * `swink models`: lists the known models, and manages those on this device.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { LIST_FORMAT_OPTIONS } from "../settings/list_options.ts";

const { ok, failed, usage, configuration, unavailable, interrupted } = ExitCode;

const NAME = {
  name: "name",
  description: "Name of the model, or hf:OWNER/REPOSITORY/FILE.gguf.",
  completer: "models local list",
} as const;

const listLocal = defineCommand({
  name: "list",
  summary: "Lists the models on this device, and those that can be downloaded",
  options: LIST_FORMAT_OPTIONS,
  examples: [["swink models local list", "presets, and the models on this device"]],
  exitCodes: [ok, usage, configuration],
  async action({ options: { outputFormat } }, host) {
    const { listLocalModels } = await loadLocalActions();
    return await listLocalModels(outputFormat, host);
  },
});

const pullLocal = defineCommand({
  name: "pull",
  summary: "Downloads a model, continues an interrupted download, and verifies it",
  arguments: [NAME],
  examples: [["swink models local pull qwen3-4b", "2.5 GB; then: swink run -m local/qwen3-4b"]],
  environment: [
    ["HF_ENDPOINT", "URL of a mirror of the Hugging Face Hub"],
    ["HF_TOKEN", "token for models with a license to accept"],
    ["SWINK_MODELS", "directory of the models"],
  ],
  exitCodes: [ok, failed, usage, configuration, unavailable, interrupted],
  async action({ arguments: [name = ""] }, host) {
    const { pullModel } = await loadLocalActions();
    return await pullModel(name, host);
  },
});

const removeLocal = defineCommand({
  name: "remove",
  summary: "Removes a model, or the part of its download",
  arguments: [NAME],
  examples: [["swink models local remove qwen3-4b", "deletes its file"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [name = ""] }, host) {
    const { removeModel } = await loadLocalActions();
    return await removeModel(name, host);
  },
});

const importLocal = defineCommand({
  name: "import",
  summary: "Copies a GGUF file that was downloaded in another way",
  arguments: [{ name: "file", description: "The file.", isFile: true }],
  examples: [["swink models local import model.gguf", "for a machine without network"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ arguments: [file = ""] }, host) {
    const { importModel } = await loadLocalActions();
    return await importModel(file, host);
  },
});

const local = defineCommand({
  name: "local",
  summary: "Manages the models that run on this device, in this program",
  details: "They run with -m local/NAME, or with -m local/PATH.gguf for any GGUF file.",
  commands: [listLocal, pullLocal, removeLocal, importLocal],
});

function loadLocalActions(): Promise<typeof import("../models/local_actions.ts")> {
  return importLate("../models/local_actions.ts", import.meta.url);
}

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
  commands: [local],
  options: LIST_FORMAT_OPTIONS,
  examples: [
    ["swink models claude", "the models of Anthropic, also on other providers"],
    ["swink models local list", "the models on this device"],
  ],
  exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.usage],
  async action({ options: { outputFormat }, arguments: words }, host) {
    const { listModels } = await importLate<typeof import("../models/list_models.ts")>(
      "../models/list_models.ts",
      import.meta.url,
    );
    return await listModels(words, outputFormat, host);
  },
});
