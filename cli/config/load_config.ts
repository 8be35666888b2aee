/**
 * Loads the configuration from files, environment variables and `--config`.
 *
 * @module
 */

import { getPathRoot } from "../../src/platform/paths.ts";
import { readUntrustedFile } from "../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../src/platform/untrusted_read.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { ProjectPrograms } from "../project/project_content.ts";
import { getProjectConfigPath, getUserConfigPath } from "./config_files.ts";
import { CONFIG_KEYS } from "./config_keys.ts";
import {
  type ConfigLayer,
  type ConfigProblem,
  type ConfigSetting,
  listParts,
} from "./config_value.ts";
import type { FileOrigin } from "./parse_config.ts";

/** Maximum size of a configuration file, in bytes. */
const MAX_FILE_BYTES = 1_000_000;

/** The sources of the configuration. */
export interface ConfigSources {
  /** The program's directories. Default: no file of the user is read. */
  readonly directories?: ProgramDirectories | undefined;
  /** The project, if it is trusted. Default: no file of a project is used. */
  readonly programs?: ProjectPrograms | undefined;
  /** Directory of the run, if its rules are used. Default: rules are as in the file of the project. */
  readonly cwd?: string | undefined;
  /** Arguments of `--config`, as `key=value`. */
  readonly overrides?: readonly string[] | undefined;
}

/** The configuration. */
export interface Config {
  /** The settings by key, with the source that precedes the others. */
  readonly settings: ReadonlyMap<string, ConfigSetting>;
  /** The hooks, those of the user first. */
  readonly hooks: readonly Hook[];
  /** The parts that are ignored or invalid. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Loads the configuration. Of the sources of a key, the last one applies: the user's file, the project's file, the
 * environment, `--config`. Forbidden tools add up.
 */
export async function loadConfig(
  { directories, programs, cwd = programs?.root, overrides = [] }: ConfigSources,
  env: Host["env"],
): Promise<Config> {
  const files = await Promise.all([
    directories && readUserFile(getUserConfigPath(directories)),
    programs && parseProjectFile(programs, cwd),
  ]);
  const layers = [
    ...files.filter((layer) => typeof layer === "object"),
    await readEnvironment(env),
    overrides.length > 0 ? (await loadOverrideParser())(overrides) : EMPTY_LAYER,
  ];
  const settings = mergeSettings(layers.flatMap(({ settings }) => settings));
  const problems = layers.flatMap(({ problems }) => problems);
  return {
    settings,
    hooks: layers.flatMap(({ hooks = [] }) => hooks),
    problems: [...problems, ...await findKeyProblems(settings)],
  };
}

/** Checks the keys of the conversation, which most users have not configured. */
async function findKeyProblems(
  settings: ReadonlyMap<string, ConfigSetting>,
): Promise<readonly ConfigProblem[]> {
  if (!settings.keys().some((key) => key.startsWith("keys."))) return [];
  const { resolveKeyBindings } = await importLate<typeof import("./key_bindings.ts")>(
    "./key_bindings.ts",
    import.meta.url,
  );
  return resolveKeyBindings(settings).problems;
}

/** Parses the file of a project, whose rules about paths are also those of its root. */
async function parseProjectFile(
  { root, config }: ProjectPrograms,
  cwd: string | undefined,
): Promise<ConfigLayer> {
  const layer = await parseFile(config, { type: "project", file: getProjectConfigPath(root) });
  if (cwd === root || layer.settings.length === 0) return layer;
  const { anchorRules } = await importLate<typeof import("./anchor_rules.ts")>(
    "./anchor_rules.ts",
    import.meta.url,
  );
  const settings = layer.settings.map((setting) => {
    const { key, value } = setting;
    const isDenied = key === "disallowed_tools" && Array.isArray(value);
    return isDenied ? { ...setting, value: anchorRules(value, root) } : setting;
  });
  return { ...layer, settings };
}

const EMPTY_LAYER: ConfigLayer = { settings: [], problems: [] };

/** Reads the file of the user, which may be a link to anywhere. */
async function readUserFile(file: string): Promise<ConfigLayer> {
  const within = getPathRoot(file);
  const read = await readUntrustedFile(file, { within, maxBytes: MAX_FILE_BYTES });
  return await parseFile(read, { type: "user", file });
}

async function parseFile(read: UntrustedRead, origin: FileOrigin): Promise<ConfigLayer> {
  switch (read.type) {
    case "missing":
      return EMPTY_LAYER;
    case "refused":
      return createProblem(origin, `The file ${read.reason}`);
    case "content": {
      const { parseConfig } = await importLate<typeof import("./parse_config.ts")>(
        "./parse_config.ts",
        import.meta.url,
      );
      const text = decodeText(read.bytes);
      return text === undefined
        ? createProblem(origin, "The file is not text in UTF-8")
        : parseConfig(text, origin);
    }
  }
}

function createProblem(origin: FileOrigin, message: string): ConfigLayer {
  return { settings: [], problems: [{ type: "error", origin, message }] };
}

/** Decodes a text; `undefined` if it is not UTF-8. With a replaced character, a rule would forbid something else. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function readEnvironment(env: Host["env"]): Promise<ConfigLayer> {
  const given = CONFIG_KEYS.flatMap((definition) => {
    const text = env(definition.variable);
    // An empty variable is the usual way to unset one for a single command.
    return text === undefined || text === "" ? [] : [{ definition, text }];
  });
  if (given.length === 0) return EMPTY_LAYER;
  const { checkConfigText } = await importLate<typeof import("./check_config_value.ts")>(
    "./check_config_value.ts",
    import.meta.url,
  );
  const settings: ConfigSetting[] = [];
  const problems: ConfigProblem[] = [];
  for (const { definition, text } of given) {
    const { key, variable } = definition;
    const origin = { type: "environment", variable } as const;
    const checked = checkConfigText(definition, text);
    if (checked.type === "valid") settings.push({ key, value: checked.value, origin });
    else problems.push({ type: "error", origin, message: checked.message });
  }
  return { settings, problems };
}

async function loadOverrideParser(): Promise<
  typeof import("./parse_overrides.ts").parseOverrides
> {
  const module = await importLate<typeof import("./parse_overrides.ts")>(
    "./parse_overrides.ts",
    import.meta.url,
  );
  return module.parseOverrides;
}

/** Merges settings; later ones precede earlier ones. */
function mergeSettings(settings: readonly ConfigSetting[]): Map<string, ConfigSetting> {
  const merged = new Map<string, ConfigSetting>();
  for (const setting of settings) {
    const earlier = merged.get(setting.key);
    merged.set(setting.key, earlier ? combineSettings(earlier, setting) : setting);
  }
  return merged;
}

/** Combines two settings of a key: what one source forbids, no other allows. */
function combineSettings(earlier: ConfigSetting, later: ConfigSetting): ConfigSetting {
  if (later.key !== "disallowed_tools") return later;
  const parts = [...listParts(earlier), later];
  const value = parts.flatMap(({ value }) => Array.isArray(value) ? value : []);
  return { ...later, value, parts };
}
