import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentOptions, type AgentTool, defineTool } from "../../mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import {
  type AgentServer,
  type AgentServerOptions,
  bearerTokens,
  createAgentServer,
} from "../../src/server/mod.ts";
import { scriptedStream } from "../../src/testing/mod.ts";

/** The tokens of the test server. */
export const TOKENS = {
  acme: "test-token-of-tenant-acme",
  zoo: "test-token-of-tenant-zoo",
  operator: "test-token-of-the-operator",
} as const;

export const authenticate = bearerTokens([
  { token: TOKENS.acme, tenant: "acme" },
  { token: TOKENS.zoo, tenant: "zoo" },
  { token: TOKENS.operator, tenant: "operator", mayReadMetrics: true },
]);

export const ORIGIN = "http://localhost:8787";

/** A server-sent event. */
export interface ServerEvent {
  id: string | undefined;
  type: string;
  // deno-lint-ignore no-explicit-any -- tests read members of many types
  data: any;
}

/** An entry of the log of a session, with the members that tests read. */
export interface LogEntry {
  id: string;
  type: string;
  name?: string;
  message?: { id: string; role: string };
}

export interface CallOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A server that tests call. */
export class TestServer {
  readonly server: AgentServer;

  constructor(options: Partial<AgentServerOptions> & { agent?: Partial<AgentOptions> } = {}) {
    const { agent, ...rest } = options;
    this.server = createAgentServer({
      store: new InMemorySessionStore(),
      ...(rest.runner ? {} : {
        createAgent: () =>
          new Agent({ model: "test/model", streamFn: scriptedStream([]), ...agent }),
      }),
      authenticate,
      pollMs: Infinity,
      ...rest,
    });
  }

  /** Sends a request; `path` may be a complete URL. */
  call(
    method: string,
    path: string,
    { token = TOKENS.acme, body, headers, signal }: CallOptions = {},
  ): Promise<Response> {
    const request = new Request(path.startsWith("http") ? path : ORIGIN + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return this.server.fetch(request, { remoteAddr: { hostname: "127.0.0.1" } });
  }

  /** Sends a request, checks its status and returns its JSON. */
  // deno-lint-ignore no-explicit-any -- tests read members of many types
  async json(status: number, ...call: Parameters<TestServer["call"]>): Promise<any> {
    const response = await this.call(...call);
    const text = await response.text();
    assertEquals(response.status, status, `${call[0]} ${call[1]}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Creates a session and returns its id. */
  async create(body: object = {}, token: string = TOKENS.acme): Promise<string> {
    return (await this.json(201, "POST", "/v1/sessions", { body, token })).id;
  }

  async prompt(id: string, text = "Hello"): Promise<{ eventId: string; messageId: string }> {
    return await this.json(202, "POST", `/v1/sessions/${id}/prompt`, { body: { text } });
  }

  /** Lists the entries of the log of a session. */
  async entries(id: string): Promise<LogEntry[]> {
    return (await this.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`)).entries;
  }

  /** Opens the events of a session. */
  async events(id: string, after?: string, query = ""): Promise<EventReader> {
    const headers = after === undefined ? {} : { "last-event-id": after };
    const response = await this.call("GET", `/v1/sessions/${id}/events${query}`, { headers });
    assertEquals(response.status, 200, response.status === 200 ? "" : await response.text());
    return new EventReader(response);
  }

  /** Waits until no run of a session is active. */
  async waitForIdle(id: string): Promise<void> {
    const events = await this.events(id, undefined, "?types=state");
    await events.until(({ type, data }) => type === "state" && data.status !== "running");
    await events.close();
  }
}

/** Reads server-sent events. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  #isDone = false;

  constructor({ body }: Response) {
    assert(body);
    this.#reader = body.getReader();
  }

  /** Returns the next event; `undefined` at the end. */
  async next(): Promise<ServerEvent | undefined> {
    while (true) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const frame = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const event = parseFrame(frame);
        if (event) return event;
        continue;
      }
      if (this.#isDone) return undefined;
      const { done, value } = await this.#reader.read();
      if (done) this.#isDone = true;
      else this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Reads up to and including the first event that matches. */
  async until(matches: (event: ServerEvent) => boolean): Promise<ServerEvent[]> {
    const events: ServerEvent[] = [];
    while (true) {
      const event = await this.next();
      if (!event) return events;
      events.push(event);
      if (matches(event)) return events;
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

function parseFrame(frame: string): ServerEvent | undefined {
  const fields = new Map(
    frame.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
    }),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id"), type: fields.get("event") ?? "message", data: JSON.parse(data) };
}

/** A tool that needs an approval and records its calls. */
export function createCounter(calls: string[]): AgentTool {
  return defineTool({
    name: "count",
    description: "Counts.",
    parameters: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
    requiresApproval: true,
    execute: ({ what }) => {
      calls.push(what);
      return `counted ${what}`;
    },
  });
}
