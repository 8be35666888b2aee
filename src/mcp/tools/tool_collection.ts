/**
 * The tools of all servers.
 *
 * @module
 */

import type { AgentTool } from "../../core/tools/tool.ts";
import type { McpServerOptions } from "../config/options.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import type { ServerConnection } from "../server/server_connection.ts";
import { isSameList } from "../server/tool_list.ts";
import { createNameMatcher } from "./name_matcher.ts";
import { createServerTool } from "./server_tool.ts";
import { createSearchTool } from "./tool_search.ts";

/** A server, and the options of the program for its tools. */
export interface ToolSource {
  readonly connection: ServerConnection;
  readonly options: Pick<McpServerOptions, "allow" | "deny" | "readOnly">;
}

/** Called with a tool of a server that is left out, because another one has its name. */
export type ReportCollision = (server: string, tool: AgentTool) => void;

/** Collects the tools of servers. A tool that has not changed stays the same object. */
export class ToolCollection {
  readonly #sources: readonly ServerTools[];
  readonly #reportCollision: ReportCollision;
  readonly #created = new WeakSet<AgentTool>();
  #serverTools: readonly AgentTool[] = [];
  #searchTool: readonly AgentTool[] = [];

  /** Creates an empty collection. */
  constructor(sources: readonly ToolSource[], reportCollision: ReportCollision) {
    this.#sources = sources.map((source) => new ServerTools(source));
    this.#reportCollision = reportCollision;
  }

  /** The tools of the servers, and the tool that searches them. */
  get tools(): readonly AgentTool[] {
    return [...this.#searchTool, ...this.#serverTools];
  }

  /** Returns whether a tool is one of a server, now or earlier, or searches them. */
  has(tool: AgentTool): boolean {
    return this.#created.has(tool);
  }

  /** Returns the names of the tools of a server. */
  getNames(server: string): readonly string[] {
    const own = this.#sources.find(({ name }) => name === server)?.list() ?? [];
    return own.filter((tool) => this.#serverTools.includes(tool)).map(({ name }) => name);
  }

  /** Reads the lists of the servers; returns whether they have changed. */
  update(): boolean {
    const tools = new Map<string, AgentTool>();
    for (const source of this.#sources) {
      for (const tool of source.list()) {
        if (tools.has(tool.name)) this.#reportCollision(source.name, tool);
        else tools.set(tool.name, tool);
      }
    }
    const listed = [...tools.values()];
    if (isSameList(listed, this.#serverTools)) return false;
    this.#serverTools = listed;
    const servers = this.#sources.filter((source) => source.list().length > 0);
    this.#searchTool = listed.length === 0
      ? []
      : [createSearchTool(listed, servers.map(({ name }) => name))];
    for (const tool of this.tools) this.#created.add(tool);
    return true;
  }
}

/** The tools of one server. */
class ServerTools {
  readonly #source: ToolSource;
  readonly #tools = new WeakMap<ServerTool, AgentTool>();
  readonly #isOffered: (name: string) => boolean;
  readonly #isReadOnly: (tool: ServerTool) => boolean;

  constructor(source: ToolSource) {
    const { allow = ["*"], deny = [], readOnly = [] } = source.options;
    const isAllowed = createNameMatcher(allow);
    const isDenied = createNameMatcher(deny);
    this.#source = source;
    this.#isOffered = (name) => isAllowed(name) && !isDenied(name);
    const isReadOnlyName = createNameMatcher(readOnly);
    this.#isReadOnly = (tool) =>
      readOnly.includes(tool.name) || (isReadOnlyName(tool.name) && !declaresChanges(tool));
  }

  get name(): string {
    return this.#source.connection.name;
  }

  list(): readonly AgentTool[] {
    const { tools } = this.#source.connection;
    return tools.filter(({ name }) => this.#isOffered(name)).map((tool) => this.#convert(tool));
  }

  #convert(tool: ServerTool): AgentTool {
    const known = this.#tools.get(tool);
    if (known) return known;
    const readOnly = this.#isReadOnly(tool);
    const created = createServerTool(this.#source.connection, tool, { readOnly });
    this.#tools.set(tool, created);
    return created;
  }
}

/** Whether a server declares that a tool changes something, which a pattern with `*` may have matched by mistake. */
function declaresChanges({ annotations = {} }: ServerTool): boolean {
  const { readOnlyHint, destructiveHint } = annotations;
  return readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true);
}
