/**
 * What a run is told on the command line, checked before anything begins.
 *
 * @module
 */

import { dirname, resolve } from "node:path";
import { type ModelSpec, modelSpec } from "../../mod.ts";
import type { SandboxNet } from "../../src/tools/mod.ts";
import { UsageError } from "../cli_error.ts";
import { findSuggestion } from "../suggestion.ts";
import { splitRules } from "../tool_rules.ts";

/** The options of `swink run`, as they are typed. */
export interface RunFlags {
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly system?: string | undefined;
  readonly cwd?: string | undefined;
  readonly maxTurns?: number | undefined;
  readonly outputFormat?: string | undefined;
  readonly patch?: string | undefined;
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly approveAll?: boolean | undefined;
  readonly net?: string | undefined;
}

/** What goes to standard output. */
export type OutputFormat = "text" | "json" | "stream-json";

const OUTPUT_FORMATS: readonly OutputFormat[] = ["text", "json", "stream-json"];

/** What a run is told. */
export interface RunSettings {
  /** The model; none where the environment decides. */
  readonly model?: ModelSpec;
  /** Where the provider's API is. */
  readonly baseUrl?: string;
  /** Takes the place of the default system prompt. */
  readonly systemPrompt?: string;
  /** The folder to work in, absolute. */
  readonly cwd: string;
  /** Most turns. */
  readonly maxTurns?: number;
  /** What goes to standard output. */
  readonly outputFormat: OutputFormat;
  /** Where the patch goes, if one is wanted: an absolute path, or `-` for standard output. */
  readonly patch?: string;
  /** The file into which everything is recorded that the model is asked and answers; an absolute path. */
  readonly record?: string;
  /** The recording that answers in the model's place; an absolute path. */
  readonly replay?: string;
  /** The only tools, as rules; all of them when there is no list. */
  readonly allowedTools?: readonly string[];
  /** Tools that are left out, as rules. */
  readonly disallowedTools: readonly string[];
  /** Whether nobody is asked. */
  readonly approveAll: boolean;
  /** What of the network commands may use. */
  readonly net: SandboxNet;
}

/**
 * Checks the options of a run.
 *
 * @throws {UsageError} When one of them does not make sense.
 */
export function parseRunSettings(flags: RunFlags): RunSettings {
  const { system: systemPrompt, baseUrl, maxTurns, model, patch, record, replay } = flags;
  if (record !== undefined && replay !== undefined) {
    throw new UsageError("--record and --replay cannot both be given");
  }
  return {
    cwd: resolveDirectory(flags.cwd),
    outputFormat: parseOutputFormat(flags.outputFormat),
    disallowedTools: (flags.disallowedTools ?? []).flatMap(splitRules),
    net: parseNet(flags.net),
    approveAll: flags.approveAll ?? false,
    ...(flags.allowedTools && { allowedTools: flags.allowedTools.flatMap(splitRules) }),
    ...(model !== undefined && { model: parseModel(model) }),
    ...(baseUrl !== undefined && { baseUrl: parseUrl(baseUrl) }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(maxTurns !== undefined && { maxTurns: parseMaxTurns(maxTurns) }),
    ...(patch !== undefined && { patch: patch === "-" ? patch : resolveNewFile("--patch", patch) }),
    ...(record !== undefined && { record: resolveNewFile("--record", record) }),
    ...(replay !== undefined && { replay: resolve(replay) }),
  };
}

function parseModel(name: string): ModelSpec {
  try {
    return modelSpec(name);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new UsageError(
    `--base-url ${JSON.stringify(text)} is not an address of the form https://host/path`,
  );
}

function parseMaxTurns(count: number): number {
  if (count >= 1) return count;
  throw new UsageError(`--max-turns must be at least 1, not ${count}`);
}

function parseOutputFormat(name = "text"): OutputFormat {
  const format = OUTPUT_FORMATS.find((known) => known === name);
  if (format) return format;
  const suggestion = findSuggestion(name, OUTPUT_FORMATS);
  const meant = suggestion ? `. Did you mean ${suggestion}?` : "";
  throw new UsageError(
    `--output-format ${JSON.stringify(name)} is none of ${OUTPUT_FORMATS.join(", ")}${meant}`,
  );
}

function resolveDirectory(path = "."): string {
  const folder = resolve(path);
  if (isDirectory(folder)) return folder;
  throw new UsageError(`--cwd ${JSON.stringify(path)} is not a folder`);
}

/** A run may take an hour: that what comes of it has nowhere to go is told before it. */
function resolveNewFile(option: string, path: string): string {
  const file = resolve(path);
  if (isDirectory(file)) throw new UsageError(`${option} ${JSON.stringify(path)} is a folder`);
  if (isDirectory(dirname(file))) return file;
  throw new UsageError(`${option} ${JSON.stringify(path)}: there is no folder ${dirname(file)}`);
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** `on`, `off`, or hosts with commas between. */
function parseNet(text = "off"): SandboxNet {
  if (text === "on" || text === "off") return text;
  const hosts = text.split(",").map((host) => host.trim()).filter((host) => host !== "");
  if (hosts.every((host) => /^(\*\.)?[\w.-]+$/.test(host))) return hosts;
  throw new UsageError(`--net ${JSON.stringify(text)} is neither on nor off nor a list of hosts`);
}
