/**
 * Sessions of agents over HTTP: a server that creates, prompts, steers, approves and streams them.
 *
 * `createAgentServer()` returns a handler for `Deno.serve()` or any other server with requests and responses of the
 * platform. Sessions are in a store of `@swink/agent/memory`; a client that reconnects gets every entry of a session once.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { createAgentServer } from "@swink/agent/server";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agents = createAgentServer({
 *   store: new InMemorySessionStore(),
 *   createAgent: () => new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) }),
 * });
 * const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, agents.fetch);
 * const url = `http://127.0.0.1:${server.addr.port}`;
 *
 * const created = await fetch(`${url}/v1/sessions`, { method: "POST" });
 * const { id } = await created.json();
 * const prompted = await fetch(`${url}/v1/sessions/${id}/prompt`, {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: JSON.stringify({ text: "Hello" }),
 * });
 * (await prompted.json()).eventId; // the position before the first event of the run
 *
 * await agents.close();
 * await server.shutdown();
 * ```
 *
 * @module
 */

export {
  type AgentServer,
  type CloseServerOptions,
  createAgentServer,
} from "./create_agent_server.ts";
export type { SessionActivity, SessionStatus } from "../core/sessions/session_activity.ts";
export type { AgentServerOptions } from "./server_options.ts";
export { type BearerToken, bearerTokens } from "./access/bearer_tokens.ts";
export type { Authenticate, Caller, Connection } from "./access/caller.ts";
export type { TenantLimits } from "./limits/tenant_limits.ts";
export type {
  AgentRunner,
  CloseOptions,
  CloseReport,
  EventsOptions,
  FeedItem,
  QueuedInput,
  RunEnd,
  RunInput,
  RunStart,
  SessionDetail,
  SessionKey,
  StartOptions,
} from "./runner/agent_runner.ts";
export type {
  CreateAgent,
  ServedAgent,
  ServedAgentParts,
  ServedSession,
} from "./runner/served_agent.ts";
