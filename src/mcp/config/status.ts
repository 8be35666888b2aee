/**
 * The states of servers, as programs see them.
 *
 * @module
 */

/**
 * The state of a server.
 *
 * `starting`: it is started for the first time. `authorizing`: it waits for the user. `ready`: its tools can be called.
 * `restarting`: it ended or did not start, and is started again after a pause. `failed`: its configuration is invalid, or
 * it failed too often; only `restart()` starts it again. `closed`: the connection was closed.
 */
export type McpServerState =
  | { readonly type: "starting" | "authorizing" | "ready" | "closed" }
  | {
    readonly type: "restarting" | "failed";
    /** The last failure, without values of the configuration. May contain text of the server. */
    readonly reason: string;
  };

/** A server and its tools. */
export interface McpServerStatus {
  /** Name of the server. */
  readonly name: string;
  /** State of the server. */
  readonly state: McpServerState;
  /** Names of its tools, as the model calls them. They stay while the server is started again. */
  readonly tools: readonly string[];
  /** Number of times that it was started again. */
  readonly restarts: number;
  /** The version of the protocol, such as `"2026-07-28"`. */
  readonly protocolVersion?: string;
  /** Name and version as the server reports them. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** Instructions of the server for the model, which are not trustworthy. */
  readonly instructions?: string;
}

/** A problem of a server. */
export interface McpWarning {
  /** Name of the server. */
  readonly server: string;
  /** The problem. May contain text of the server. */
  readonly message: string;
}
