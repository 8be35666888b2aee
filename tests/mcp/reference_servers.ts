/**
 * The reference servers of the protocol, from npm.
 *
 * @module
 */

import type { McpConfig } from "../../src/mcp/mod.ts";
import { createDeadline } from "../deadline.ts";

const RANGE = "^2026.8.31";
const NAMES = ["server-everything", "server-filesystem", "server-memory"];

/** A directory with the servers, which is removed on disposal. */
export class ReferenceServers implements AsyncDisposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Installs the servers; `undefined` without the npm registry. */
  static async install(): Promise<ReferenceServers | undefined> {
    const directory = await Deno.makeTempDir({ prefix: "swink_mcp_" });
    const imports = NAMES.map((name) => `@modelcontextprotocol/${name}`)
      .map((name) => [name, `npm:${name}@${RANGE}`]);
    const config = { nodeModulesDir: "auto", imports: Object.fromEntries(imports) };
    await Deno.writeTextFile(`${directory}/deno.json`, JSON.stringify(config));
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["install", "--quiet"],
      cwd: directory,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      signal: createDeadline(),
    }).output();
    const servers = new ReferenceServers(directory);
    if (success) return servers;
    await servers[Symbol.asyncDispose]();
    return undefined;
  }

  /** Returns the arguments of Deno that run a server. */
  getArguments(name: string, ...args: readonly string[]): readonly string[] {
    const path = `${this.directory}/node_modules/@modelcontextprotocol/${name}/dist/index.js`;
    return ["run", "-A", "--no-lock", path, ...args];
  }

  /** Returns the configuration of all servers over the standard streams; files are in a directory. */
  createConfig(files: string): McpConfig {
    const command = Deno.execPath();
    const env = { MEMORY_FILE_PATH: `${files}/memory.json` };
    return {
      mcpServers: {
        everything: { command, args: this.getArguments("server-everything", "stdio") },
        filesystem: { command, args: this.getArguments("server-filesystem", files) },
        memory: { command, args: this.getArguments("server-memory"), env },
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}
