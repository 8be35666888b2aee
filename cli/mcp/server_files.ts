/**
 * The files that configure MCP servers.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors/errors.ts";
import { parseMcpConfig } from "../../src/mcp/config/read_mcp_config.ts";
import { type McpConfig, readMcpConfig } from "../../src/mcp/mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { ProjectPrograms } from "../project/project_content.ts";
import { getProjectServersPath, getUserServersPath, isJson } from "./server_paths.ts";

/** The sources of servers. */
export interface ServerSources {
  /** The program's directories. Default: the servers of the user are left out. */
  readonly directories?: ProgramDirectories | undefined;
  /** The project, if it is trusted. Default: its servers are left out. */
  readonly programs?: ProjectPrograms | undefined;
  /** Absolute paths of further files, or their JSON. */
  readonly files: readonly string[];
  /** Names of variables that all servers may use. */
  readonly passEnvironment: readonly string[];
  /** Servers that another program names, whose texts have no variables. Default: none. */
  readonly servers?: McpConfig | undefined;
}

/** The servers of a run. */
export interface ConfiguredServers {
  /** The servers by name. */
  readonly config: McpConfig;
  /** The variables that the configuration may use. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of the servers that are left out, because their configuration has `"disabled": true`. */
  readonly disabled: readonly string[];
  /** Servers of the project that were left out, as sentences without a full stop. */
  readonly problems: readonly string[];
}

type Server = McpConfig["mcpServers"][string];

/** Variables that programs need. */
const BASIC_VARIABLES = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "USERPROFILE", "SystemRoot"];

/**
 * Reads the servers of the user, of the project, and of further files; of several with the same name, the last one counts.
 * The user's files may use any variable of this process, a project's file only those that the user passes.
 *
 * @throws {ConfigurationError} If a file is invalid, or a further file is missing.
 */
export async function readServers(
  { directories, programs, files, passEnvironment, servers }: ServerSources,
  env: Host["env"],
): Promise<ConfiguredServers> {
  const own = directories ? await readIfExists(getUserServersPath(directories)) : [];
  const project = programs ? parseProjectServers(programs) : [];
  const further = await Promise.all(files.map(readFile));
  const shared = [...BASIC_VARIABLES, ...passEnvironment];
  const added = project.map((config) => omitNamesOfUser(config, own));
  const limited = added.map(({ config }) => limitVariables(config, shared));
  const literal = servers ? [escapeVariables(servers)] : [];
  const configs = [...own, ...limited.map(({ config }) => config), ...further, ...literal];
  const names = [...shared, ...[...own, ...further].flatMap(findVariables)];
  const all = Object.entries<Server>(
    Object.assign({}, ...configs.map(({ mcpServers }) => mcpServers)),
  );
  return {
    problems: [...added, ...limited].flatMap(({ problems }) => problems),
    config: { mcpServers: Object.fromEntries(all.filter(([, { disabled }]) => disabled !== true)) },
    disabled: all.filter(([, { disabled }]) => disabled === true).map(([name]) => name),
    environment: {
      ...Object.fromEntries(names.map((name) => [name, env(name)])),
      ...(servers && { [DOLLAR]: "$" }),
    },
  };
}

/** Servers of a project, and why others are left out, as sentences without a full stop. */
interface ProjectServers {
  readonly config: McpConfig;
  readonly problems: readonly string[];
}

/**
 * Returns the servers of a project whose names the user's servers do not have: the rules of the user for the tools of a
 * server, which do not distinguish upper and lower case, would apply to another one. An equal one is no problem.
 */
function omitNamesOfUser(
  { mcpServers = {} }: McpConfig,
  own: readonly McpConfig[],
): ProjectServers {
  const servers = new Map(
    own.flatMap(({ mcpServers = {} }) => Object.entries(mcpServers)).map((
      [name, server],
    ) => [name.toLowerCase(), server]),
  );
  const entries = Object.entries(mcpServers);
  const isOmitted = (name: string): boolean => servers.has(name.toLowerCase());
  const replaced = entries.filter(([name, server]) =>
    isOmitted(name) &&
    JSON.stringify(server) !== JSON.stringify(servers.get(name.toLowerCase()))
  );
  return {
    config: { mcpServers: Object.fromEntries(entries.filter(([name]) => !isOmitted(name))) },
    problems: replaced.map(([name]) =>
      `MCP server ${name}: that of the project is left out, as you have one with this name`
    ),
  };
}

/**
 * Returns the servers of a project that use no other variables than the given ones; all servers of a run have the same
 * variables. Other variables count as not set.
 */
function limitVariables(
  { mcpServers = {} }: McpConfig,
  names: readonly string[],
): ProjectServers {
  const problems: string[] = [];
  const servers = Object.entries(mcpServers).flatMap(([name, server]) => {
    const text = JSON.stringify(server).replaceAll(
      VARIABLE,
      (match, variable: string, fallback?: string) =>
        names.includes(variable) ? match : fallback ?? match,
    );
    const limited = JSON.parse(text);
    const other = findVariables(limited).find((variable) => !names.includes(variable));
    if (other === undefined || server.disabled === true) return [[name, limited]];
    problems.push(
      `MCP server ${name}: a project may use the variable ${other} only with --env ${other}`,
    );
    return [];
  });
  return { config: { mcpServers: Object.fromEntries(servers) }, problems };
}

/** Name of a variable whose value is a dollar sign. */
const DOLLAR = "SWINK_DOLLAR_SIGN";

/** Returns a configuration whose texts stay as they are when variables are replaced, which happens once. */
function escapeVariables(config: McpConfig): McpConfig {
  return JSON.parse(JSON.stringify(config).replaceAll("${", `\${${DOLLAR}}{`));
}

async function readIfExists(path: string): Promise<McpConfig[]> {
  const exists = await Deno.lstat(path).then(() => true, () => false);
  return exists ? [await readFile(path)] : [];
}

async function readFile(path: string): Promise<McpConfig> {
  if (isJson(path)) return parseServers(path, "--mcp-config");
  try {
    return await readMcpConfig(path);
  } catch (error) {
    throw toConfigurationError(error);
  }
}

/** Returns the servers of the file of a project, if it has one. */
function parseProjectServers({ root, servers }: ProjectPrograms): McpConfig[] {
  const path = getProjectServersPath(root);
  switch (servers.type) {
    case "missing":
      return [];
    case "refused":
      throw new ConfigurationError(`${path}: the file ${servers.reason}`);
    case "content":
      return [parseServers(new TextDecoder().decode(servers.bytes), path)];
  }
}

function parseServers(text: string, source: string): McpConfig {
  try {
    return parseMcpConfig(text, source);
  } catch (error) {
    throw toConfigurationError(error);
  }
}

function toConfigurationError(error: unknown): unknown {
  return AgentError.is(error) ? new ConfigurationError(error.message) : error;
}

/** Returns the names of the variables that a configuration uses. */
function findVariables(config: unknown): string[] {
  return Array.from(JSON.stringify(config).matchAll(VARIABLE), ([, name = ""]) => name);
}

const VARIABLE = /\$\{(\w+)(?::-([^}]*))?\}/g;
