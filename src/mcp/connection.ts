/**
 * A connection to several servers.
 *
 * @module
 */

import type { Agent } from "../agent/agent.ts";
import type { Policy } from "../core/hooks/policy.ts";
import type { ContentBlock } from "../core/messages/content.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { McpServerStatus } from "./config/status.ts";

/** A connection to servers; `connectMcp()` creates it. */
export interface McpConnection extends AsyncDisposable {
  /**
   * The tools of all servers at this moment, sorted by server and name, and a tool that searches them. Those of a server
   * that is started again stay: their calls fail with the reason.
   */
  readonly tools: readonly AgentTool[];
  /** The servers, in the order of the configuration. */
  readonly servers: readonly McpServerStatus[];
  /**
   * Selects the tools that a request describes: all of them, or those that the model has found with the search tool if all
   * of them would take up more than a tenth of its context window. Without it, every request describes all of them.
   */
  readonly policy: Policy;
  /**
   * Adds the tools to an agent, and replaces them for the next turn when they change. `select` returns those that the
   * agent may have at that moment, such as `planMode`; by default all. A tool whose name another tool of the agent has is
   * left out. Returns a function that ends this.
   */
  attach(agent: Pick<Agent, "state" | "setTools">, select?: McpToolSelection): () => void;
  /** Returns the prompts of the servers that are ready. */
  listPrompts(options?: McpRequestOptions): Promise<readonly McpPrompt[]>;
  /**
   * Returns the messages of a prompt.
   *
   * Rejects with a `BadRequestError` if there is no such server, and with a `NetworkError` if it does not run or answers with
   * an error, whose message has the reason without secrets of the configuration.
   */
  getPrompt(prompt: McpPromptRequest, options?: McpRequestOptions): Promise<McpPromptResult>;
  /** Returns the resources of the servers that are ready. */
  listResources(options?: McpRequestOptions): Promise<readonly McpResource[]>;
  /** Returns the templates of the URIs of resources of the servers that are ready. */
  listResourceTemplates(options?: McpRequestOptions): Promise<readonly McpResourceTemplate[]>;
  /**
   * Returns the content of a resource.
   *
   * Rejects with a `BadRequestError` if there is no such server, and with a `NetworkError` if it does not run or answers with
   * an error, whose message has the reason without secrets of the configuration.
   */
  readResource(
    resource: McpResourceRequest,
    options?: McpRequestOptions,
  ): Promise<readonly ContentBlock[]>;
  /**
   * Starts a server again at once, also one that has failed or waits for the user. Resolves when it has started, or failed to.
   *
   * Rejects with a `BadRequestError` if there is no such server.
   */
  restart(server: string): Promise<void>;
  /** Ends all servers. Calls of their tools fail from then on. */
  close(): Promise<void>;
}

/** Returns some of the tools, in the same order. */
export type McpToolSelection = (tools: readonly AgentTool[]) => readonly AgentTool[];

/** Options for a request to servers. */
export interface McpRequestOptions {
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A prompt of a server. */
export interface McpPrompt {
  /** Name of the server. */
  readonly server: string;
  /** Name of the prompt. */
  readonly name: string;
  /** Name for user interfaces. */
  readonly title?: string;
  /** Description by the server. */
  readonly description?: string;
  /** The arguments, which are texts. Default: none. */
  readonly arguments?: readonly McpPromptArgument[];
}

/** An argument of a prompt. */
export interface McpPromptArgument {
  /** Name of the argument. */
  readonly name: string;
  /** Description by the server. */
  readonly description?: string;
  /** Whether the prompt needs it. Default: `false`. */
  readonly required?: boolean;
}

/** Selects a prompt. */
export interface McpPromptRequest {
  /** Name of the server. */
  readonly server: string;
  /** Name of the prompt. */
  readonly name: string;
  /** The arguments. Default: none. */
  readonly arguments?: Readonly<Record<string, string>>;
}

/** The messages of a prompt, which are as trustworthy as the server. */
export interface McpPromptResult {
  /** Description by the server. */
  readonly description?: string;
  /** The messages, oldest first. */
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: readonly ContentBlock[];
  }[];
}

/** A resource of a server. */
export interface McpResource {
  /** Name of the server. */
  readonly server: string;
  /** Address of the resource. */
  readonly uri: string;
  /** Name of the resource. */
  readonly name: string;
  /** Name for user interfaces. */
  readonly title?: string;
  /** Description by the server. */
  readonly description?: string;
  /** Media type, such as `"text/plain"`. */
  readonly mimeType?: string;
  /** Size in bytes. */
  readonly size?: number;
}

/** Resources of a server whose addresses have variables. */
export interface McpResourceTemplate {
  /** Name of the server. */
  readonly server: string;
  /** Template of the addresses, as in RFC 6570, such as `file:///{path}`; `expandUriTemplate()` replaces its variables. */
  readonly uriTemplate: string;
  /** Name of the resources. */
  readonly name: string;
  /** Name for user interfaces. */
  readonly title?: string;
  /** Description by the server. */
  readonly description?: string;
  /** Media type of all these resources, such as `"text/plain"`. */
  readonly mimeType?: string;
}

/** Selects a resource. */
export interface McpResourceRequest {
  /** Name of the server. */
  readonly server: string;
  /** Address of the resource. */
  readonly uri: string;
}
