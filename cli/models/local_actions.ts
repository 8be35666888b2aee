/**
 * The actions of `swink models local`.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors/errors.ts";
import { formatBytes, type LocalPreset, PRESETS, type StoredModel } from "../../src/local/mod.ts";
import { CliError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { toJsonLine } from "../render/json_line.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { DownloadBar } from "./download_bar.ts";
import { findLlamaProblem } from "./llama_check.ts";
import { openModelStore } from "./local_store.ts";

/** A model of the list. */
interface ListedModel {
  readonly name: string;
  /** Path of its file, if it is on this device. */
  readonly path?: string;
  /** Size of its file in bytes; unknown for an incomplete file that is not of a preset. */
  readonly size?: number;
  readonly preset?: LocalPreset;
  /** The part of a download or an import that is not complete. */
  readonly incomplete?: Pick<StoredModel, "path" | "size">;
}

/** Lists the presets, the other models on this device, and what is incomplete. */
export async function listLocalModels(format: "text" | "json", host: Host): Promise<ExitCode> {
  return await withCliErrors(() => printLocalModels(format, host));
}

async function printLocalModels(format: "text" | "json", host: Host): Promise<ExitCode> {
  const store = openModelStore(host);
  const stored: readonly ListedModel[] = await store.list();
  const incomplete = (await store.listIncomplete()).map(toIncomplete);
  const present = [...stored, ...incomplete];
  const models: ListedModel[] = [
    ...PRESETS.flatMap((preset) => {
      const found = present.filter(({ name }) => name === preset.name);
      return found.length > 0 ? found : [{ name: preset.name, size: preset.size, preset }];
    }),
    ...present.filter(({ preset }) => preset === undefined),
  ];
  const { output } = host.terminal;
  await output.write(
    format === "json"
      ? toJsonLine(models.map(({ preset, ...model }) => ({ ...preset, ...model })))
      : formatTable(models.map(toRow), getTableOptions(host)),
  );
  return ExitCode.ok;
}

function toIncomplete({ name, path, size, preset }: StoredModel): ListedModel {
  return { name, incomplete: { path, size }, ...(preset && { preset, size: preset.size }) };
}

function toRow(model: ListedModel): string[] {
  const { name, preset } = model;
  return [
    name,
    ...describePresence(model),
    preset ? `${Math.round(preset.contextLength / 1_024)}k context` : "",
    preset?.license ?? "",
    preset?.purpose === "embedding" ? "embeddings" : "",
  ];
}

function describePresence({ path, size, incomplete }: ListedModel): [state: string, size: string] {
  const total = size === undefined ? "" : formatBytes(size);
  if (!incomplete) return [path === undefined ? "not downloaded" : "on this device", total];
  const received = formatBytes(incomplete.size);
  return ["incomplete", total === "" ? received : `${received} of ${total}`];
}

/** Downloads a model, with a progress bar. */
export async function pullModel(name: string, host: Host): Promise<ExitCode> {
  using interrupt = new InterruptHandler(host);
  const { messages, output } = host.terminal;
  const store = openModelStore(host);
  return await withCliErrors(async () => {
    const place = await store.find(name);
    const problem = findLlamaProblem();
    if (problem !== undefined) await messages.write(`warning: ${problem}\n`);
    const bar = new DownloadBar(name, host);
    try {
      await store.download(place, {
        signal: interrupt.signal,
        onProgress: (progress) => bar.update(progress),
      });
    } catch (error) {
      if (interrupt.exitCode === undefined) throw error;
      await bar.close();
      await messages.write("The part is kept: run the command again to continue\n");
      return interrupt.exitCode;
    } finally {
      await bar.close();
    }
    await output.write(`${toPlainText(place.path)}\n`);
    return ExitCode.ok;
  });
}

/** Removes a model. */
export async function removeModel(name: string, host: Host): Promise<ExitCode> {
  return await withCliErrors(async () => {
    await openModelStore(host).remove(name).catch((error) => {
      const isMissing = AgentError.is(error) && error.code === "model_not_found";
      throw isMissing ? new UsageError(error.message, LIST_ADVICE) : error;
    });
    await host.terminal.messages.write(`Removed ${toPlainText(name)}\n`);
    return ExitCode.ok;
  });
}

const LIST_ADVICE = "List the models with: swink models local list";

/** Copies a GGUF file into the directory of the models. */
export async function importModel(file: string, host: Host): Promise<ExitCode> {
  await Deno.stat(file).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new UsageError(`Invalid value ${JSON.stringify(file)} for <file>: there is no such file`);
  });
  return await withCliErrors(async () => {
    const { name, path, profile } = await openModelStore(host).importFile(file);
    const use = profile.isEmbeddingModel
      ? ` for createEmbedder({ model: ${JSON.stringify(name)} })`
      : `: swink run -m local/${toPlainText(name)} "PROMPT"`;
    await host.terminal.messages.write(`Imported ${toPlainText(profile.name)}${use}\n`);
    await host.terminal.output.write(`${toPlainText(path)}\n`);
    return ExitCode.ok;
  });
}

/** Converts the errors of the library to messages with an exit code. */
async function withCliErrors(run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run();
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    const isUnavailable = error.code === "network_error" || error.code === "model_throttled";
    const exitCode = isUnavailable ? ExitCode.unavailable : ExitCode.configuration;
    throw new CliError(error.message, { exitCode });
  }
}
