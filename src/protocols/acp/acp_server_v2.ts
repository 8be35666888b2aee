/**
 * A server of the draft of version 2 of the Agent Client Protocol: the answer to a prompt is only a receipt, the state of a
 * session is sent as updates, and modes, files and terminals are gone.
 *
 * @module
 */

import { AlreadyRunningError, getErrorMessage } from "../../core/errors/errors.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { AcpHost } from "./acp_host.ts";
import {
  AcpServer,
  type AcpServerOptions,
  getFailureCode,
  type OpenedSession,
} from "./acp_server.ts";
import { toUserMessage } from "./content.ts";
import type { OpenSession, PromptEnd } from "./open_session.ts";
import { PeerV2 } from "./peer_v2.ts";
import type { AcpApp, AcpIncoming, AcpPackage, AcpPeer } from "./sdk_package.ts";
import { toV2Commands, toV2Config } from "./to_v2.ts";

const PROTOCOL_VERSION = 2;

/** Options for {@linkcode AcpServerV2}. */
export interface AcpServerV2Options extends Pick<AcpServerOptions, "now" | "closed"> {
  /** The package of version 2. */
  readonly sdk: Pick<AcpPackage, "agent" | "RequestError">;
}

/** Serves clients that have selected version 2. */
export class AcpServerV2 {
  /** The handlers of the protocol. */
  readonly app: AcpApp;
  readonly #host: AcpHost;
  readonly #options: AcpServerV2Options;
  readonly #server: AcpServer;
  /** The report of the last prompt of each session, which ends when the client has its end. */
  readonly #reports = new WeakMap<OpenSession, Promise<void>>();

  /** Creates the handlers. */
  constructor(host: AcpHost, options: AcpServerV2Options) {
    this.#host = host;
    this.#options = options;
    this.#server = new AcpServer(host, { ...options, wrapPeer: (peer) => new PeerV2(peer) });
    this.app = options.sdk.agent({ name: host.name }) as AcpApp;
    this.#register();
  }

  /** Ends all runs and sessions. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  #register(): void {
    const { openSession, listSessions, deleteSession } = this.#host;
    const server = this.#server;
    const on = (method: string, handler: (context: AcpIncoming) => unknown) =>
      this.app.onRequest(method, (context) => server.answer(() => handler(context)));
    on("initialize", () => this.#initialize());
    on("auth/login", () => ({}));
    on("session/new", (context) => server.track(this.#create(context)));
    on("session/prompt", (context) => this.#prompt(context));
    on("session/set_config_option", async ({ params }) => {
      const { configOptions } = await server.setConfigOption(params);
      return { configOptions: toV2Config(configOptions) };
    });
    on("session/close", ({ params }) => server.closeSession(params.sessionId));
    if (openSession) on("session/resume", (context) => server.track(this.#resume(context)));
    if (listSessions) on("session/list", ({ params }) => server.listSessions(params));
    if (deleteSession) on("session/delete", ({ params }) => server.deleteSession(params.sessionId));
    this.app.onNotification("session/cancel", ({ params }) => server.cancel(params.sessionId));
  }

  #initialize(): object {
    const { name, version, deleteSession, authMethods = [] } = this.#host;
    return {
      protocolVersion: PROTOCOL_VERSION,
      info: { name, version },
      capabilities: {
        session: {
          prompt: { image: {}, audio: {}, embeddedContext: {} },
          mcp: { stdio: {}, http: {} },
          additionalDirectories: {},
          ...(deleteSession && { delete: {} }),
        },
      },
      authMethods: authMethods.map(({ id: methodId, name, description }) => ({
        type: "agent",
        methodId,
        name,
        ...(description !== undefined && { description }),
      })),
    };
  }

  async #create(context: AcpIncoming): Promise<object> {
    const { sessionId, ...opened } = await this.#server.createSession(context);
    return { sessionId, ...this.#describe(sessionId, opened) };
  }

  async #resume(context: AcpIncoming): Promise<object> {
    const { sessionId, replayFrom } = context.params;
    const opened = await this.#server.openSession(context, {
      withHistory: replayFrom !== undefined && replayFrom !== null,
    });
    await this.#send(context.client, { sessionId, update: toState({ state: "idle" }) });
    return this.#describe(sessionId, opened);
  }

  #describe(sessionId: string, { configOptions }: OpenedSession): object {
    const { commands } = this.#server.find(sessionId).session;
    return {
      ...(configOptions && { configOptions: toV2Config(configOptions) }),
      ...(commands && { availableCommands: toV2Commands(commands) }),
    };
  }

  /** Starts a prompt; the answer is only a receipt. */
  #prompt({ params, client }: AcpIncoming): object {
    const { sessionId, prompt } = params;
    const session = this.#server.find(sessionId);
    if (session.isPrompted) {
      throw new AlreadyRunningError("A prompt is already running: wait for it, or cancel it");
    }
    const messageId = crypto.randomUUID();
    const message = { ...toUserMessage(prompt, this.#options.now()), id: messageId };
    const send = (update: object) => this.#send(client, { sessionId, update });
    const previous = this.#reports.get(session);
    const onStart = async () => {
      await previous;
      await send({ sessionUpdate: "user_message", messageId, content: prompt });
      await send(toState({ state: "running" }));
    };
    this.#reports.set(session, reportRun(session, { message, onStart, send }).catch(() => {}));
    return { messageId };
  }

  /** Sends an update; one that a client that is gone does not take is discarded. */
  async #send(
    client: AcpPeer,
    params: { readonly sessionId: string; readonly update: object },
  ): Promise<void> {
    await Promise.race([client.notify("session/update", params), this.#options.closed]);
  }
}

interface RunReport {
  readonly message: UserMessage;
  /** Sends the message, and that its run begins. */
  readonly onStart: () => Promise<void>;
  /** Sends an update. */
  readonly send: (update: object) => Promise<void>;
}

/** Runs a prompt, and sends its end. Rejects if the client is gone. */
async function reportRun(
  session: OpenSession,
  { message, onStart, send }: RunReport,
): Promise<void> {
  const { signal } = new AbortController();
  const end = await session.prompt(message, { signal, onStart }).catch(
    (error): PromptEnd => ({ type: "failed", code: "error", message: getErrorMessage(error) }),
  );
  await send(toState({ state: "idle", ...toIdle(end) }));
}

function toState(state: object): object {
  return { sessionUpdate: "state_update", ...state };
}

function toIdle(end: PromptEnd): object {
  switch (end.type) {
    case "ended":
      return { stopReason: end.stopReason };
    case "failed": {
      const { code, message } = end;
      return {
        stopReason: "error",
        error: { code: getFailureCode(code), message, data: { code } },
      };
    }
  }
}
