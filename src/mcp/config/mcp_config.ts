/**
 * The configuration of servers, as in a file `.mcp.json`.
 *
 * @module
 */

/**
 * A server that is a program, which communicates over its standard streams. In the texts, `${NAME}` and
 * `${NAME:-default}` are replaced by variables of `McpOptions.environment`.
 */
export interface McpStdioServerConfig {
  /** The transport. Default: `"stdio"`. */
  readonly type?: "stdio";
  /** Path of the program, or a name that is looked up in `PATH`. */
  readonly command: string;
  /** Arguments of the program. Default: none. */
  readonly args?: readonly string[];
  /** Environment variables of the program, in addition to `PATH` and a few others without secrets. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. Default: that of the sandbox, or the current one. */
  readonly cwd?: string;
  /** Timeout of a tool call in milliseconds. Default: 300,000. */
  readonly timeout?: number;
  /** Whether the server is left out. Default: `false`. */
  readonly disabled?: boolean;
}

/** A server that is reached over HTTP. Variables are replaced in `url` and `headers`. */
export interface McpHttpServerConfig {
  /** The transport; both names mean streamable HTTP. Default: `"http"`. */
  readonly type?: "http" | "streamable-http";
  /** URL of the server. */
  readonly url: string;
  /** Headers of each request, such as `Authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout of a tool call in milliseconds. Default: 300,000. */
  readonly timeout?: number;
  /** Whether the server is left out. Default: `false`. */
  readonly disabled?: boolean;
}

/** The configuration of a server. */
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

/** The configuration of servers by name, as in a file `.mcp.json`. Unknown properties are ignored. */
export interface McpConfig {
  /** The servers by name. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
}
