/**
 * The configuration of servers, as in a file `.mcp.json`.
 *
 * @module
 */

import { describeValue } from "../../core/describe_value.ts";
import { BadRequestError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { expandVariables, type ReadVariable } from "./expand_variables.ts";

/**
 * A server that is a program, which communicates over its standard streams. In `command`, `args` and `env`,
 * `${NAME}` and `${NAME:-default}` are replaced by variables of `McpOptions.environment`.
 */
export interface McpStdioServerConfig {
  readonly type?: "stdio";
  /** Path of the program, or a name that is looked up in `PATH`. */
  readonly command: string;
  /** Arguments of the program. */
  readonly args?: readonly string[];
  /** Environment variables of the program, which gets only these and the few listed in `docs/mcp.md`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. Default: that of the sandbox, or the current one. */
  readonly cwd?: string;
  /** Timeout of a tool call in milliseconds. Default: the timeout of the agent. */
  readonly timeout?: number;
}

/** A server that is reached over HTTP. Variables are replaced in `url` and `headers`. */
export interface McpHttpServerConfig {
  readonly type: "http" | "streamable-http";
  /** URL of the server. */
  readonly url: string;
  /** Headers of each request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout of a tool call in milliseconds. Default: the timeout of the agent. */
  readonly timeout?: number;
}

/** The configuration of a server. */
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

/** The configuration of servers by name, as in a file `.mcp.json`. Unknown properties are ignored. */
export interface McpConfig {
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
}

/** A checked configuration, with its variables replaced. */
export type ResolvedServer =
  & {
    readonly name: string;
    /** Timeout of a tool call in milliseconds. */
    readonly timeoutMs: number | undefined;
    /** Values that may be secrets: the environment and the headers. */
    readonly secrets: readonly string[];
  }
  & ({
    readonly type: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string | undefined;
  } | {
    readonly type: "http";
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
  });

/**
 * Returns the servers of a configuration, not checked yet.
 *
 * @throws {BadRequestError} If it has no servers.
 */
export function listServers(config: McpConfig): [name: string, server: unknown][] {
  const servers = isJsonObject(config) ? config["mcpServers"] : undefined;
  if (isJsonObject(servers)) return Object.entries(servers);
  throw new BadRequestError(
    `The configuration must have the servers by name: { "mcpServers": { … } }, not ${
      describeValue(servers)
    }`,
  );
}

/**
 * Checks the configuration of a server and replaces its variables.
 *
 * @throws {BadRequestError} If it is invalid, or a variable without a default is not set. The message contains no values
 * of variables.
 */
export function resolveServer(
  name: string,
  config: unknown,
  readVariable: ReadVariable,
): ResolvedServer {
  if (!isJsonObject(config)) throw new BadRequestError("The server must be an object");
  const timeoutMs = readTimeout(config);
  const expand = (text: string) => expandVariables(text, readVariable);
  switch (readType(config)) {
    case "stdio": {
      const env = mapValues(readTexts(config, "env"), expand);
      return {
        type: "stdio",
        name,
        command: expand(readText(config, "command")),
        args: readArguments(config).map(expand),
        env,
        cwd: config["cwd"] === undefined ? undefined : expand(readText(config, "cwd")),
        timeoutMs,
        secrets: Object.values(env),
      };
    }
    case "http": {
      const headers = mapValues(readTexts(config, "headers"), expand);
      const url = readUrl(expand(readText(config, "url")));
      return { type: "http", name, url, headers, timeoutMs, secrets: Object.values(headers) };
    }
  }
}

function readType({ type, command, url }: JsonObject): "stdio" | "http" {
  switch (type) {
    case undefined:
      if (command === undefined && url !== undefined) {
        throw new BadRequestError('A server with a url needs "type": "http"');
      }
      return "stdio";
    case "stdio":
    case "http":
      return type;
    case "streamable-http":
      return "http";
    case "sse":
      throw new BadRequestError(
        'The type "sse" is a deprecated transport that is not supported: use "http", if the server supports it',
      );
    default:
      throw new BadRequestError(
        `The type must be "stdio" or "http", not ${JSON.stringify(type)}`,
      );
  }
}

function readText(config: JsonObject, name: string): string {
  const { [name]: value } = config;
  if (typeof value === "string" && value !== "") return value;
  throw new BadRequestError(`"${name}" must be a text, not ${describeValue(value)}`);
}

function readArguments({ args = [] }: JsonObject): readonly string[] {
  if (Array.isArray(args) && args.every((argument) => typeof argument === "string")) return args;
  throw new BadRequestError('"args" must be a list of texts');
}

function readTexts(config: JsonObject, name: string): Readonly<Record<string, string>> {
  const { [name]: texts = {} } = config;
  if (isJsonObject(texts) && Object.values(texts).every((text) => typeof text === "string")) {
    return texts as Record<string, string>;
  }
  throw new BadRequestError(`"${name}" must be an object with texts`);
}

function readTimeout({ timeout }: JsonObject): number | undefined {
  if (timeout === undefined || (typeof timeout === "number" && timeout > 0)) return timeout;
  throw new BadRequestError('"timeout" must be a number of milliseconds above 0');
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new BadRequestError('"url" must be an address that begins with https:// or http://');
}

function mapValues(
  texts: Readonly<Record<string, string>>,
  convert: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, convert(text)]));
}
