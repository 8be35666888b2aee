/**
 * Checks a configuration of unknown origin.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** A server of a checked configuration. */
export type ParsedServer = ParsedProgram | ParsedEndpoint | UnsupportedServer;

/** A server that is a program. */
export interface ParsedProgram {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly timeoutMs: number;
}

/** A server that is reached over HTTP. */
export interface ParsedEndpoint {
  readonly type: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A server with a transport of other clients. It fails alone, since a project may have it for them. */
export interface UnsupportedServer {
  readonly type: "unsupported";
  readonly transport: string;
  readonly timeoutMs: number;
}

/** Transports that this library does not have: those of earlier versions of the protocol and of other clients. */
const UNSUPPORTED_TRANSPORTS: readonly unknown[] = ["sse", "ws", "websocket"];

/** Timeout of a tool call, if the configuration has none. */
const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * Returns the servers of a configuration by name.
 *
 * @throws {BadRequestError} If a value is invalid. The message begins with its key, such as `mcpServers.github.args`, and
 * contains no texts of the configuration, which may be secrets.
 */
export function parseConfig(config: unknown): ReadonlyMap<string, ParsedServer> {
  const root = new ConfigObject("", config);
  const servers = root.readObject("mcpServers");
  const enabled = Object.keys(servers.values).filter((name) => !isDisabled(servers.values[name]));
  return new Map(enabled.map((name) => [name, parseServer(servers.readObject(name))]));
}

/** Whether the configuration leaves a server out, as other clients write it. */
function isDisabled(server: unknown): boolean {
  return isJsonObject(server) && server["disabled"] === true;
}

function parseServer(server: ConfigObject): ParsedServer {
  const timeoutMs = server.readMilliseconds("timeout") ?? DEFAULT_TIMEOUT_MS;
  switch (readType(server)) {
    case "stdio":
      return {
        type: "stdio",
        command: server.readText("command"),
        args: server.readTexts("args"),
        env: server.readTextRecord("env"),
        cwd: server.values["cwd"] === undefined ? undefined : server.readText("cwd"),
        timeoutMs,
      };
    case "http": {
      const url = server.readText("url");
      return { type: "http", url, headers: server.readTextRecord("headers"), timeoutMs };
    }
    case "unsupported":
      return { type: "unsupported", transport: server.readText("type"), timeoutMs };
  }
}

/** Without a type, a server with a URL and no command is reached over HTTP. */
function readType(server: ConfigObject): ParsedServer["type"] {
  const { type, command, url } = server.values;
  switch (type) {
    case undefined:
      return command === undefined && url !== undefined ? "http" : "stdio";
    case "stdio":
    case "http":
      return type;
    case "streamable-http":
      return "http";
    default:
      if (UNSUPPORTED_TRANSPORTS.includes(type)) return "unsupported";
      throw server.createError("type", 'must be "stdio" or "http"');
  }
}

/** An object of the configuration, at a key. */
class ConfigObject {
  readonly values: JsonObject;
  readonly #key: string;

  constructor(key: string, value: unknown) {
    this.#key = key;
    if (!isJsonObject(value)) {
      throw createError(key === "" ? "The configuration" : `${key}:`, "must be an object", value);
    }
    this.values = value;
  }

  readObject(name: string): ConfigObject {
    return new ConfigObject(this.#getKey(name), this.values[name]);
  }

  readText(name: string): string {
    const { [name]: value } = this.values;
    if (typeof value === "string" && value !== "") return value;
    throw this.createError(name, "must be a text");
  }

  readTexts(name: string): readonly string[] {
    const { [name]: value = [] } = this.values;
    if (isTextList(value)) return value;
    throw this.createError(name, "must be a list of texts");
  }

  readTextRecord(name: string): Readonly<Record<string, string>> {
    const { [name]: value = {} } = this.values;
    if (isTextRecord(value)) return value;
    throw this.createError(name, "must be an object with texts");
  }

  readMilliseconds(name: string): number | undefined {
    const { [name]: value } = this.values;
    if (value === undefined || (typeof value === "number" && value > 0)) return value;
    throw this.createError(name, "must be a number of milliseconds above 0");
  }

  createError(name: string, requirement: string): BadRequestError {
    return createError(`${this.#getKey(name)}:`, requirement, this.values[name]);
  }

  #getKey(name: string): string {
    return this.#key === "" ? name : `${this.#key}.${name}`;
  }
}

function createError(subject: string, requirement: string, value: unknown): BadRequestError {
  const actual = typeof value === "string" ? "another text" : describeValue(value);
  return new BadRequestError(`${subject} ${requirement}, not ${actual}`);
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && isTextList(Object.values(value));
}
