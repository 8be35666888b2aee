/**
 * The options of the program for its servers.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { ProcessSpawner } from "../../core/ports/process_spawner.ts";
import type { McpClientPackage } from "../protocol/client_package.ts";
import type { McpServerStatus, McpWarning } from "./status.ts";

/** Starts the programs of servers: a sandbox of `createSandbox()`, or `"off"` for all rights of this program. */
export type McpSandbox = ProcessSpawner | "off";

/**
 * Options for one server. They are no part of its configuration, because they extend rights, and a project may contain
 * the configuration. A pattern is the name of a tool as the server calls it; `*` matches any characters.
 */
export interface McpServerOptions {
  /** Patterns of the tools to offer. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** Patterns of the tools not to offer; takes precedence. Default: none. */
  readonly deny?: readonly string[] | undefined;
  /**
   * Patterns of the tools that change nothing as you know: they require no approval and are available in plan mode. A tool
   * of which the server declares that it changes something needs its complete name, without `*`. Default: none.
   */
  readonly readOnly?: readonly string[] | undefined;
  /** The sandbox of this server. Default: that of {@linkcode McpOptions.sandbox}. */
  readonly sandbox?: McpSandbox | undefined;
  /** Authorization by OAuth, for a server over HTTP. Default: none. */
  readonly oauth?: McpOAuth | undefined;
}

/** Authorization by OAuth, as the npm package `@modelcontextprotocol/client` implements it. */
export interface McpOAuth {
  /** An `OAuthClientProvider` or `AuthProvider` of that package, which also keeps the tokens. */
  readonly provider: object;
  /**
   * Called after the provider has sent the user to the authorization server. Resolves with the URL that the authorization
   * server opened at the end, with all its parameters; rejects if the user does not authorize this program. Default: none,
   * for a provider that needs no user.
   */
  readonly awaitRedirect?: (
    context: { readonly server: string; readonly signal: AbortSignal },
  ) => Promise<URL | string>;
}

/** Options for `connectMcp()`. */
export interface McpOptions {
  /** The variables that `${NAME}` in the configuration may refer to; programs get `PATH` from it. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Starts the programs of servers. Required if a server is a program. */
  readonly sandbox?: McpSandbox | undefined;
  /** Options by the names of the servers. Default: none. */
  readonly servers?: Readonly<Record<string, McpServerOptions>> | undefined;
  /** Asks the user for data that a server requests. Default: such requests are refused. */
  readonly onElicitation?: McpElicit | undefined;
  /** Called when the state of a server or the list of its tools has changed. */
  readonly onStatus?: ((status: McpServerStatus) => void) | undefined;
  /** Called with problems of servers that have no other effect, such as an invalid tool in a list. */
  readonly onWarning?: ((warning: McpWarning) => void) | undefined;
  /** Maximum time that `connectMcp()` waits for the servers, in milliseconds; they start in any case. Default: 5,000. */
  readonly waitMs?: number | undefined;
  /** Maximum time for the start of a server, in milliseconds. Default: 60,000. */
  readonly startTimeoutMs?: number | undefined;
  /** Maximum number of bytes of a message of a server. Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Name and version that the servers get. Default: those of this library. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  /** The npm package `@modelcontextprotocol/client`, for bundles. Default: imported on first use. */
  readonly clientPackage?: McpClientPackage | undefined;
  /** Sends requests over HTTP. Default: that of the runtime. */
  readonly fetch?: typeof fetch | undefined;
  /** Returns the time in milliseconds. Default: `Date.now`. */
  readonly now?: Clock["now"] | undefined;
  /** Waits for restarts and time limits. Default: a timer. */
  readonly sleep?: Clock["sleep"] | undefined;
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
