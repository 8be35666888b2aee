/**
 * The files of a project that start programs: hooks, outside of the sandbox, and MCP servers.
 *
 * An agent may have written them, and may change them at any time: they are read once, and what is loaded is what the user
 * has trusted.
 *
 * @module
 */

import { readUntrustedFile } from "../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../src/platform/untrusted_read.ts";
import { getProjectConfigPath } from "../config/config_files.ts";
import { getProjectServersPath } from "../mcp/server_paths.ts";

const MAX_FILE_BYTES = 1_000_000;

/** The files of a project that start programs, as they were when they were read. */
export interface ProjectPrograms {
  /** Absolute path of the root of the project, without links. */
  readonly root: string;
  /** The configuration, with hooks. */
  readonly config: UntrustedRead;
  /** The MCP servers. */
  readonly servers: UntrustedRead;
}

/** Reads the files of a project that start programs. `root` is absolute and without links. */
export async function readProjectPrograms(root: string): Promise<ProjectPrograms> {
  const read = (path: string) =>
    readUntrustedFile(path, { within: root, maxBytes: MAX_FILE_BYTES });
  const [config, servers] = await Promise.all([
    read(getProjectConfigPath(root)),
    read(getProjectServersPath(root)),
  ]);
  return { root, config, servers };
}

/** Returns a line with the digest of each file, in SHA-256; none for a missing file. */
export async function digestPrograms({ config, servers }: ProjectPrograms): Promise<string[]> {
  const lines = await Promise.all([
    digestFile(".swink/config.toml", config),
    digestFile(".mcp.json", servers),
  ]);
  return lines.filter((line) => line !== undefined);
}

async function digestFile(name: string, read: UntrustedRead): Promise<string | undefined> {
  if (read.type === "missing") return undefined;
  const content = read.type === "content"
    ? new Uint8Array(read.bytes)
    : new TextEncoder().encode(read.reason);
  const digest = await crypto.subtle.digest("SHA-256", content);
  return `${name} ${read.type} ${new Uint8Array(digest).toHex()}`;
}
