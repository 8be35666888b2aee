/**
 * Reads the configuration of servers from a file.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { dirname } from "../../platform/paths.ts";
import { readUntrustedFile } from "../../platform/untrusted_file.ts";
import type { McpConfig } from "./mcp_config.ts";
import { parseConfig } from "./parse_config.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a file such as `.mcp.json`. Variables are not replaced yet; `connectMcp()` does that.
 *
 * @throws {BadRequestError} If the file cannot be read or is invalid. The message has the path of the file and the key.
 *
 * @example
 * ```ts ignore
 * import { connectMcp, readMcpConfig } from "@swink/agent/mcp";
 *
 * await using mcp = await connectMcp(await readMcpConfig(".mcp.json"), { sandbox: "off" });
 * ```
 */
export async function readMcpConfig(path: string): Promise<McpConfig> {
  try {
    return parseText(await readText(path));
  } catch (cause) {
    throw new BadRequestError(`${path}: ${getErrorMessage(cause)}`, { cause });
  }
}

/**
 * Parses the text of a file such as `.mcp.json`, as `readMcpConfig()` does.
 *
 * @param source Name of the source, for messages.
 * @throws {BadRequestError} If it is invalid.
 */
export function parseMcpConfig(text: string, source: string): McpConfig {
  try {
    return parseText(text);
  } catch (cause) {
    throw new BadRequestError(`${source}: ${getErrorMessage(cause)}`, { cause });
  }
}

function parseText(text: string): McpConfig {
  const config = parseJson(text);
  parseConfig(config);
  return config as McpConfig;
}

async function readText(path: string): Promise<string> {
  const read = await readUntrustedFile(path, { within: dirname(path), maxBytes: MAX_BYTES });
  switch (read.type) {
    case "content":
      return new TextDecoder().decode(read.bytes);
    case "missing":
      throw new BadRequestError("the file does not exist");
    case "refused":
      throw new BadRequestError(`the file ${read.reason}`);
  }
}

/** The message of the runtime is left out: it quotes the text, which may have secrets. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequestError("the file is not valid JSON");
  }
}
