/**
 * An application that offers agents to clients of the Agent Client Protocol.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { ApprovalDecision } from "../../core/approval.ts";
import type { ApprovalRequest } from "../../core/approve.ts";
import type { AcpCommand, AcpConfigOption, AcpMcpServer, AcpMode } from "./acp_update.ts";
import type { DescribeCall } from "./describe_call.ts";

/** The editor or other program at the other end, for one session. */
export interface AcpClient {
  /**
   * Asks the user about a tool call, with its arguments and file changes. A client that is gone, and whatever is not an
   * approval, refuses the call.
   */
  readonly ask: (
    request: Pick<ApprovalRequest, "toolCallId" | "name" | "arguments" | "changes" | "signal">,
  ) => Promise<ApprovalDecision>;
  /** Reads a file as the editor has it, also if it is not saved. Default: the editor offers no files. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
  /** Writes a file through the editor. Default: the editor offers no files. */
  readonly writeTextFile?: ((path: string, content: string) => Promise<void>) | undefined;
  /** Reports that the mode, the settings, the commands or the title of the session have changed. */
  readonly update: () => Promise<void>;
}

/** The session that a client asks for. */
export interface AcpSessionRequest {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Further directories that belong to the session. */
  readonly additionalDirectories: readonly string[];
  /** The servers of the Model Context Protocol that the client names, in its form. */
  readonly mcpServers: readonly AcpMcpServer[];
  /** The client. */
  readonly client: AcpClient;
}

/** A session of a client. */
export interface AcpSession {
  /** Id of the session. */
  readonly id: string;
  /** The agent, whose `approve` asks {@linkcode AcpClient.ask}. */
  readonly agent: Agent;
  /** The modes of the session, such as one that only plans. Default: none. */
  readonly modes?: {
    readonly available: readonly AcpMode[];
    /** Id of the current mode. */
    readonly current: () => string;
    /** Selects a mode; rejects if that is not possible. */
    readonly select: (id: string) => void | Promise<void>;
  } | undefined;
  /** The settings of the session, such as the model. Default: none. */
  readonly config?: {
    /** The settings with their values. */
    readonly options: () => readonly AcpConfigOption[];
    /** Sets a value; rejects if that is not possible. */
    readonly select: (id: string, value: string) => void | Promise<void>;
  } | undefined;
  /** The commands that the user can type as `/name`. Default: none. */
  readonly commands?: readonly AcpCommand[] | undefined;
  /**
   * Executes the command of a prompt; returns a text for the user, or `undefined` if the prompt goes to the model. Default:
   * no command is executed.
   */
  readonly runCommand?:
    | ((prompt: string) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Describes tool calls. Default: by the names of tool and first argument. */
  readonly describeCall?: DescribeCall | undefined;
  /** Returns the context window of the model in tokens, or `undefined`. Default: unknown; the client sees no usage. */
  readonly getContextWindow?: (() => number | undefined) | undefined;
  /** Returns the title of the session, or `undefined`. Default: none. */
  readonly getTitle?: (() => string | undefined) | undefined;
  /** Ends the session; its runs have ended. Default: nothing to do. */
  readonly close?: (() => void | PromiseLike<void>) | undefined;
}

/** A session in a list. */
export interface AcpSessionInfo {
  /** Id of the session. */
  readonly sessionId: string;
  /** Absolute path of its working directory. */
  readonly cwd: string;
  /** Its title. */
  readonly title?: string | undefined;
  /** Time of its last change, in ISO 8601. */
  readonly updatedAt?: string | undefined;
}

/** Offers agents to clients. */
export interface AcpHost {
  /** Name of the application. */
  readonly name: string;
  /** Version of the application. */
  readonly version: string;
  /** Creates a session. */
  readonly createSession: (request: AcpSessionRequest) => Promise<AcpSession>;
  /** Opens a session with its history; `undefined` if there is none with this id. Default: sessions are not kept. */
  readonly openSession?:
    | ((request: AcpSessionRequest & { readonly sessionId: string }) => Promise<
      AcpSession | undefined
    >)
    | undefined;
  /** Lists the sessions, the latest first. Default: sessions are not listed. */
  readonly listSessions?:
    | ((
      filter: { readonly cwd?: string | undefined; readonly cursor?: string | undefined },
    ) => Promise<{
      readonly sessions: readonly AcpSessionInfo[];
      readonly nextCursor?: string | undefined;
    }>)
    | undefined;
  /** Deletes a session. Default: sessions are not deleted. */
  readonly deleteSession?: ((sessionId: string) => Promise<void>) | undefined;
}
