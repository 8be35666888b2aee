/**
 * The options of the program for its servers.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json.ts";
import type { Clock } from "../../core/ports.ts";
import type { ProcessSpawner } from "../../core/process_spawner.ts";
import type { McpClientPackage } from "../protocol/client_package.ts";
import type { McpOAuth, McpOAuthProvider } from "../oauth/oauth_options.ts";

/** Options for one server. They extend rights, so they are no part of its configuration, which a project may contain. */
export interface McpServerOptions {
  /** Names of the tools to offer, as the server calls them; `*` matches any characters. Default: all. */
  readonly allow?: readonly string[];
  /** Names of tools not to offer; takes precedence. Default: none. */
  readonly deny?: readonly string[];
  /**
   * Whether to believe the hints of the server: a tool that it declares as read-only then is available in plan mode and
   * needs no approval. Default: `false`.
   */
  readonly trustAnnotations?: boolean;
  /** Whether calls require approval in the approval mode `smart`. Default: `true`, except for tools believed read-only. */
  readonly requiresApproval?: boolean;
  /** The sandbox of this server. Default: that of {@linkcode McpOptions.sandbox}. */
  readonly sandbox?: ProcessSpawner | "off";
  /** Authorization by OAuth, for a server over HTTP. Default: none. */
  readonly oauth?: McpOAuth | McpOAuthProvider;
}

/** Options for `connectMcp()`. */
export interface McpOptions {
  /** The variables that `${NAME}` in the configuration may refer to. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Starts the programs of servers: a sandbox of `createSandbox()`, or `"off"` to start them with all rights of this
   * program. Required if a server is a program.
   */
  readonly sandbox?: ProcessSpawner | "off";
  /** Options by the names of the servers. Default: none. */
  readonly servers?: Readonly<Record<string, McpServerOptions>>;
  /** Asks the user for data that a server requests. Default: such requests are refused. */
  readonly elicit?: McpElicit;
  /** Maximum time that `connectMcp()` waits for the servers, in milliseconds. Default: 5,000. */
  readonly waitMs?: number;
  /** Maximum time for the start of a server, in milliseconds. Default: 60,000. */
  readonly startTimeoutMs?: number;
  /** Maximum number of bytes of a message of a server. Default: 16 MiB. */
  readonly maxMessageBytes?: number;
  /** Called when the state of a server or the list of its tools changes. */
  readonly onStatus?: (status: McpServerStatus) => void;
  /** Called with problems of servers that have no other effect, such as an invalid tool in a list. */
  readonly onWarning?: (warning: McpWarning) => void;
  /** Sends requests over HTTP. Default: that of the runtime. */
  readonly fetch?: typeof fetch;
  /** Name and version that the servers get. Default: those of this library. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** The npm package `@modelcontextprotocol/client`, for bundles. Default: imported on first use. */
  readonly clientPackage?: McpClientPackage;
  /** Returns the time in milliseconds. Default: `Date.now`. */
  readonly now?: Clock["now"];
  /** Waits for restarts and time limits. Default: a timer. */
  readonly sleep?: Clock["sleep"];
}

/** A problem of a server. */
export interface McpWarning {
  /** Name of the server. */
  readonly server: string;
  /** The problem. May contain text of the server. */
  readonly message: string;
}

/**
 * State of a server. `connecting`: it is started. `authorizing`: it waits for the user. `ready`: its tools can be called.
 * `waiting`: it failed, and is started again after a pause or when one of its tools is called. `failed`: it failed too
 * often, or its configuration is invalid; it is started again only when one of its tools is called or on `restart()`.
 * `closed`: the connection was closed.
 */
export type McpServerState =
  | "connecting"
  | "authorizing"
  | "ready"
  | "waiting"
  | "failed"
  | "closed";

/** A server and its tools. */
export interface McpServerStatus {
  /** Name of the server. */
  readonly name: string;
  readonly state: McpServerState;
  /** Names of its tools, as the model calls them. They stay while the server is started again. */
  readonly tools: readonly string[];
  /** The last failure, without values of its environment. May contain text of the server. */
  readonly error?: string;
  /** Number of times it was started again. */
  readonly restarts: number;
  /** The version of the protocol, such as `"2026-07-28"`. */
  readonly protocolVersion?: string;
  /** Name and version as the server reports them. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** Instructions of the server for the model, which are not trustworthy. */
  readonly instructions?: string;
}

/** A request of a server for data of the user. The texts are those of the server. */
export type McpElicitation =
  & {
    /** Name of the server. */
    readonly server: string;
    /** The question. */
    readonly message: string;
    /** Aborted when the server no longer waits. */
    readonly signal: AbortSignal;
  }
  & ({
    readonly type: "form";
    /** JSON Schema of the answer: an object with properties of simple types. */
    readonly schema: JsonSchema;
  } | {
    readonly type: "url";
    /** The page that the user shall visit, over HTTP or HTTPS. */
    readonly url: string;
  });

/** The answer to a request for data. */
export type McpElicitationAnswer =
  | { readonly type: "accepted"; readonly content?: JsonObject }
  | { readonly type: "declined" }
  | { readonly type: "cancelled" };

/** Asks the user for data. A function that throws declines. */
export type McpElicit = (
  request: McpElicitation,
) => McpElicitationAnswer | Promise<McpElicitationAnswer>;
